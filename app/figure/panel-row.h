/* SPDX-License-Identifier: MIT */
/* A row of maps of one size that share their axes and have two colour bars: the drawing's own and its second's. */
#pragma once

#include "app/figure/figure-private.h"

/* What is around the panels: at the left of the first, above and below, and in all between and after them. */
typedef struct {
  double left, top, bottom, beside;
} MharRowInsets;

/* Between a panel and what comes next, where a `measure` leaves room for it. */
double mhar_panel_row_gap (const MharDrawing *drawing);

/* Sizes of the second's text, as the drawing's, and the labels of both axes: what a `measure` begins with. */
void mhar_panel_row_measure (MharDrawing *drawing);

/* The first of `n` panels, cells about square, in the middle of what there is; the others are as large. Where they
 * would be too small the caption goes, then all text; `measure` is asked again each time. Thins the axes' labels. */
MharFigureRect mhar_panel_row_place (MharDrawing *drawing, guint n, MharRowInsets (*measure) (MharDrawing *drawing));
