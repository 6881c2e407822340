/* SPDX-License-Identifier: MIT */
/* Lines, then the one in front, then the mark. */
#include "app/figure/sparkline.h"

#include <math.h>

/* Value `i` of a line; of line −1 the mean of those there are. */
static double
value (const MharSparkline *s, int line, guint i)
{
  double sum = 0;
  guint n = 0;

  if (line >= 0)
    return s->values[(guint)line * s->n + i];
  for (guint h = 0; h < s->n_lines; h++) {
    double here = s->values[h * s->n + i];

    if (isfinite (here)) {
      sum += here;
      n++;
    }
  }
  return n ? sum / n : NAN;
}

double
mhar_sparkline_high (const MharSparkline *s)
{
  double high = 0;

  for (guint i = 0; i < s->n_lines * s->n; i++)
    if (isfinite (s->values[i]))
      high = MAX (high, s->values[i]);
  return high > 0 ? high : 1;
}

static double
x_of (const MharSparkline *s, const MharFigureRect *rect, guint i)
{
  return rect->x + rect->width * (i + 0.5) / s->n;
}

static void
stroke_line (const MharSparkline *s, cairo_t *cr, const MharFigureRect *rect, int line, double high)
{
  gboolean gap = TRUE;

  for (guint i = 0; i < s->n; i++) {
    double here = value (s, line, i);

    if (!isfinite (here)) {
      gap = TRUE;
      continue;
    }
    if (gap)
      cairo_new_sub_path (cr);
    cairo_line_to (cr, x_of (s, rect, i), rect->y + rect->height * (1 - here / high));
    gap = FALSE;
  }
  cairo_stroke (cr);
}

static void
set_source (cairo_t *cr, const MharRgb *colour, double alpha)
{
  cairo_set_source_rgba (cr, colour->r, colour->g, colour->b, alpha);
}

void
mhar_sparkline_paint (const MharSparkline *s, cairo_t *cr, const MharFigureRect *rect, const MharPalette *palette)
{
  double high = mhar_sparkline_high (s);

  cairo_save (cr);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  if (s->mark >= 0 && (guint)s->mark < s->n) {
    set_source (cr, &palette->accent, 0.16);
    cairo_rectangle (cr, rect->x + rect->width * s->mark / s->n, rect->y, rect->width / s->n, rect->height);
    cairo_fill (cr);
  }
  set_source (cr, &palette->line, 1);
  cairo_set_line_width (cr, 1);
  cairo_move_to (cr, rect->x, rect->y + rect->height);
  cairo_rel_line_to (cr, rect->width, 0);
  cairo_stroke (cr);
  set_source (cr, &palette->faint, 0.55);
  for (guint h = 0; h < s->n_lines; h++)
    if ((int)h != s->line)
      stroke_line (s, cr, rect, (int)h, high);
  set_source (cr, &palette->accent, 1);
  cairo_set_line_width (cr, 2);
  stroke_line (s, cr, rect, s->line < (int)s->n_lines ? s->line : -1, high);
  if (s->mark >= 0 && (guint)s->mark < s->n && isfinite (value (s, s->line, (guint)s->mark))) {
    cairo_arc (cr, x_of (s, rect, (guint)s->mark),
               rect->y + rect->height * (1 - value (s, s->line, (guint)s->mark) / high), 3, 0, 2 * G_PI);
    cairo_fill (cr);
  }
  cairo_restore (cr);
}
