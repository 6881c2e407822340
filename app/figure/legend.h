/* SPDX-License-Identifier: MIT */
/* Marks of a plot by site, and the lines that say what they mean. */
#pragma once

#include "app/figure/figure-private.h"

typedef enum { MHAR_MARK_DOT, MHAR_MARK_RING, MHAR_MARK_DASH, MHAR_MARK_BAND } MharMark;

typedef struct {
  MharMark mark;
  const char *label;
} MharLegendItem;

#define MHAR_LEGEND_MAX 4

/* A mark centred on (x, y), about as wide as `size` says. */
void mhar_mark_paint (const MharDrawing *drawing, cairo_t *cr, MharMark mark, double x, double y, double size);
/* Height of the legend under out.heading, in as many lines as the page's width asks for. */
double mhar_legend_height (const MharDrawing *drawing, const MharLegendItem *items, guint n);
void mhar_legend_paint (const MharDrawing *drawing, cairo_t *cr, const MharLegendItem *items, guint n);
