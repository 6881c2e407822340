/* SPDX-License-Identifier: MIT */
#include "probes/compare.h"

#include "core/error.h"
#include "probes/assignment.h"
#include "probes/compare-distances.h"
#include "probes/labels.h"
#include "probes/probe.h"
#include "probes/resample.h"
#include "probes/statistics.h"

#include <math.h>
#include <string.h>

struct _MharComparison {
  MharCompared compared;
  MharPool *pool[2];
  MharResampler *resampler[2];
  guint64 windows[2]; /* taken so far */
};

typedef struct {
  const char *name, *long_name, *units;
} Named;

static const Named distances[] = {
  { "js_identity", "Jensen-Shannon divergence of heads of the same number, mean over heads", "nat" },
  { "js_matched", "Jensen-Shannon divergence of matched heads, mean over heads", "nat" },
  { "js_consensus", "Jensen-Shannon divergence of the means over heads", "nat" },
  { "max_difference", "largest difference between the weights of matched heads", "1" },
  { "max_difference_consensus", "largest difference between the means over heads", "1" },
};

static const Named halves[] = {
  { "null_js_a", "Jensen-Shannon divergence between halves of the text in A, mean over heads and splits", "nat" },
  { "null_js_b", "Jensen-Shannon divergence between halves of the text in B, mean over heads and splits", "nat" },
  { "null_js", "mean of null_js_a and null_js_b", "nat" },
  { "null_js_consensus", "Jensen-Shannon divergence between halves of the text of the means over heads", "nat" },
};

/* The first thing in which two reads differ; NULL: none. g_free. */
static char *
site_difference (const MharPlan *a, const MharPlan *b, guint s)
{
  const MharSite *one = mhar_plan_site (a, s), *other = mhar_plan_site (b, s);

  if (strcmp (one->label, other->label) != 0)
    return g_strdup_printf ("read %u is %s in the one and %s in the other", s, one->label, other->label);
  for (int n = 0; n < MIN (one->n_sources, other->n_sources); n++) {
    g_autofree char *first = mhar_plan_source_label (a, one, n), *second = mhar_plan_source_label (b, other, n);
    if (strcmp (first, second) != 0)
      return g_strdup_printf ("source %d of %s is %s in the one and %s in the other", n, one->label, first, second);
  }
  if (one->n_sources != other->n_sources)
    return g_strdup_printf ("%s has %d sources in the one and %d in the other", one->label, one->n_sources,
                            other->n_sources);
  return NULL;
}

gboolean
mhar_comparison_possible (const MharPlan *a, const char *path_a, const MharPlan *b, const char *path_b, GError **error)
{
  g_autofree char *what = NULL;

  for (guint which = 0; which < 2; which++)
    if (mhar_plan_count_sites (which ? b : a, FALSE) + mhar_plan_count_sites (which ? b : a, TRUE) == 0)
      return mhar_bad_input (
          error, "%s has no read that chooses between sources, so there is nothing to compare; give another checkpoint",
          which ? path_b : path_a);
  for (guint s = 0; what == NULL && s < MIN (a->sites->len, b->sites->len); s++)
    what = site_difference (a, b, s);
  if (what == NULL && a->sites->len != b->sites->len)
    what = g_strdup_printf ("the one has %u reads and the other %u", a->sites->len, b->sites->len);
  if (what == NULL)
    return TRUE;
  return mhar_bad_input (error, "%s and %s cannot be compared: %s; give two with the same reads", path_a, path_b, what);
}

static void
measure (const MharPlan *plan, gsize *heads, gsize *sources)
{
  for (guint s = 0; s < plan->sites->len; s++) {
    *heads = MAX (*heads, (gsize)mhar_plan_site (plan, s)->heads);
    *sources = MAX (*sources, (gsize)mhar_plan_site (plan, s)->n_sources);
  }
}

MharComparison *
mhar_comparison_new (const MharPlan *a, const MharPlan *b)
{
  MharComparison *c = g_new0 (MharComparison, 1);
  MharCompared *compared = &c->compared;

  *compared = (MharCompared){ .plan = { a, b }, .n_sites = a->sites->len, .paired = TRUE };
  for (guint which = 0; which < 2; which++) {
    measure (which ? b : a, &compared->max_heads[which], &compared->max_sources);
    c->resampler[which] = mhar_resampler_new ();
    mhar_resampler_keep (c->resampler[which], "weight");
    c->pool[which] = mhar_pool_new ();
  }
  for (guint s = 0; s < a->sites->len; s++) {
    const MharSite *one = mhar_plan_site (a, s), *other = mhar_plan_site (b, s);
    compared->paired = compared->paired && one->heads == other->heads && one->whole == other->whole;
  }
  return c;
}

void
mhar_comparison_free (MharComparison *c)
{
  if (c == NULL)
    return;
  for (guint which = 0; which < 2; which++) {
    mhar_pool_free (c->pool[which]);
    mhar_resampler_free (c->resampler[which]);
  }
  g_free (c);
}

void
mhar_comparison_add (MharComparison *c, guint which, const MharDataset *slab)
{
  const MharField *weight = mhar_dataset_get (slab, "weight");
  g_autoptr (MharDataset) own = mhar_dataset_new ("weights");

  g_assert (weight != NULL && weight->type == MHAR_FIELD_F64);
  MharField *copy = mhar_dataset_add (own, mhar_field_new ("weight", "", "1", MHAR_FIELD_F64, weight->n_dims,
                                                           (const char *const *)weight->dims, weight->shape));
  memcpy (copy->data.f64, weight->data.f64, mhar_field_length (weight) * sizeof (double));
  mhar_pool_add (c->pool[which], own, c->windows[which]);
  mhar_resampler_add (c->resampler[which], own, c->windows[which]);
  c->windows[which] += weight->shape[0];
}

static MharField *
add (MharDataset *out, const char *name, const char *long_name, const char *units, MharFieldType type, guint n_dims,
     const char *const *dims, const gsize *shape)
{
  return mhar_dataset_add (out, mhar_field_new (name, long_name, units, type, n_dims, dims, shape));
}

/* One value a read, and of the checkpoints the last, which is an attribute. */
static void
add_row (MharDataset *out, const char *name, const char *long_name, const char *units, gsize n, const double *values)
{
  const char *dim = "site";

  MharField *field = add (out, name, long_name, units, MHAR_FIELD_F64, 1, &dim, &n);
  memcpy (field->data.f64, values, n * sizeof *values);
  mhar_dataset_set_real (out, name, values[n]);
}

/* The ends of the 95 % of `drawn` [n + 1, draws], or, with `values` [n + 1], of resampled divergences about them;
 * sorted in place. */
static void
add_ends (MharDataset *out, const Named *what, gsize n, const double *values, double *drawn, gsize draws)
{
  const MharRange range = { 0, INFINITY };
  g_autofree char *low_name = g_strconcat (what->name, "_low", NULL),
                  *high_name = g_strconcat (what->name, "_high", NULL);
  g_autofree char *low_words = g_strdup_printf ("lower end of the 95 %% interval of: %s", what->long_name);
  g_autofree char *high_words = g_strdup_printf ("upper end of the 95 %% interval of: %s", what->long_name);
  g_autofree double *low = g_new (double, n + 1), *high = g_new (double, n + 1);

  for (gsize s = 0; s <= n; s++) {
    double *at = drawn + s * draws;
    if (values != NULL ? !mhar_interval_about (values[s], range, at, draws, &low[s], &high[s])
                       : !mhar_interval (at, draws, &low[s], &high[s]))
      low[s] = high[s] = NAN;
  }
  if (!isfinite (low[n]))
    return;
  add_row (out, low_name, low_words, what->units, n, low);
  add_row (out, high_name, high_words, what->units, n, high);
}

/* Every pair of heads: "js" [site, head, head_b]. */
static const double *
add_pairs (const MharComparison *c, MharDataset *out)
{
  const MharCompared *m = &c->compared;
  const char *dims[] = { "site", "head", "head_b" };
  gsize shape[] = { m->n_sites, m->max_heads[0], m->max_heads[1] };
  MharField *field = add (out, "js", "Jensen-Shannon divergence of a head of A and a head of B", "nat", MHAR_FIELD_F64,
                          3, dims, shape);
  g_autofree double *p = g_new (double, (m->max_heads[0] + 1) * m->max_sources),
                    *q = g_new (double, (m->max_heads[1] + 1) * m->max_sources);

  for (gsize s = 0; s < m->n_sites; s++) {
    const MharSite *site = mhar_plan_site (m->plan[0], (guint)s);
    gsize heads = (gsize)site->heads, n = (gsize)site->n_sources;
    mhar_compared_distributions (m, 0, mhar_pool_total (c->pool[0], "weight"), s, p);
    mhar_compared_distributions (m, 1, mhar_pool_total (c->pool[1], "weight"), s, q);
    for (gsize h = 0; n > 1 && h < heads; h++)
      for (gsize g = 0; g < heads; g++)
        field->data.f64[(s * shape[1] + h) * shape[2] + g] = mhar_js_divergence (p + h * n, q + g * n, n);
  }
  return field->data.f64;
}

/* Whether a read takes part in the matching that read `like` is of. */
static gboolean
is_of_kind (const MharCompared *m, gsize s, const MharSite *like)
{
  const MharSite *site = mhar_plan_site (m->plan[0], (guint)s);
  return site->n_sources > 1 && site->heads == like->heads && site->whole == like->whole;
}

/* The permutation of all reads like read `first`, into `match`. */
static void
match_kind (const MharCompared *m, gsize first, const double *pairs, guint *match)
{
  const MharSite *like = mhar_plan_site (m->plan[0], (guint)first);
  gsize heads = (gsize)like->heads;
  g_autofree double *cost = g_new0 (double, heads *heads);
  g_autofree guint *to = g_new (guint, heads);

  for (gsize s = 0; s < m->n_sites; s++)
    for (gsize i = 0; is_of_kind (m, s, like) && i < heads * heads; i++)
      cost[i] += pairs[(s * m->max_heads[0] + i / heads) * m->max_heads[1] + i % heads];
  mhar_assignment (cost, heads, to);
  for (gsize s = 0; s < m->n_sites; s++)
    for (gsize h = 0; is_of_kind (m, s, like) && h < heads; h++)
      match[s * m->max_heads[0] + h] = to[h];
}

static void
add_matching (const MharCompared *m, const guint *match, MharDataset *out)
{
  const char *dims[] = { "site", "head" };
  gsize shape[] = { m->n_sites, m->max_heads[0] };
  MharField *field = add (out, "match", "the head of B that is compared with the head of A; -1: none", "1",
                          MHAR_FIELD_I32, 2, dims, shape);

  for (gsize s = 0; s < m->n_sites; s++) {
    const MharSite *site = mhar_plan_site (m->plan[0], (guint)s);
    for (gsize h = 0; h < shape[1]; h++)
      field->data.i32[s * shape[1] + h]
          = site->n_sources > 1 && h < (gsize)site->heads ? (gint32)match[s * shape[1] + h] : -1;
  }
}

static void
add_random (const MharCompared *m, const double *pairs, MharDataset *out)
{
  g_autofree double *row = g_new (double, m->n_sites + 1);
  double sum = 0, counted = 0;

  for (gsize s = 0; s < m->n_sites; s++) {
    const MharSite *site = mhar_plan_site (m->plan[0], (guint)s);
    gsize heads = (gsize)site->heads;
    row[s] = site->n_sources > 1 ? 0 : NAN;
    for (gsize i = 0; site->n_sources > 1 && i < heads * heads; i++)
      row[s] += pairs[(s * m->max_heads[0] + i / heads) * m->max_heads[1] + i % heads] / (double)(heads * heads);
    sum += site->n_sources > 1 ? row[s] : 0;
    counted += site->n_sources > 1;
  }
  row[m->n_sites] = sum / counted;
  add_row (out, "js_random", "Jensen-Shannon divergence of heads, mean over all pairs", "nat", m->n_sites, row);
}

/* B less A: of matched heads "difference" [site, head, source], of the means over heads "difference_consensus". */
static void
add_differences (const MharComparison *c, MharDataset *out)
{
  const MharCompared *m = &c->compared;
  const char *dims[] = { "site", "head", "source" }, *mean_dims[] = { "site", "source" };
  gsize shape[] = { m->n_sites, m->max_heads[0], m->max_sources }, mean_shape[] = { m->n_sites, m->max_sources };
  MharField *mean = add (out, "difference_consensus", "mean over heads of the routing weight, B less A", "1",
                         MHAR_FIELD_F32, 2, mean_dims, mean_shape);
  MharField *field = m->paired ? add (out, "difference", "routing weight of the matched head of B less that of A's",
                                      "1", MHAR_FIELD_F32, 3, dims, shape)
                               : NULL;
  g_autofree double *p = g_new (double, (m->max_heads[0] + 1) * m->max_sources),
                    *q = g_new (double, (m->max_heads[1] + 1) * m->max_sources);

  for (gsize s = 0; s < m->n_sites; s++) {
    gsize heads = (gsize)mhar_plan_site (m->plan[0], (guint)s)->heads,
          n = (gsize)mhar_plan_site (m->plan[0], (guint)s)->n_sources;
    gsize others = (gsize)mhar_plan_site (m->plan[1], (guint)s)->heads;
    mhar_compared_distributions (m, 0, mhar_pool_total (c->pool[0], "weight"), s, p);
    mhar_compared_distributions (m, 1, mhar_pool_total (c->pool[1], "weight"), s, q);
    for (gsize i = 0; i < n; i++)
      mean->data.f32[s * shape[2] + i] = (float)(q[others * n + i] - p[heads * n + i]);
    for (gsize h = 0; field != NULL && h < heads; h++) {
      gsize g = n > 1 ? m->match[s * shape[1] + h] : h;
      for (gsize i = 0; i < n; i++)
        field->data.f32[(s * shape[1] + h) * shape[2] + i] = (float)(q[g * n + i] - p[h * n + i]);
    }
  }
}

/* [rows, n_sites + 1, draws] of what `of` makes of each draw. */
static double *
draw (const MharComparison *c, guint64 seed, guint draws, guint rows, gboolean split)
{
  gsize n = rows * (c->compared.n_sites + 1);
  double *drawn = g_new (double, n *draws);

#pragma omp parallel for schedule(static)
  for (guint b = 0; b < draws; b++) {
    MharPool *(*pool_of) (const MharResampler *, guint64, guint) = split ? mhar_resampler_split : mhar_resampler_pool;
    g_autoptr (MharPool) first = pool_of (c->resampler[0], seed, b);
    g_autoptr (MharPool) second = pool_of (c->resampler[1], seed, b);
    g_autofree double *values = g_new (double, n);
    (split ? mhar_compared_halves : mhar_compared_distances) (&c->compared, first, second, values);
    for (gsize i = 0; i < n; i++)
      drawn[i * draws + b] = values[i];
  }
  return drawn;
}

/* The ratio to the null and the p-value, of a distance [n + 1] and its null's splits [n + 1, MHAR_SPLITS]. */
static void
add_against (MharDataset *out, const char *tail, gsize n, const double *distance, const double *null, gboolean enough)
{
  g_autofree char *ratio_name = g_strconcat ("js_ratio", tail, NULL), *p_name = g_strconcat ("p_value", tail, NULL);
  g_autofree double *ratio = g_new (double, n + 1), *p = g_new (double, n + 1);

  for (gsize s = 0; s <= n; s++) {
    double mean = 0;
    for (guint k = 0; k < MHAR_SPLITS; k++)
      mean += null[s * MHAR_SPLITS + k] / MHAR_SPLITS;
    ratio[s] = mean > 0 ? distance[s] / mean : NAN;
    p[s] = isfinite (mean) ? mhar_p_value (distance[s], null + s * MHAR_SPLITS, MHAR_SPLITS, 1) : NAN;
  }
  add_row (out, ratio_name, "the divergence over its null", "1", n, ratio);
  if (enough)
    add_row (out, p_name, "share of splits of the text whose null is at least the divergence", "1", n, p);
}

static void
add_null (const MharComparison *c, guint64 seed, const double *values, MharDataset *out)
{
  gsize n = c->compared.n_sites, columns = n + 1;
  gboolean enough = mhar_resampler_entries (c->resampler[0]) >= MHAR_LEAST_SPLIT_ENTRIES;
  g_autofree double *drawn = draw (c, seed, MHAR_SPLITS, MHAR_N_HALVES, TRUE), *row = g_new (double, columns);

  for (guint d = c->compared.paired ? 0 : MHAR_HALVES_CONSENSUS; d < MHAR_N_HALVES; d++) {
    for (gsize s = 0; s <= n; s++) {
      row[s] = 0;
      for (guint k = 0; k < MHAR_SPLITS; k++)
        row[s] += drawn[(d * columns + s) * MHAR_SPLITS + k] / MHAR_SPLITS;
    }
    add_row (out, halves[d].name, halves[d].long_name, halves[d].units, n, row);
  }
  if (c->compared.paired)
    add_against (out, "", n, values + MHAR_DISTANCE_MATCHED * columns, drawn + MHAR_HALVES * columns * MHAR_SPLITS,
                 enough);
  add_against (out, "_consensus", n, values + MHAR_DISTANCE_CONSENSUS * columns,
               drawn + MHAR_HALVES_CONSENSUS * columns * MHAR_SPLITS, enough);
  for (guint d = MHAR_HALVES; enough && d < MHAR_N_HALVES; d++)
    add_ends (out, &halves[d], n, NULL, drawn + d * columns * MHAR_SPLITS, MHAR_SPLITS);
  mhar_dataset_set_integer (out, "splits", MHAR_SPLITS);
}

/* The divergences' intervals; what is largest has none. */
static void
add_intervals (const MharComparison *c, guint64 seed, const double *values, MharDataset *out)
{
  gsize n = c->compared.n_sites;
  g_autofree double *drawn = draw (c, seed, MHAR_RESAMPLES, MHAR_N_DISTANCES, FALSE);

  for (guint d = 0; d < MHAR_DISTANCE_LARGEST; d++)
    add_ends (out, &distances[d], n, values + d * (n + 1), drawn + d * (n + 1) * MHAR_RESAMPLES, MHAR_RESAMPLES);
  mhar_dataset_set_integer (out, "bootstrap_resamples", MHAR_RESAMPLES);
}

static void
add_labels (const MharCompared *m, MharDataset *out)
{
  const char *dim = "site";

  mhar_label_sites (m->plan[0], out);
  MharField *heads
      = add (out, "n_heads_b", "distributions that B's site has", "1", MHAR_FIELD_I32, 1, &dim, &m->n_sites);
  MharField *whole = add (out, "whole_rows", "1: the site's distributions mix whole rows", "1", MHAR_FIELD_I32, 1, &dim,
                          &m->n_sites);
  for (gsize s = 0; s < m->n_sites; s++) {
    heads->data.i32[s] = mhar_plan_site (m->plan[1], (guint)s)->heads;
    whole->data.i32[s] = mhar_plan_site (m->plan[0], (guint)s)->whole;
  }
  mhar_dataset_set_integer (out, "heads_a", m->plan[0]->heads);
  mhar_dataset_set_integer (out, "heads_b", m->plan[1]->heads);
}

const gint32 *
mhar_comparison_matching (const MharDataset *compare, gboolean whole, gsize *heads)
{
  const MharField *match = mhar_dataset_get (compare, "match"), *count = mhar_dataset_get (compare, "n_heads");
  const MharField *rows = mhar_dataset_get (compare, "whole_rows"), *sources = mhar_dataset_get (compare, "n_sources");

  for (gsize s = 0; match != NULL && s < match->shape[0]; s++)
    if (sources->data.i32[s] > 1 && count->data.i32[s] > 1 && (rows->data.i32[s] != 0) == whole) {
      *heads = (gsize)count->data.i32[s];
      return match->data.i32 + s * match->shape[1];
    }
  return NULL;
}

MharDataset *
mhar_comparison_finish (const MharComparison *comparison, guint64 seed)
{
  MharComparison c = *comparison; /* whose matching is made here */
  MharCompared *m = &c.compared;
  gsize columns = m->n_sites + 1;
  MharDataset *out = mhar_dataset_new ("compare");
  g_autofree guint *match = g_new0 (guint, m->n_sites * m->max_heads[0]);
  g_autofree double *values = g_new (double, MHAR_N_DISTANCES *columns);

  g_return_val_if_fail (c.windows[0] > 0 && c.windows[0] == c.windows[1], out);
  add_labels (m, out);
  m->match = match;
  if (m->paired) {
    const double *pairs = add_pairs (&c, out);
    for (gsize s = 0; s < m->n_sites; s++)
      if (mhar_plan_site (m->plan[0], (guint)s)->n_sources > 1)
        match_kind (m, s, pairs, match);
    add_matching (m, match, out);
    add_random (m, pairs, out);
  }
  add_differences (&c, out);
  mhar_compared_distances (m, c.pool[0], c.pool[1], values);
  for (guint d = 0; d < MHAR_N_DISTANCES; d++)
    if (m->paired || d == MHAR_DISTANCE_CONSENSUS || d == MHAR_DISTANCE_LARGEST_CONSENSUS)
      add_row (out, distances[d].name, distances[d].long_name, distances[d].units, m->n_sites, values + d * columns);
  if (mhar_resampler_entries (c.resampler[0]) > 1)
    add_null (&c, seed, values, out);
  if (mhar_resample_enough (mhar_resampler_entries (c.resampler[0])))
    add_intervals (&c, seed, values, out);
  mhar_dataset_set_string (out, "signal", "difference_consensus");
  return out;
}
