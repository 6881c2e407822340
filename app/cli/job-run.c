/* SPDX-License-Identifier: MIT */
/* The main job: checkpoints through the probes, then the file, the figure and the table, in that order, so that nothing
 * is announced that is not there. What can be refused is refused before anything runs. */
#include "app/cli/jobs.h"

#include "app/cli/base-names.h"
#include "app/cli/figure-check.h"
#include "app/cli/option-effect.h"
#include "app/cli/progress.h"
#include "app/cli/report.h"
#include "app/cli/run-checkpoints.h"
#include "app/cli/run-identity.h"
#include "app/cli/run-part.h"
#include "app/cli/token-source.h"
#include "core/error.h"
#include "core/file-guard.h"
#include "core/h5file.h"
#include "core/provenance.h"
#include "probes/compare.h"
#include "probes/series.h"

#include <stdio.h>
#include <string.h>

/* With --checkpoint-every, no more than this is at stake, nor in memory when a run goes on. */
#define PART_BYTES (256u << 20)

typedef struct {
  const MharCliOptions *options;
  MharProbeOptions probe;
  MharRunCheckpoints checkpoints;
  GArray *steps;              /* gint32: of each of `sets` */
  MharComparison *comparison; /* NULL without --compare */
  GArray *ids;                /* of the first checkpoint, which the second has to share then */
  MharTokenSource *source;
  GPtrArray *devices; /* MharDevice *, opened for the first checkpoint; all run on them */
  MharH5Writer *writer; /* NULL with `part`, which it is made of at the end */
  MharDataset *identity; /* of `part` */
  MharRunPart *part; /* NULL without --checkpoint-every */
  MharDataset *root;
  GPtrArray *sets; /* MharDataset */
  MharProgress progress;
  char *stage; /* what the progress line speaks of */
  gboolean made_folder;
} Job;

static void
on_progress (guint64 done, guint64 total, gpointer user)
{
  Job *job = user;
  mhar_progress_update (done, total, &job->progress);
}

static void
on_stage (const char *what, gpointer user)
{
  Job *job = user;

  mhar_progress_finish (&job->progress);
  g_free (job->stage);
  job->stage = g_strdup (what);
  mhar_progress_start (&job->progress, job->options, job->stage);
}

static gboolean
on_slab (const char *group, const MharDataset *slab, gpointer user, GError **error)
{
  Job *job = user;
  gboolean f16 = job->options->save_weights == MHAR_SAVE_F16 && strcmp (group, "capture") == 0;
  guint index = job->sets->len; /* of the checkpoint being run */
  g_autofree char *path = g_strdup_printf ("checkpoint_%u/%s", index, group);

  if (job->comparison != NULL && strcmp (group, "sums") == 0)
    mhar_comparison_add (job->comparison, index, slab);
  if (job->part != NULL)
    return mhar_run_part_append (job->part, group, slab, error);
  return job->writer == NULL || mhar_h5_writer_append (job->writer, path, slab, f16, error);
}

static gboolean
on_due (guint64 windows, gpointer user)
{
  const Job *job = user;
  guint64 limit = (guint64) job->probe.max_memory;
  guint64 most = limit > 0 ? MIN (PART_BYTES, limit / 16) : PART_BYTES;
  return windows >= job->options->checkpoint_every || mhar_run_part_bytes (job->part) >= most;
}

static gboolean
on_save (const MharDataset *state, gpointer user, GError **error)
{
  Job *job = user;
  return mhar_run_part_save (job->part, job->sets->len, state, error);
}

static gboolean
on_replay (MharDataset **slab, gpointer user, GError **error)
{
  Job *job = user;
  gboolean good = mhar_run_part_next (job->part, job->sets->len, slab, error);

  if (good && *slab != NULL && job->comparison != NULL)
    mhar_comparison_add (job->comparison, job->sets->len, *slab);
  return good;
}

/* Two that are compared have the same windows. */
static void
prepare_comparison (Job *job)
{
  const GPtrArray *opened = job->checkpoints.opened;
  const MharOpened *a = opened->pdata[0], *b = opened->pdata[opened->len - 1];

  if (!job->options->compare)
    return;
  job->comparison = mhar_comparison_new (a->plan, b->plan);
  job->probe.context
      = MIN (mhar_probe_context (&job->probe, a->checkpoint), mhar_probe_context (&job->probe, b->checkpoint));
}

static gboolean
open_devices (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;
  const MharOpened *first = g_ptr_array_index (job->checkpoints.opened, 0);
  gboolean bf16 = strcmp (mhar_checkpoint_dtype (first->checkpoint), "BF16") == 0;

  job->devices = mhar_devices_open (o->device, o->precision, bf16, error);
  return job->devices != NULL;
}

/* Said when nothing is left to refuse, so that a refusal stands alone. */
static void
note_fallback (const Job *job)
{
  const char *why = mhar_device_fallback (g_ptr_array_index (job->devices, 0));

  if (job->sets->len == 0 && why != NULL && !job->options->quiet)
    fprintf (stderr, "mhar-probe: running on the CPU: %s\n", why);
}

/* Where the results go: straight into their file, or with --checkpoint-every into what it is made of at the end. */
static gboolean
open_output (Job *job, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;

  if (o->output == NULL)
    return TRUE;
  job->writer = mhar_h5_writer_new (o->output, error);
  if (job->writer == NULL || o->checkpoint_every == 0)
    return job->writer != NULL;
  g_clear_pointer (&job->writer, mhar_h5_writer_free); /* it can be made: that is all so far */
  job->identity
      = mhar_run_identity (o, job->source, &job->checkpoints, g_ptr_array_index (job->devices, 0), cancellable, error);
  job->part = job->identity != NULL ? mhar_run_part_open (o->output, o->resume, job->identity, error) : NULL;
  return job->part != NULL;
}

/* Last, since it may only warn, and a refusal stands alone. */
static gboolean
check_effects (const Job *job, GError **error)
{
  MharEffects effects = { 0 };

  for (guint i = 0; i < job->checkpoints.opened->len; i++)
    mhar_effects_add (&effects, ((const MharOpened *)g_ptr_array_index (job->checkpoints.opened, i))->plan);
  return mhar_effects_check (&effects, job->options, error);
}

/* All that a run needs, cheapest first. */
static gboolean
prepare (Job *job, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;

  if (!mhar_run_checkpoints_find (&job->checkpoints, o, error) || !mhar_run_checkpoints_open (&job->checkpoints, error)
      || !mhar_figure_check_files (o, mhar_run_checkpoints_pages (&job->checkpoints), error)
      || !open_devices (job, error) || (o->report != NULL && !mhar_report_folder (o->report, &job->made_folder, error)))
    return FALSE;
  prepare_comparison (job);
  job->source = mhar_token_source_open (o, cancellable, error);
  return job->source != NULL && open_output (job, cancellable, error) && check_effects (job, error);
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

/* The checkpoint's ids, which a comparison wants to be those of the one before. */
static GArray *
find_ids (Job *job, const MharOpened *opened, GCancellable *cancellable, GError **error)
{
  g_autoptr (GArray) ids = mhar_token_source_ids (job->source, opened->checkpoint, cancellable, error);

  if (ids == NULL || job->comparison == NULL)
    return g_steal_pointer (&ids);
  if (job->ids == NULL)
    job->ids = g_array_ref (ids);
  if (ids->len == job->ids->len && memcmp (ids->data, job->ids->data, ids->len * sizeof (gint32)) == 0)
    return g_steal_pointer (&ids);
  mhar_bad_input (
      error,
      "the tokenizers of the two checkpoints make different ids of %s, so they cannot be compared on it; give "
      "ids with --tokens",
      job->source->name);
  return NULL;
}

static MharDataset *
run_probes (Job *job, const MharOpened *opened, const GArray *ids, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;
  gboolean slabs = job->writer != NULL || job->part != NULL || job->comparison != NULL;
  MharRunHooks hooks = { on_progress, slabs ? on_slab : NULL, o->save_weights != MHAR_SAVE_NO_WEIGHTS, job };
  g_autofree char *name = g_filename_display_basename (mhar_checkpoint_path (opened->checkpoint));

  if (job->part != NULL) {
    hooks.due = on_due;
    hooks.save = on_save;
    hooks.replay = on_replay;
    hooks.resume = mhar_run_part_state (job->part, job->sets->len);
  }
  note_fallback (job);
  MharReportTask task = { o, job->devices, opened->checkpoint, opened->plan, ids, name, &hooks, on_stage, cancellable };
  on_stage (name, job);
  MharDataset *set = o->report != NULL
                       ? mhar_report_run (&task, error)
                       : mhar_probe_run (job->devices, opened->checkpoint, opened->plan, (const gint32 *)ids->data,
                                         ids->len, &job->probe, &hooks, cancellable, error);
  mhar_progress_finish (&job->progress);
  /* An input error is about what was saved, else the ids: the model was checked before. */
  if (set == NULL && hooks.resume != NULL && error != NULL && g_error_matches (*error, MHAR_ERROR, MHAR_ERROR_INPUT))
    g_prefix_error (error, "%s cannot be gone on with, remove it to start anew: ", mhar_run_part_name (job->part));
  else if (set == NULL && error != NULL && g_error_matches (*error, MHAR_ERROR, MHAR_ERROR_INPUT))
    g_prefix_error (error, "%s with %s: ", job->source->name, name);
  return set;
}

static gboolean
run_one (Job *job, const MharOpened *opened, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;
  g_autoptr (GError) reason = NULL;
  g_autoptr (GArray) ids = find_ids (job, opened, cancellable, &reason);

  if (ids == NULL)
    return mhar_run_checkpoints_skip (&job->checkpoints, mhar_checkpoint_path (opened->checkpoint), &reason, error);
  MharDataset *set = run_probes (job, opened, ids, cancellable, error);
  if (set == NULL)
    return FALSE;
  g_ptr_array_add (job->sets, set);
  g_array_append_val (job->steps, opened->step);
  ensure_root (job, set, ids->len);
  g_autofree char *digest = mhar_checkpoint_digest (
      opened->checkpoint, (const char *const *) opened->plan->routing->pdata, o->digest, cancellable, error);
  if (digest == NULL)
    return FALSE;
  mhar_dataset_set_string (set, o->digest ? "sha256_files" : "sha256_routing", digest);
  g_autofree char *tokenizer = mhar_token_source_tokenizer (job->source, opened->checkpoint);
  if (tokenizer != NULL)
    mhar_dataset_set_string (set, "sha256_tokenizer", tokenizer);
  return TRUE;
}

/* What is said of all checkpoints together. */
static void
add_together (Job *job)
{
  MharDataset *first = g_ptr_array_index (job->sets, 0), *last = g_ptr_array_index (job->sets, job->sets->len - 1);

  if (job->comparison != NULL) {
    MharDataset *compare = mhar_comparison_finish (job->comparison, job->probe.seed);
    mhar_dataset_set_string (compare, "a", mhar_dataset_string (first, "path"));
    mhar_dataset_set_string (compare, "b", mhar_dataset_string (last, "path"));
    mhar_dataset_add_child (job->root, compare);
  }
  if (job->options->series) {
    GPtrArray *skipped = job->checkpoints.skipped;
    MharDataset *series = mhar_series_new (job->sets, (const gint32 *)job->steps->data);
    g_ptr_array_add (skipped, NULL);
    mhar_dataset_set_strings (series, "skipped", (const char *const *)skipped->pdata);
    mhar_dataset_add_child (job->root, series);
  }
}

static gboolean
write_file (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;

  if (job->part != NULL) {
    job->writer = mhar_h5_writer_new (o->output, error);
    if (job->writer == NULL || !mhar_run_part_pour (job->part, job->writer, o->save_weights == MHAR_SAVE_F16, error))
      return FALSE;
  }
  if (job->writer != NULL
      && (!mhar_h5_writer_write (job->writer, job->root, error) || !mhar_h5_writer_commit (job->writer, error)))
    return FALSE;
  if (job->part != NULL)
    mhar_run_part_remove (job->part);
  return TRUE;
}

/* The HDF5 file, and with --report what goes with it: they take their names when all are whole. */
static gboolean
write_files (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;

  if (o->report == NULL)
    return write_file (job, error);
  g_autoptr (MharReportFiles) report = mhar_report_stage (job->root, o->output, o->report, error);
  if (report == NULL || !write_file (job, error) || !mhar_report_publish (report, error))
    return FALSE;
  if (!o->quiet) {
    g_autofree char *folder = mhar_printable (o->report);
    fprintf (stderr, "mhar-probe: wrote %s/report.html, report.pdf and report.h5\n", folder);
  }
  return TRUE;
}

/* Adds the results as checkpoint_0, checkpoint_1 … and writes what was asked for. */
static gboolean
deliver (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;

  if (job->sets->len == 0)
    return mhar_bad_input (error, "none of the steps can be run; the first is %s",
                           (char *)g_ptr_array_index (job->checkpoints.skipped, 0));
  for (guint i = 0; i < job->sets->len; i++) {
    g_autofree char *name = g_strdup_printf ("checkpoint_%u", i);
    MharDataset *set = g_ptr_array_index (job->sets, i);
    mhar_dataset_set_name (set, name);
    mhar_dataset_add_child (job->root, mhar_dataset_ref (set));
  }
  add_together (job);
  mhar_base_names_only (o, job->root);
  /* What was computed is worth more than one file: the rest is delivered though one fails, and the first error told. */
  gboolean saved = write_files (job, error);
  return mhar_show_results (o, job->root, saved ? error : NULL) && saved;
}

static void
job_clear (Job *job)
{
  g_free (job->stage);
  mhar_h5_writer_free (job->writer);
  mhar_run_part_free (job->part);
  mhar_dataset_unref (job->identity);
  mhar_dataset_unref (job->root);
  g_clear_pointer (&job->devices, g_ptr_array_unref);
  mhar_token_source_free (job->source);
  mhar_comparison_free (job->comparison);
  g_clear_pointer (&job->ids, g_array_unref);
  g_array_unref (job->steps);
  g_ptr_array_unref (job->sets);
  mhar_run_checkpoints_clear (&job->checkpoints);
}

int
mhar_job_run (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  Job job = { .options = options,
              .probe = options->probe,
              .steps = g_array_new (FALSE, FALSE, sizeof (gint32)),
              .sets = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_dataset_unref) };
  gboolean good = prepare (&job, cancellable, error);

  for (guint i = 0; good && i < job.checkpoints.opened->len; i++)
    good = run_one (&job, g_ptr_array_index (job.checkpoints.opened, i), cancellable, error);
  good = good && !g_cancellable_set_error_if_cancelled (cancellable, error) && mhar_guard_check (error)
         && deliver (&job, error);
  job_clear (&job);
  if (job.made_folder)
    mhar_report_folder_done (options->report);
  return good ? 0 : -1;
}
