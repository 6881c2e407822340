/* SPDX-License-Identifier: MIT */
#include "app/gui/opened.h"

#include "core/dialect.h"
#include "core/error.h"
#include "core/h5file.h"
#include "probes/results.h"

struct _MharOpened {
  gatomicrefcount refs;
  char *path, *name;
  MharCheckpoint *checkpoint;
  MharPlan *plan;
  MharDataset *root;
  GPtrArray *results;
  GMutex lock; /* of the tokenizer */
  MharTokenizer *tokenizer;
};

/* A file inside a checkpoint folder stands for the folder; anything else for itself. */
static char *
folder_of (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);

  if (g_str_equal (base, "config.json") || g_str_has_suffix (base, ".safetensors")
      || g_str_has_suffix (base, ".safetensors.index.json"))
    return g_path_get_dirname (path);
  return g_strdup (path);
}

/* An archive that torch.save wrote: a checkpoint in one file. Any other file is a saved run, or says that it is none. */
static gboolean
is_archive (const char *path)
{
  static const char *const suffixes[] = { ".pt", ".pth", ".bin", ".ckpt" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (path, suffixes[i]))
      return TRUE;
  return FALSE;
}

static gboolean
open_results (MharOpened *opened, GError **error)
{
  static const char *const skip[] = { "sums", "pooled", "capture", NULL };

  opened->root = mhar_h5_read (opened->path, skip, error);
  if (opened->root == NULL || !mhar_results_check (opened->root, opened->path, error))
    return FALSE;
  opened->results = mhar_results_checkpoints (opened->root);
  if (opened->results->len == 0)
    return mhar_bad_input (error, "%s holds no results; save a run first", opened->name);
  return TRUE;
}

static gboolean
open_checkpoint (MharOpened *opened, GError **error)
{
  MharDialectOptions options = { 0 };

  opened->checkpoint = mhar_checkpoint_open (opened->path, error);
  if (opened->checkpoint == NULL)
    return FALSE;
  opened->plan = mhar_plan_from_checkpoint (opened->checkpoint, &options, error);
  return opened->plan != NULL;
}

MharOpened *
mhar_opened_new (const char *path, GError **error)
{
  g_autoptr (MharOpened) opened = g_new0 (MharOpened, 1);

  g_atomic_ref_count_init (&opened->refs);
  g_mutex_init (&opened->lock);
  opened->path = folder_of (path);
  opened->name = g_filename_display_basename (opened->path);
  gboolean run = g_file_test (opened->path, G_FILE_TEST_IS_REGULAR) && !is_archive (opened->path);
  if (!(run ? open_results (opened, error) : open_checkpoint (opened, error)))
    return NULL;
  return g_steal_pointer (&opened);
}

MharOpened *
mhar_opened_ref (MharOpened *opened)
{
  g_atomic_ref_count_inc (&opened->refs);
  return opened;
}

void
mhar_opened_unref (MharOpened *opened)
{
  if (opened == NULL || !g_atomic_ref_count_dec (&opened->refs))
    return;
  mhar_tokenizer_free (opened->tokenizer);
  g_clear_pointer (&opened->plan, mhar_plan_free);
  g_clear_pointer (&opened->checkpoint, mhar_checkpoint_free);
  g_clear_pointer (&opened->results, g_ptr_array_unref);
  mhar_dataset_unref (opened->root);
  g_mutex_clear (&opened->lock);
  g_free (opened->path);
  g_free (opened->name);
  g_free (opened);
}

static void
open_in_thread (GTask *task, gpointer source G_GNUC_UNUSED, gpointer path, GCancellable *cancellable G_GNUC_UNUSED)
{
  GError *error = NULL;
  MharOpened *opened = mhar_opened_new (path, &error);

  if (opened != NULL)
    g_task_return_pointer (task, opened, (GDestroyNotify) mhar_opened_unref);
  else
    g_task_return_error (task, error);
}

void
mhar_opened_new_async (const char *path, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user);

  g_task_set_source_tag (task, mhar_opened_new_async);
  g_task_set_task_data (task, g_strdup (path), g_free);
  g_task_run_in_thread (task, open_in_thread);
}

MharOpened *
mhar_opened_new_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

const char *
mhar_opened_path (const MharOpened *opened)
{
  return opened->path;
}

const char *
mhar_opened_name (const MharOpened *opened)
{
  return opened->name;
}

char *
mhar_opened_describe (const MharOpened *opened)
{
  const MharPlan *plan = opened->plan;

  if (plan == NULL) {
    const MharDataset *set = g_ptr_array_index (opened->results, 0);
    const char *mode = mhar_dataset_string (set, "mode");
    return g_strdup_printf ("%s · d%d L%d H%d · %d sites", mode != NULL ? mode : "?",
                            (int) mhar_dataset_integer (set, "width", 0), (int) mhar_dataset_integer (set, "layers", 0),
                            (int) mhar_dataset_integer (set, "heads", 0), (int) mhar_dataset_integer (set, "sites", 0));
  }
  return g_strdup_printf ("%s · d%d L%d H%d · %u sites · %s", plan->mode, plan->width, plan->layers, plan->heads,
                          plan->sites->len, mhar_checkpoint_dtype (opened->checkpoint));
}

const MharCheckpoint *
mhar_opened_checkpoint (const MharOpened *opened)
{
  return opened->checkpoint;
}

const MharPlan *
mhar_opened_plan (const MharOpened *opened)
{
  return opened->plan;
}

MharDataset *
mhar_opened_root (const MharOpened *opened)
{
  return opened->root;
}

const GPtrArray *
mhar_opened_results (const MharOpened *opened)
{
  return opened->results;
}

const MharTokenizer *
mhar_opened_tokenizer (MharOpened *opened, GError **error)
{
  g_autofree char *path = g_build_filename (mhar_checkpoint_folder (opened->checkpoint), "tokenizer.json", NULL);

  g_mutex_lock (&opened->lock);
  if (opened->tokenizer == NULL) {
    if (g_file_test (path, G_FILE_TEST_EXISTS))
      opened->tokenizer = mhar_tokenizer_load (path, error);
    else
      mhar_bad_input (error, "%s: there is no tokenizer.json%s, so text cannot be encoded; put it there",
                      opened->name, is_archive (opened->path) ? " beside it" : "");
  }
  g_mutex_unlock (&opened->lock);
  return opened->tokenizer;
}
