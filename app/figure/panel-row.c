/* SPDX-License-Identifier: MIT */
#include "app/figure/panel-row.h"

double
mhar_panel_row_gap (const MharDrawing *d)
{
  return d->font > 0 ? d->font * 1.2 : MIN (d->out.width, d->out.height) * 0.02;
}

void
mhar_panel_row_measure (MharDrawing *d)
{
  d->second->font = d->font;
  d->second->small = d->small;
  d->second->margin = d->margin;
  d->second->out.width = d->out.width;
  d->second->out.height = d->out.height;
  mhar_axis_measure (&d->y, d->text, d->small, MIN (d->small * 11, d->out.width * 0.2));
  mhar_axis_measure (&d->x, d->text, d->small, MIN (d->small * 11, d->out.height * 0.22));
}

/* Width of a panel. */
static double
panel_width (const MharDrawing *d, guint n, const MharRowInsets *in, double aspect)
{
  double width = (d->out.width - in->left - d->margin - in->beside) / n;

  return MIN (width, (d->out.height - in->top - in->bottom) * aspect);
}

MharFigureRect
mhar_panel_row_place (MharDrawing *d, guint n, MharRowInsets (*measure) (MharDrawing *d))
{
  double aspect = CLAMP ((double)d->out.n_columns / d->out.n_rows, 0.6, 1.6);
  MharRowInsets in = measure (d);
  double width = panel_width (d, n, &in, aspect);

  if (d->font > 0 && width < d->font * 4 && d->out.caption.height > 0) {
    d->no_caption = TRUE;
    in = measure (d);
    width = panel_width (d, n, &in, aspect);
  }
  if (d->font > 0 && MIN (width, width / aspect) < d->font * 3) {
    mhar_drawing_mute (d);
    in = measure (d);
    width = panel_width (d, n, &in, aspect);
  }
  width = MAX (width, 1e-3);
  double height = width / aspect, total = in.left + n * width + in.beside + d->margin;
  MharFigureRect at = { in.left + MAX (0, (d->out.width - total) / 2), in.top, width, height };
  at.y += MAX (0, (d->out.height - in.top - in.bottom - height) / 2);
  mhar_axis_thin (&d->x, width / d->out.view.width, d->small);
  mhar_axis_thin (&d->y, height / d->out.view.height, d->small);
  return at;
}
