/* SPDX-License-Identifier: MIT */
/* Layouts as callers see them: where is a cell, what is under a point. */
#include "app/figure/figure-private.h"

MharFigureLayout *
mhar_figure_layout_new (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options, double width,
                        double height, GError **error)
{
  MharDrawing *drawing = mhar_drawing_new (set, kind, options, error);

  if (!drawing)
    return NULL;
  mhar_drawing_place (drawing, width, height);
  drawing->set = NULL;
  drawing->field = NULL;
  return &drawing->out;
}

void
mhar_figure_layout_free (MharFigureLayout *layout)
{
  mhar_drawing_free ((MharDrawing *)layout);
}

static guint
columns_of (const MharFigureLayout *layout, guint panel)
{
  return layout->panels[panel].n_columns ? layout->panels[panel].n_columns : layout->n_columns;
}

/* What a panel shows of its cells. */
static MharFigureRect
view_of (const MharFigureLayout *layout, guint panel)
{
  MharFigureRect view = layout->view;

  if (layout->panels[panel].n_columns)
    view = (MharFigureRect){ 0, 0, layout->panels[panel].n_columns, layout->n_rows };
  return view;
}

/* Which of the parts [from, from + count) of an axis of n lies at `at` of [start, start + length). */
static gboolean
part_at (double at, double start, double length, double from, double count, guint n, guint *part)
{
  if (!(length > 0) || n == 0 || !(at >= start) || !(at < start + length))
    return FALSE;
  *part = MIN ((guint)(from + (at - start) / length * count), n - 1);
  return TRUE;
}

gboolean
mhar_figure_layout_hit (const MharFigureLayout *layout, double x, double y, guint *panel, guint *row, guint *column)
{
  for (guint i = 0; i < layout->n_panels; i++) {
    const MharFigureRect *cells = &layout->panels[i].cells;
    MharFigureRect view = view_of (layout, i);
    guint r, c;

    if (part_at (x, cells->x, cells->width, view.x, view.width, columns_of (layout, i), &c)
        && part_at (y, cells->y, cells->height, view.y, view.height, layout->n_rows, &r)) {
      *panel = i;
      *row = r;
      *column = c;
      return TRUE;
    }
  }
  return FALSE;
}

MharFigureRect
mhar_figure_layout_cell (const MharFigureLayout *layout, guint panel, guint row, guint column)
{
  const MharFigureRect *cells;
  MharFigureRect view;

  if (panel >= layout->n_panels || row >= layout->n_rows || column >= columns_of (layout, panel))
    return (MharFigureRect){ 0 };
  cells = &layout->panels[panel].cells;
  view = view_of (layout, panel);
  return (MharFigureRect){
    .x = cells->x + cells->width * (column - view.x) / view.width,
    .y = cells->y + cells->height * (row - view.y) / view.height,
    .width = cells->width / view.width,
    .height = cells->height / view.height,
  };
}
