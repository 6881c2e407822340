/* SPDX-License-Identifier: MIT */
/* What the three files of the figure view share: its state, its picture, its keys and pointer. */
#pragma once

#include "app/gui/figure-view.h"

typedef struct {
  MharSelection *selection;
  MharDataset *set;
  MharDisplay display;

  MharDrawing *drawing; /* NULL: none yet, or there is `lack` */
  char *lack;           /* why there is nothing to draw */
  gboolean tried;       /* drawing and lack are of the present data */
  char *family;         /* of the text in the drawing */
  double font_size;

  GskRenderNode *node;     /* the picture; NULL: to be made */
  cairo_surface_t **spare; /* image of a picture that is gone, to be used again: one cell, shared with the nodes */
  int width, height, scale;

  MharFigureRect zoom; /* in cells; width 0: everything */
  gboolean hovering, hover_stale; /* stale: the cells under the pointer may be others now */
  MharCell hover;
  guint panel; /* where the cursor is, for figures whose panels do not stand for heads */

  double pointer_x, pointer_y;
  MharFigureRect drag_zoom; /* when a drag began */
  guint drag_panel;         /* that it began in */
  gboolean dragging;

  int site, head; /* selected when the drawing was made */
  char *description;
} MharFigureViewPrivate;

MharFigureViewPrivate *mhar_figure_view_private (MharFigureView *self);

/* The drawing, placed at the size the widget has, if any; NULL where there is nothing to draw. */
MharDrawing *mhar_figure_view_place (MharFigureView *self);
void mhar_figure_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);
/* Frees what is in the cell `spare`. */
void mhar_figure_view_clear_spare (gpointer spare);
/* Makes the picture anew at the next snapshot. */
void mhar_figure_view_drop_node (MharFigureView *self);

/* The panel of the cursor; the cell of the selection in a panel. */
guint mhar_figure_view_panel (MharFigureView *self, const MharDrawing *drawing);
gboolean mhar_figure_view_locate (MharFigureView *self, const MharDrawing *drawing, guint panel, MharCell *cell);
/* Number of columns of a panel. */
guint mhar_figure_view_columns (const MharDrawing *drawing, guint panel);
void mhar_figure_view_choose (MharFigureView *self, const MharDrawing *drawing, const MharCell *cell);
void mhar_figure_view_refresh_description (MharFigureView *self);

/* Finds again what is under the pointer where that is stale. */
void mhar_figure_view_hover_again (MharFigureView *self);
/* The whole of the axis label at a point; NULL where there is none. Borrowed. */
const char *mhar_figure_view_label_at (MharFigureView *self, double x, double y);
void mhar_figure_view_add_controllers (MharFigureView *self);
/* Scrolls a zoomed map so that the cell is in view. */
void mhar_figure_view_reveal (MharFigureView *self, const MharCell *cell);
/* GtkWidgetClass.focus: Tab goes through the panels, then on. */
gboolean mhar_figure_view_focus (GtkWidget *widget, GtkDirectionType direction);
