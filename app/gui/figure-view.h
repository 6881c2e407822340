/* SPDX-License-Identifier: MIT */
/* A figure of app/figure as a widget: what maps and plots have in common. It shows the one current selection and
 * changes it; it can be worked with the keyboard alone; and it says in words what is under the cursor (property
 * "description", which is also its accessible description).
 *
 * The picture is a cached node, made anew only when data, size, scale factor, zoom or options change; pointer and
 * cursor are nodes on top. Keys: arrows move the cell, Tab the panel, 1…9 the head, 0 the consensus, Page Up and Down
 * the site, Home and End to the first and last source, + − 0 with Control the zoom of a map (also Control and scroll; a
 * drag or scroll moves it). */
#pragma once

#include "app/figure/drawing.h"
#include "app/gui/display.h"
#include "app/gui/selection.h"
#include "app/gui/sentence.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_FIGURE_VIEW (mhar_figure_view_get_type ())
G_DECLARE_DERIVABLE_TYPE (MharFigureView, mhar_figure_view, MHAR, FIGURE_VIEW, GtkWidget)

/* A cell of the drawing's layout. */
typedef struct {
  guint panel, row, column;
} MharCell;

struct _MharFigureViewClass {
  GtkWidgetClass parent_class;

  MharPage page;             /* what the sentence under the cursor is about */
  gboolean by_site, by_head; /* the drawing itself depends on the selected site, head */
  /* The figure to draw; FALSE where there is none, with a sentence that says why (g_free). `options` come filled from
   * the display. */
  gboolean (*figure) (MharFigureView *self, MharFigureKind *kind, MharFigureOptions *options, char **lack);
  /* What a cell selects: site, head, source, as indices; −1 where it says nothing about one. */
  MharPoint (*point) (MharFigureView *self, const MharDrawing *drawing, const MharCell *cell);
  /* The cell in cell->panel that is the selection; FALSE where there is none. */
  gboolean (*locate) (MharFigureView *self, const MharDrawing *drawing, MharCell *cell);
  /* The panel that the selection is in. NULL: wherever the cursor was last. */
  guint (*panel) (MharFigureView *self, const MharDrawing *drawing);
  /* Makes the cell the selection. The class's own selects its point. */
  void (*choose) (MharFigureView *self, const MharDrawing *drawing, const MharCell *cell);
  /* The cell in words (g_free). The class's own asks mhar_sentence about its point. */
  char *(*describe) (MharFigureView *self, const MharDrawing *drawing, const MharCell *cell);
  /* In words, what is shown, while nothing is pointed at or selected (g_free). NULL: nothing is said. */
  char *(*idle) (MharFigureView *self);
  /* Enter and F11, and a second click: TRUE where it means something here. `cell` NULL: leave again. */
  gboolean (*enlarge) (MharFigureView *self, const MharCell *cell);
};

/* Once, by the constructors. Keeps a reference. */
void mhar_figure_view_set_selection (MharFigureView *self, MharSelection *selection);
/* NULL clears. Keeps a reference. What is shown stays zoomed where the new dataset has as many sites. */
void mhar_figure_view_set_dataset (MharFigureView *self, MharDataset *set);
MharDataset *mhar_figure_view_get_dataset (MharFigureView *self); /* borrowed */
void mhar_figure_view_set_display (MharFigureView *self, const MharDisplay *display);
const MharDisplay *mhar_figure_view_get_display (MharFigureView *self);
MharSelection *mhar_figure_view_get_selection (MharFigureView *self); /* borrowed */

/* What is shown, as figure: for saving and copying. FALSE where nothing is. The options borrow from the view. */
gboolean mhar_figure_view_get_figure (MharFigureView *self, MharFigureKind *kind, MharFigureOptions *options);
/* In words, what is under the pointer, else what is selected; never NULL. */
const char *mhar_figure_view_get_description (MharFigureView *self);

/* The part of the maps that is shown, in cells; width 0: all of it. */
void mhar_figure_view_set_zoom (MharFigureView *self, const MharFigureRect *zoom);
/* The drawing as placed in the widget; NULL where nothing is drawn. Borrowed. */
const MharDrawing *mhar_figure_view_get_drawing (MharFigureView *self);
/* For subclasses: what figure () gives has changed. */
void mhar_figure_view_invalidate (MharFigureView *self);

G_END_DECLS
