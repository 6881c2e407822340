/* SPDX-License-Identifier: MIT */
/* A plot by site or source: columns of equal width over an axis of values from 0. */
#pragma once

#include "app/figure/figure-private.h"

typedef struct {
  MharFigureRect cells;
  double high; /* at the top */
  guint columns;
  const char *title; /* of the axis of values */
} MharPlot;

double mhar_plot_y (const MharPlot *plot, double value);  /* cut to the plot */
double mhar_plot_x (const MharPlot *plot, double column); /* left edge; + 0.5: middle */
/* Width of the widest label that the axis of values up to `high` can have. */
double mhar_plot_tick_width (const MharDrawing *drawing, double high);
/* Grid lines, their labels, and the title at the page's left edge. */
void mhar_plot_paint_axis (const MharDrawing *drawing, cairo_t *cr, const MharPlot *plot);
