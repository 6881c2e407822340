/* SPDX-License-Identifier: MIT */
/* Axis and coordinates of a plot. */
#include "app/figure/plot.h"

#include "app/figure/ticks.h"

double
mhar_plot_y (const MharPlot *plot, double value)
{
  return plot->cells.y + plot->cells.height * (1 - CLAMP (value / plot->high, 0, 1));
}

double
mhar_plot_x (const MharPlot *plot, double column)
{
  return plot->cells.x + plot->cells.width * column / plot->columns;
}

double
mhar_plot_tick_width (const MharDrawing *d, double high)
{
  double width = 0;
  MharTicks ticks;

  /* The finest that could be drawn: its labels are the longest. */
  mhar_ticks_init (&ticks, 0, high, 8);
  for (guint i = 0; i < ticks.count; i++) {
    g_autofree char *label = mhar_ticks_label (&ticks, i);

    width = MAX (width, mhar_drawing_text_width (d, label, d->small));
  }
  return width;
}

void
mhar_plot_paint_axis (const MharDrawing *d, cairo_t *cr, const MharPlot *plot)
{
  const MharFigureRect *cells = &plot->cells;
  MharTextRun title
      = { .string = plot->title, .size = d->small, .along = 0.5, .up = TRUE, .width = d->out.height - 2 * d->margin };
  MharTicks ticks;

  mhar_ticks_fit (&ticks, 0, plot->high, cells->height, d->small * 2.4);
  cairo_set_line_width (cr, 0.5);
  for (guint i = 0; i < ticks.count; i++) {
    g_autofree char *label = mhar_ticks_label (&ticks, i);
    double y = mhar_plot_y (plot, mhar_ticks_value (&ticks, i));
    MharTextRun run = { .string = label, .size = d->small, .along = 1, .across = 0.5 };

    mhar_drawing_set_source (cr, i == 0 ? &d->palette->line : &d->palette->grid);
    cairo_move_to (cr, cells->x, y);
    cairo_rel_line_to (cr, cells->width, 0);
    cairo_stroke (cr);
    mhar_drawing_write (d, cr, &run, cells->x - d->small * 0.6, y, NULL);
  }
  mhar_drawing_write (d, cr, &title, d->margin, cells->y + cells->height / 2, &d->palette->faint);
}
