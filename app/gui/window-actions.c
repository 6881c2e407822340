/* SPDX-License-Identifier: MIT */
/* Everything a window can be told to do, by name: menus, buttons and keys all come here. */
#include "app/gui/window-private.h"

typedef void (*Act) (MharWindow *self);

static void
open_folder (MharWindow *self)
{
  mhar_window_choose_folder (self, FALSE);
}

static void
open_file (MharWindow *self)
{
  mhar_window_choose_file (self, FALSE);
}

static void
compare_folder (MharWindow *self)
{
  mhar_window_choose_folder (self, TRUE);
}

static void
compare_file (MharWindow *self)
{
  mhar_window_choose_file (self, TRUE);
}

static void
focus_text (MharWindow *self)
{
  mhar_columns_show_left (self->columns, TRUE);
  mhar_prompt_panel_focus (self->prompt);
}

static void
focus_view (MharWindow *self)
{
  mhar_centre_focus (self->centre);
}

static void
enlarge (MharWindow *self)
{
  mhar_centre_enlarge (self->centre);
}

static void
open_menu (MharWindow *self)
{
  gtk_menu_button_popup (self->open_button);
}

static void
export_menu (MharWindow *self)
{
  gtk_menu_button_popup (self->export_button);
}

static void
start_page (MharWindow *self)
{
  gboolean there = g_strcmp0 (gtk_stack_get_visible_child_name (self->root_stack), "start") == 0;

  if (there && self->opened != NULL)
    gtk_stack_set_visible_child_name (self->root_stack, "work");
  else
    mhar_window_show_start (self);
  mhar_window_update_actions (self);
}

/* Actions without parameter or state. */
static const struct {
  const char *name;
  Act act;
} plain[] = {
  { "open-folder", open_folder },
  { "open-file", open_file },
  { "open-menu", open_menu },
  { "open-text", mhar_window_choose_text },
  { "bundled-text", mhar_window_load_bundled_text },
  { "start-page", start_page },
  { "compare-folder", compare_folder },
  { "compare-file", compare_file },
  { "compare-close", mhar_window_close_other },
  { "run", mhar_window_run },
  { "measure", mhar_window_measure },
  { "stop", mhar_window_stop },
  { "export-menu", export_menu },
  { "export-picture", mhar_window_export_picture },
  { "export-numbers", mhar_window_export_numbers },
  { "export-run", mhar_window_export_run },
  { "copy-picture", mhar_window_copy_picture },
  { "copy-value", mhar_window_copy_value },
  { "copy-command", mhar_window_copy_command },
  { "focus-text", focus_text },
  { "focus-view", focus_view },
  { "enlarge", enlarge },
};

static void
on_plain (GSimpleAction *action, GVariant *parameter G_GNUC_UNUSED, gpointer self)
{
  const char *name = g_action_get_name (G_ACTION (action));

  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (g_str_equal (plain[i].name, name))
      plain[i].act (self);
}

static void
on_open_uri (GSimpleAction *action G_GNUC_UNUSED, GVariant *uri, gpointer self)
{
  mhar_window_open_uri (self, g_variant_get_string (uri, NULL));
}

static void
on_compare_uri (GSimpleAction *action G_GNUC_UNUSED, GVariant *uri, gpointer self)
{
  g_autoptr (GFile) file = g_file_new_for_uri (g_variant_get_string (uri, NULL));
  mhar_window_open_other (self, file);
}

static void
on_page (GSimpleAction *action G_GNUC_UNUSED, GVariant *name, gpointer data)
{
  MharPage page = mhar_page_parse (g_variant_get_string (name, NULL));

  if (page < MHAR_N_PAGES)
    mhar_centre_set_page (MHAR_WINDOW (data)->centre, page);
}

static void
on_quantity (GSimpleAction *action, GVariant *value, gpointer data)
{
  g_simple_action_set_state (action, value);
  mhar_centre_set_deviation (MHAR_WINDOW (data)->centre, g_str_equal (g_variant_get_string (value, NULL), "deviation"));
}

static void
on_other_quantity (GSimpleAction *action G_GNUC_UNUSED, GVariant *parameter G_GNUC_UNUSED, gpointer self)
{
  g_autoptr (GVariant) state = g_action_group_get_action_state (G_ACTION_GROUP (self), "quantity");
  gboolean deviation = g_str_equal (g_variant_get_string (state, NULL), "deviation");

  g_action_group_change_action_state (G_ACTION_GROUP (self), "quantity",
                                      g_variant_new_string (deviation ? "weight" : "deviation"));
}

static void
on_table (GSimpleAction *action, GVariant *value, gpointer data)
{
  g_simple_action_set_state (action, value);
  mhar_centre_set_table (MHAR_WINDOW (data)->centre, g_variant_get_boolean (value));
}

static void
on_column (GSimpleAction *action, GVariant *value, gpointer data)
{
  g_simple_action_set_state (action, value);
  if (g_str_equal (g_action_get_name (G_ACTION (action)), "left-column"))
    mhar_columns_show_left (MHAR_WINDOW (data)->columns, g_variant_get_boolean (value));
  else
    mhar_columns_show_right (MHAR_WINDOW (data)->columns, g_variant_get_boolean (value));
}

static const GActionEntry entries[] = {
  { .name = "open-uri", .activate = on_open_uri, .parameter_type = "s" },
  { .name = "compare-uri", .activate = on_compare_uri, .parameter_type = "s" },
  { .name = "page", .activate = on_page, .parameter_type = "s" },
  { .name = "quantity", .parameter_type = "s", .state = "'deviation'", .change_state = on_quantity },
  { .name = "other-quantity", .activate = on_other_quantity },
  { .name = "table", .state = "false", .change_state = on_table },
  { .name = "left-column", .state = "true", .change_state = on_column },
  { .name = "right-column", .state = "true", .change_state = on_column },
};

void
mhar_window_add_actions (MharWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++) {
    g_autoptr (GSimpleAction) action = g_simple_action_new (plain[i].name, NULL);
    g_signal_connect (action, "activate", G_CALLBACK (on_plain), self);
    g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
  }
}

static void
enable (MharWindow *self, const char *name, gboolean enabled)
{
  g_simple_action_set_enabled (G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self), name)), enabled);
}

void
mhar_window_update_actions (MharWindow *self)
{
  gboolean checkpoint = self->opened != NULL && mhar_opened_checkpoint (self->opened) != NULL;
  gboolean working = g_strcmp0 (gtk_stack_get_visible_child_name (self->root_stack), "work") == 0;
  gboolean results = mhar_centre_get_dataset (self->centre) != NULL && working;
  MharFigureOptions options;
  MharFigureKind kind;
  gboolean ablation = mhar_centre_get_page (self->centre) == MHAR_PAGE_ABLATION;
  gboolean figure = results && mhar_centre_get_figure (self->centre, &kind, &options);

  enable (self, "run", checkpoint && working && self->running == NULL);
  enable (self, "measure", checkpoint && working && self->running == NULL && mhar_opened_plan (self->opened)->sites->len > 0);
  enable (self, "stop", self->running != NULL && !g_cancellable_is_cancelled (self->running));
  enable (self, "open-text", checkpoint);
  enable (self, "compare-close", self->other != NULL);
  enable (self, "compare-folder", self->opened != NULL);
  enable (self, "compare-file", self->opened != NULL);
  enable (self, "enlarge", results);
  enable (self, "export-picture", figure);
  enable (self, "copy-picture", figure);
  enable (self, "export-numbers", results);
  enable (self, "export-run", results && self->running == NULL);
  enable (self, "copy-value", results);
  enable (self, "copy-command", working && (ablation ? self->measured_ran : self->ran) != NULL);
}
