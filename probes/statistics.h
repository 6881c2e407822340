/* SPDX-License-Identifier: MIT */
/* Pearson correlation, the one statistic that several probes share. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Pearson r of a [n] and b [n]; NaN where either is constant. */
double mhar_pearson (const double *a, const double *b, gsize n);

G_END_DECLS
