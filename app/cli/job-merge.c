/* SPDX-License-Identifier: MIT */
/* --merge: saved runs of one checkpoint over several texts, put together into what one run over all of them gives. Each
 * file is read twice: without its sums to see whether they go together, then with them, one file at a time. */
#include "app/cli/jobs.h"

#include "app/cli/base-names.h"
#include "app/cli/figure-write.h"
#include "app/cli/run-part.h"
#include "core/error.h"
#include "core/h5file.h"
#include "core/output-target.h"
#include "core/provenance.h"
#include "probes/merge.h"
#include "probes/results.h"
#include "probes/series.h"

#include <stdio.h>
#include <string.h>

#define NAMED 3 /* windows that a refusal names */

typedef struct {
  const MharCliOptions *options;
  GPtrArray *roots;    /* MharDataset *, of each file, without sums */
  GPtrArray *names;    /* char *, of each file, for messages */
  GPtrArray *merges;   /* MharMerge *, of each checkpoint */
  GPtrArray *texts;    /* MharProvenanceText *, each once */
  GHashTable *windows; /* "checkpoint text start" → index of the file + 1 */
  GPtrArray *dropped;  /* char *: sentences on what is not put together */
  MharComparison *comparison;
  MharH5Writer *writer;
} Job;

static GPtrArray *
checkpoints_of (const MharDataset *root)
{
  return mhar_results_checkpoints (root);
}

/* ---- without their sums ---- */

static gboolean
read_root (Job *job, guint i, GError **error)
{
  static const char *const skip[] = { "sums", "capture", NULL };
  const char *path = job->options->checkpoints[i];
  MharDataset *root = mhar_h5_read (path, skip, error);

  if (root == NULL)
    return FALSE;
  g_ptr_array_add (job->roots, root);
  g_ptr_array_add (job->names, g_filename_display_name (path));
  return mhar_results_check (root, g_ptr_array_index (job->names, i), error);
}

static const char *
provenance (const MharDataset *root, const char *name)
{
  return mhar_dataset_string (mhar_dataset_find_child (root, "provenance"), name);
}

/* Both have as many checkpoints, each the same, run at one precision. */
static gboolean
check_root (Job *job, guint i, GError **error)
{
  const MharDataset *first = g_ptr_array_index (job->roots, 0), *root = g_ptr_array_index (job->roots, i);
  g_autoptr (GPtrArray) sets = checkpoints_of (root);
  const char *a = g_ptr_array_index (job->names, 0), *b = g_ptr_array_index (job->names, i);

  if (sets->len != job->merges->len)
    return mhar_bad_input (error, "%s and %s cannot be merged: the one has %u checkpoints, the other %u", a, b,
                           job->merges->len, sets->len);
  if (g_strcmp0 (provenance (first, "precision"), provenance (root, "precision")) != 0)
    return mhar_bad_input (error, "%s and %s cannot be merged: the one was run in %s, the other in %s", a, b,
                           provenance (first, "precision"), provenance (root, "precision"));
  for (guint c = 0; c < sets->len; c++)
    if (!mhar_merge_fits (g_ptr_array_index (job->merges, c), g_ptr_array_index (sets, c), b, error))
      return FALSE;
  return TRUE;
}

static gboolean
open_all (Job *job, GError **error)
{
  for (guint i = 0; job->options->checkpoints[i] != NULL; i++)
    if (!read_root (job, i, error))
      return FALSE;
  g_autoptr (GPtrArray) sets = checkpoints_of (g_ptr_array_index (job->roots, 0));
  for (guint c = 0; c < sets->len; c++) {
    MharMerge *merge = mhar_merge_new (g_ptr_array_index (sets, c), g_ptr_array_index (job->names, 0), error);
    if (merge == NULL)
      return FALSE;
    g_ptr_array_add (job->merges, merge);
  }
  for (guint i = 1; i < job->roots->len; i++)
    if (!check_root (job, i, error))
      return FALSE;
  return TRUE;
}

/* ---- texts and windows ---- */

/* Where a text stands in the list. */
static guint
text_index (Job *job, const char *name, const char *digest)
{
  for (guint t = 0; t < job->texts->len; t++)
    if (strcmp (((const MharProvenanceText *)g_ptr_array_index (job->texts, t))->digest, digest) == 0)
      return t;
  g_ptr_array_add (job->texts, mhar_provenance_text_new (name, digest));
  return job->texts->len - 1;
}

/* The places in the list of a file's own texts: guint. */
static GArray *
texts_of (Job *job, const MharDataset *root)
{
  const MharDataset *set = mhar_dataset_find_child (root, "provenance");
  const char *const *names = mhar_dataset_strings (set, "texts");
  const char *const *digests = mhar_dataset_strings (set, "texts_sha256");
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint));
  guint at;

  for (guint t = 0; names != NULL && digests != NULL && names[t] != NULL && digests[t] != NULL; t++) {
    at = text_index (job, names[t], digests[t]);
    g_array_append_val (list, at);
  }
  if (list->len == 0) {
    const char *name = mhar_dataset_string (set, "text"), *digest = mhar_dataset_string (set, "text_sha256");
    at = text_index (job, name != NULL ? name : "", digest != NULL ? digest : "");
    g_array_append_val (list, at);
  }
  return list;
}

/* The text of each window of `sums`, as an index into the list, in the field "text" that a merged file has. */
static gboolean
number_texts (Job *job, guint i, const MharDataset *sums, const GArray *list, MharField *to, GError **error)
{
  const MharField *own = mhar_dataset_get (sums, "text");
  gsize n = to->shape[0];

  for (gsize w = 0; w < n; w++) {
    double at = own != NULL && own->n_dims == 1 && own->shape[0] == n ? own->data.f64[w] : 0;
    if (!(at >= 0 && at < list->len))
      return mhar_bad_input (error, "%s: window %zu is of no text that the file names; the file is damaged",
                             (const char *)g_ptr_array_index (job->names, i), w);
    to->data.f64[w] = g_array_index (list, guint, (guint)at);
  }
  return TRUE;
}

/* No window stands in two files. */
static gboolean
check_overlap (Job *job, guint i, guint c, const MharField *start, const MharField *text, GError **error)
{
  g_autoptr (GString) shared = g_string_new (NULL);
  guint count = 0, other = 0;
  gsize of = 0;

  for (gsize w = 0; w < start->shape[0]; w++) {
    char *key = g_strdup_printf ("%u %.0f %.0f", c, text->data.f64[w], start->data.f64[w]);
    gpointer before = g_hash_table_lookup (job->windows, key);
    if (before == NULL) {
      g_hash_table_insert (job->windows, key, GUINT_TO_POINTER (i + 1));
      continue;
    }
    g_free (key);
    if (count < NAMED)
      g_string_append_printf (shared, "%s%.0f", count > 0 ? ", " : "", start->data.f64[w]);
    other = count == 0 ? GPOINTER_TO_UINT (before) - 1 : other;
    of = count == 0 ? (gsize)text->data.f64[w] : of;
    count++;
  }
  if (count == 0)
    return TRUE;
  return mhar_bad_input (
      error, "%s and %s both have the windows at token %s%s of %s (%u in all); merge runs over different texts",
      (const char *)g_ptr_array_index (job->names, other), (const char *)g_ptr_array_index (job->names, i), shared->str,
      count > NAMED ? " …" : "", ((const MharProvenanceText *)g_ptr_array_index (job->texts, of))->name, count);
}

/* ---- their sums ---- */

static void
drop (Job *job, guint i, const char *what)
{
  char *text = g_strdup_printf ("%s of %s cannot be merged, and are left out", what,
                                (const char *)g_ptr_array_index (job->names, i));
  g_ptr_array_add (job->dropped, text);
}

/* The sums as a run appends them, without the number of the text, which goes into *text. */
static MharDataset *
take_sums (Job *job, guint i, const MharDataset *set, const GArray *list, MharField **text, GError **error)
{
  static const char *const dim = "window";
  const MharDataset *sums = mhar_dataset_find_child (set, "sums");
  const MharField *start = sums != NULL ? mhar_dataset_get (sums, "start") : NULL;

  if (start == NULL || start->type != MHAR_FIELD_F64 || start->n_dims != 1) {
    mhar_bad_input (error, "%s: %s has no sums by window, so it cannot be merged; make the file anew",
                    (const char *)g_ptr_array_index (job->names, i), mhar_dataset_name (set));
    return NULL;
  }
  g_autoptr (MharDataset) all = mhar_strip_scales (sums, "sums");
  MharDataset *own = mhar_dataset_new ("sums");
  for (guint f = 0; f < mhar_dataset_n_fields (all); f++)
    if (strcmp (mhar_dataset_field (all, f)->name, "text") != 0)
      mhar_dataset_add (own, mhar_field_copy (mhar_dataset_field (all, f)));
  *text = mhar_field_new ("text", "index of the window's text in the list of texts", "1", MHAR_FIELD_F64, 1, &dim,
                          &start->shape[0]);
  if (number_texts (job, i, all, list, *text, error))
    return own;
  mhar_field_free (*text);
  mhar_dataset_unref (own);
  return NULL;
}

static gboolean
add_checkpoint (Job *job, guint i, guint c, const MharDataset *set, const GArray *list, GError **error)
{
  g_autofree char *group = g_strdup_printf ("checkpoint_%u/sums", c);
  MharField *text = NULL;
  g_autoptr (MharDataset) slab = take_sums (job, i, set, list, &text, error);

  if (slab == NULL)
    return FALSE;
  gboolean good = mhar_merge_add (g_ptr_array_index (job->merges, c), slab, mhar_dataset_find_child (set, "pooled"),
                                  g_ptr_array_index (job->names, i), error);
  if (good && job->comparison != NULL && mhar_dataset_get (slab, "weight") != NULL)
    mhar_comparison_add (job->comparison, c, slab);
  mhar_dataset_add (slab, text);
  return good && check_overlap (job, i, c, mhar_dataset_get (slab, "start"), text, error)
         && (job->writer == NULL || mhar_h5_writer_append (job->writer, group, slab, FALSE, error));
}

/* All checkpoints of a file. */
static gboolean
add_file (Job *job, guint i, GError **error)
{
  static const char *const skip[] = { "capture", NULL };
  g_autoptr (MharDataset) root = mhar_h5_read (job->options->checkpoints[i], skip, error);

  if (root == NULL || !mhar_results_check (root, g_ptr_array_index (job->names, i), error))
    return FALSE;
  g_autoptr (GPtrArray) sets = checkpoints_of (root);
  g_autoptr (GArray) list = texts_of (job, root);
  if (sets->len != job->merges->len)
    return mhar_bad_input (error, "%s has changed meanwhile", (const char *)g_ptr_array_index (job->names, i));
  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *set = g_ptr_array_index (sets, c);
    if (!add_checkpoint (job, i, c, set, list, error))
      return FALSE;
    if (c == 0 && mhar_dataset_find_child (set, "reads") != NULL)
      drop (job, i, "the reads (--reads)");
    if (c == 0 && mhar_dataset_is_lost (set, "capture"))
      drop (job, i, "the weights of single tokens (--save-weights)");
  }
  return TRUE;
}

/* ---- results ---- */

/* Where every file compares its two. */
static void
begin_comparison (Job *job)
{
  guint n = 0;

  for (guint i = 0; i < job->roots->len; i++)
    n += mhar_dataset_find_child (g_ptr_array_index (job->roots, i), "compare") != NULL;
  if (n == 0)
    return;
  if (n == job->roots->len && job->merges->len == 2) {
    const MharPlan *a = mhar_merge_plan (g_ptr_array_index (job->merges, 0)),
                   *b = mhar_merge_plan (g_ptr_array_index (job->merges, 1));
    if (mhar_comparison_possible (a, "A", b, "B", NULL))
      job->comparison = mhar_comparison_new (a, b);
  }
  if (job->comparison == NULL)
    g_ptr_array_add (job->dropped,
                     g_strdup ("only some of the files have a comparison (--compare), and it is left out"));
}

static void
add_together (Job *job, MharDataset *root, const GPtrArray *sets)
{
  const MharDataset *first = g_ptr_array_index (job->roots, 0), *series = mhar_dataset_find_child (first, "series");
  const MharField *steps = series != NULL ? mhar_dataset_get (series, "step") : NULL;

  if (job->comparison != NULL) {
    MharDataset *compare
        = mhar_comparison_finish (job->comparison, mhar_merge_seed (g_ptr_array_index (job->merges, 0)));
    mhar_dataset_set_string (compare, "a", mhar_dataset_string (g_ptr_array_index ((GPtrArray *)sets, 0), "path"));
    mhar_dataset_set_string (compare, "b", mhar_dataset_string (g_ptr_array_index ((GPtrArray *)sets, 1), "path"));
    mhar_dataset_add_child (root, compare);
  }
  if (steps != NULL && steps->type == MHAR_FIELD_I32 && steps->n_dims == 1 && steps->shape[0] == sets->len) {
    MharDataset *merged = mhar_series_new (sets, steps->data.i32);
    mhar_dataset_set_strings (merged, "skipped", mhar_dataset_strings (series, "skipped"));
    mhar_dataset_add_child (root, merged);
  }
}

static MharDataset *
conclude (Job *job)
{
  const MharDataset *first = g_ptr_array_index (job->roots, 0);
  g_autoptr (GPtrArray) sets = g_ptr_array_new (), files = g_ptr_array_new_with_free_func (g_free),
                        none = g_ptr_array_new ();
  gint64 tokens = 0;

  for (guint i = 0; i < job->roots->len; i++) {
    const MharDataset *set = mhar_dataset_find_child (g_ptr_array_index (job->roots, i), "provenance");
    tokens += MAX (mhar_dataset_integer (set, "text_tokens", 0), 0);
    g_ptr_array_add (files, g_filename_display_basename (job->options->checkpoints[i]));
  }
  g_ptr_array_add (files, NULL);
  MharDataset *root
      = mhar_provenance_merged (first, job->options->command, job->texts, tokens, (const char *const *)files->pdata);
  for (guint c = 0; c < job->merges->len; c++) {
    g_autofree char *name = g_strdup_printf ("checkpoint_%u", c);
    MharDataset *set = mhar_merge_finish (g_ptr_array_index (job->merges, c), c == 0 ? job->dropped : none);
    mhar_dataset_set_name (set, name);
    mhar_dataset_add_child (root, set);
    g_ptr_array_add (sets, set);
  }
  add_together (job, root, sets);
  return root;
}

/* What the figure draws will be there: as in the first file, but for what is left out. */
static gboolean
check_figure (Job *job, GError **error)
{
  MharDataset *first = g_ptr_array_index (job->roots, 0);
  g_autoptr (GPtrArray) sets = checkpoints_of (first);

  for (guint c = 0; c < sets->len; c++)
    mhar_dataset_unref (mhar_dataset_steal_child (g_ptr_array_index (sets, c), "reads"));
  if (job->comparison == NULL)
    mhar_dataset_unref (mhar_dataset_steal_child (first, "compare"));
  return mhar_figure_check_results (job->options, first, error);
}

static gboolean
run (Job *job, GCancellable *cancellable, GError **error)
{
  const MharCliOptions *o = job->options;

  if (!open_all (job, error))
    return FALSE;
  begin_comparison (job);
  if (!check_figure (job, error))
    return FALSE;
  job->writer = o->output != NULL ? mhar_h5_writer_new (o->output, error) : NULL;
  if (o->output != NULL && job->writer == NULL)
    return FALSE;
  for (guint i = 0; i < job->roots->len; i++)
    if (g_cancellable_set_error_if_cancelled (cancellable, error) || !add_file (job, i, error))
      return FALSE;
  g_autoptr (MharDataset) root = conclude (job);
  mhar_base_names_only (o, root);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (job->writer != NULL
      && (!mhar_h5_writer_write (job->writer, root, error) || !mhar_h5_writer_commit (job->writer, error)))
    return FALSE;
  return mhar_show_results (o, root, error);
}

int
mhar_job_merge (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  Job job = { .options = options,
              .roots = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_dataset_unref),
              .names = g_ptr_array_new_with_free_func (g_free),
              .merges = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_merge_free),
              .texts = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_provenance_text_free),
              .windows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
              .dropped = g_ptr_array_new_with_free_func (g_free) };
  gboolean good = run (&job, cancellable, error);

  mhar_h5_writer_free (job.writer);
  mhar_comparison_free (job.comparison);
  g_ptr_array_unref (job.merges);
  g_ptr_array_unref (job.roots);
  g_ptr_array_unref (job.names);
  g_ptr_array_unref (job.texts);
  g_hash_table_unref (job.windows);
  g_ptr_array_unref (job.dropped);
  return good ? 0 : -1;
}
