/* SPDX-License-Identifier: MIT */
#include "probes/window-interval.h"

#include "probes/resample.h"
#include "probes/statistics.h"

#include <math.h>

struct _MharWindowResamples {
  gsize n;                        /* windows */
  guint entries;                  /* 0: too few */
  guint *entry;                   /* [n] the entry that a window is in */
  guint *times;                   /* [MHAR_RESAMPLES, entries] */
  double count;                   /* Σ count of all windows */
  double counted[MHAR_RESAMPLES]; /* Σ count of a resample */
};

/* Sums over the windows of each entry, and of all. */
static double
fold (const MharWindowResamples *r, const double *value, gsize stride, double sum[MHAR_RESAMPLE_ENTRIES])
{
  double all = 0;

  for (guint e = 0; e < MHAR_RESAMPLE_ENTRIES; e++)
    sum[e] = 0;
  for (gsize w = 0; w < r->n; w++) {
    sum[r->entry[w]] += value[w * stride];
    all += value[w * stride];
  }
  return all;
}

static double
resampled (const MharWindowResamples *r, guint b, const double *sum)
{
  const guint *times = r->times + (gsize)b * r->entries;
  double total = 0;

  for (guint e = 0; e < r->entries; e++)
    total += times[e] * sum[e];
  return total;
}

MharWindowResamples *
mhar_window_resamples_new (guint64 seed, const double *count, gsize n)
{
  MharWindowResamples *r = g_new0 (MharWindowResamples, 1);
  double sum[MHAR_RESAMPLE_ENTRIES];

  r->n = n;
  r->entry = g_new (guint, n);
  for (gsize w = 0; w < n; w++) {
    r->entry[w] = mhar_resample_entry (w, n);
    r->entries = MAX (r->entries, r->entry[w] + 1);
  }
  if (!mhar_resample_enough (r->entries))
    r->entries = 0;
  r->count = fold (r, count, 1, sum);
  r->times = g_new (guint, (gsize)MHAR_RESAMPLES * r->entries);
  for (guint b = 0; b < MHAR_RESAMPLES && r->entries > 0; b++) {
    mhar_resample_count (seed, b, r->entries, r->times + (gsize)b * r->entries);
    r->counted[b] = resampled (r, b, sum);
  }
  return r;
}

void
mhar_window_resamples_free (MharWindowResamples *r)
{
  if (r == NULL)
    return;
  g_free (r->entry);
  g_free (r->times);
  g_free (r);
}

gboolean
mhar_window_interval (const MharWindowResamples *r, const double *value, gsize stride, double *low, double *high)
{
  double sum[MHAR_RESAMPLE_ENTRIES], drawn[MHAR_RESAMPLES];

  *low = *high = NAN;
  if (r->entries == 0)
    return FALSE;
  double all = fold (r, value, stride, sum);
  for (guint b = 0; b < MHAR_RESAMPLES; b++)
    drawn[b] = resampled (r, b, sum) / r->counted[b];
  return mhar_interval_about (all / r->count, (MharRange){ -INFINITY, INFINITY }, drawn, MHAR_RESAMPLES, low, high);
}
