/* SPDX-License-Identifier: MIT */
/* What several probes share of statistics: correlation, p-values, quantiles. */
#pragma once

#include <glib.h>
#include <math.h>

G_BEGIN_DECLS

/* Of a sum that cannot be negative, but by rounding: 0 then. NaN stays. */
static inline double
mhar_not_negative (double sum)
{
  return sum < 0 ? 0 : sum;
}

/* The larger of two; NaN where either is: of what is no number nothing is largest. */
static inline double
mhar_larger (double a, double b)
{
  return isnan (a) || isnan (b) ? NAN : fmax (a, b);
}

/* Pearson r of a [n] and b [n]; NaN where either is constant. */
double mhar_pearson (const double *a, const double *b, gsize n);

/* How extreme a value is among n draws of its null, `stride` apart: (1 + draws at least as large) / (1 + n). What falls
 * short by a millionth, or by 1e-7, is as large: where a site reads one row twice, all are 0 but for rounding. NaN
 * where the value is not finite or a draw is NaN. */
double mhar_p_value (double value, const double *null, gsize n, gsize stride);

/* The 2.5 % and 97.5 % quantiles of `values` [n], linearly interpolated between order statistics (type 7, as NumPy),
 * over those that are finite; they are sorted in place. FALSE where fewer than half are finite. */
gboolean mhar_interval (double *values, gsize n, double *low, double *high);

/* What a number can be. */
typedef struct {
  double least, most;
} MharRange;

/* The 95 % interval of the number `value` from its resamples `values` [n] (sorted in place): those quantiles, moved by
 * as much as brings the resamples' median to the number, and kept within `range`. It holds the number. A resample
 * perturbs what a sample has perturbed already, so unmoved quantiles of what is no mean (a correlation of noisy halves,
 * a divergence of noisy means) can all lie on one side of it. FALSE where fewer than half are finite, or `value` is
 * not. */
gboolean mhar_interval_about (double value, MharRange range, double *values, gsize n, double *low, double *high);

/* Spearman's rank correlation: Pearson's r of the ranks, those of equal values averaged. NaN where either is constant
 * or has NaN. */
double mhar_spearman (const double *a, const double *b, gsize n);

G_END_DECLS
