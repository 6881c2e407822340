/* SPDX-License-Identifier: MIT */
#include "probes/window-interval.h"

#include "probes/philox.h"

#include <math.h>
#include <stdlib.h>

static gsize
block_length (gsize n)
{
  gsize length = 1;

  while (length * length * length < n)
    length++;
  return length;
}

static double
resample (guint64 seed, guint32 number, const double *value, gsize stride, const double *count, gsize n)
{
  gsize length = block_length (n), taken = 0;
  double sum = 0, counted = 0;
  g_autofree guint32 *words = g_new (guint32, n);

  mhar_random_words (seed, number, 0, MHAR_STREAM_WINDOWS, (n + length - 1) / length, words);
  for (gsize i = 0; taken < n; i++) {
    gsize start = mhar_random_below (words[i], n);
    for (gsize k = 0; k < length && taken < n; k++, taken++) {
      gsize w = (start + k) % n;
      sum += value[w * stride];
      counted += count[w];
    }
  }
  return sum / counted;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* Between the order statistics around `share` of the way. */
static double
quantile (const double *sorted, gsize n, double share)
{
  double at = share * (double) (n - 1);
  gsize below = MIN ((gsize) at, n - 2);

  return sorted[below] + (at - (double) below) * (sorted[below + 1] - sorted[below]);
}

gboolean
mhar_window_interval (guint64 seed, const double *value, gsize stride, const double *count, gsize n, double *low, double *high)
{
  double drawn[MHAR_INTERVAL_RESAMPLES];

  *low = *high = NAN;
  if (n < 3)
    return FALSE;
  for (guint32 r = 0; r < MHAR_INTERVAL_RESAMPLES; r++)
    drawn[r] = resample (seed, r, value, stride, count, n);
  qsort (drawn, MHAR_INTERVAL_RESAMPLES, sizeof *drawn, compare);
  *low = quantile (drawn, MHAR_INTERVAL_RESAMPLES, (1 - MHAR_INTERVAL_LEVEL) / 2);
  *high = quantile (drawn, MHAR_INTERVAL_RESAMPLES, (1 + MHAR_INTERVAL_LEVEL) / 2);
  return TRUE;
}
