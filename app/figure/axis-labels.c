/* SPDX-License-Identifier: MIT */
/* Cell axes. */
#include "app/figure/axis-labels.h"

#include <string.h>

#define MEASURED 512 /* labels looked at; the rest are cut to the longest of these */

void
mhar_axis_init (MharAxis *axis, char **labels, guint n, char *title)
{
  *axis = (MharAxis){ .labels = labels, .n = n, .title = title, .step = 1, .span = n };
}

void
mhar_axis_clear (MharAxis *axis)
{
  for (guint i = 0; i < axis->n; i++)
    g_free (axis->labels[i]);
  g_free (axis->labels);
  g_free (axis->title);
  memset (axis, 0, sizeof *axis);
}

void
mhar_axis_measure (MharAxis *axis, MharText *text, double size, double limit)
{
  guint stride = 1 + axis->n / MEASURED;

  /* A window asks again and again at one size. */
  if (size != axis->measured)
    axis->longest = 0;
  for (guint i = 0; i < axis->n && size != axis->measured; i += stride) {
    MharTextRun run = { .string = axis->labels[i] ? axis->labels[i] : "", .size = size };
    double along, across;

    mhar_text_measure (text, &run, &along, &across);
    axis->longest = MAX (axis->longest, along);
  }
  axis->measured = size;
  axis->extent = MIN (axis->longest, limit);
}

void
mhar_axis_thin (MharAxis *axis, double pitch, double size)
{
  static const guint steps[] = { 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100 };
  double needed;

  /* While a map is zoomed its text stays as large as it is: every new size would have to be rasterised. */
  axis->size = pitch >= size * 0.88 && !(axis->span < axis->n) ? MIN (size, pitch / 1.1) : size;
  needed = axis->size * 1.1 - 1e-6;
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    axis->step = steps[i];
    if (pitch * steps[i] >= needed)
      return;
  }
  while (pitch * axis->step < needed && axis->step < axis->n)
    axis->step *= 2;
}

static gboolean
has_label (const MharAxis *axis, guint i)
{
  double at = i + 0.5 - axis->start;

  return axis->labels[i] && at >= 0 && at <= axis->span;
}

static void
tick (cairo_t *cr, double x, double y, double dx, double dy, const MharRgb *colour)
{
  cairo_set_source_rgb (cr, colour->r, colour->g, colour->b);
  cairo_set_line_width (cr, 0.5);
  cairo_move_to (cr, x, y);
  cairo_rel_line_to (cr, dx, dy);
  cairo_stroke (cr);
}

void
mhar_axis_paint_left (const MharAxis *axis, cairo_t *cr, MharText *text, const MharFigureRect *cells, double gap,
                      const MharPalette *palette)
{
  for (guint i = 0; axis->size > 0 && i < axis->n; i += axis->step) {
    MharTextRun run
        = { .string = axis->labels[i], .size = axis->size, .width = axis->extent + 0.1, .along = 1, .across = 0.5 };
    double y = cells->y + cells->height * (i + 0.5 - axis->start) / axis->span;

    if (!has_label (axis, i))
      continue;
    tick (cr, cells->x, y, -gap * 0.6, 0, &palette->line);
    mhar_text_draw (text, cr, &run, cells->x - gap, y, &palette->ink);
  }
}

void
mhar_axis_paint_below (const MharAxis *axis, cairo_t *cr, MharText *text, const MharFigureRect *cells, double gap,
                       const MharPalette *palette)
{
  for (guint i = 0; axis->size > 0 && i < axis->n; i += axis->step) {
    MharTextRun run = {
      .string = axis->labels[i], .size = axis->size, .width = axis->extent + 0.1, .up = TRUE, .along = 1, .across = 0.5
    };
    double x = cells->x + cells->width * (i + 0.5 - axis->start) / axis->span;

    if (!has_label (axis, i))
      continue;
    tick (cr, x, cells->y + cells->height, 0, gap * 0.6, &palette->line);
    mhar_text_draw (text, cr, &run, x, cells->y + cells->height + gap, &palette->ink);
  }
}
