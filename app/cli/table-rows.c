/* SPDX-License-Identifier: MIT */
#include "app/cli/table-rows.h"

#include "app/cli/jobs.h"
#include "probes/verdict.h"
#include "probes/weights-only.h"

#include <math.h>
#include <string.h>

/* Four decimals, or as many more as show three digits of a small value, up to seven. */
int
mhar_table_decimals (double value)
{
  int decimals = 4;

  for (double least = 0.01; decimals < 7 && fabs (value) < least && value != 0; least /= 10)
    decimals++;
  return decimals;
}

/* In the C locale, whatever is set. What seven decimals cannot show is not printed as 0 but in scientific form. */
char *
mhar_table_fixed (double value, int decimals)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[] = "%.4f";

  if (!isfinite (value))
    return g_strdup ("n/a");
  format[2] = (char)('0' + decimals);
  return g_strdup (g_ascii_formatd (text, sizeof text, value != 0 && fabs (value) < 1e-5 ? "%.2e" : format, value));
}

/* So many that the ends of an interval differ, up to seven. */
static int
decimals_with (double value, double low, double high)
{
  int decimals = mhar_table_decimals (value);

  for (double least = pow (10, -decimals); decimals < 7 && isfinite (high - low) && high - low < 2 * least; least /= 10)
    decimals++;
  return decimals;
}

char *
mhar_table_interval (double value, double low, double high)
{
  int decimals = decimals_with (value, low, high);
  g_autofree char *text = mhar_table_fixed (value, decimals), *from = mhar_table_fixed (low, decimals), *to = mhar_table_fixed (high, decimals);

  return isfinite (low) && isfinite (high) ? g_strdup_printf ("%s [%s, %s]", text, from, to) : g_steal_pointer (&text);
}

char *
mhar_table_number (double value)
{
  return mhar_table_fixed (value, mhar_table_decimals (value));
}

static double
end_of (const MharDataset *set, const char *name, const char *end)
{
  g_autofree char *whole = g_strconcat (name, end, NULL);
  return mhar_dataset_real (set, whole, NAN);
}

static char *
cell_real (const MharDataset *set, const char *name)
{
  return mhar_dataset_has_real (set, name) ? mhar_table_interval (mhar_dataset_real (set, name, NAN), end_of (set, name, "_low"),
                                                                  end_of (set, name, "_high"))
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

/* "0.0301 ± 0.0012 [0.0280, 0.0322]": a null, its standard deviation over draws, and its interval; `prefix` is of their
 * names. */
static char *
cell_null (const MharDataset *set, const char *prefix)
{
  g_autofree char *null_name = g_strconcat (prefix, "_null", NULL), *sd_name = g_strconcat (prefix, "_null_sd", NULL);
  double null = mhar_dataset_real (set, null_name, NAN), sd = mhar_dataset_real (set, sd_name, NAN);
  double low = end_of (set, null_name, "_low"), high = end_of (set, null_name, "_high");
  int decimals = decimals_with (null, low, high);

  if (isnan (null) || isnan (sd))
    return cell_real (set, null_name);
  g_autofree char *value = mhar_table_fixed (null, decimals), *spread = mhar_table_fixed (sd, decimals);
  g_autofree char *from = mhar_table_fixed (low, decimals), *to = mhar_table_fixed (high, decimals);
  return isfinite (low) && isfinite (high) ? g_strdup_printf ("%s ± %s [%s, %s]", value, spread, from, to)
                                           : g_strdup_printf ("%s ± %s", value, spread);
}

static gboolean
is_of_kind (const MharDataset *set, const char *kind)
{
  const char *stored = mhar_dataset_string (set, "null_kind");
  return strcmp (stored != NULL ? stored : "random", kind) == 0;
}

static char *
cell_null_random (const MharDataset *set, const char *prefix)
{
  return is_of_kind (set, "random") ? cell_null (set, prefix) : NULL;
}

static char *
cell_null_shuffled (const MharDataset *set, const char *prefix)
{
  return is_of_kind (set, "shuffled") ? cell_null (set, prefix) : NULL;
}

static char *
cell_null_swapped (const MharDataset *set, const char *prefix)
{
  return is_of_kind (set, "swapped") ? cell_null (set, prefix) : NULL;
}

/* The same of the largest deviation. */
static char *
cell_largest_random (const MharDataset *set, const char *name)
{
  return is_of_kind (set, "random") ? cell_real (set, name) : NULL;
}

static char *
cell_largest_shuffled (const MharDataset *set, const char *name)
{
  return is_of_kind (set, "shuffled") ? cell_real (set, name) : NULL;
}

static char *
cell_largest_swapped (const MharDataset *set, const char *name)
{
  return is_of_kind (set, "swapped") ? cell_real (set, name) : NULL;
}

static char *
cell_p (const MharDataset *set, const char *name)
{
  return mhar_dataset_has_real (set, name) ? mhar_table_number (mhar_dataset_real (set, name, NAN)) : NULL;
}

char *
mhar_table_verdict (double p, gint64 draws)
{
  MharVerdict verdict = mhar_verdict (p, draws);
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
  char *words = mhar_table_verdict (mhar_dataset_real (set, name, NAN), mhar_dataset_integer (set, "draws", 0));
  return words != NULL || !mhar_dataset_has_real (set, name) ? words : g_strdup ("n/a");
}

/* "3 of 8": rows of a field of p-values [site], or [site, head], in which one says "above". */
static char *
cell_sites (const MharDataset *set, const char *name)
{
  const MharField *p = mhar_dataset_get (set, name);
  gsize columns = p != NULL && p->n_dims > 1 ? p->shape[1] : 1;
  gint64 draws = mhar_dataset_integer (set, "draws", 0);
  guint all = 0, above = 0;

  for (gsize s = 0; p != NULL && s < p->shape[0]; s++) {
    double least = NAN;
    for (gsize h = 0; h < columns; h++)
      least = fmin (least, mhar_field_value (p, s * columns + h)); /* of a number and NaN, the number */
    all += !isnan (least);
    above += mhar_verdict (least, draws) == MHAR_VERDICT_ABOVE;
  }
  return all > 0 && mhar_verdict (1, draws) != MHAR_VERDICT_TOO_FEW ? g_strdup_printf ("%u of %u", above, all) : NULL;
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
  int decimals = mhar_table_decimals (low);
  g_autofree char *least = mhar_table_fixed (low, decimals), *most = mhar_table_fixed (high, decimals);
  return g_strdup_printf ("%s–%s", least, most);
}

static char *
cell_floor (const MharDataset *set, const char *name)
{
  g_autofree char *value = cell_real (set, name), *floor = cell_real (set, "head_correlation_floor");
  return value != NULL && floor != NULL ? g_strdup_printf ("%s (%s)", value, floor) : NULL;
}

const MharTableRow mhar_table_rows[] = {
  { "mode", "", "mode", cell_string },
  { "layers × width", "", NULL, cell_shape },
  { "routing heads", "", "heads", cell_heads },
  { "sites", "", "sites", cell_integer },
  { "sources N", "", NULL, cell_sources },
  { "tokens / windows", "", NULL, cell_tokens },
  { "loss", "nat/token", "loss", cell_real },
  { "intervals in brackets", "", NULL, cell_bootstrap },
  { "Routing queries, from the weights alone", "", NULL, NULL },
  { "norm of q", "", "query_norm", cell_range },
  { "norm of q ⊙ g", "", "scored_norm", cell_range },
  { "mean cosine of two sites", "", "query_cosine_mean", cell_pairs },
  { "mean |cosine| of two sites", "", "query_cosine_mean_abs", cell_pairs },
  { "mean cosine of two sites' slices", "", "slice_site_cosine_mean", cell_pairs },
  { "mean |cosine| of two sites' slices", "", "slice_site_cosine_mean_abs", cell_pairs },
  { "mean cosine of a site's slices", "", "slice_cosine_mean", cell_pairs },
  { "mean |cosine| of a site's slices", "", "slice_cosine_mean_abs", cell_pairs },
  { "slices", "", "query_norm", cell_slicing },
  { "Slice disagreement KL", "nat", NULL, NULL },
  { "slices", "", "slice_kl", cell_slicing },
  { "trained", "", "slice_kl_trained", cell_real },
  { "median over sites", "", "slice_kl_median", cell_real },
  { "null (random queries)", "", "slice_kl", cell_null_random },
  { "null (shuffled queries)", "", "slice_kl", cell_null_shuffled },
  { "null (other sites' queries)", "", "slice_kl", cell_null_swapped },
  { "excess", "", "slice_kl_excess", cell_real },
  { "p", "", "slice_kl_p_value", cell_p },
  { "verdict", "", "slice_kl_p_value", cell_verdict },
  { "sites above their null", "", "slice_kl_p_value", cell_sites },
  { "Slice disagreement, matched count", "nat", NULL, NULL },
  { "over", "", NULL, cell_matched },
  { "trained", "", "matched_kl_trained", cell_real },
  { "median over sites", "", "matched_kl_median", cell_real },
  { "null (random queries)", "", "matched_kl", cell_null_random },
  { "null (shuffled queries)", "", "matched_kl", cell_null_shuffled },
  { "null (other sites' queries)", "", "matched_kl", cell_null_swapped },
  { "excess", "", "matched_kl_excess", cell_real },
  { "p", "", "matched_kl_p_value", cell_p },
  { "verdict", "", "matched_kl_p_value", cell_verdict },
  { "sites above their null", "", "matched_kl_p_value", cell_sites },
  { "Head disagreement", "nat", NULL, NULL },
  { "trained", "", "head_js_trained", cell_real },
  { "median over sites", "", "head_js_median", cell_real },
  { "null (random queries)", "", "head_js", cell_null_random },
  { "null (shuffled queries)", "", "head_js", cell_null_shuffled },
  { "null (other sites' queries)", "", "head_js", cell_null_swapped },
  { "excess", "", "head_js_excess", cell_real },
  { "p", "", "head_js_p_value", cell_p },
  { "verdict", "", "head_js_p_value", cell_verdict },
  { "sites above their null", "", "head_js_p_value", cell_sites },
  { "Deviation from consensus", "", NULL, NULL },
  { "largest", "", "max_deviation", cell_real },
  { "largest, random queries", "", "null_max_deviation", cell_largest_random },
  { "largest, shuffled queries", "", "null_max_deviation", cell_largest_shuffled },
  { "largest, other sites' queries", "", "null_max_deviation", cell_largest_swapped },
  { "p", "", "max_deviation_p_value", cell_p },
  { "verdict", "", "max_deviation_p_value", cell_verdict },
  { "sites above the null's largest", "", "deviation_p_value", cell_sites },
  { "head correlation (floor)", "", "head_correlation", cell_floor },
  { "replication r", "", "replication_r", cell_real },
  { "Collinearity of outputs", "", NULL, NULL },
  { "mean cosine", "", "collinearity_mean", cell_real },
  { "mean |cosine|", "", "collinearity_mean_abs", cell_real },
  { NULL },
};
