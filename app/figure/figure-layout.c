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

/* Which of n equal parts of [start, start + length) holds `at`. */
static gboolean
part_at (double at, double start, double length, guint n, guint *part)
{
  if (!(length > 0) || n == 0 || !(at >= start) || !(at < start + length))
    return FALSE;
  *part = MIN ((guint)((at - start) / length * n), n - 1);
  return TRUE;
}

gboolean
mhar_figure_layout_hit (const MharFigureLayout *layout, double x, double y, guint *panel, guint *row, guint *column)
{
  for (guint i = 0; i < layout->n_panels; i++) {
    const MharFigureRect *cells = &layout->panels[i].cells;
    guint r, c;

    if (part_at (x, cells->x, cells->width, layout->n_columns, &c)
        && part_at (y, cells->y, cells->height, layout->n_rows, &r)) {
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

  if (panel >= layout->n_panels || row >= layout->n_rows || column >= layout->n_columns)
    return (MharFigureRect){ 0 };
  cells = &layout->panels[panel].cells;
  return (MharFigureRect){
    .x = cells->x + cells->width * column / layout->n_columns,
    .y = cells->y + cells->height * row / layout->n_rows,
    .width = cells->width / layout->n_columns,
    .height = cells->height / layout->n_rows,
  };
}
