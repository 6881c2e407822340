/* SPDX-License-Identifier: MIT */
/* A small plot without axes: a line a head over the sources of one site, one of them in front. */
#pragma once

#include "app/figure/colour-map.h"

#include <cairo.h>

typedef struct {
  const double *values; /* [n_lines, n]; NaN: a gap */
  guint n_lines, n;
  int line; /* in front; −1: the mean of them */
  int mark; /* which of the n is marked; −1: none */
} MharSparkline;

/* Largest value there is, at least a little above 0: the top of the plot, whose bottom is 0. */
double mhar_sparkline_high (const MharSparkline *sparkline);
void mhar_sparkline_paint (const MharSparkline *sparkline, cairo_t *cr, const MharFigureRect *rect,
                           const MharPalette *palette);
