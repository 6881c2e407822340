/* SPDX-License-Identifier: MIT */
/* A map per head in a grid that shares its axes and its colour scale: what deviation and depth map have in common. */
#pragma once

#include "app/figure/figure-private.h"

/* Rows, columns, panels, labels and axis titles from `drawing->field` [site, head, source] and the options. With
 * `consensus`, a panel for the mean over heads follows the heads'. MHAR_ERROR_INPUT where there are too many heads to
 * draw or the one asked for does not exist. */
gboolean mhar_head_panels_prepare (MharDrawing *drawing, gboolean consensus, GError **error);
/* Element [row, head, column] of the field; for MHAR_FIGURE_CONSENSUS the mean over the heads that have a value. */
double mhar_head_panels_value (const MharDrawing *drawing, guint panel, guint row, guint column);
/* "First 10 of 13 sites, first on top; …" to the caption, as the last of it. After the scale is known. */
void mhar_head_panels_explain (MharDrawing *drawing, GString *caption);

void mhar_head_panels_natural (MharDrawing *drawing, double *width, double *height);
void mhar_head_panels_place (MharDrawing *drawing);
void mhar_head_panels_paint (const MharDrawing *drawing, cairo_t *cr);

/* Paints one map of a drawing: cells without a value, cells with one, frame. */
void mhar_map_panel_paint (const MharDrawing *drawing, cairo_t *cr, guint panel);
