/* SPDX-License-Identifier: MIT */
#include "probes/window-interval.h"

#include "probes/resample.h"
#include "probes/statistics.h"

#include <math.h>

gboolean
mhar_window_interval (guint64 seed, const double *value, gsize stride, const double *count, gsize n, double *low, double *high)
{
  double sum[MHAR_RESAMPLE_ENTRIES] = { 0 }, counted[MHAR_RESAMPLE_ENTRIES] = { 0 }, drawn[MHAR_RESAMPLES];
  guint times[MHAR_RESAMPLE_ENTRIES], entries = 0;

  *low = *high = NAN;
  for (gsize w = 0; w < n; w++) {
    guint e = mhar_resample_entry (w, n);
    sum[e] += value[w * stride];
    counted[e] += count[w];
    entries = MAX (entries, e + 1);
  }
  if (entries == 0 || mhar_resample_block (entries) >= entries)
    return FALSE;
  for (guint b = 0; b < MHAR_RESAMPLES; b++) {
    double total = 0, tokens = 0;
    mhar_resample_count (seed, b, entries, times);
    for (guint e = 0; e < entries; e++) {
      total += times[e] * sum[e];
      tokens += times[e] * counted[e];
    }
    drawn[b] = total / tokens;
  }
  return mhar_interval (drawn, MHAR_RESAMPLES, low, high);
}
