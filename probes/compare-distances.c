/* SPDX-License-Identifier: MIT */
#include "probes/compare-distances.h"

#include "probes/probe.h"
#include "probes/statistics.h"

#include <math.h>

/* p ln (p / m), 0 where p is; NaN stays. */
static double
term (double p, double m)
{
  return p == 0 ? 0 : p * log (p / m);
}

double
mhar_js_divergence (const double *p, const double *q, gsize n)
{
  double sum = 0;

  for (gsize i = 0; i < n; i++) {
    double m = (p[i] + q[i]) / 2;
    sum += term (p[i], m) + term (q[i], m);
  }
  return mhar_not_negative (sum / 2);
}

void
mhar_compared_distributions (const MharCompared *c, guint which, const double *sums, gsize s, double *to)
{
  const MharSite *site = mhar_plan_site (c->plan[which], (guint)s);
  gsize heads = (gsize)site->heads, n = (gsize)site->n_sources;

  for (gsize i = 0; i < n; i++)
    to[heads * n + i] = 0;
  for (gsize h = 0; h < heads; h++) {
    const double *from = sums + (s * c->max_heads[which] + h) * c->max_sources;
    double whole = 0;
    for (gsize i = 0; i < n; i++)
      whole += from[i];
    for (gsize i = 0; i < n; i++) {
      to[h * n + i] = from[i] / whole;
      to[heads * n + i] += from[i] / whole / (double)heads;
    }
  }
}

static double
largest (const double *p, const double *q, gsize n)
{
  double most = 0;

  for (gsize i = 0; i < n; i++)
    most = mhar_larger (most, fabs (q[i] - p[i]));
  return most;
}

/* Room for the distributions of any read. */
static double *
new_buffer (const MharCompared *c)
{
  return g_new (double, (MAX (c->max_heads[0], c->max_heads[1]) + 1) * c->max_sources + 1);
}

/* The mean of a row over the reads that count, or their largest, into its last element. */
static void
over_sites (const MharCompared *c, double *row, gboolean most)
{
  double sum = 0, top = 0, counted = 0;

  for (gsize s = 0; s < c->n_sites; s++)
    if (mhar_plan_site (c->plan[0], (guint)s)->n_sources > 1) {
      sum += row[s];
      top = fmax (top, row[s]);
      counted++;
    }
  row[c->n_sites] = isnan (sum) ? NAN : most ? top : sum / counted;
}

static void
distances_at (const MharCompared *c, gsize s, const double *p, const double *q, double *values)
{
  gsize heads = (gsize)mhar_plan_site (c->plan[0], (guint)s)->heads, columns = c->n_sites + 1;
  gsize others = (gsize)mhar_plan_site (c->plan[1], (guint)s)->heads;
  gsize n = (gsize)mhar_plan_site (c->plan[0], (guint)s)->n_sources;
  double same = 0, matched = 0, most = 0;

  values[MHAR_DISTANCE_CONSENSUS * columns + s] = mhar_js_divergence (p + heads * n, q + others * n, n);
  values[MHAR_DISTANCE_LARGEST_CONSENSUS * columns + s] = largest (p + heads * n, q + others * n, n);
  for (gsize h = 0; c->paired && h < heads; h++) {
    const double *partner = q + c->match[s * c->max_heads[0] + h] * n;
    same += mhar_js_divergence (p + h * n, q + h * n, n) / (double)heads;
    matched += mhar_js_divergence (p + h * n, partner, n) / (double)heads;
    most = mhar_larger (most, largest (p + h * n, partner, n));
  }
  values[MHAR_DISTANCE_IDENTITY * columns + s] = c->paired ? same : NAN;
  values[MHAR_DISTANCE_MATCHED * columns + s] = c->paired ? matched : NAN;
  values[MHAR_DISTANCE_LARGEST * columns + s] = c->paired ? most : NAN;
}

void
mhar_compared_distances (const MharCompared *c, const MharPool *a, const MharPool *b, double *values)
{
  g_autofree double *p = new_buffer (c), *q = new_buffer (c);
  gsize columns = c->n_sites + 1;

  for (gsize i = 0; i < MHAR_N_DISTANCES * columns; i++)
    values[i] = NAN;
  for (gsize s = 0; s < c->n_sites; s++) {
    if (mhar_plan_site (c->plan[0], (guint)s)->n_sources < 2)
      continue;
    mhar_compared_distributions (c, 0, mhar_pool_total (a, "weight"), s, p);
    mhar_compared_distributions (c, 1, mhar_pool_total (b, "weight"), s, q);
    distances_at (c, s, p, q, values);
  }
  for (guint d = 0; d < MHAR_N_DISTANCES; d++)
    over_sites (c, values + d * columns, d >= MHAR_DISTANCE_LARGEST);
}

/* Mean over heads of the divergence between the halves, and, added to `consensus`, that of their means over heads. */
static double
halves_at (const MharCompared *c, guint which, const MharPool *pool, gsize s, double *p, double *q, double *consensus)
{
  const MharSite *site = mhar_plan_site (c->plan[which], (guint)s);
  gsize heads = (gsize)site->heads, n = (gsize)site->n_sources;
  double sum = 0;

  mhar_compared_distributions (c, which, mhar_pool_parity (pool, "weight", 0), s, p);
  mhar_compared_distributions (c, which, mhar_pool_parity (pool, "weight", 1), s, q);
  for (gsize h = 0; h < heads; h++)
    sum += mhar_js_divergence (p + h * n, q + h * n, n);
  *consensus += mhar_js_divergence (p + heads * n, q + heads * n, n) / 2;
  return sum / (double)heads;
}

void
mhar_compared_halves (const MharCompared *c, const MharPool *a, const MharPool *b, double *values)
{
  g_autofree double *p = new_buffer (c), *q = new_buffer (c);
  gsize columns = c->n_sites + 1;

  for (gsize i = 0; i < MHAR_N_HALVES * columns; i++)
    values[i] = NAN;
  for (gsize s = 0; s < c->n_sites; s++) {
    double consensus = 0;
    if (mhar_plan_site (c->plan[0], (guint)s)->n_sources < 2)
      continue;
    double of_a = halves_at (c, 0, a, s, p, q, &consensus), of_b = halves_at (c, 1, b, s, p, q, &consensus);
    values[MHAR_HALVES_A * columns + s] = c->paired ? of_a : NAN;
    values[MHAR_HALVES_B * columns + s] = c->paired ? of_b : NAN;
    values[MHAR_HALVES * columns + s] = c->paired ? (of_a + of_b) / 2 : NAN;
    values[MHAR_HALVES_CONSENSUS * columns + s] = consensus;
  }
  for (guint d = 0; d < MHAR_N_HALVES; d++)
    over_sites (c, values + d * columns, FALSE);
}
