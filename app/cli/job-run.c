/* SPDX-License-Identifier: MIT */
/* The main job: checkpoints through the probes, then the file, the figure and the table, in that order, so that nothing
 * is announced that is not there. What can be refused is refused before anything runs. */
#include "app/cli/jobs.h"

#include "app/cli/figure-check.h"
#include "app/cli/progress.h"
#include "app/cli/token-source.h"
#include "core/error.h"
#include "core/h5file.h"
#include "core/provenance.h"
#include "probes/intervention.h"
#include "probes/reads.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  MharCheckpoint *checkpoint;
  MharPlan *plan;
} Opened;

typedef struct {
  const MharCliOptions *options;
  GPtrArray *opened; /* Opened, in the order of the command line */
  MharTokenSource *source;
  GPtrArray *devices; /* MharDevice *, opened for the first checkpoint; all run on them */
  MharH5Writer *writer;
  MharDataset *root;
  GPtrArray *sets; /* MharDataset */
  MharProgress progress;
  guint index; /* of the checkpoint being run */
} Job;

static void
opened_free (gpointer data)
{
  Opened *opened = data;
  g_clear_pointer (&opened->plan, mhar_plan_free);
  g_clear_pointer (&opened->checkpoint, mhar_checkpoint_free);
  g_free (opened);
}

static void
on_progress (guint64 done, guint64 total, gpointer user)
{
  Job *job = user;
  mhar_progress_update (done, total, &job->progress);
}

static gboolean
on_slab (const char *group, const MharDataset *slab, gpointer user, GError **error)
{
  Job *job = user;
  gboolean f16 = job->options->save_weights == MHAR_SAVE_F16 && strcmp (group, "capture") == 0;
  g_autofree char *path = g_strdup_printf ("checkpoint_%u/%s", job->index, group);
  return mhar_h5_writer_append (job->writer, path, slab, f16, error);
}

static gboolean
open_checkpoints (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;

  for (guint i = 0; o->checkpoints[i] != NULL; i++) {
    Opened *opened = g_new0 (Opened, 1);
    g_ptr_array_add (job->opened, opened);
    if (!mhar_open_checkpoint (o, o->checkpoints[i], &opened->checkpoint, &opened->plan, error) ||
        !mhar_figure_check_plan (o, opened->plan, o->checkpoints[i], error))
      return FALSE;
    if (!mhar_interventions_check (opened->plan, &o->probe, error) || !mhar_reads_check (opened->plan, &o->probe, error)) {
      g_prefix_error (error, "%s: ", o->checkpoints[i]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
open_devices (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;
  const Opened *first = g_ptr_array_index (job->opened, 0);
  gboolean bf16 = strcmp (mhar_checkpoint_dtype (first->checkpoint), "BF16") == 0;

  job->devices = mhar_devices_open (o->device, o->precision, bf16, error);
  return job->devices != NULL;
}

/* Said when nothing is left to refuse, so that a refusal stands alone. */
static void
note_fallback (const Job *job)
{
  const char *why = mhar_device_fallback (g_ptr_array_index (job->devices, 0));

  if (job->index == 0 && why != NULL && !job->options->quiet)
    fprintf (stderr, "mhar-probe: running on the CPU: %s\n", why);
}

/* Whether both paths name one existing file. */
static gboolean
same_file (const char *a, const char *b)
{
  GStatBuf sa, sb;
  return a != NULL && b != NULL && g_stat (a, &sa) == 0 && g_stat (b, &sb) == 0 && sa.st_dev == sb.st_dev &&
         sa.st_ino == sb.st_ino;
}

/* Whether `output` is a file that the checkpoint is made of. */
static gboolean
is_part_of (const char *output, const char *checkpoint)
{
  static const char *const endings[] = { ".json", ".safetensors", ".bin", ".pt", ".pth" };
  g_autoptr (GDir) dir = g_dir_open (checkpoint, 0, NULL);

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (checkpoint, name, NULL);
    for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
      if (g_str_has_suffix (name, endings[i]) && same_file (output, path))
        return TRUE;
  }
  return same_file (output, checkpoint);
}

/* A slip of the tongue must not cost a checkpoint. */
static gboolean
check_not_input (const MharCliOptions *o, const char *output, GError **error)
{
  gboolean input = same_file (output, o->text) || same_file (output, o->tokens) || same_file (output, o->config);

  for (guint i = 0; !input && output != NULL && o->checkpoints[i] != NULL; i++)
    input = is_part_of (output, o->checkpoints[i]);
  if (!input)
    return TRUE;
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "%s is an input of this run and would be overwritten; give another name",
               output);
  return FALSE;
}

/* All that a run needs, cheapest first. */
static gboolean
prepare (Job *job, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;

  if (!check_not_input (o, o->output, error) || !check_not_input (o, o->figure, error) || !open_checkpoints (job, error) ||
      !mhar_figure_check_folder (o, error) || !open_devices (job, error))
    return FALSE;
  job->source = mhar_token_source_open (o, cancellable, error);
  if (job->source == NULL)
    return FALSE;
  job->writer = o->output != NULL ? mhar_h5_writer_new (o->output, error) : NULL;
  return o->output == NULL || job->writer != NULL;
}

/* The file's account of the run, made after the first checkpoint: its tokenizer counts the text. */
static void
ensure_root (Job *job, const MharDataset *set, gint64 text_tokens)
{
  MharProvenance provenance = { .command = job->options->command,
                                .text_name = job->source->name,
                                .text_digest = job->source->digest,
                                .text_tokens = text_tokens,
                                .seed = job->options->probe.seed,
                                .context = (guint) mhar_dataset_integer (set, "context", 0) };

  if (job->root == NULL)
    job->root = mhar_provenance_root (job->devices, &provenance);
}

static gboolean
run_one (Job *job, const Opened *opened, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;
  MharRunHooks hooks = { on_progress, job->writer != NULL ? on_slab : NULL, o->save_weights != MHAR_SAVE_NO_WEIGHTS,
                         job };
  g_autofree char *name = g_filename_display_basename (mhar_checkpoint_path (opened->checkpoint));
  g_autoptr (GArray) ids = mhar_token_source_ids (job->source, opened->checkpoint, cancellable, error);

  if (ids == NULL)
    return FALSE;
  note_fallback (job);
  mhar_progress_start (&job->progress, o, name);
  MharDataset *set = mhar_probe_run (job->devices, opened->checkpoint, opened->plan, (const gint32 *) ids->data,
                                     ids->len, &o->probe, &hooks, cancellable, error);
  mhar_progress_finish (&job->progress);
  if (set == NULL) {
    /* An input error is about the ids: the model was checked before. */
    if (error != NULL && g_error_matches (*error, MHAR_ERROR, MHAR_ERROR_INPUT))
      g_prefix_error (error, "%s with %s: ", job->source->name, name);
    return FALSE;
  }
  g_ptr_array_add (job->sets, set);
  ensure_root (job, set, ids->len);
  g_autofree char *digest = mhar_checkpoint_digest (
      opened->checkpoint, (const char *const *) opened->plan->routing->pdata, o->digest, cancellable, error);
  if (digest == NULL)
    return FALSE;
  mhar_dataset_set_string (set, o->digest ? "sha256_files" : "sha256_routing", digest);
  return TRUE;
}

/* Adds the results as checkpoint_0, checkpoint_1 … and writes what was asked for. */
static gboolean
deliver (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;

  for (guint i = 0; i < job->sets->len; i++) {
    g_autofree char *name = g_strdup_printf ("checkpoint_%u", i);
    MharDataset *set = g_ptr_array_index (job->sets, i);
    mhar_dataset_set_name (set, name);
    mhar_dataset_add_child (job->root, mhar_dataset_ref (set));
  }
  if (job->writer != NULL &&
      (!mhar_h5_writer_write (job->writer, job->root, error) || !mhar_h5_writer_commit (job->writer, error)))
    return FALSE;
  if (o->figure != NULL && !mhar_figure_save (o->figure, job->sets, o->kind, &o->figure_options, error))
    return FALSE;
  return mhar_print_results (o, job->root, error);
}

static void
job_clear (Job *job)
{
  mhar_h5_writer_free (job->writer);
  mhar_dataset_unref (job->root);
  g_clear_pointer (&job->devices, g_ptr_array_unref);
  mhar_token_source_free (job->source);
  g_ptr_array_unref (job->sets);
  g_ptr_array_unref (job->opened);
}

int
mhar_job_run (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  Job job = { .options = options,
              .opened = g_ptr_array_new_with_free_func (opened_free),
              .sets = g_ptr_array_new_with_free_func ((GDestroyNotify) mhar_dataset_unref) };
  gboolean good = prepare (&job, cancellable, error);

  for (job.index = 0; good && job.index < job.opened->len; job.index++)
    good = run_one (&job, g_ptr_array_index (job.opened, job.index), cancellable, error);
  good = good && !g_cancellable_set_error_if_cancelled (cancellable, error) && deliver (&job, error);
  job_clear (&job);
  return good ? 0 : -1;
}
