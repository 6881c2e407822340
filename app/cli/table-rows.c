/* SPDX-License-Identifier: MIT */
#include "app/cli/table-rows.h"

#include "app/cli/jobs.h"
#include "app/cli/table-numbers.h"
#include "probes/verdict.h"
#include "probes/weights-only.h"

#include <math.h>
#include <string.h>

static double
end_of (const MharDataset *set, const char *name, const char *end)
{
  g_autofree char *whole = g_strconcat (name, end, NULL);
  return mhar_dataset_real (set, whole, NAN);
}

static char *
cell_real (const MharDataset *set, const char *name)
{
  return mhar_dataset_has_real (set, name) ? mhar_table_interval (
             mhar_dataset_real (set, name, NAN), end_of (set, name, "_low"), end_of (set, name, "_high"))
                                           : NULL;
}

/* A mean over pairs, of which there may be none. */
static char *
cell_pairs (const MharDataset *set, const char *name)
{
  return isnan (mhar_dataset_real (set, name, NAN)) ? NULL : cell_real (set, name);
}

/* What the brackets are. */
static char *
cell_bootstrap (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  gint64 block = mhar_dataset_integer (set, "bootstrap_block", 0),
         entries = mhar_dataset_integer (set, "bootstrap_entries", 0);

  if (mhar_weights_only_is (set))
    return NULL;
  if (block == 0)
    return mhar_dataset_integer (set, "windows", 0) < 3 ? g_strdup ("none: fewer than 3 windows") : NULL;
  if (entries < mhar_dataset_integer (set, "windows", 0))
    return g_strdup_printf ("95 %%, %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " groups", block, entries);
  return g_strdup_printf ("95 %%, blocks of %" G_GINT64_FORMAT, block);
}

static char *
cell_integer (const MharDataset *set, const char *name)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT, mhar_dataset_integer (set, name, 0));
}

static char *
cell_sites (const MharDataset *set, const char *name)
{
  return mhar_weights_only_is (set) ? NULL : cell_integer (set, name);
}

/* What is stored: which of them are read, and from where else, is not known without the model. */
static char *
cell_queries (const MharDataset *set, const char *name)
{
  return mhar_weights_only_is (set) ? cell_integer (set, name) : NULL;
}

/* A plain Transformer has none. */
static char *
cell_heads (const MharDataset *set, const char *name)
{
  return mhar_dataset_integer (set, "sites", 0) > 0 ? cell_integer (set, name) : NULL;
}

static char *
cell_string (const MharDataset *set, const char *name)
{
  const char *text = mhar_dataset_string (set, name);
  return text != NULL ? mhar_printable (text) : NULL;
}

static char *
cell_shape (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " × %" G_GINT64_FORMAT, mhar_dataset_integer (set, "layers", 0),
                          mhar_dataset_integer (set, "width", 0));
}

static char *
cell_sources (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  if (mhar_weights_only_is (set))
    return NULL;
  const MharField *n = mhar_dataset_get (set, "n_sources");
  gint32 low = G_MAXINT32, high = 0;

  for (gsize i = 0; n != NULL && i < n->shape[0]; i++) {
    low = MIN (low, n->data.i32[i]);
    high = MAX (high, n->data.i32[i]);
  }
  if (high == 0)
    return g_strdup ("no reads");
  return low == high ? g_strdup_printf ("%d", low) : g_strdup_printf ("%d–%d", low, high);
}

static char *
cell_tokens (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  if (mhar_weights_only_is (set))
    return NULL;
  return g_strdup_printf ("%" G_GINT64_FORMAT " / %" G_GINT64_FORMAT, mhar_dataset_integer (set, "tokens", 0),
                          mhar_dataset_integer (set, "windows", 0));
}

static char *
cell_slicing (const MharDataset *set, const char *name)
{
  if (mhar_dataset_get (set, name) == NULL)
    return NULL;
  g_autofree char *slicing = cell_string (set, "slicing");
  return g_strdup_printf ("%" G_GINT64_FORMAT " %s", mhar_dataset_integer (set, "slices", 0),
                          slicing != NULL ? slicing : "");
}

/* A null, its standard deviation over draws, and its interval; `prefix` is of their names. */
static char *
cell_null (const MharDataset *set, const char *prefix)
{
  g_autofree char *name = g_strconcat (prefix, "_null", NULL);

  if (!mhar_dataset_has_real (set, name))
    return NULL;
  return mhar_table_spread (mhar_dataset_real (set, name, NAN), end_of (set, name, "_sd"), end_of (set, name, "_low"),
                            end_of (set, name, "_high"));
}

static char *
cell_p (const MharDataset *set, const char *name)
{
  return mhar_dataset_has_real (set, name) ? mhar_table_number (mhar_dataset_real (set, name, NAN)) : NULL;
}

char *
mhar_table_verdict (MharVerdict verdict)
{
  const char *words = mhar_verdict_words (verdict);

  /* Whoever skims the table has to stumble over it. */
  if (verdict == MHAR_VERDICT_ALIKE)
    return g_strdup ("NOT DISTINGUISHABLE from its null");
  if (verdict == MHAR_VERDICT_BELOW)
    return g_strdup ("BELOW its null");
  return words[0] != '\0' ? g_strdup (words) : NULL;
}

static char *
cell_verdict (const MharDataset *set, const char *name)
{
  char *words = mhar_table_verdict (mhar_verdict_of (set, name));
  return words != NULL || !mhar_dataset_has_real (set, name) ? words : g_strdup ("n/a");
}

/* "3 of 8": rows of a field of p-values [site], or [site, head], in which one says "above". */
static char *
cell_sites_above (const MharDataset *set, const char *name)
{
  guint all, above = mhar_verdict_sites_above (set, name, &all);

  return all > 0 && mhar_verdict (1, mhar_dataset_integer (set, "draws", 0), NAN) != MHAR_VERDICT_TOO_FEW
             ? g_strdup_printf ("%u of %u", above, all)
             : NULL;
}

static char *
cell_matched (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  if (mhar_dataset_get (set, "matched_kl") == NULL)
    return NULL;
  return g_strdup_printf ("%" G_GINT64_FORMAT " sources", mhar_dataset_integer (set, "match_sources", 0));
}

/* "0.1201–1.4402": least and most of a field. */
static char *
cell_range (const MharDataset *set, const char *name)
{
  const MharField *field = mhar_dataset_get (set, name);
  double low = INFINITY, high = -INFINITY;

  for (gsize i = 0; field != NULL && i < mhar_field_length (field); i++) {
    low = fmin (low, mhar_field_value (field, i));
    high = fmax (high, mhar_field_value (field, i));
  }
  if (low > high)
    return NULL;
  MharRounding rounding = mhar_rounding (low, NAN, NAN);
  g_autofree char *least = mhar_rounded (low, rounding), *most = mhar_rounded (high, rounding);
  return g_strdup_printf ("%s–%s", least, most);
}

static char *
cell_floor (const MharDataset *set, const char *name)
{
  g_autofree char *value = cell_real (set, name), *floor = cell_real (set, "head_correlation_floor");
  return value != NULL && floor != NULL ? g_strdup_printf ("%s (%s)", value, floor) : NULL;
}

char *
mhar_table_cell (const MharTableRow *row, const MharDataset *set)
{
  const char *kind = mhar_dataset_string (set, "null_kind");

  if (row->null_kind != NULL && strcmp (kind != NULL ? kind : "random", row->null_kind) != 0)
    return NULL;
  return row->cell (set, row->name);
}

/* The rows of a disagreement whose numbers' names begin with `stem`. */
#define DISAGREEMENT(stem) \
  { "trained", "", stem "_trained", cell_real, NULL }, \
  { "median over sites", "", stem "_median", cell_real, NULL }, \
  { "null (random queries)", "", stem, cell_null, "random" }, \
  { "null (shuffled queries)", "", stem, cell_null, "shuffled" }, \
  { "null (other sites' queries)", "", stem, cell_null, "swapped" }, \
  { "excess", "", stem "_excess", cell_real, NULL }, \
  { "p", "", stem "_p_value", cell_p, NULL }, \
  { "verdict", "", stem "_p_value", cell_verdict, NULL }, \
  { "sites above their null", "", stem "_p_value", cell_sites_above, NULL }

const MharTableRow mhar_table_rows[] = {
  { "mode", "", "mode", cell_string, NULL },
  { "layers × width", "", NULL, cell_shape, NULL },
  { "routing heads", "", "heads", cell_heads, NULL },
  { "sites", "", "sites", cell_sites, NULL },
  { "stored queries", "", "sites", cell_queries, NULL },
  { "sources N", "", NULL, cell_sources, NULL },
  { "tokens / windows", "", NULL, cell_tokens, NULL },
  { "loss", "nat/token", "loss", cell_real, NULL },
  { "intervals in brackets", "", NULL, cell_bootstrap, NULL },
  { "Routing queries, from the weights alone", "", NULL, NULL, NULL },
  { "norm of q", "", "query_norm", cell_range, NULL },
  { "norm of q ⊙ g", "", "scored_norm", cell_range, NULL },
  { "mean cosine of two sites", "", "query_cosine_mean", cell_pairs, NULL },
  { "mean |cosine| of two sites", "", "query_cosine_mean_abs", cell_pairs, NULL },
  { "mean cosine of two sites' slices", "", "slice_site_cosine_mean", cell_pairs, NULL },
  { "mean |cosine| of two sites' slices", "", "slice_site_cosine_mean_abs", cell_pairs, NULL },
  { "mean cosine of a site's slices", "", "slice_cosine_mean", cell_pairs, NULL },
  { "mean |cosine| of a site's slices", "", "slice_cosine_mean_abs", cell_pairs, NULL },
  { "slices", "", "query_norm", cell_slicing, NULL },
  { "Slice disagreement KL", "nat", NULL, NULL, NULL },
  { "slices", "", "slice_kl", cell_slicing, NULL },
  DISAGREEMENT ("slice_kl"),
  { "Slice disagreement, matched count", "nat", NULL, NULL, NULL },
  { "over", "", NULL, cell_matched, NULL },
  DISAGREEMENT ("matched_kl"),
  { "Head disagreement", "nat", NULL, NULL, NULL },
  DISAGREEMENT ("head_js"),
  { "Deviation from consensus", "", NULL, NULL, NULL },
  { "largest", "", "max_deviation", cell_real, NULL },
  { "largest, random queries", "", "null_max_deviation", cell_real, "random" },
  { "largest, shuffled queries", "", "null_max_deviation", cell_real, "shuffled" },
  { "largest, other sites' queries", "", "null_max_deviation", cell_real, "swapped" },
  { "p", "", "max_deviation_p_value", cell_p, NULL },
  { "verdict", "", "max_deviation_p_value", cell_verdict, NULL },
  { "sites above the null's largest", "", "deviation_p_value", cell_sites_above, NULL },
  { "head correlation (floor)", "", "head_correlation", cell_floor, NULL },
  { "replication r", "", "replication_r", cell_real, NULL },
  { "Collinearity of outputs", "", NULL, NULL, NULL },
  { "mean cosine", "", "collinearity_mean", cell_real, NULL },
  { "mean |cosine|", "", "collinearity_mean_abs", cell_real, NULL },
  { NULL, NULL, NULL, NULL, NULL },
};
