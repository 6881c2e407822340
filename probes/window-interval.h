/* SPDX-License-Identifier: MIT */
/* How sure a mean over windows is: windows are the unit that is drawn again, in blocks, since neighbours are alike. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MHAR_INTERVAL_RESAMPLES 2000
#define MHAR_INTERVAL_LEVEL 0.95

/* The percentile interval (2.5 %, 97.5 %, linear between order statistics) of Σ value / Σ count over MHAR_INTERVAL_RESAMPLES
 * resamples of the n windows; value and count are `stride` and 1 elements apart. A resample is ⌈n / b⌉ circular blocks of
 * b = ⌈n^(1/3)⌉ windows, cut to n; block i of resample r starts at ⌊u n / 2³²⌋, u the word i mod 4 of Philox4x32-10 with
 * the counter (⌊i / 4⌋, r, 0, 1) and the seed as its key: the same windows whatever is measured on them, so that
 * intervals of one run are paired. FALSE, and NaN, with fewer than three windows: a block would be all of them. */
gboolean mhar_window_interval (guint64 seed, const double *value, gsize stride, const double *count, gsize n, double *low,
                               double *high);

G_END_DECLS
