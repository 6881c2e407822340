/* SPDX-License-Identifier: MIT */
/* How sure a mean over windows is: windows are the unit that is drawn again, in blocks, since neighbours are alike. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The resamples of n windows that probes/resample.h draws, made once for all that is measured on them, so that intervals of one
 * run are paired. */
typedef struct _MharWindowResamples MharWindowResamples;

/* count [n]: what a window's value is divided by in the end (copied in sums). */
MharWindowResamples *mhar_window_resamples_new (guint64 seed, const double *count, gsize n);
void mhar_window_resamples_free (MharWindowResamples *resamples);

/* The 95 % interval of Σ value / Σ count (mhar_interval_about); value has n elements, `stride` apart. FALSE, and NaN,
 * where mhar_resample_enough says no. */
gboolean mhar_window_interval (const MharWindowResamples *resamples, const double *value, gsize stride, double *low,
                               double *high);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharWindowResamples, mhar_window_resamples_free)

G_END_DECLS
