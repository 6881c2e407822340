/* SPDX-License-Identifier: MIT */
/* The main job: checkpoints through the probes, then the file, the figure and the table, in that order, so that nothing
 * is announced that is not there. What can be refused is refused before anything runs. */
#include "app/cli/jobs.h"

#include "app/cli/figure-check.h"
#include "app/cli/figure-write.h"
#include "app/cli/progress.h"
#include "app/cli/series-names.h"
#include "app/cli/token-source.h"
#include "core/error.h"
#include "core/h5file.h"
#include "core/provenance.h"
#include "probes/compare.h"
#include "probes/intervention.h"
#include "probes/series.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  MharCheckpoint *checkpoint;
  MharPlan *plan;
  gint32 step; /* of a series */
} Opened;

typedef struct {
  const MharCliOptions *options;
  MharProbeOptions probe;
  GPtrArray *names;  /* MharSeriesName, of a series; else NULL */
  GPtrArray *opened; /* Opened, in the order of the command line, or of the steps */
  GPtrArray *skipped; /* char *: steps of a series that cannot be read, and why */
  GArray *steps;      /* gint32: of each of `sets` */
  MharComparison *comparison; /* NULL without --compare */
  GArray *ids;                /* of the first checkpoint, which the second has to share then */
  MharTokenSource *source;
  GPtrArray *devices; /* MharDevice *, opened for the first checkpoint; all run on them */
  MharH5Writer *writer;
  MharDataset *root;
  GPtrArray *sets; /* MharDataset */
  MharProgress progress;
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
  guint index = job->sets->len; /* of the checkpoint being run */
  g_autofree char *path = g_strdup_printf ("checkpoint_%u/%s", index, group);

  if (job->comparison != NULL && strcmp (group, "sums") == 0)
    mhar_comparison_add (job->comparison, index, slab);
  return job->writer == NULL || mhar_h5_writer_append (job->writer, path, slab, f16, error);
}

static gboolean
open_one (Job *job, const char *path, gint32 step, GError **error)
{
  const MharCliOptions *o = job->options;
  g_autoptr (MharCheckpoint) checkpoint = NULL;
  g_autoptr (MharPlan) plan = NULL;

  if (!mhar_open_checkpoint (o, path, &checkpoint, &plan, error))
    return FALSE;
  Opened *opened = g_new0 (Opened, 1);
  *opened = (Opened){ g_steal_pointer (&checkpoint), g_steal_pointer (&plan), step };
  g_ptr_array_add (job->opened, opened);
  return TRUE;
}

/* A step that is still being written, say: the others have curves without it. */
static gboolean
skip (Job *job, const char *path, GError **reason, GError **error)
{
  g_autofree char *base = g_path_get_basename (path);

  if (job->names == NULL || !g_error_matches (*reason, MHAR_ERROR, MHAR_ERROR_INPUT)) {
    g_propagate_error (error, g_steal_pointer (reason));
    return FALSE;
  }
  g_autofree char *valid = g_filename_display_name (base), *why = mhar_printable ((*reason)->message);
  char *text = g_strdup_printf ("%s: %s", valid, why);
  g_clear_error (reason);
  g_ptr_array_add (job->skipped, text);
  if (!job->options->quiet)
    fprintf (stderr, "mhar-probe: warning: skipped %s\n", text);
  return TRUE;
}

/* What is skipped waits until nothing is left to refuse. */
static gboolean
open_checkpoints (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;
  guint n = job->names != NULL ? job->names->len : g_strv_length (o->checkpoints);

  for (guint i = 0; i < n; i++) {
    const MharSeriesName *name = job->names != NULL ? g_ptr_array_index (job->names, i) : NULL;
    const char *path = name != NULL ? name->path : o->checkpoints[i];
    g_autoptr (GError) reason = NULL;
    if (!open_one (job, path, name != NULL ? name->step : 0, &reason) && !skip (job, path, &reason, error))
      return FALSE;
  }
  if (job->opened->len > 0)
    return TRUE;
  return mhar_bad_input (error, "none of the %u steps can be read; the first is %s", n, (char *) g_ptr_array_index (job->skipped, 0));
}

/* Whether what is asked for can come of what was opened, together and one by one. */
static gboolean
check_opened (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;
  const Opened *first = g_ptr_array_index (job->opened, 0);

  for (guint i = 0; i < job->opened->len; i++) {
    const Opened *opened = g_ptr_array_index (job->opened, i);
    const char *path = mhar_checkpoint_path (opened->checkpoint), *first_path = mhar_checkpoint_path (first->checkpoint);
    if (!mhar_figure_check_plan (o, opened->plan, path, error))
      return FALSE;
    if (!mhar_interventions_check (opened->plan, &o->probe, error)) {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
    if (i > 0 && o->series && !mhar_series_possible (first->plan, first_path, opened->plan, path, error))
      return FALSE;
    if (i > 0 && o->compare && !mhar_comparison_possible (first->plan, first_path, opened->plan, path, error))
      return FALSE;
  }
  return TRUE;
}

/* Two that are compared have the same windows. */
static void
prepare_comparison (Job *job)
{
  const Opened *a = g_ptr_array_index (job->opened, 0), *b = g_ptr_array_index (job->opened, job->opened->len - 1);

  if (!job->options->compare)
    return;
  job->comparison = mhar_comparison_new (a->plan, b->plan);
  job->probe.context = MIN (mhar_probe_context (&job->probe, a->checkpoint), mhar_probe_context (&job->probe, b->checkpoint));
}

/* How many pages, or files, the figure has. */
static guint
count_pages (const Job *job)
{
  const MharCliOptions *o = job->options;
  const Opened *first = g_ptr_array_index (job->opened, 0), *last = g_ptr_array_index (job->opened, job->opened->len - 1);
  gboolean own = o->kind == MHAR_FIGURE_DEFAULT;

  if (o->series && (own || o->kind == MHAR_FIGURE_SERIES))
    return 1;
  if (o->compare && (own || o->kind == MHAR_FIGURE_COMPARE))
    return first->plan->heads > 1 && first->plan->heads == last->plan->heads ? (guint) first->plan->heads + 1 : 1;
  return job->opened->len;
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

  if (job->sets->len == 0 && why != NULL && !job->options->quiet)
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
check_not_input (const Job *job, const char *output, GError **error)
{
  const MharCliOptions *o = job->options;
  gboolean input = same_file (output, o->text) || same_file (output, o->tokens) || same_file (output, o->config);

  for (guint i = 0; !input && output != NULL && job->names == NULL && o->checkpoints[i] != NULL; i++)
    input = is_part_of (output, o->checkpoints[i]);
  for (guint i = 0; !input && output != NULL && job->names != NULL && i < job->names->len; i++)
    input = is_part_of (output, ((MharSeriesName *) g_ptr_array_index (job->names, i))->path);
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

  if (o->series && (job->names = mhar_series_names (o->checkpoints, error)) == NULL)
    return FALSE;
  if (!check_not_input (job, o->output, error) || !check_not_input (job, o->figure, error) || !open_checkpoints (job, error) ||
      !check_opened (job, error) || !mhar_figure_check_folder (o, count_pages (job), error) || !open_devices (job, error))
    return FALSE;
  prepare_comparison (job);
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

/* The checkpoint's ids, which a comparison wants to be those of the one before. */
static GArray *
find_ids (Job *job, const Opened *opened, GError **error)
{
  g_autoptr (GArray) ids = mhar_token_source_ids (job->source, opened->checkpoint, error);

  if (ids == NULL || job->comparison == NULL)
    return g_steal_pointer (&ids);
  if (job->ids == NULL)
    job->ids = g_array_ref (ids);
  if (ids->len == job->ids->len && memcmp (ids->data, job->ids->data, ids->len * sizeof (gint32)) == 0)
    return g_steal_pointer (&ids);
  mhar_bad_input (error, "the tokenizers of the two checkpoints make different ids of %s, so they cannot be compared on it; give "
                         "ids with --tokens",
                  job->source->name);
  return NULL;
}

static MharDataset *
run_probes (Job *job, const Opened *opened, const GArray *ids, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;
  gboolean slabs = job->writer != NULL || job->comparison != NULL;
  MharRunHooks hooks = { on_progress, slabs ? on_slab : NULL, o->save_weights != MHAR_SAVE_NO_WEIGHTS, job };
  g_autofree char *name = g_filename_display_basename (mhar_checkpoint_path (opened->checkpoint));

  note_fallback (job);
  mhar_progress_start (&job->progress, o, name);
  MharDataset *set = mhar_probe_run (job->devices, opened->checkpoint, opened->plan, (const gint32 *) ids->data, ids->len,
                                     &job->probe, &hooks, cancellable, error);
  mhar_progress_finish (&job->progress);
  /* An input error is about the ids: the model was checked before. */
  if (set == NULL && error != NULL && g_error_matches (*error, MHAR_ERROR, MHAR_ERROR_INPUT))
    g_prefix_error (error, "%s with %s: ", job->source->name, name);
  return set;
}

static gboolean
run_one (Job *job, const Opened *opened, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;
  g_autoptr (GError) reason = NULL;
  g_autoptr (GArray) ids = find_ids (job, opened, &reason);

  if (ids == NULL)
    return skip (job, mhar_checkpoint_path (opened->checkpoint), &reason, error);
  MharDataset *set = run_probes (job, opened, ids, cancellable, error);
  if (set == NULL)
    return FALSE;
  g_ptr_array_add (job->sets, set);
  g_array_append_val (job->steps, opened->step);
  ensure_root (job, set, ids->len);
  g_autofree char *digest =
    mhar_checkpoint_digest (opened->checkpoint, (const char *const *) opened->plan->routing->pdata, o->digest);
  mhar_dataset_set_string (set, o->digest ? "sha256_files" : "sha256_routing", digest);
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
  if (job->names != NULL) {
    MharDataset *series = mhar_series_new (job->sets, (const gint32 *) job->steps->data);
    g_ptr_array_add (job->skipped, NULL);
    mhar_dataset_set_strings (series, "skipped", (const char *const *) job->skipped->pdata);
    mhar_dataset_add_child (job->root, series);
  }
}

/* Adds the results as checkpoint_0, checkpoint_1 … and writes what was asked for. */
static gboolean
deliver (Job *job, GError **error)
{
  const MharCliOptions *o = job->options;

  if (job->sets->len == 0)
    return mhar_bad_input (error, "none of the steps can be run; the first is %s", (char *) g_ptr_array_index (job->skipped, 0));
  for (guint i = 0; i < job->sets->len; i++) {
    g_autofree char *name = g_strdup_printf ("checkpoint_%u", i);
    MharDataset *set = g_ptr_array_index (job->sets, i);
    mhar_dataset_set_name (set, name);
    mhar_dataset_add_child (job->root, mhar_dataset_ref (set));
  }
  add_together (job);
  if (job->writer != NULL &&
      (!mhar_h5_writer_write (job->writer, job->root, error) || !mhar_h5_writer_commit (job->writer, error)))
    return FALSE;
  if (!mhar_figure_write (o, job->root, error))
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
  mhar_comparison_free (job->comparison);
  g_clear_pointer (&job->names, g_ptr_array_unref);
  g_clear_pointer (&job->ids, g_array_unref);
  g_array_unref (job->steps);
  g_ptr_array_unref (job->skipped);
  g_ptr_array_unref (job->sets);
  g_ptr_array_unref (job->opened);
}

int
mhar_job_run (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  Job job = { .options = options,
              .probe = options->probe,
              .skipped = g_ptr_array_new_with_free_func (g_free),
              .steps = g_array_new (FALSE, FALSE, sizeof (gint32)),
              .opened = g_ptr_array_new_with_free_func (opened_free),
              .sets = g_ptr_array_new_with_free_func ((GDestroyNotify) mhar_dataset_unref) };
  gboolean good = prepare (&job, cancellable, error);

  for (guint i = 0; good && i < job.opened->len; i++)
    good = run_one (&job, g_ptr_array_index (job.opened, i), cancellable, error);
  good = good && !g_cancellable_set_error_if_cancelled (cancellable, error) && deliver (&job, error);
  job_clear (&job);
  return good ? 0 : -1;
}
