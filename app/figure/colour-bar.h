/* SPDX-License-Identifier: MIT */
/* The colour scale beside a map: bar, ticks, title, and a bracket for what the null reaches. */
#pragma once

#include "app/figure/figure-private.h"

/* The width that the bar and everything beside it needs; 0 without text. Call after mhar_drawing_set_size. */
double mhar_colour_bar_width (const MharDrawing *drawing);
/* Sets out.bar within `area` (as wide as mhar_colour_bar_width says). */
void mhar_colour_bar_place (MharDrawing *drawing, const MharFigureRect *area);
void mhar_colour_bar_paint (const MharDrawing *drawing, cairo_t *cr);
/* Where in out.bar a value of the scale lies. */
double mhar_colour_bar_y (const MharDrawing *drawing, double value);
/* The colour of a value on the scale from out.low to out.high. */
MharRgb mhar_colour_bar_colour (const MharDrawing *drawing, double value);
