/* SPDX-License-Identifier: MIT */
#include "app/gui/window-private.h"

#include "app/gui/comparison-words.h"
#include "app/gui/sentence.h"

#include <glib/gi18n.h>

G_DEFINE_FINAL_TYPE (MharWindow, mhar_window, GTK_TYPE_APPLICATION_WINDOW)

/* Of the ends of fixed scales, in the settings. */
static const char *const end_names[MHAR_N_SCALED][2] = { [MHAR_SCALED_WEIGHT] = { "weight-low", "weight-high" },
                                                         [MHAR_SCALED_DEVIATION] = { "low", "high" },
                                                         [MHAR_SCALED_COSINE] = { "cosine-low", "cosine-high" } };

MharSettings *
mhar_window_settings (MharWindow *self)
{
  return mhar_application_settings (MHAR_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
}

void
mhar_window_show_notice (MharWindow *self, GtkMessageType type, const char *text, const char *button,
                         const char *action)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  gtk_info_bar_set_message_type (self->notice, type);
  gtk_label_set_label (self->notice_label, valid);
  gtk_widget_set_visible (GTK_WIDGET (self->notice_button), button != NULL);
  if (button != NULL) {
    gtk_button_set_label (self->notice_button, button);
    gtk_actionable_set_action_name (GTK_ACTIONABLE (self->notice_button), action);
  }
  gtk_info_bar_set_revealed (self->notice, TRUE);
}

void
mhar_window_hide_notice (MharWindow *self)
{
  gtk_info_bar_set_revealed (self->notice, FALSE);
}

void
mhar_window_refresh_sentence (MharWindow *self)
{
  MharPoint at = { mhar_centre_get_page (self->centre), mhar_selection_get_site (self->selection),
                   mhar_selection_get_head (self->selection), mhar_selection_get_source (self->selection) };
  const char *words = mhar_centre_get_words (self->centre);
  g_autofree char *text = words != NULL ? g_strdup (words) : mhar_sentence (self->set, self->other_set, mhar_centre_get_deviation (self->centre), &at);
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  if (g_str_equal (gtk_label_get_label (self->sentence), valid))
    return;
  gtk_label_set_label (self->sentence, valid);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->sentence), valid[0] != '\0' ? valid : NULL);
}

static void
on_page_changed (MharWindow *self)
{
  mhar_window_refresh_sentence (self);
  mhar_window_update_actions (self);
}

static void
on_display_changed (MharWindow *self)
{
  mhar_selection_panel_set_display (self->selection_panel, mhar_centre_get_display (self->centre));
  mhar_window_refresh_sentence (self);
}

static void
refresh_title (MharWindow *self)
{
  g_autofree char *what = self->opened != NULL ? mhar_opened_describe (self->opened) : NULL;
  g_autoptr (GString) title
      = g_string_new (self->opened != NULL ? mhar_opened_name (self->opened) : _("Depth routing"));

  if (self->other != NULL)
    g_string_append_printf (title, _(" against %s"), mhar_opened_name (self->other));
  gtk_window_set_title (GTK_WINDOW (self), title->str);
  gtk_label_set_label (self->title_label, title->str);
  gtk_label_set_label (self->subtitle_label, what != NULL ? what : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle_label), what);
  gtk_widget_set_visible (GTK_WIDGET (self->subtitle_label), what != NULL);
}

static const char *
empty_text (const MharWindow *self)
{
  if (self->running != NULL)
    return _("Running. Maps fill in window by window.");
  return _("Press Run (Ctrl+Enter): the text on the left goes through the checkpoint, and what its reads attend to "
            "appears here.");
}

/* Whoever types goes on typing. */
static void
focus_picture (MharWindow *self)
{
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (self));

  if (focus == NULL || !GTK_IS_TEXT_VIEW (focus))
    mhar_centre_focus (self->centre);
}

/* Whether a saved run that what is shown is compared with is of the same tokens; NULL: nothing to say. g_free. */
static char *
caution (const MharWindow *self)
{
  const MharDataset *first = self->opened != NULL ? mhar_opened_root (self->opened) : NULL;
  const MharDataset *second = self->other != NULL ? mhar_opened_root (self->other) : NULL;

  if (first == NULL && self->result != NULL)
    first = self->result->root;
  return first != NULL && second != NULL && self->set != NULL && self->other_set != NULL
             ? mhar_comparison_text_words (first, self->set, second, self->other_set)
             : NULL;
}

void
mhar_window_refresh (MharWindow *self)
{
  g_autofree char *words = caution (self);
  gboolean saved = self->opened != NULL && mhar_opened_checkpoint (self->opened) == NULL;
  MharDataset *root = saved ? mhar_opened_root (self->opened) : NULL;
  const MharPlan *plan = self->opened != NULL ? mhar_opened_plan (self->opened) : NULL;
  gboolean first = root != NULL && self->other == NULL && self->set == g_ptr_array_index (mhar_opened_results (self->opened), 0);
  MharShown shown = { .set = self->set,
                      .other = self->other_set,
                      .compared = first ? mhar_dataset_find_child (root, "compare") : NULL,
                      .caution = words,
                      .measured = self->measured_set,
                      .series = root != NULL ? mhar_dataset_find_child (root, "series") : NULL,
                      .measurable = plan != NULL && plan->sites->len > 0 };

  refresh_title (self);
  if (self->result != NULL && self->set == g_ptr_array_index (self->result->sets, 0)) {
    shown.capture = self->result->capture;
    shown.text = self->result->text;
    shown.tokens = self->result->tokens;
  }
  if (self->opened != NULL) {
    gtk_stack_set_visible_child_name (self->root_stack, "work");
    mhar_checkpoint_panel_show (self->checkpoint_panel, self->opened, self->set);
    mhar_sites_view_show (self->sites, mhar_opened_plan (self->opened), self->set);
  }
  gtk_widget_set_visible (GTK_WIDGET (self->prompt), !saved);
  gtk_widget_set_visible (GTK_WIDGET (self->probe), !saved);
  gtk_widget_set_visible (self->run_box, self->opened != NULL && !saved);
  /* What cannot be changed in a run gives its room to the progress, so that a narrow window stays as it is. */
  gtk_widget_set_visible (GTK_WIDGET (self->device_drop), self->running == NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->export_button), self->opened != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->sentence), self->opened != NULL);
  mhar_selection_set_dataset (self->selection, self->set != NULL ? self->set : self->measured_set);
  mhar_selection_panel_set_dataset (self->selection_panel, self->set);
  mhar_centre_show (self->centre, &shown, empty_text (self));
  if (mhar_selection_choose_largest (self->selection))
    focus_picture (self);
  mhar_window_refresh_sentence (self);
  mhar_window_update_actions (self);
}

void
mhar_window_show_start (MharWindow *self)
{
  mhar_start_page_show_recent (self->start, mhar_window_settings (self));
  gtk_stack_set_visible_child_name (self->root_stack, "start");
  mhar_window_update_actions (self);
}

gboolean
mhar_window_is_empty (MharWindow *self)
{
  return self->opened == NULL && self->opening == NULL;
}

/* A dark desktop is one whose text is lighter than its ground. */
static void
follow_colours (MharWindow *self)
{
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self->sentence)), &ink);
  gboolean dark = ink.red + ink.green + ink.blue > 1.5f;
  mhar_centre_set_theme (self->centre, dark ? MHAR_FIGURE_DARK : MHAR_FIGURE_LIGHT);
  mhar_start_page_set_dark (self->start, dark);
}

static gboolean
follow_theme (gpointer self)
{
  follow_colours (self);
  return G_SOURCE_REMOVE;
}

/* Later: styles are worked out after the setting has changed. */
static void
on_theme (MharWindow *self)
{
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE, follow_theme, g_object_ref (self), g_object_unref);
}

static gboolean
on_close (GtkWindow *window)
{
  MharWindow *self = MHAR_WINDOW (window);
  MharSettings *settings = mhar_window_settings (self);
  const MharDisplay *display = mhar_centre_get_display (self->centre);
  int width, height;

  gtk_window_get_default_size (window, &width, &height);
  mhar_settings_set_integer (settings, "maximized", gtk_window_is_maximized (window));
  if (!gtk_window_is_maximized (window)) {
    mhar_settings_set_integer (settings, "width", width);
    mhar_settings_set_integer (settings, "height", height);
  }
  MharPage page = mhar_centre_get_page (self->centre);
  mhar_settings_set_string (settings, "page", mhar_page_name (page == MHAR_PAGE_SERIES || page == MHAR_PAGE_COMPARE ? MHAR_PAGE_MAPS : page));
  mhar_settings_set_string (settings, "scale", mhar_display_scale_name (display->scale));
  for (guint i = 0; i < MHAR_N_SCALED; i++) {
    mhar_settings_set_real (settings, end_names[i][0], display->ends[i].low);
    mhar_settings_set_real (settings, end_names[i][1], display->ends[i].high);
  }
  mhar_settings_set_string (settings, "map", mhar_display_map_name (display->map));
  mhar_settings_set_integer (settings, "paper", display->style == MHAR_FIGURE_AUTHORS);
  mhar_probe_panel_save (self->probe, settings);
  mhar_settings_save (settings);
  mhar_window_stop (self);
  g_cancellable_cancel (self->opening);
  return FALSE;
}

static void
dispose (GObject *object)
{
  MharWindow *self = MHAR_WINDOW (object);

  mhar_window_stop (self);
  if (self->chooser != NULL)
    gtk_native_dialog_destroy (GTK_NATIVE_DIALOG (self->chooser));
  g_clear_object (&self->chooser);
  gtk_widget_dispose_template (GTK_WIDGET (object), MHAR_TYPE_WINDOW);
  G_OBJECT_CLASS (mhar_window_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  MharWindow *self = MHAR_WINDOW (object);

  g_clear_object (&self->selection);
  g_clear_object (&self->opening);
  g_clear_object (&self->running);
  g_clear_pointer (&self->opened, mhar_opened_unref);
  g_clear_pointer (&self->other, mhar_opened_unref);
  g_clear_pointer (&self->result, mhar_run_result_unref);
  g_clear_pointer (&self->ran, mhar_run_request_free);
  g_clear_pointer (&self->set, mhar_dataset_unref);
  g_clear_pointer (&self->other_set, mhar_dataset_unref);
  g_clear_pointer (&self->measured, mhar_run_result_unref);
  g_clear_pointer (&self->measured_ran, mhar_run_request_free);
  g_clear_pointer (&self->measured_set, mhar_dataset_unref);
  g_clear_pointer (&self->devices, g_ptr_array_unref);
  g_clear_pointer (&self->text_path, g_free);
  G_OBJECT_CLASS (mhar_window_parent_class)->finalize (object);
}

static void
bind_children (GtkWidgetClass *class)
{
  gtk_widget_class_bind_template_child (class, MharWindow, open_button);
  gtk_widget_class_bind_template_child (class, MharWindow, export_button);
  gtk_widget_class_bind_template_child (class, MharWindow, menu_button);
  gtk_widget_class_bind_template_child (class, MharWindow, title_label);
  gtk_widget_class_bind_template_child (class, MharWindow, subtitle_label);
  gtk_widget_class_bind_template_child (class, MharWindow, notice_label);
  gtk_widget_class_bind_template_child (class, MharWindow, sentence);
  gtk_widget_class_bind_template_child (class, MharWindow, run_box);
  gtk_widget_class_bind_template_child (class, MharWindow, start_slot);
  gtk_widget_class_bind_template_child (class, MharWindow, work_slot);
  gtk_widget_class_bind_template_child (class, MharWindow, device_drop);
  gtk_widget_class_bind_template_child (class, MharWindow, run_stack);
  gtk_widget_class_bind_template_child (class, MharWindow, root_stack);
  gtk_widget_class_bind_template_child (class, MharWindow, progress);
  gtk_widget_class_bind_template_child (class, MharWindow, progress_label);
  gtk_widget_class_bind_template_child (class, MharWindow, notice);
  gtk_widget_class_bind_template_child (class, MharWindow, notice_button);
}

static void
mhar_window_class_init (MharWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  GTK_WINDOW_CLASS (class)->close_request = on_close;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/mhar_probe/Viewer/ui/window.ui");
  bind_children (widget_class);
}

static void
mhar_window_init (MharWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->selection = mhar_selection_new ();
  self->devices = g_ptr_array_new_with_free_func (g_free);
  self->start = MHAR_START_PAGE (mhar_start_page_new ());
  gtk_widget_set_hexpand (GTK_WIDGET (self->start), TRUE);
  gtk_box_append (GTK_BOX (self->start_slot), GTK_WIDGET (self->start));
  mhar_window_build_columns (self);
  g_signal_connect_object (self->selection, "changed", G_CALLBACK (mhar_window_refresh_sentence), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->centre, "page-changed", G_CALLBACK (on_page_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->centre, "words-changed", G_CALLBACK (mhar_window_refresh_sentence), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->centre, "display-changed", G_CALLBACK (on_display_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->notice, "response", G_CALLBACK (mhar_window_hide_notice), self, G_CONNECT_SWAPPED);
  mhar_window_add_actions (self);
  mhar_window_add_keys (self);
  mhar_window_add_drop (self);
}

static void
restore (MharWindow *self)
{
  const MharSettings *settings = mhar_window_settings (self);
  g_autofree char *page_name = mhar_settings_get_string (settings, "page");
  MharPage page = mhar_page_parse (page_name);
  g_autofree char *scale = mhar_settings_get_string (settings, "scale"),
                  *map = mhar_settings_get_string (settings, "map");
  MharDisplay display;

  mhar_display_init (&display);
  display.scale = mhar_display_scale_parse (scale != NULL ? scale : "");
  display.map = mhar_display_map_parse (map != NULL ? map : "");
  for (guint i = 0; i < MHAR_N_SCALED; i++) {
    display.ends[i].low = mhar_settings_get_real (settings, end_names[i][0], display.ends[i].low);
    display.ends[i].high = mhar_settings_get_real (settings, end_names[i][1], display.ends[i].high);
  }
  display.style = mhar_settings_get_integer (settings, "paper", 0) == 1 ? MHAR_FIGURE_AUTHORS : MHAR_FIGURE_PLAIN;
  gtk_window_set_default_size (GTK_WINDOW (self),
                               CLAMP (mhar_settings_get_integer (settings, "width", 1280), 400, 16384),
                               CLAMP (mhar_settings_get_integer (settings, "height", 800), 300, 16384));
  if (mhar_settings_get_integer (settings, "maximized", 0) == 1)
    gtk_window_maximize (GTK_WINDOW (self));
  mhar_probe_panel_load (self->probe, settings);
  mhar_centre_set_display (self->centre, &display);
  if (page < MHAR_N_PAGES)
    mhar_centre_set_page (self->centre, page);
}

MharWindow *
mhar_window_new (MharApplication *application)
{
  MharWindow *self = g_object_new (MHAR_TYPE_WINDOW, "application", application, NULL);

  restore (self);
  mhar_window_find_devices (self);
  mhar_window_load_bundled_text (self);
  mhar_window_update_open_menu (self);
  mhar_window_refresh (self);
  mhar_window_show_start (self);
  g_signal_connect_object (gtk_widget_get_settings (GTK_WIDGET (self)), "notify::gtk-application-prefer-dark-theme",
                           G_CALLBACK (on_theme), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_widget_get_settings (GTK_WIDGET (self)), "notify::gtk-theme-name", G_CALLBACK (on_theme),
                           self, G_CONNECT_SWAPPED);
  on_theme (self);
  return self;
}
