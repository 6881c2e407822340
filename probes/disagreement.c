/* SPDX-License-Identifier: MIT */
#include "probes/disagreement.h"

#include "probes/statistics.h"

#include <math.h>
#include <stdlib.h>

gboolean
mhar_disagreement_read (const MharProbeSetup *setup, const MharPool *pool, const char *name, gboolean heads,
                        gsize columns, MharDisagreement *d)
{
  g_autofree char *null_name = g_strconcat (name, "_null", NULL);

  *d = (MharDisagreement){ .plan = setup->plan,
                           .heads = heads,
                           .trained = mhar_pool_total (pool, name),
                           .null = mhar_pool_total (pool, null_name),
                           .n_sites = setup->n_sites,
                           .columns = columns,
                           .tokens = mhar_pool_scalar (pool, "count"),
                           .null_tokens = mhar_pool_scalar (pool, "null_count") };
  d->draws = d->null != NULL ? setup->options->null_draws : 0;
  return d->trained != NULL;
}

double
mhar_disagreement_site (const MharDisagreement *d, gsize site)
{
  double sum = 0;

  for (gsize c = 0; c < d->columns; c++)
    sum += d->trained[site * d->columns + c] / (double)d->columns / d->tokens;
  return sum;
}

double
mhar_disagreement_draw (const MharDisagreement *d, gsize site, gsize draw)
{
  return d->null[site * d->draws + draw] / d->null_tokens;
}

static gboolean
takes_part (const MharDisagreement *d, gsize site)
{
  const MharSite *one = mhar_plan_site (d->plan, (guint)site);
  return mhar_site_counts (one, d->heads) && one->n_sources >= d->least;
}

double *
mhar_disagreement_per_draw (const MharDisagreement *d)
{
  double *means = g_new0 (double, MAX (d->draws, 1));
  gsize kept = 0;

  for (gsize s = 0; s < d->n_sites; s++) {
    if (!takes_part (d, s))
      continue;
    kept++;
    for (gsize j = 0; j < d->draws; j++)
      means[j] += mhar_disagreement_draw (d, s, j);
  }
  for (gsize j = 0; j < d->draws; j++)
    means[j] /= (double)kept;
  return means;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts. */
static double
median (double *values, gsize n)
{
  qsort (values, n, sizeof *values, compare_doubles);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static double
mean (const double *values, gsize n)
{
  double sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += values[i];
  return sum / (double)n;
}

static double
deviation (const double *values, gsize n, double centre)
{
  double squares = 0;
  for (gsize i = 0; i < n; i++)
    squares += (values[i] - centre) * (values[i] - centre);
  return n > 1 ? sqrt (squares / (double)(n - 1)) : NAN;
}

MharDisagreementMeans
mhar_disagreement_means (const MharDisagreement *d)
{
  MharDisagreementMeans m = { NAN, NAN, NAN, NAN, NAN };
  g_autofree double *sites = g_new (double, d->n_sites);
  gsize n = 0;

  for (gsize s = 0; s < d->n_sites; s++)
    if (takes_part (d, s))
      sites[n++] = mhar_disagreement_site (d, s);
  if (n == 0)
    return m;
  m.trained = mean (sites, n);
  m.median = isnan (m.trained) ? NAN : median (sites, n);
  if (d->draws == 0)
    return m;
  g_autofree double *per_draw = mhar_disagreement_per_draw (d);
  m.null = mean (per_draw, d->draws);
  m.null_sd = deviation (per_draw, d->draws, m.null);
  m.excess = m.trained - m.null;
  return m;
}

static void
set (MharDataset *out, const char *prefix, const char *suffix, double value)
{
  g_autofree char *name = g_strconcat (prefix, suffix, NULL);
  mhar_dataset_set_real (out, name, value);
}

static MharField *
add_field (const MharDisagreement *d, MharDataset *out, const char *prefix, const char *suffix, const char *long_name,
           const char *units)
{
  const char *dims[] = { "site" };
  g_autofree char *name = g_strconcat (prefix, suffix, NULL);
  return mhar_dataset_add (out, mhar_field_new (name, long_name, units, MHAR_FIELD_F64, 1, dims, &d->n_sites));
}

static double
null_of_site (const MharDisagreement *d, gsize site)
{
  double sum = 0;

  for (gsize j = 0; j < d->draws; j++)
    sum += mhar_disagreement_draw (d, site, j);
  return sum / (double)d->draws;
}

void
mhar_disagreement_scalars (const MharDisagreement *d, const char *prefix, MharDataset *out)
{
  MharDisagreementMeans m = mhar_disagreement_means (d);
  MharField *trained = add_field (d, out, prefix, "_site", "the site's mean", "nat");
  MharField *null
      = d->draws > 0 ? add_field (d, out, prefix, "_null_site", "the site's mean over draws of the null", "nat") : NULL;

  set (out, prefix, "_trained", m.trained);
  set (out, prefix, "_median", m.median);
  for (gsize s = 0; s < d->n_sites; s++) {
    trained->data.f64[s] = mhar_disagreement_site (d, s);
    if (null != NULL && takes_part (d, s))
      null->data.f64[s] = null_of_site (d, s);
  }
  if (d->draws == 0)
    return;
  set (out, prefix, "_null", m.null);
  if (d->draws > 1)
    set (out, prefix, "_null_sd", m.null_sd);
  set (out, prefix, "_excess", m.excess);
}

void
mhar_disagreement_p_values (const MharDisagreement *d, const char *prefix, MharDataset *out)
{
  MharDisagreementMeans m = mhar_disagreement_means (d);
  g_autofree double *per_draw = mhar_disagreement_per_draw (d), *row = g_new (double, MAX (d->draws, 1));
  double low, high;

  if (d->draws == 0)
    return;
  set (out, prefix, "_p_value", mhar_p_value (m.trained, per_draw, d->draws, 1));
  if (d->draws > 1 && mhar_interval (per_draw, d->draws, &low, &high)) {
    set (out, prefix, "_null_draw_low", low);
    set (out, prefix, "_null_draw_high", high);
  }
  MharField *p = add_field (d, out, prefix, "_p_value", "share of draws at least as large, (1 + k) / (1 + draws)", "1");
  for (gsize s = 0; s < d->n_sites; s++) {
    for (gsize j = 0; j < d->draws; j++)
      row[j] = mhar_disagreement_draw (d, s, j);
    if (takes_part (d, s))
      p->data.f64[s] = mhar_p_value (mhar_disagreement_site (d, s), row, d->draws, 1);
  }
}
