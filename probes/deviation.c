/* SPDX-License-Identifier: MIT */
#include "probes/deviation.h"

#include "probes/statistics.h"

#include <math.h>

gsize
mhar_deviation_padded (const MharProbeSetup *setup, gsize s, gsize h, gsize n)
{
  return (s * setup->max_heads + h) * setup->max_sources + n;
}

gsize
mhar_deviation_packed_length (const MharProbeSetup *setup)
{
  gsize packed = 0;

  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    packed += mhar_site_counts (site, TRUE) ? (gsize)site->heads * site->n_sources : 0;
  }
  return packed;
}

/* Deviation of each head's mean weight from the mean over heads, into `out` [heads, N], from weight sums [heads rows
 * `stride` apart, N] over `tokens`. */
static void
deviation (const double *sums, gsize stride, gsize heads, gsize n, double tokens, double *out)
{
  for (gsize i = 0; i < n; i++) {
    double mean = 0;
    for (gsize h = 0; h < heads; h++)
      mean += sums[h * stride + i] / tokens / (double)heads;
    for (gsize h = 0; h < heads; h++)
      out[h * n + i] = sums[h * stride + i] / tokens - mean;
  }
}

static double
largest (const double *values, gsize n)
{
  double most = 0;
  for (gsize i = 0; i < n; i++)
    most = mhar_larger (most, fabs (values[i]));
  return most;
}

/* Deviations of every site with the checkpoint's H heads, one vector a head: [H, *length], newly allocated. `whole`
 * sites have a distribution a KV group, not a head, and stay out. */
static double *
head_vectors (const MharProbeSetup *setup, const double *sums, double tokens, gsize *length)
{
  gsize H = (gsize)setup->plan->heads, cells = H * setup->max_sources, total = 0;
  double *all = g_new (double, H * setup->n_sites * setup->max_sources + 1);
  g_autofree double *dev = g_new (double, cells + 1);

  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    gsize n = (gsize)site->n_sources;
    if (!mhar_site_counts (site, TRUE) || site->whole || (gsize)site->heads != H)
      continue;
    deviation (sums + mhar_deviation_padded (setup, s, 0, 0), setup->max_sources, H, n, tokens, dev);
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
  gsize H = (gsize)setup->plan->heads, length;
  double even = mhar_pool_parity_scalar (pool, "count", 0), odd = mhar_pool_parity_scalar (pool, "count", 1), r = 0;
  g_autofree double *all = head_vectors (setup, mhar_pool_total (pool, "weight"), even + odd, &length);

  if (length == 0 || H < 2)
    return;
  for (gsize a = 0; a < H; a++)
    for (gsize b = 0; b < H; b++)
      if (a != b)
        r += mhar_pearson (all + a * length, all + b * length, length) / ((double)H * (double)(H - 1));
  mhar_dataset_set_real (out, "head_correlation", r);
  mhar_dataset_set_real (out, "head_correlation_floor", -1.0 / (double)(H - 1));
  if (mhar_pool_windows (pool) < 2)
    return;
  g_autofree double *first = head_vectors (setup, mhar_pool_parity (pool, "weight", 0), even, &length);
  g_autofree double *second = head_vectors (setup, mhar_pool_parity (pool, "weight", 1), odd, &length);
  mhar_dataset_set_real (out, "replication_r", mhar_pearson (first, second, H * length));
}

/* The site's deviations [heads, N] into `dev`; FALSE where it has one head. */
static gboolean
site_deviation (const MharProbeSetup *setup, const double *sums, double tokens, gsize s, double *dev)
{
  const MharSite *site = mhar_plan_site (setup->plan, (guint)s);

  if (site->heads < 2)
    return FALSE;
  deviation (sums + mhar_deviation_padded (setup, s, 0, 0), setup->max_sources, (gsize)site->heads,
             (gsize)site->n_sources, tokens, dev);
  return TRUE;
}

static MharField *
add_field (const MharProbeSetup *setup, MharDataset *out, const char *name, const char *long_name, MharFieldType type,
           guint n_dims)
{
  const char *dims[] = { "site", "head", "source" };
  gsize shape[] = { setup->n_sites, setup->max_heads, setup->max_sources };
  return mhar_dataset_add (out, mhar_field_new (name, long_name, "1", type, n_dims, dims, shape));
}

void
mhar_deviation_scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  const double *sums = mhar_pool_total (pool, "weight");
  double tokens = mhar_pool_scalar (pool, "count"), most = 0;
  g_autofree double *dev = g_new (double, setup->max_heads * setup->max_sources + 1);

  if (sums == NULL || mhar_plan_count_sites (setup->plan, TRUE) == 0)
    return;
  MharField *by_site
      = add_field (setup, out, "max_deviation_site", "the site's largest |deviation|", MHAR_FIELD_F64, 1);
  for (gsize s = 0; s < setup->n_sites; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, (guint)s);
    if (!mhar_site_counts (site, TRUE) || !site_deviation (setup, sums, tokens, s, dev))
      continue;
    by_site->data.f64[s] = largest (dev, (gsize)site->heads * site->n_sources);
    most = mhar_larger (most, by_site->data.f64[s]);
  }
  mhar_dataset_set_real (out, "max_deviation", most);
  set_correlations (setup, pool, out);
}

static void
add_deviation (const MharProbeSetup *setup, const double *sums, double tokens, MharDataset *out)
{
  MharField *field = add_field (setup, out, "deviation", "token mean of the routing weight less its mean over heads",
                                MHAR_FIELD_F32, 3);
  g_autofree double *dev = g_new (double, setup->max_heads * setup->max_sources + 1);

  for (gsize s = 0; s < setup->n_sites; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, (guint)s);
    gsize n = (gsize)site->n_sources;
    if (!site_deviation (setup, sums, tokens, s, dev))
      continue;
    for (gsize h = 0; h < (gsize)site->heads; h++)
      for (gsize i = 0; i < n; i++)
        field->data.f32[mhar_deviation_padded (setup, s, h, i)] = (float)dev[h * n + i];
  }
}

/* Each draw's largest |deviation| at each site [site, draw], and anywhere, `top` [draws]. */
static MharField *
add_null (const MharProbeSetup *setup, const MharPool *pool, double *top, MharDataset *out)
{
  const double *sums = mhar_pool_total (pool, "weight_null");
  double tokens = mhar_pool_scalar (pool, "null_count");
  gsize draws = setup->options->null_draws, packed = mhar_deviation_packed_length (setup), base = 0;
  const char *dims[] = { "site", "draw" };
  gsize shape[] = { setup->n_sites, draws };
  MharField *field
      = mhar_dataset_add (out, mhar_field_new ("max_deviation_null", "the site's largest |deviation| of null queries",
                                               "1", MHAR_FIELD_F64, 2, dims, shape));
  g_autofree double *dev = g_new (double, setup->max_heads * setup->max_sources + 1);

  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    gsize heads = (gsize)site->heads, n = (gsize)site->n_sources;
    if (!mhar_site_counts (site, TRUE))
      continue;
    for (gsize j = 0; j < draws; j++) {
      deviation (sums + j * packed + base, n, heads, n, tokens, dev);
      field->data.f64[s * draws + j] = largest (dev, heads * n);
      top[j] = mhar_larger (top[j], field->data.f64[s * draws + j]);
    }
    base += heads * n;
  }
  return field;
}

/* p-values by site against the site's own draws, and by head against the draws' largest anywhere. */
static void
add_p_values (const MharProbeSetup *setup, const double *sums, double tokens, const MharField *null, const double *top,
              MharDataset *out)
{
  gsize draws = setup->options->null_draws;
  MharField *by_site
      = add_field (setup, out, "max_deviation_p_value",
                   "share of draws whose largest |deviation| at the site is at least the site's", MHAR_FIELD_F64, 1);
  MharField *by_head = add_field (
      setup, out, "deviation_p_value",
      "share of draws whose largest |deviation| at any site and head is at least the head's", MHAR_FIELD_F64, 2);
  g_autofree double *dev = g_new (double, setup->max_heads * setup->max_sources + 1);
  double most = 0;

  for (gsize s = 0; s < setup->n_sites; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, (guint)s);
    gsize n = (gsize)site->n_sources;
    if (!mhar_site_counts (site, TRUE) || !site_deviation (setup, sums, tokens, s, dev))
      continue;
    double here = largest (dev, (gsize)site->heads * n);
    most = mhar_larger (most, here);
    by_site->data.f64[s] = mhar_p_value (here, null->data.f64 + s * draws, draws, 1);
    for (gsize h = 0; h < (gsize)site->heads; h++)
      by_head->data.f64[s * setup->max_heads + h] = mhar_p_value (largest (dev + h * n, n), top, draws, 1);
  }
  mhar_dataset_set_real (out, "max_deviation_p_value", mhar_p_value (most, top, draws, 1));
}

void
mhar_deviation_finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  const double *sums = mhar_pool_total (pool, "weight");
  double tokens = mhar_pool_scalar (pool, "count"), low, high, total = 0;
  gsize draws = setup->options->null_draws;
  g_autofree double *top = g_new0 (double, MAX (draws, 1));

  if (sums == NULL || mhar_plan_count_sites (setup->plan, TRUE) == 0)
    return;
  add_deviation (setup, sums, tokens, out);
  if (mhar_pool_total (pool, "weight_null") == NULL)
    return;
  const MharField *null = add_null (setup, pool, top, out);
  add_p_values (setup, sums, tokens, null, top, out);
  for (gsize j = 0; j < draws; j++)
    total += top[j];
  mhar_dataset_set_real (out, "null_max_deviation", total / (double)draws);
  if (draws > 1 && mhar_interval (top, draws, &low, &high)) {
    mhar_dataset_set_real (out, "max_deviation_null_draw_low", low);
    mhar_dataset_set_real (out, "max_deviation_null_draw_high", high);
  }
}
