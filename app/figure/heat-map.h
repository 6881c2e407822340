/* SPDX-License-Identifier: MIT */
/* Grids of coloured cells that stay sharp: snapped to pixels on screens and in PNG, seamless in PDF and SVG. */
#pragma once

#include "app/figure/colour-map.h"

#include <cairo.h>

/* Up to so many cells in a figure are rectangles; above, an image is smaller and quicker. */
#define MHAR_HEAT_MAP_MAX_RECTANGLES 20000

/* The colour of a cell; FALSE where nothing is drawn. */
typedef gboolean (*MharCellColour) (gconstpointer data, guint row, guint column, MharRgb *colour);

typedef struct {
  MharFigureRect cells;
  guint rows, columns;
  gboolean image;             /* on vector surfaces as an image, not as rectangles */
  const MharFigureRect *view; /* the part in `cells`: x, width in columns, y, height in rows; NULL: all */
  MharCellColour colour;
  /* Where several cells share a pixel, the one with the largest rank is seen; NULL: the last. −∞ where there is none.
   */
  double (*rank) (gconstpointer data, guint row, guint column);
  gconstpointer data;
} MharHeatMap;

void mhar_heat_map_paint (const MharHeatMap *map, cairo_t *cr);

/* What of the map is in `cells`: its view, or everything. */
MharFigureRect mhar_heat_map_view (const MharHeatMap *map);
/* The rectangle of a cell, in view or not. */
MharFigureRect mhar_heat_map_cell (const MharHeatMap *map, guint row, guint column);
/* The first and the number of the cells along an axis of `n` that are at least partly in view. */
void mhar_heat_map_visible (double start, double length, guint n, guint *first, guint *count);

/* Whether the surface keeps shapes (PDF, SVG, PS) and not pixels. */
gboolean mhar_heat_map_is_vector (cairo_t *cr);
/* The rectangle with its edges moved to whole pixels; as it is on vector surfaces. */
MharFigureRect mhar_heat_map_snap (cairo_t *cr, const MharFigureRect *rect);
