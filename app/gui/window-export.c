/* SPDX-License-Identifier: MIT */
/* What leaves a window: pictures, numbers, runs; to files and to the clipboard. */
#include "app/gui/window-private.h"

#include "app/gui/run-command.h"
#include "app/gui/run-file.h"
#include "app/gui/saving.h"
#include "app/gui/target-guard.h"
#include "core/output-target.h"

#include <glib/gi18n.h>
#include <string.h>

/* Which part of the maps: the choice in the dialog. */
#define CHOICE "part"
#define AS_FIGURE "figure" /* as `mhar-probe --figure` has it: the first ten sites, all heads */
#define AS_SHOWN "shown"

/* Light, with its caption, whatever the window looks like. FALSE where the page has no figure. */
static gboolean
get_figure (MharWindow *self, gboolean as_shown, MharFigureKind *kind, MharFigureOptions *options)
{
  MharFigureOptions plain;

  mhar_figure_options_init (&plain);
  if (!mhar_centre_get_figure (self->centre, kind, options))
    return FALSE;
  options->theme = MHAR_FIGURE_LIGHT;
  options->family = NULL;
  options->font_size = 0;
  options->bare = options->screen = FALSE;
  if (as_shown || (*kind != MHAR_FIGURE_DEVIATION && *kind != MHAR_FIGURE_DEPTH_MAP && *kind != MHAR_FIGURE_COEFFICIENTS))
    return TRUE;
  options->first_sites = plain.first_sites;
  options->head = plain.head;
  options->view = plain.view;
  return TRUE;
}

static char *
suggested_name (MharWindow *self, const char *what, const char *extension)
{
  g_autofree char *stem = g_strdup (mhar_opened_name (self->opened));

  char *dot = strchr (stem, '.');

  if (mhar_opened_checkpoint (self->opened) == NULL && dot != NULL)
    *dot = '\0';
  return g_strdup_printf ("%s-%s.%s", stem, what, extension);
}

static void
save_picture (MharWindow *self, const char *path, GError **error)
{
  g_autofree char *part = mhar_settings_get_string (mhar_window_settings (self), CHOICE);
  MharFigureOptions options;
  MharFigureKind kind;

  if (get_figure (self, g_strcmp0 (part, AS_SHOWN) == 0, &kind, &options))
    mhar_saving_figure (path, mhar_centre_get_dataset (self->centre), kind, &options, error);
}

static void
save_numbers (MharWindow *self, const char *path, GError **error)
{
  g_autoptr (MharNumbers) numbers = mhar_centre_get_numbers (self->centre);
  g_autofree char *csv = mhar_numbers_csv (numbers);

  mhar_output_write (path, csv, strlen (csv), error);
}

static void
report (MharWindow *self, const char *path, const GError *error, const char *action)
{
  g_autofree char *name = g_filename_display_basename (path);
  g_autofree char *text = g_strdup_printf (_("Saved %s"), name);

  if (error != NULL)
    mhar_window_show_notice (self, GTK_MESSAGE_ERROR, error->message, _("Choose another place…"), action);
  else
    mhar_window_show_notice (self, GTK_MESSAGE_INFO, text, NULL, NULL);
}

/* Whether nothing that is read here would be lost at `path`; says so where it would. */
static gboolean
is_free (MharWindow *self, const char *path, const char *action)
{
  g_autoptr (GError) error = NULL;

  if (mhar_target_is_free (path, self->opened, &error) && mhar_target_is_free (path, self->other, &error)
      && mhar_target_is_not (path, self->text_path, &error))
    return TRUE;
  report (self, path, error, action);
  return FALSE;
}

typedef struct {
  const char *title, *what, *extension, *action;
  void (*save) (MharWindow *self, const char *path, GError **error);
} Export;

static const Export picture
    = { N_("Save the picture (.pdf, .svg or .png)"), "figure", "pdf", "win.export-picture", save_picture };
static const Export numbers = { N_("Save the numbers"), "numbers", "csv", "win.export-numbers", save_numbers };

static void
on_response (GtkNativeDialog *dialog, int response, MharWindow *self)
{
  const Export *export = g_object_get_data (G_OBJECT (dialog), "export");
  g_autoptr (GFile) file
      = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;
  g_autofree char *path = file != NULL ? g_file_get_path (file) : NULL;
  g_autoptr (GError) error = NULL;

  gtk_native_dialog_hide (dialog);
  if (path == NULL || mhar_centre_get_dataset (self->centre) == NULL || !is_free (self, path, export->action))
    return;
  if (export == &picture)
    mhar_settings_set_string (mhar_window_settings (self), CHOICE,
                              gtk_file_chooser_get_choice (GTK_FILE_CHOOSER (dialog), CHOICE));
  export->save (self, path, &error);
  report (self, path, error, export->action);
}

static GtkFileChooserNative *
new_chooser (MharWindow *self, const char *title, const char *name)
{
  if (self->chooser != NULL)
    gtk_native_dialog_destroy (GTK_NATIVE_DIALOG (self->chooser));
  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (title, GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"),
                                               _("_Cancel"));
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (self->chooser), name);
  return self->chooser;
}

/* Made, not yet shown. */
static GtkFileChooserNative *
choose (MharWindow *self, const Export *export, const char *what)
{
  g_autofree char *name = suggested_name (self, what, export->extension);
  GtkFileChooserNative *chooser = new_chooser (self, _(export->title), name);

  g_object_set_data (G_OBJECT (chooser), "export", (gpointer) export);
  g_signal_connect_object (chooser, "response", G_CALLBACK (on_response), self, 0);
  return chooser;
}

void
mhar_window_export_picture (MharWindow *self)
{
  static const char *const endings[] = { "pdf", "svg", "png" };
  const char *ids[] = { AS_FIGURE, AS_SHOWN, NULL };
  const char *labels[] = { _("first ten sites, as the paper’s Figure 4"), _("as shown"), NULL };
  g_autofree char *part = mhar_settings_get_string (mhar_window_settings (self), CHOICE);
  MharFigureOptions options;
  MharFigureKind kind;

  if (!mhar_centre_get_figure (self->centre, &kind, &options))
    return;
  GtkFileChooserNative *chooser = choose (self, &picture, mhar_figure_kind_name (kind));
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  gtk_file_filter_set_name (filter, _("Pictures (PDF, SVG, PNG)"));
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    gtk_file_filter_add_suffix (filter, endings[i]);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
  gtk_file_chooser_add_choice (GTK_FILE_CHOOSER (chooser), CHOICE, _("Maps"), ids, labels);
  gtk_file_chooser_set_choice (GTK_FILE_CHOOSER (chooser), CHOICE,
                               g_strcmp0 (part, AS_SHOWN) == 0 ? AS_SHOWN : AS_FIGURE);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

void
mhar_window_export_numbers (MharWindow *self)
{
  gtk_native_dialog_show (
      GTK_NATIVE_DIALOG (choose (self, &numbers, mhar_page_name (mhar_centre_get_page (self->centre)))));
}

/* Takes the path. `said`: of what was saved, with its name; NULL: the name alone. */
static void
end_saving (MharWindow *self, GAsyncResult *result, char *taken, const char *said)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = taken, *name = g_filename_display_basename (path);

  mhar_run_save_finish (result, &error);
  if (self->sentence == NULL)
    return;
  report (self, path, error, "win.export-run");
  if (error != NULL || said == NULL)
    return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  g_autofree char *text = g_strdup_printf (said, name);
#pragma GCC diagnostic pop
  mhar_window_show_notice (self, GTK_MESSAGE_INFO, text, NULL, NULL);
}

static void
on_run_saved (GObject *source, GAsyncResult *result, gpointer path)
{
  MharWindow *self = MHAR_WINDOW (source);

  end_saving (self, result, path,
              self->measured != NULL ? _("Saved %s, without the ablation map: that is a run of its own, saved from its page")
                                     : NULL);
}

static void
on_map_saved (GObject *source, GAsyncResult *result, gpointer path)
{
  end_saving (MHAR_WINDOW (source), result, path, _("Saved %s: the run of the ablation map alone"));
}

/* The run that the page shows; NULL: it is a saved one. */
static const MharRunResult *
shown_result (const MharWindow *self)
{
  return mhar_centre_get_page (self->centre) == MHAR_PAGE_ABLATION ? self->measured : self->result;
}

static void
on_run_response (GtkNativeDialog *dialog, int response, MharWindow *self)
{
  g_autoptr (GFile) file
      = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog)) : NULL;
  g_autofree char *path = file != NULL ? g_file_get_path (file) : NULL;

  gtk_native_dialog_hide (dialog);
  const MharRunResult *result = shown_result (self);
  if (path == NULL || !is_free (self, path, "win.export-run"))
    return;
  if (result != NULL)
    mhar_run_save_async (G_OBJECT (self), result, path, result == self->measured ? on_map_saved : on_run_saved, g_strdup (path));
  else if (mhar_opened_checkpoint (self->opened) == NULL)
    mhar_run_copy_async (G_OBJECT (self), mhar_opened_path (self->opened), path, on_run_saved, g_strdup (path));
}

void
mhar_window_export_run (MharWindow *self)
{
  gboolean ablation = mhar_centre_get_page (self->centre) == MHAR_PAGE_ABLATION;
  g_autofree char *name = suggested_name (self, ablation ? "ablation" : "run", "mhar.h5");
  GtkFileChooserNative *chooser = new_chooser (self, ablation ? _("Save the run of the ablation map") : _("Save the whole run"), name);

  g_signal_connect_object (chooser, "response", G_CALLBACK (on_run_response), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

void
mhar_window_copy_picture (MharWindow *self)
{
  MharFigureOptions options;
  MharFigureKind kind;
  g_autoptr (GError) error = NULL;

  if (!get_figure (self, TRUE, &kind, &options))
    return;
  g_autoptr (GdkTexture) texture = mhar_saving_texture (mhar_centre_get_dataset (self->centre), kind, &options, &error);
  if (texture == NULL) {
    mhar_window_show_notice (self, GTK_MESSAGE_ERROR, error->message, NULL, NULL);
    return;
  }
  gdk_clipboard_set_texture (gtk_widget_get_clipboard (GTK_WIDGET (self)), texture);
  mhar_window_show_notice (self, GTK_MESSAGE_INFO, _("Picture copied"), NULL, NULL);
}

void
mhar_window_copy_value (MharWindow *self)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), gtk_label_get_text (self->sentence));
}

void
mhar_window_copy_command (MharWindow *self)
{
  gboolean ablation = mhar_centre_get_page (self->centre) == MHAR_PAGE_ABLATION;
  g_autofree char *command = mhar_run_command (ablation ? self->measured_ran : self->ran);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), command);
}
