/* SPDX-License-Identifier: MIT */
/* The labels of a cell axis: measured once, thinned until they do not crowd. */
#pragma once

#include "app/figure/figure-text.h"

typedef struct {
  char **labels; /* [n], owned; NULL where a cell has none */
  guint n;
  char *title;              /* owned; NULL: none */
  guint step;               /* every step-th label is drawn, */
  double size;              /* at this text size */
  double extent;            /* length of the longest, as drawn */
  double longest, measured; /* length of the longest at the text size last measured, and that size */
  double start, span;       /* the part of the cells that is in view: from 0, n of them, but for a zoomed map */
} MharAxis;

/* Takes the labels (an array from g_new, of n strings) and the title. */
void mhar_axis_init (MharAxis *axis, char **labels, guint n, char *title);
void mhar_axis_clear (MharAxis *axis);
/* Finds `extent`, at most `limit`, at a text size. */
void mhar_axis_measure (MharAxis *axis, MharText *text, double size, double limit);
/* Finds `step` and `size` (a little smaller than asked for where that saves labels) for cells `pitch` apart. */
void mhar_axis_thin (MharAxis *axis, double pitch, double size);
/* Labels and tick marks left of, or (reading upwards) below, the rectangle; `gap` is from its edge to the text. */
void mhar_axis_paint_left (const MharAxis *axis, cairo_t *cr, MharText *text, const MharFigureRect *cells, double gap,
                           const MharPalette *palette);
void mhar_axis_paint_below (const MharAxis *axis, cairo_t *cr, MharText *text, const MharFigureRect *cells, double gap,
                            const MharPalette *palette);
