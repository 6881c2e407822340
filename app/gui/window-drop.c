/* SPDX-License-Identifier: MIT */
/* What is dropped on a window: one checkpoint, saved run or text. */
#include "app/gui/window-private.h"

#include <glib/gi18n.h>

/* Whether a file is there to be run, not to be opened: by its name, and over the text by its being none to open. */
static gboolean
is_text (const char *path, gboolean over_text)
{
  static const char *const texts[] = { ".txt", ".md" };
  static const char *const others[] = { ".h5", ".hdf5", ".nc", ".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".json" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_str_has_suffix (path, texts[i]))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_has_suffix (path, others[i]))
      return FALSE;
  return over_text && !g_file_test (path, G_FILE_TEST_IS_DIR);
}

/* Says what a text waits for where nothing can run it yet. */
static void
take_text (MharWindow *self, const char *path)
{
  if (!mhar_window_load_text (self, path))
    return;
  mhar_window_hide_notice (self);
  if (self->opened != NULL && mhar_opened_checkpoint (self->opened) != NULL)
    return;
  g_autofree char *name = g_filename_display_basename (path);
  g_autofree char *text = g_strdup_printf (_("%s is the text to run; open a checkpoint to run it with"), name);
  mhar_window_show_notice (self, GTK_MESSAGE_INFO, text, _("Open a checkpoint folder…"), "win.open-folder");
}

static gboolean
on_drop (GtkDropTarget *target G_GNUC_UNUSED, const GValue *value, double x, double y, gpointer data)
{
  MharWindow *self = data;
  GSList *files = g_value_get_boxed (value); /* GdkFileList is one */
  g_autofree char *path = files != NULL ? g_file_get_path (files->data) : NULL;
  GtkWidget *under = gtk_widget_pick (GTK_WIDGET (self), x, y, GTK_PICK_DEFAULT);

  if (files == NULL)
    return FALSE;
  if (files->next != NULL) {
    mhar_window_show_notice (self, GTK_MESSAGE_ERROR, _("Drop one checkpoint, saved run or text at a time"), NULL, NULL);
    return TRUE;
  }
  if (path != NULL && is_text (path, under != NULL && gtk_widget_is_ancestor (under, GTK_WIDGET (self->prompt))))
    take_text (self, path);
  else
    mhar_window_open (self, files->data);
  return TRUE;
}

/* Before the text, which would take the name of a file for words. */
void
mhar_window_add_drop (MharWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (target), GTK_PHASE_CAPTURE);
  g_signal_connect_object (target, "drop", G_CALLBACK (on_drop), self, 0);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (target));
}
