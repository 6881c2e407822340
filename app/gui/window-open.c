/* SPDX-License-Identifier: MIT */
/* What comes into a window: checkpoints, saved runs and texts, by dialog, menu or name. */
#include "app/gui/window-private.h"

#include "core/input.h"
#include "core/paths.h"
#include "probes/compare.h"

#include <glib/gi18n.h>

/* A text for the model to read; longer ones are for the command line. */
#define TEXT_MAX (64 << 20) /* bytes */

typedef struct {
  MharWindow *window; /* a weak reference: NULL once it is gone */
  GFile *file;
  gboolean other;
  GCancellable *cancellable;
} Opening;

static void
opening_free (Opening *opening)
{
  g_clear_weak_pointer (&opening->window);
  g_object_unref (opening->file);
  g_object_unref (opening->cancellable);
  g_free (opening);
}

static void
complain (MharWindow *self, const GError *error, gboolean other)
{
  mhar_window_show_notice (self, GTK_MESSAGE_ERROR, error->message, _("Choose another…"),
                           other ? "win.compare-folder" : "win.open-folder");
}

/* The steps of a training run, and the comparison of two checkpoints, are what their files are about; nothing else has a page
 * of steps. */
static void
turn_to_subject (MharWindow *self)
{
  MharDataset *root = mhar_opened_root (self->opened);

  if (root != NULL && mhar_dataset_find_child (root, "series") != NULL)
    mhar_centre_set_page (self->centre, MHAR_PAGE_SERIES);
  else if (root != NULL && mhar_dataset_find_child (root, "compare") != NULL)
    mhar_centre_set_page (self->centre, MHAR_PAGE_COMPARE);
  else if (mhar_centre_get_page (self->centre) == MHAR_PAGE_SERIES
           || (mhar_centre_get_page (self->centre) == MHAR_PAGE_COMPARE && self->other_set == NULL))
    mhar_centre_set_page (self->centre, MHAR_PAGE_MAPS);
}

/* Takes `opened` as what the window is about; the text stays, for another checkpoint may run it too. */
static void
take_opened (MharWindow *self, MharOpened *opened)
{
  mhar_window_forget_run (self);
  g_clear_pointer (&self->other, mhar_opened_unref);
  g_clear_pointer (&self->opened, mhar_opened_unref);
  self->opened = opened;
  if (mhar_opened_plan (opened) != NULL)
    mhar_probe_panel_set_width (self->probe, mhar_opened_plan (opened)->width);
  const GPtrArray *results = mhar_opened_results (opened);
  guint n = results != NULL ? results->len : 0;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++) {
    const char *path = mhar_dataset_string (g_ptr_array_index ((GPtrArray *) results, i), "path");
    g_ptr_array_add (names, path != NULL ? g_path_get_basename (path) : g_strdup_printf ("%u", i));
  }
  g_ptr_array_add (names, NULL);
  gtk_string_list_splice (self->result_names, 0, g_list_model_get_n_items (G_LIST_MODEL (self->result_names)),
                          (const char *const *) names->pdata);
  gtk_widget_set_visible (GTK_WIDGET (self->result_drop), n > 1);
  gtk_stack_set_visible_child_name (self->root_stack, "work");
  if (n > 0)
    mhar_window_show_saved (self, 0);
  else
    mhar_window_refresh (self);
  turn_to_subject (self);
}

/* The first of a saved run is compared with the one shown, where it is another; else the second, as mhar-probe --compare
 * matched its heads where it did. */
static MharDataset *
saved_other (MharWindow *self, const GPtrArray *results, guint index)
{
  MharDataset *compare = mhar_dataset_find_child (mhar_opened_root (self->opened), "compare");

  if (results->len < 2)
    return NULL;
  MharDataset *other = g_ptr_array_index ((GPtrArray *) results, index == 0 ? 1 : 0);
  return compare != NULL && index == 0 ? mhar_comparison_matched (compare, other) : mhar_dataset_ref (other);
}

void
mhar_window_show_saved (MharWindow *self, guint index)
{
  const GPtrArray *results = self->opened != NULL ? mhar_opened_results (self->opened) : NULL;

  if (results == NULL || index >= results->len)
    return;
  g_clear_pointer (&self->set, mhar_dataset_unref);
  self->set = mhar_dataset_ref (g_ptr_array_index ((GPtrArray *) results, index));
  g_clear_pointer (&self->measured_set, mhar_dataset_unref);
  if (mhar_figure_available (self->set, MHAR_FIGURE_ABLATION))
    self->measured_set = mhar_dataset_ref (self->set);
  if (self->other == NULL) {
    g_clear_pointer (&self->other_set, mhar_dataset_unref);
    self->other_set = saved_other (self, results, index);
  }
  mhar_window_refresh (self);
}

/* A second checkpoint is run with the text of the first; a second saved run is there already. */
static void
take_other (MharWindow *self, MharOpened *other)
{
  const GPtrArray *results = mhar_opened_results (other);

  g_clear_pointer (&self->other, mhar_opened_unref);
  g_clear_pointer (&self->other_set, mhar_dataset_unref);
  self->other = other;
  if (results != NULL)
    self->other_set = mhar_dataset_ref (g_ptr_array_index ((GPtrArray *) results, 0));
  mhar_centre_set_page (self->centre, MHAR_PAGE_COMPARE);
  mhar_window_refresh (self);
  if (results == NULL && mhar_opened_checkpoint (self->opened) != NULL)
    mhar_window_run (self);
  else if (results == NULL)
    mhar_window_show_notice (self, GTK_MESSAGE_INFO,
                             _("A saved run can only be compared with another saved run: its text is not in it"),
                             _("Open a saved run…"), "win.compare-file");
}

static void
remember (MharWindow *self, GFile *file)
{
  mhar_settings_add_recent (mhar_window_settings (self), file);
  mhar_settings_save (mhar_window_settings (self));
  mhar_window_update_open_menu (self);
}

static void
on_opened (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  Opening *opening = data;
  MharWindow *self = opening->window;
  g_autoptr (GError) error = NULL;
  MharOpened *opened = mhar_opened_new_finish (result, &error);

  /* A window that is gone, or that was asked for something else meanwhile, does not want it. */
  if (self == NULL || g_cancellable_is_cancelled (opening->cancellable)) {
    mhar_opened_unref (opened);
    opening_free (opening);
    return;
  }
  g_clear_object (&self->opening);
  if (opened == NULL) {
    complain (self, error, opening->other);
  } else {
    mhar_window_hide_notice (self);
    remember (self, opening->file);
    if (opening->other)
      take_other (self, opened);
    else
      take_opened (self, opened);
  }
  opening_free (opening);
}

static void
open_file (MharWindow *self, GFile *file, gboolean other)
{
  g_autofree char *path = g_file_get_path (file);

  if (path == NULL) {
    g_autofree char *uri = g_file_get_uri (file);
    g_autofree char *text = g_strdup_printf (_("%s is not on this computer; copy it here first"), uri);
    mhar_window_show_notice (self, GTK_MESSAGE_ERROR, text, NULL, NULL);
    return;
  }
  Opening *opening = g_new0 (Opening, 1);
  g_cancellable_cancel (self->opening);
  g_clear_object (&self->opening);
  self->opening = g_cancellable_new ();
  g_set_weak_pointer (&opening->window, self);
  opening->file = g_object_ref (file);
  opening->other = other;
  opening->cancellable = g_object_ref (self->opening);
  mhar_opened_new_async (path, self->opening, on_opened, opening);
}

void
mhar_window_open (MharWindow *self, GFile *file)
{
  open_file (self, file, FALSE);
}

void
mhar_window_open_other (MharWindow *self, GFile *file)
{
  open_file (self, file, self->opened != NULL);
}

void
mhar_window_open_uri (MharWindow *self, const char *uri)
{
  g_autoptr (GFile) file = g_file_new_for_uri (uri);
  mhar_window_open (self, file);
}

void
mhar_window_close_other (MharWindow *self)
{
  g_clear_pointer (&self->other, mhar_opened_unref);
  g_clear_pointer (&self->other_set, mhar_dataset_unref);
  mhar_window_refresh (self);
}

/* The dialog is kept until it answers: nothing else holds it. `done` gets the chosen file. */
static GtkFileChooserNative *
new_chooser (MharWindow *self, const char *title, GtkFileChooserAction action, GCallback done)
{
  if (self->chooser != NULL)
    gtk_native_dialog_destroy (GTK_NATIVE_DIALOG (self->chooser));
  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (title, GTK_WINDOW (self), action, _("_Open"), _("_Cancel"));
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  g_signal_connect_object (self->chooser, "response", done, self, 0);
  return self->chooser;
}

static GFile *
chosen (MharWindow *self, int response)
{
  GFile *file = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (self->chooser)) : NULL;

  gtk_native_dialog_hide (GTK_NATIVE_DIALOG (self->chooser));
  return file;
}

static void
on_chosen (GtkNativeDialog *dialog G_GNUC_UNUSED, int response, MharWindow *self)
{
  g_autoptr (GFile) file = chosen (self, response);
  if (file != NULL)
    open_file (self, file, FALSE);
}

static void
on_other_chosen (GtkNativeDialog *dialog G_GNUC_UNUSED, int response, MharWindow *self)
{
  g_autoptr (GFile) file = chosen (self, response);
  if (file != NULL)
    open_file (self, file, TRUE);
}

void
mhar_window_choose_folder (MharWindow *self, gboolean other)
{
  GtkFileChooserNative *chooser = new_chooser (
      self, other ? _("Compare with a checkpoint folder") : _("Open a checkpoint folder"),
      GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, other ? G_CALLBACK (on_other_chosen) : G_CALLBACK (on_chosen));
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

static void
add_filter (GtkFileChooserNative *chooser, const char *name, const char *const *patterns)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();

  gtk_file_filter_set_name (filter, name);
  for (guint i = 0; patterns[i] != NULL; i++)
    gtk_file_filter_add_pattern (filter, patterns[i]);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
}

void
mhar_window_choose_file (MharWindow *self, gboolean other)
{
  static const char *const results[] = { "*.h5", "*.hdf5", "*.nc", NULL };
  static const char *const archives[] = { "*.pt", "*.pth", "*.bin", "*.ckpt", NULL };
  static const char *const all[] = { "*", NULL };
  GtkFileChooserNative *chooser
      = new_chooser (self, other ? _("Compare with a file") : _("Open a file"),
                     GTK_FILE_CHOOSER_ACTION_OPEN, other ? G_CALLBACK (on_other_chosen) : G_CALLBACK (on_chosen));
  add_filter (chooser, _("Saved runs (HDF5)"), results);
  add_filter (chooser, _("Checkpoints in one file (torch.save)"), archives);
  add_filter (chooser, _("All files"), all);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

/* FALSE, and a sentence in the window, where it is no text. */
static gboolean
load_text (MharWindow *self, const char *path, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) map = mhar_input_map (path, TEXT_MAX, &error);
  const char *end = NULL;

  if (map != NULL
      && !g_utf8_validate (g_mapped_file_get_contents (map), (gssize) g_mapped_file_get_length (map), &end)) {
    g_autofree char *text = g_strdup_printf (_("%s is not UTF-8 text (at byte %zu); convert it first"), name,
                                             (gsize) (end - g_mapped_file_get_contents (map)));
    mhar_window_show_notice (self, GTK_MESSAGE_ERROR, text, _("Choose another…"), "win.open-text");
    return FALSE;
  }
  if (map == NULL) {
    mhar_window_show_notice (self, GTK_MESSAGE_ERROR, error->message, _("Choose another…"), "win.open-text");
    return FALSE;
  }
  /* A copy: the file may change under a map. */
  g_autoptr (GBytes) bytes = g_bytes_new (g_mapped_file_get_contents (map), g_mapped_file_get_length (map));
  mhar_prompt_panel_set_text (self->prompt, bytes, name);
  g_free (self->text_path);
  self->text_path = g_strdup (path);
  return TRUE;
}

gboolean
mhar_window_load_text (MharWindow *self, const char *path)
{
  g_autofree char *name = g_filename_display_basename (path);
  return load_text (self, path, name);
}

static void
on_text_chosen (GtkNativeDialog *dialog G_GNUC_UNUSED, int response, MharWindow *self)
{
  g_autoptr (GFile) file = chosen (self, response);
  g_autofree char *path = file != NULL ? g_file_get_path (file) : NULL;

  if (path != NULL)
    mhar_window_load_text (self, path);
}

void
mhar_window_choose_text (MharWindow *self)
{
  static const char *const texts[] = { "*.txt", "*.md", "*.csv", "*.json", NULL };
  static const char *const all[] = { "*", NULL };
  GtkFileChooserNative *chooser
      = new_chooser (self, _("Choose a text file"), GTK_FILE_CHOOSER_ACTION_OPEN, G_CALLBACK (on_text_chosen));

  add_filter (chooser, _("All files"), all);
  add_filter (chooser, _("Texts"), texts);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

void
mhar_window_load_bundled_text (MharWindow *self)
{
  g_autofree char *path = mhar_path_data ("demo/text.txt");
  if (path != NULL)
    load_text (self, path, "bundled text");
}

static void
append_uri (GMenu *menu, const char *label, const char *action, const char *uri)
{
  g_autoptr (GMenuItem) item = g_menu_item_new (NULL, NULL);

  g_menu_item_set_label (item, label);
  g_menu_item_set_action_and_target (item, action, "s", uri);
  g_menu_append_item (menu, item);
}

/* Underscores of names are not mnemonics. */
static char *
menu_label (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "_", -1);
  return g_strjoinv ("__", parts);
}

static void
append_demos (GMenu *menu, const char *action)
{
  static const struct {
    const char *file, *label;
  } demos[] = { { "demo/mhar/config.json", N_("Demo: four heads a read") },
                { "demo/single/config.json", N_("Demo: one head a read") } };

  for (guint i = 0; i < G_N_ELEMENTS (demos); i++) {
    g_autofree char *config = mhar_path_data (demos[i].file);
    g_autofree char *folder = config != NULL ? g_path_get_dirname (config) : NULL;
    g_autofree char *uri = folder != NULL ? g_filename_to_uri (folder, NULL, NULL) : NULL;
    if (uri != NULL)
      append_uri (menu, _(demos[i].label), action, uri);
  }
}

static void
append_recent (MharWindow *self, GMenu *menu)
{
  g_auto (GStrv) recent = mhar_settings_get_recent (mhar_window_settings (self));

  for (guint i = 0; recent[i] != NULL; i++) {
    g_autoptr (GFile) file = g_file_new_for_uri (recent[i]);
    g_autofree char *path = g_file_get_path (file);
    g_autofree char *name = path != NULL ? g_filename_display_basename (path) : NULL;
    g_autofree char *label = name != NULL ? menu_label (name) : NULL;
    if (label != NULL)
      append_uri (menu, label, "win.open-uri", recent[i]);
  }
}

static void
append_section (GMenu *menu, const char *label, GMenu *section)
{
  if (g_menu_model_get_n_items (G_MENU_MODEL (section)) > 0)
    g_menu_append_section (menu, label, G_MENU_MODEL (section));
  g_object_unref (section);
}

void
mhar_window_update_open_menu (MharWindow *self)
{
  g_autoptr (GMenu) menu = g_menu_new ();
  GMenu *open = g_menu_new (), *demos = g_menu_new (), *recent = g_menu_new (), *compare = g_menu_new ();

  g_menu_append (open, _("_Checkpoint folder…"), "win.open-folder");
  g_menu_append (open, _("Saved _run or checkpoint file…"), "win.open-file");
  append_demos (demos, "win.open-uri");
  append_recent (self, recent);
  g_menu_append (compare, _("Compare with a checkpoint _folder…"), "win.compare-folder");
  g_menu_append (compare, _("Compare with a _saved run…"), "win.compare-file");
  append_demos (compare, "win.compare-uri");
  g_menu_append (compare, _("_End the comparison"), "win.compare-close");
  append_section (menu, NULL, open);
  append_section (menu, NULL, demos);
  append_section (menu, _("Recent"), recent);
  append_section (menu, _("Compare"), compare);
  gtk_menu_button_set_menu_model (self->open_button, G_MENU_MODEL (menu));
}
