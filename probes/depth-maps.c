/* SPDX-License-Identifier: MIT */
/* Depth maps (paper, Figure 4): the token mean of every routing weight, w̄[site, head, source]; its mean over heads is the
 * consensus, what is left the deviation. Beside them each read's entropy and what each source contributes to the mix, and,
 * because a deviation alone proves nothing: what random queries of the same norm reach, whether it replicates on the other half
 * of the text, and how the heads' deviations correlate (their floor is −1/(H−1): they sum to zero). */
#include "probes/probe.h"
#include "probes/statistics.h"

#include <math.h>

/* Of a site's packed [head, source] entry in a padded [site, head, source] array. */
static gsize
padded (const MharProbeSetup *setup, gsize s, gsize h, gsize n)
{
  return (s * setup->max_heads + h) * setup->max_sources + n;
}

static MharField *
add (MharDataset *set, const char *name, const char *long_name, const char *units, MharFieldType type, gboolean window,
     gsize windows, guint n_dims, const MharProbeSetup *setup)
{
  const char *dims[] = { "window", "site", "head", "source" };
  gsize shape[] = { windows, setup->n_sites, setup->max_heads, setup->max_sources };
  guint skip = window ? 0 : 1;
  return mhar_dataset_add (set, mhar_field_new (name, long_name, units, type, n_dims - skip, dims + skip, shape + skip));
}

/* The packed sums of ops.h, window by window, into padded fields. */
static void
unpack (const MharProbeSetup *setup, const MharRouteSums *sums, gsize windows, MharField *weight, MharField *contribution,
        MharField *entropy)
{
  gsize cells = setup->n_sites * setup->max_heads * setup->max_sources, at = 0, row = 0;

  for (gsize w = 0; w < windows; w++)
    for (gsize s = 0; s < setup->n_sites; s++) {
      const MharSite *site = mhar_plan_site (setup->plan, (guint) s);
      for (gsize h = 0; h < (gsize) site->heads; h++) {
        entropy->data.f64[(w * setup->n_sites + s) * setup->max_heads + h] = sums->entropy[row++];
        for (gsize n = 0; n < (gsize) site->n_sources; n++, at++) {
          weight->data.f64[w * cells + padded (setup, s, h, n)] = sums->weight[at];
          contribution->data.f64[w * cells + padded (setup, s, h, n)] = sums->contribution[at];
        }
      }
    }
}

/* Σ heads·N of the sites with several heads: how the random queries' weights are packed. */
static gsize
packed_length (const MharProbeSetup *setup)
{
  gsize packed = 0;

  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    packed += mhar_site_counts (site, TRUE) ? (gsize) site->heads * site->n_sources : 0;
  }
  return packed;
}

/* The random queries' weights, only ever pooled, so the batch is as one window: [1, draw, Σ heads·N of the sites with several
 * heads]. */
static void
add_null_weights (const MharProbeSetup *setup, const MharNullSums *null, MharDataset *slab)
{
  gsize draws = setup->options->null_draws, packed = packed_length (setup), base = 0, k = 0;
  MharDataset *pooled = mhar_dataset_find_child (slab, "pooled");
  const char *dims[] = { "window", "draw", "packed" };
  gsize shape[] = { 1, draws, packed };
  MharField *field = mhar_dataset_add (pooled, mhar_field_new ("weight_null", "sum over tokens of random queries' weights", "1",
                                                               MHAR_FIELD_F64, 3, dims, shape));
  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    gsize cells = (gsize) site->heads * site->n_sources;
    if (!mhar_site_counts (site, TRUE))
      continue;
    for (gsize j = 0; j < draws; j++)
      memcpy (field->data.f64 + j * packed + base, null[k].weight + j * cells, cells * sizeof (double));
    base += cells;
    k++;
  }
}

static gboolean
batch (gpointer state G_GNUC_UNUSED, MharBatch *b, MharDataset *slab, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (b->rig);
  gsize windows = (gsize) b->span.windows;
  const MharNullSums *null = NULL;
  MharRouteSums sums;

  if (setup->n_sites == 0)
    return TRUE;
  if (!mhar_batch_route_sums (b, &sums, error) || !mhar_batch_head_null (b, &null, error))
    return FALSE;
  MharField *weight = add (slab, "weight", "sum over the window's tokens of the routing weight", "1", MHAR_FIELD_F64, TRUE,
                           windows, 4, setup);
  MharField *contribution = add (slab, "contribution", "sum over the window's tokens of |w_n s_n[h]|", "1", MHAR_FIELD_F64,
                                 TRUE, windows, 4, setup);
  MharField *entropy = add (slab, "entropy", "sum over the window's tokens of -sum w ln w", "nat", MHAR_FIELD_F64, TRUE,
                            windows, 3, setup);
  unpack (setup, &sums, windows, weight, contribution, entropy);
  if (null != NULL)
    add_null_weights (setup, null, slab);
  return TRUE;
}

/* Deviation of each head's mean weight from the mean over heads, into `out` [heads, N], from weight sums [heads rows `stride`
 * apart, N] over `tokens`. */
static void
deviation (const double *sums, gsize stride, gsize heads, gsize n, double tokens, double *out)
{
  for (gsize i = 0; i < n; i++) {
    double mean = 0;
    for (gsize h = 0; h < heads; h++)
      mean += sums[h * stride + i] / tokens / (double) heads;
    for (gsize h = 0; h < heads; h++)
      out[h * n + i] = sums[h * stride + i] / tokens - mean;
  }
}

static double
largest (const double *values, gsize n)
{
  double most = 0;
  for (gsize i = 0; i < n; i++)
    most = fmax (most, fabs (values[i]));
  return most;
}

/* Mean over draws of the draw's largest |deviation| at any site. */
static double
null_max_deviation (const MharProbeSetup *setup, const double *sums, double tokens)
{
  gsize draws = setup->options->null_draws, packed = packed_length (setup);
  double total = 0;
  g_autofree double *dev = g_new (double, setup->max_heads *setup->max_sources);

  for (gsize j = 0; j < draws; j++) {
    double most = 0;
    const double *at = sums + j * packed;
    for (guint s = 0; s < setup->plan->sites->len; s++) {
      const MharSite *site = mhar_plan_site (setup->plan, s);
      gsize heads = (gsize) site->heads, n = (gsize) site->n_sources;
      if (!mhar_site_counts (site, TRUE))
        continue;
      deviation (at, n, heads, n, tokens, dev);
      most = fmax (most, largest (dev, heads * n));
      at += heads * n;
    }
    total += most;
  }
  return total / (double) draws;
}

/* Deviations of every site with the checkpoint's H heads, one vector a head: [H, *length], newly allocated. `whole` sites have a
 * distribution a KV group, not a head, and stay out. */
static double *
head_vectors (const MharProbeSetup *setup, const double *sums, double tokens, gsize *length)
{
  gsize H = (gsize) setup->plan->heads, cells = H * setup->max_sources, total = 0;
  double *all = g_new (double, H *setup->n_sites *setup->max_sources + 1);
  g_autofree double *dev = g_new (double, cells + 1);

  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    gsize n = (gsize) site->n_sources;
    if (!mhar_site_counts (site, TRUE) || site->whole || (gsize) site->heads != H)
      continue;
    deviation (sums + padded (setup, s, 0, 0), setup->max_sources, H, n, tokens, dev);
    for (gsize h = 0; h < H; h++)
      for (gsize i = 0; i < n; i++)
        all[h * setup->n_sites * setup->max_sources + total + i] = dev[h * n + i];
    total += n;
  }
  for (gsize h = 1; h < H; h++)
    for (gsize i = 0; i < total; i++)
      all[h * total + i] = all[h * setup->n_sites * setup->max_sources + i];
  *length = total;
  return all;
}

static void
set_correlations (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  gsize H = (gsize) setup->plan->heads, length;
  double even = mhar_pool_parity_scalar (pool, "count", 0), odd = mhar_pool_parity_scalar (pool, "count", 1), r = 0;
  g_autofree double *all = head_vectors (setup, mhar_pool_total (pool, "weight"), even + odd, &length);

  if (length == 0 || H < 2)
    return;
  for (gsize a = 0; a < H; a++)
    for (gsize b = 0; b < H; b++)
      if (a != b)
        r += mhar_pearson (all + a * length, all + b * length, length) / ((double) H * (double) (H - 1));
  mhar_dataset_set_real (out, "head_correlation", r);
  mhar_dataset_set_real (out, "head_correlation_floor", -1.0 / (double) (H - 1));
  if (mhar_pool_windows (pool) < 2)
    return;
  g_autofree double *first = head_vectors (setup, mhar_pool_parity (pool, "weight", 0), even, &length);
  g_autofree double *second = head_vectors (setup, mhar_pool_parity (pool, "weight", 1), odd, &length);
  mhar_dataset_set_real (out, "replication_r", mhar_pearson (first, second, H * length));
}

static void
finish_deviation (const MharProbeSetup *setup, const MharPool *pool, double tokens, MharDataset *out)
{
  const double *sums = mhar_pool_total (pool, "weight"), *null = mhar_pool_total (pool, "weight_null");
  MharField *field = add (out, "deviation", "token mean of the routing weight less its mean over heads", "1", MHAR_FIELD_F32,
                          FALSE, 0, 4, setup);
  g_autofree double *dev = g_new (double, setup->max_heads *setup->max_sources);
  double most = 0;

  for (gsize s = 0; s < setup->n_sites; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, (guint) s);
    gsize heads = (gsize) site->heads, n = (gsize) site->n_sources;
    if (heads < 2)
      continue;
    deviation (sums + padded (setup, s, 0, 0), setup->max_sources, heads, n, tokens, dev);
    for (gsize h = 0; h < heads; h++)
      for (gsize i = 0; i < n; i++)
        field->data.f32[padded (setup, s, h, i)] = (float) dev[h * n + i];
    if (n > 1)
      most = fmax (most, largest (dev, heads * n));
  }
  mhar_dataset_set_real (out, "max_deviation", most);
  if (null != NULL)
    mhar_dataset_set_real (out, "null_max_deviation",
                           null_max_deviation (setup, null, mhar_pool_scalar (pool, "null_count")));
  set_correlations (setup, pool, out);
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings G_GNUC_UNUSED)
{
  static const struct {
    const char *name, *long_name, *units;
    guint n_dims;
  } fields[] = {
    { "weight", "token mean of the routing weight", "1", 4 },
    { "contribution", "token mean of the norm of what a source adds to the mix, |w_n s_n[h]|", "1", 4 },
    { "entropy", "token mean of the routing entropy, -sum w ln w", "nat", 3 },
  };
  double tokens = mhar_pool_scalar (pool, "count");

  if (setup->n_sites == 0)
    return;
  for (gsize f = 0; f < G_N_ELEMENTS (fields); f++) {
    const double *sums = mhar_pool_total (pool, fields[f].name);
    MharField *field = add (out, fields[f].name, fields[f].long_name, fields[f].units, MHAR_FIELD_F32, FALSE, 0,
                            fields[f].n_dims, setup);
    for (gsize i = 0; i < mhar_field_length (field); i++)
      field->data.f32[i] = (float) (sums[i] / tokens);
  }
  if (mhar_plan_count_sites (setup->plan, TRUE) > 0)
    finish_deviation (setup, pool, tokens, out);
}

const MharProbe mhar_probe_depth_maps = { "depth-maps", MHAR_PROBE_DEPTH_MAPS, NULL, batch, NULL, finish };
