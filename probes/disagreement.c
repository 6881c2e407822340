/* SPDX-License-Identifier: MIT */
#include "probes/disagreement.h"

#include <math.h>
#include <stdlib.h>

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static double
median (const double *values, gsize n)
{
  g_autofree double *sorted = g_memdup2 (values, n * sizeof *values);
  qsort (sorted, n, sizeof *sorted, compare_doubles);
  return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

static double
mean (const double *values, gsize n, gsize stride)
{
  double sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += values[i * stride];
  return sum / (double) n;
}

static void
set (MharDataset *out, const char *prefix, const char *suffix, double value)
{
  g_autofree char *name = g_strconcat (prefix, suffix, NULL);
  mhar_dataset_set_real (out, name, value);
}

void
mhar_disagreement_summarise (MharDataset *out, const char *prefix, const double *trained, const double *null, gsize n,
                             gsize draws)
{
  double value = mean (trained, n, 1);

  set (out, prefix, "_trained", value);
  set (out, prefix, "_median", median (trained, n));
  if (null == NULL || draws == 0)
    return;
  g_autofree double *per_draw = g_new (double, draws);
  for (gsize j = 0; j < draws; j++)
    per_draw[j] = mean (null + j, n, draws);
  double centre = mean (per_draw, draws, 1), squares = 0;
  for (gsize j = 0; j < draws; j++)
    squares += (per_draw[j] - centre) * (per_draw[j] - centre);
  set (out, prefix, "_null", centre);
  if (draws > 1)
    set (out, prefix, "_null_sd", sqrt (squares / (double) (draws - 1)));
  set (out, prefix, "_excess", value - centre);
}
