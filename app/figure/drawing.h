/* SPDX-License-Identifier: MIT */
/* A figure prepared once and painted often, as a window does: only what changed is done again. */
#pragma once

#include "app/figure/figure.h"

G_BEGIN_DECLS

typedef struct _MharDrawing MharDrawing;

/* A prepared figure of `kind` (MHAR_FIGURE_DEFAULT resolved), which borrows `set` and the options' `other`; NULL with
 * MHAR_ERROR_INPUT as mhar_figure_layout_new. Place it before painting or asking for its layout. */
MharDrawing *mhar_drawing_new (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                               GError **error);
void mhar_drawing_free (MharDrawing *drawing);

/* The part of the maps that is shown, in cells, moved and cut to lie within them; width 0: all. Nothing to other kinds.
 * Takes effect with the next mhar_drawing_place. */
void mhar_drawing_set_view (MharDrawing *drawing, const MharFigureRect *view);
/* Arranges everything within (0, 0, width, height), both above 0. */
void mhar_drawing_place (MharDrawing *drawing, double width, double height);
/* Background included; leaves the state of `cr` as it was, but for an error of Cairo's. */
void mhar_drawing_paint (MharDrawing *drawing, cairo_t *cr);
/* Borrowed; as mhar_figure_layout_new gives it for the size last placed at. */
const MharFigureLayout *mhar_drawing_layout (const MharDrawing *drawing);
/* The whole label of a row, or (`across`) of a column of a panel, however much of it is drawn; NULL where there is none.
 * Borrowed. */
const char *mhar_drawing_label (const MharDrawing *drawing, guint panel, gboolean across, guint i);
/* The colour that a map's cell with this value has. */
void mhar_drawing_colour (const MharDrawing *drawing, guint panel, double value, double *red, double *green,
                          double *blue);
/* The value in a map's cell, what a plot's dot is at; NaN where there is none. `row` and `column` as in the layout. */
double mhar_drawing_value (const MharDrawing *drawing, guint panel, guint row, guint column);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharDrawing, mhar_drawing_free)

G_END_DECLS
