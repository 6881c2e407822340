/* SPDX-License-Identifier: MIT */
#include "app/gui/run-file.h"

#include "core/h5file.h"
#include "core/output-target.h"

typedef struct {
  char *path, *from; /* `from`: the file to copy; NULL: write what is below */
  MharDataset *root;
  GPtrArray *sums;           /* as MharRunResult has them */
  GApplication *application; /* held: a file that was begun is ended */
} Save;

static void
save_free (gpointer data)
{
  Save *save = data;

  if (save->application != NULL)
    g_application_release (save->application);
  mhar_dataset_unref (save->root);
  g_clear_pointer (&save->sums, g_ptr_array_unref);
  g_free (save->path);
  g_free (save->from);
  g_free (save);
}

static gboolean
append_sums (MharH5Writer *writer, const Save *save, GError **error)
{
  for (guint c = 0; c < save->sums->len; c++) {
    GPtrArray *slabs = g_ptr_array_index (save->sums, c);
    g_autofree char *group = g_strdup_printf ("checkpoint_%u/sums", c);
    for (guint i = 0; slabs != NULL && i < slabs->len; i++)
      if (!mhar_h5_writer_append (writer, group, g_ptr_array_index (slabs, i), FALSE, error))
        return FALSE;
  }
  return TRUE;
}

static gboolean
write_run (const Save *save, GError **error)
{
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (save->path, error);

  return writer != NULL && append_sums (writer, save, error) && mhar_h5_writer_write (writer, save->root, error)
         && mhar_h5_writer_commit (writer, error);
}

static gboolean
copy_run (const Save *save, GError **error)
{
  guint mode;
  g_autofree char *target = mhar_output_target (save->path, &mode, error);

  if (target == NULL)
    return FALSE;
  g_autoptr (GFile) from = g_file_new_for_path (save->from), to = g_file_new_for_path (target);
  return g_file_copy (from, to, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL, error);
}

static void
save_in_thread (GTask *task, gpointer source G_GNUC_UNUSED, gpointer data, GCancellable *cancellable G_GNUC_UNUSED)
{
  const Save *save = data;
  GError *error = NULL;

  if (save->from != NULL ? copy_run (save, &error) : write_run (save, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
start (GObject *source, Save *save, GAsyncReadyCallback callback, gpointer user)
{
  g_autoptr (GTask) task = g_task_new (source, NULL, callback, user);

  save->application = g_application_get_default ();
  if (save->application != NULL)
    g_application_hold (save->application);
  g_task_set_task_data (task, save, save_free);
  g_task_run_in_thread (task, save_in_thread);
}

void
mhar_run_save_async (GObject *source, const MharRunResult *result, const char *path, GAsyncReadyCallback callback,
                     gpointer user)
{
  Save *save = g_new0 (Save, 1);

  save->path = g_strdup (path);
  save->root = mhar_dataset_ref (result->root);
  save->sums = g_ptr_array_ref (result->sums);
  start (source, save, callback, user);
}

void
mhar_run_copy_async (GObject *source, const char *from, const char *path, GAsyncReadyCallback callback, gpointer user)
{
  Save *save = g_new0 (Save, 1);

  save->path = g_strdup (path);
  save->from = g_strdup (from);
  start (source, save, callback, user);
}

gboolean
mhar_run_save_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
