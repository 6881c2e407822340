/* SPDX-License-Identifier: MIT */
/* Colours of the figures: the colour maps, and the plain colours of a theme. */
#pragma once

#include "app/figure/figure.h"

typedef struct {
  double r, g, b; /* sRGB, 0 to 1 */
} MharRgb;

/* The colour at `t`, clamped to [0, 1]; NaN counts as 0. `map` is not MHAR_MAP_OWN. */
MharRgb mhar_colour_map_at (MharColourMap map, double t);

typedef struct {
  MharRgb paper, ink, faint; /* background, text, lesser text */
  MharRgb line, grid;        /* frames and ticks, grid lines */
  MharRgb absent;            /* cells without a value; where they are hatched: */
  MharRgb ground, hatch;     /* the colour under the lines, and of them */
  MharRgb accent, soft;      /* marks of the trained model, and of its parts */
  MharRgb band;              /* area of the null */
} MharPalette;

const MharPalette *mhar_palette_get (MharFigureTheme theme, MharFigureStyle style);
