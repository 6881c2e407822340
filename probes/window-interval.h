/* SPDX-License-Identifier: MIT */
/* How sure a mean over windows is: windows are the unit that is drawn again, in blocks, since neighbours are alike. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The 95 % percentile interval of Σ value / Σ count over the resamples of the n windows that probes/resample.h draws: the same
 * windows whatever is measured on them, so that intervals of one run are paired. value and count are `stride` and 1 elements
 * apart. FALSE, and NaN, with fewer than three windows: a block would be all of them. */
gboolean mhar_window_interval (guint64 seed, const double *value, gsize stride, const double *count, gsize n, double *low,
                               double *high);

G_END_DECLS
