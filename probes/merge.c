/* SPDX-License-Identifier: MIT */
#include "probes/merge.h"

#include "core/error.h"
#include "probes/conclude.h"
#include "probes/intervention.h"
#include "probes/saved-run.h"
#include "probes/sums-check.h"

#include <string.h>

struct _MharMerge {
  char *path;             /* of the first file */
  const MharDataset *set; /* its results */
  MharSavedRun *run;
  MharProbeSetup setup;
  MharPool *pool;
  MharResampler *resampler;
  guint64 windows;
  GPtrArray *warnings; /* char *, of all files, each once */
};

static gboolean
holds (const GPtrArray *list, const char *text)
{
  return g_ptr_array_find_with_equal_func ((GPtrArray *)list, text, g_str_equal, NULL);
}

static void
take_warnings (MharMerge *merge, const char *const *warnings)
{
  for (guint w = 0; warnings != NULL && warnings[w] != NULL; w++)
    if (!holds (merge->warnings, warnings[w]))
      g_ptr_array_add (merge->warnings, g_strdup (warnings[w]));
}

MharMerge *
mhar_merge_new (const MharDataset *set, const char *path, GError **error)
{
  g_autoptr (MharSavedRun) run = mhar_saved_run_new (set, path, error);

  if (run == NULL)
    return NULL;
  if (mhar_dataset_string (set, "sha256_routing") == NULL && mhar_dataset_string (set, "sha256_files") == NULL) {
    mhar_bad_input (error,
                    "%s: %s has no digest of its checkpoint, so nothing says that another is of the same; make it anew",
                    path, mhar_dataset_name (set));
    return NULL;
  }
  MharMerge *merge = g_new0 (MharMerge, 1);
  merge->path = g_strdup (path);
  merge->set = set;
  merge->run = g_steal_pointer (&run);
  merge->warnings = g_ptr_array_new_with_free_func (g_free);
  mhar_probe_setup_init (&merge->setup, merge->run->plan, &merge->run->options);
  merge->pool = mhar_probe_pool (&merge->run->options);
  merge->resampler = mhar_probe_resampler (&merge->run->options);
  take_warnings (merge, mhar_dataset_strings (set, "warnings"));
  return merge;
}

void
mhar_merge_free (MharMerge *merge)
{
  if (merge == NULL)
    return;
  g_free (merge->path);
  mhar_saved_run_free (merge->run);
  mhar_pool_free (merge->pool);
  mhar_resampler_free (merge->resampler);
  g_ptr_array_unref (merge->warnings);
  g_free (merge);
}

/* ---- whether they are of one kind ---- */

static char *
value_of (const MharDataset *set, const char *name)
{
  const char *text = mhar_dataset_string (set, name);

  if (text != NULL)
    return g_strdup (text);
  gint64 number = mhar_dataset_integer (set, name, G_MININT64);
  return number != G_MININT64 ? g_strdup_printf ("%" G_GINT64_FORMAT, number) : g_strdup ("none");
}

static gboolean
differ (const MharMerge *merge, const char *path, GError **error, const char *what, const char *a, const char *b)
{
  return mhar_bad_input (error, "%s and %s cannot be merged: the %s of the one is %s, of the other %s", merge->path,
                         path, what, a, b);
}

/* Words between two texts that a field has, or numbers. */
static gboolean
same_field (const MharDataset *a, const MharDataset *b, const char *name)
{
  const MharField *x = mhar_dataset_get (a, name), *y = mhar_dataset_get (b, name);

  if (x == NULL || y == NULL)
    return x == y;
  gboolean same = x->type == y->type && x->n_dims == y->n_dims;
  for (guint d = 0; same && d < x->n_dims; d++)
    same = x->shape[d] == y->shape[d];
  for (gsize i = 0; same && i < mhar_field_length (x); i++)
    same = x->type == MHAR_FIELD_STRING ? g_strcmp0 (x->data.str[i], y->data.str[i]) == 0
                                        : x->data.i32[i] == y->data.i32[i];
  return same;
}

/* Controls and interventions are lists. */
static gboolean
same_list (const MharDataset *a, const MharDataset *b, const char *child, const char *const *names)
{
  const MharDataset *x = mhar_dataset_find_child (a, child), *y = mhar_dataset_find_child (b, child);

  if (x == NULL || y == NULL)
    return x == y;
  for (guint i = 0; names[i] != NULL; i++)
    if (!same_field (x, y, names[i]))
      return FALSE;
  return TRUE;
}

/* Attributes that all files share, and what they are called. */
static const struct {
  const char *name, *words;
} same[] = {
  { "sha256_routing", "digest of the checkpoint (SHA-256)" },
  { "sha256_files", "digest of the checkpoint's files (--digest)" },
  { "mode", "mode" },
  { "layers", "number of layers" },
  { "width", "width" },
  { "heads", "number of routing heads" },
  { "block_delta", "--block-delta" },
  { "context", "--context" },
  { "skip_first", "--skip-first" },
  { "slices", "--slices" },
  { "slicing", "--slicing" },
  { "draws", "--null-draws" },
  { "null_kind", "--null-kind" },
  { "null_norm", "--null-norm" },
  { "match_sources", "--match-sources" },
  { "seed", "--seed" },
};

gboolean
mhar_merge_fits (const MharMerge *merge, const MharDataset *set, const char *path, GError **error)
{
  static const char *const labels[]
      = { "site", "site_label", "n_sources", "n_heads", "source_label", "output_label", "whole_rows" };
  static const char *const controls[] = { "measure", "slices", "slicing", "null_kind", NULL };
  static const char *const specs[] = { "spec", NULL };
  const char *tokenizer = mhar_dataset_string (merge->set, "sha256_tokenizer"),
             *other = mhar_dataset_string (set, "sha256_tokenizer");

  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    g_autofree char *a = value_of (merge->set, same[i].name), *b = value_of (set, same[i].name);
    if (strcmp (a, b) != 0)
      return differ (merge, path, error, same[i].words, a, b);
  }
  if (tokenizer != NULL && other != NULL && strcmp (tokenizer, other) != 0)
    return differ (merge, path, error, "digest of tokenizer.json (SHA-256)", tokenizer, other);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    if (!same_field (merge->set, set, labels[i]))
      return mhar_bad_input (error, "%s and %s cannot be merged: their %s differ", merge->path, path, labels[i]);
  if (!same_list (merge->set, set, "controls", controls))
    return mhar_bad_input (
        error, "%s and %s cannot be merged: they have other controls (several --slices, --slicing or --null-kind)",
        merge->path, path);
  if (!same_list (merge->set, set, "interventions", specs) || !same_list (merge->set, set, "ablation_map", specs + 1))
    return mhar_bad_input (error, "%s and %s cannot be merged: they have other interventions", merge->path, path);
  return TRUE;
}

/* ---- their sums ---- */

gboolean
mhar_merge_add (MharMerge *merge, const MharDataset *slab, const MharDataset *pooled, const char *path, GError **error)
{
  g_autoptr (MharDataset) none = mhar_dataset_new ("pooled");
  const MharDataset *rest = pooled != NULL ? pooled : none;

  if (!mhar_sums_check (&merge->setup, slab, error) || !mhar_pooled_check (&merge->setup, rest, FALSE, error)) {
    g_prefix_error (error, "%s cannot be merged with %s: ", path, merge->path);
    return FALSE;
  }
  mhar_pool_add (merge->pool, slab, merge->windows);
  mhar_resampler_add (merge->resampler, slab, merge->windows);
  merge->windows += mhar_dataset_get (slab, "start")->shape[0];
  if (pooled != NULL)
    mhar_pool_add_pooled_totals (merge->pool, pooled);
  return TRUE;
}

/* The warnings of the files, then what the sums together give that is new, then the caller's. */
static void
set_warnings (const MharMerge *merge, const GPtrArray *more, MharDataset *out)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  const char *const *own = mhar_dataset_strings (out, "warnings");

  for (guint i = 0; i < merge->warnings->len; i++)
    g_ptr_array_add (all, g_ptr_array_index (merge->warnings, i));
  for (guint i = 0; own != NULL && own[i] != NULL; i++)
    if (!holds (all, own[i]))
      g_ptr_array_add (all, (gpointer)own[i]);
  for (guint i = 0; i < more->len; i++)
    g_ptr_array_add (all, g_ptr_array_index ((GPtrArray *)more, i));
  g_ptr_array_add (all, NULL);
  mhar_dataset_set_strings (out, "warnings", (const char *const *)all->pdata);
}

MharDataset *
mhar_merge_finish (const MharMerge *merge, const GPtrArray *warnings)
{
  MharConclusion conclusion = { .setup = &merge->setup,
                                .like = merge->set,
                                .pool = merge->pool,
                                .resampler = merge->resampler,
                                .context = (guint)mhar_dataset_integer (merge->set, "context", 0) };
  MharDataset *out = mhar_probe_conclude (&conclusion);

  set_warnings (merge, warnings, out);
  return out;
}

const MharPlan *
mhar_merge_plan (const MharMerge *merge)
{
  return merge->run->plan;
}

guint64
mhar_merge_seed (const MharMerge *merge)
{
  return merge->run->options.seed;
}
