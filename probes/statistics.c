/* SPDX-License-Identifier: MIT */
#include "probes/statistics.h"

#include <math.h>
#include <stdlib.h>

double
mhar_pearson (const double *a, const double *b, gsize n)
{
  double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;

  for (gsize i = 0; i < n; i++) {
    ma += a[i] / (double) n;
    mb += b[i] / (double) n;
  }
  for (gsize i = 0; i < n; i++) {
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
    ab += (a[i] - ma) * (b[i] - mb);
  }
  return ab / sqrt (aa * bb);
}

double
mhar_p_value (double value, const double *null, gsize n, gsize stride)
{
  double least = value - fmax (1e-6 * fabs (value), 1e-7);
  gsize as_large = 0;

  if (!isfinite (value))
    return NAN; /* no draw would count as reaching it */
  for (gsize i = 0; i < n; i++) {
    if (isnan (null[i * stride]))
      return NAN; /* nor would that one */
    as_large += null[i * stride] >= least;
  }
  return (1.0 + (double)as_large) / (1.0 + (double)n);
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
quantile (const double *sorted, gsize n, double q)
{
  double at = q * (double)(n - 1), below = floor (at);
  gsize i = (gsize)below;

  return i + 1 < n ? sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* Those that are finite, in order, to the front; how many, 0 where they are fewer than half. */
static gsize
sort_finite (double *values, gsize n)
{
  gsize kept = 0;

  for (gsize i = 0; i < n; i++)
    if (isfinite (values[i]))
      values[kept++] = values[i];
  if (kept == 0 || 2 * kept < n)
    return 0;
  qsort (values, kept, sizeof *values, compare_doubles);
  return kept;
}

gboolean
mhar_interval (double *values, gsize n, double *low, double *high)
{
  gsize kept = sort_finite (values, n);

  if (kept == 0)
    return FALSE;
  *low = quantile (values, kept, 0.025);
  *high = quantile (values, kept, 0.975);
  return TRUE;
}

gboolean
mhar_interval_about (double value, MharRange range, double *values, gsize n, double *low, double *high)
{
  gsize kept = isfinite (value) ? sort_finite (values, n) : 0;

  if (kept == 0)
    return FALSE;
  double median = quantile (values, kept, 0.5);
  *low = fmax (value + quantile (values, kept, 0.025) - median, fmin (range.least, value));
  *high = fmin (value + quantile (values, kept, 0.975) - median, fmax (range.most, value));
  return TRUE;
}

static int
compare_places (const void *a, const void *b)
{
  double x = **(const double *const *) a, y = **(const double *const *) b;
  return (x > y) - (x < y);
}

/* Ranks from 0, those of equal values averaged. */
static double *
ranks (const double *values, gsize n)
{
  g_autofree const double **order = g_new (const double *, n);
  double *rank = g_new (double, n);

  for (gsize i = 0; i < n; i++)
    order[i] = values + i;
  qsort (order, n, sizeof *order, compare_places);
  for (gsize i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && *order[j] == *order[i];)
      j++;
    for (gsize k = i; k < j; k++)
      rank[order[k] - values] = (double) (i + j - 1) / 2;
  }
  return rank;
}

double
mhar_spearman (const double *a, const double *b, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (isnan (a[i]) || isnan (b[i]))
      return NAN; /* it has no rank */
  g_autofree double *ra = ranks (a, n), *rb = ranks (b, n);

  return mhar_pearson (ra, rb, n);
}
