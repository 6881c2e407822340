/* SPDX-License-Identifier: MIT */
/* Heat maps on images: the pixels of each cell written one by one, which is quicker than filling rectangles and gives
 * the same picture. */
#pragma once

#include "app/figure/heat-map.h"

/* Whether `frame` (snapped) on the target of `cr` is whole pixels of an image of sensible size. */
gboolean mhar_heat_pixels_apply (cairo_t *cr, const MharFigureRect *frame);
/* Paints the map into it. Puts CAIRO_STATUS_NO_MEMORY into `cr` where there is none. */
void mhar_heat_pixels_paint (const MharHeatMap *map, cairo_t *cr, const MharFigureRect *frame);
