/* SPDX-License-Identifier: MIT */
/* Marks and legend. */
#include "app/figure/legend.h"

#include <math.h>

void
mhar_mark_paint (const MharDrawing *d, cairo_t *cr, MharMark mark, double x, double y, double size)
{
  const MharRgb *colour = mark == MHAR_MARK_BAND   ? &d->palette->band
                          : mark == MHAR_MARK_DASH ? &d->palette->soft
                                                   : &d->palette->accent;

  mhar_drawing_set_source (cr, colour);
  cairo_new_path (cr);
  switch (mark) {
  case MHAR_MARK_BAND:
    cairo_rectangle (cr, x - size * 0.7, y - size * 0.35, size * 1.4, size * 0.7);
    cairo_fill (cr);
    mhar_drawing_set_source (cr, &d->palette->line);
    cairo_set_line_width (cr, 0.7);
    cairo_move_to (cr, x - size * 0.7, y);
    cairo_rel_line_to (cr, size * 1.4, 0);
    cairo_stroke (cr);
    break;
  case MHAR_MARK_DASH:
    cairo_set_line_width (cr, size * 0.11);
    cairo_move_to (cr, x - size * 0.42, y);
    cairo_rel_line_to (cr, size * 0.84, 0);
    cairo_stroke (cr);
    break;
  case MHAR_MARK_RING:
    cairo_arc (cr, x, y, size * 0.3, 0, 2 * G_PI);
    mhar_drawing_set_source (cr, &d->palette->paper);
    cairo_fill_preserve (cr);
    mhar_drawing_set_source (cr, colour);
    cairo_set_line_width (cr, size * 0.13);
    cairo_stroke (cr);
    break;
  case MHAR_MARK_DOT:
    cairo_arc (cr, x, y, size * 0.36, 0, 2 * G_PI);
    cairo_fill_preserve (cr);
    mhar_drawing_set_source (cr, &d->palette->paper);
    cairo_set_line_width (cr, size * 0.09);
    cairo_stroke (cr);
    break;
  }
}

static double
item_width (const MharDrawing *d, const MharLegendItem *item)
{
  return d->font * 2.1 + mhar_drawing_text_width (d, item->label, d->small);
}

/* Lays the items out line by line; paints them where `cr` is not NULL. Returns the height. */
static double
flow (const MharDrawing *d, cairo_t *cr, const MharLegendItem *items, guint n)
{
  const MharFigureRect *heading = &d->out.heading;
  double start = heading->x, line = d->small * 1.6, end = d->out.width - d->margin;
  double x = start, y = heading->y + heading->height + line * 0.65;

  if (n == 0 || d->font <= 0)
    return 0;
  for (guint i = 0; i < n; i++) {
    MharTextRun run = { .string = items[i].label, .size = d->small, .across = 0.5, .width = end - start };
    double width = item_width (d, &items[i]);

    if (i > 0 && x + width > end) {
      x = start;
      y += line;
    }
    if (cr) {
      mhar_mark_paint (d, cr, items[i].mark, x + d->font * 0.7, y, d->font);
      mhar_drawing_write (d, cr, &run, x + d->font * 1.8, y, NULL);
    }
    x += width + d->font * 1.5;
  }
  return y + line * 0.5 - heading->y - heading->height;
}

double
mhar_legend_height (const MharDrawing *d, const MharLegendItem *items, guint n)
{
  return flow (d, NULL, items, n);
}

void
mhar_legend_paint (const MharDrawing *d, cairo_t *cr, const MharLegendItem *items, guint n)
{
  flow (d, cr, items, n);
}
