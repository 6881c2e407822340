/* SPDX-License-Identifier: MIT */
/* The colour scale. From left to right: the null's label and bracket, the bar, tick labels, the title. */
#include "app/figure/colour-bar.h"

#include "app/figure/heat-map.h"
#include "app/figure/ticks.h"

#include <math.h>

#define STEPS 128      /* colours in the bar */
#define NULL_REACH 1.4 /* the bracket is drawn to scale up to so many times the bar */

/* Where values lie on the scale: evenly, or by asinh. */
static double
along (const MharDrawing *d, double value)
{
  return d->linear > 0 ? asinh (value / d->linear) : value;
}

/* Share of the scale below a value. */
static double
position (const MharDrawing *d, double value)
{
  double low = along (d, d->out.low);

  return (along (d, value) - low) / (along (d, d->out.high) - low);
}

typedef struct {
  guint count;
  double values[32];
  char *labels[32];
} Marks;

static void
add_mark (Marks *marks, double value, char *label)
{
  if (marks->count == G_N_ELEMENTS (marks->values)) {
    g_free (label);
    return;
  }
  marks->values[marks->count] = value;
  marks->labels[marks->count++] = label;
}

/* Zero and powers of ten from `linear` on, both ways, as far as the scale goes; every `step`-th. */
static void
mark_powers (const MharDrawing *d, Marks *marks, int step)
{
  add_mark (marks, 0, g_strdup ("0"));
  for (int k = 0; k < 15; k += step) {
    double power = d->linear * pow (10, k);
    int decimals = (int)MAX (0, -round (log10 (power)));

    if (power <= d->out.high * (1 + 1e-9))
      add_mark (marks, power, mhar_number_fixed (power, decimals));
    if (-power >= d->out.low * (1 + 1e-9))
      add_mark (marks, -power, mhar_number_fixed (-power, decimals));
  }
}

/* What is marked on a bar of a length, `pitch` apart at least. */
static Marks
make_marks (const MharDrawing *d, double length, double pitch)
{
  Marks marks = { 0 };
  MharTicks ticks;

  if (d->linear > 0) {
    double decade = position (d, d->linear * 10) - position (d, d->linear);

    mark_powers (d, &marks, decade * length < pitch ? 2 : 1);
    return marks;
  }
  if (length > 0)
    mhar_ticks_fit (&ticks, d->out.low, d->out.high, length, pitch);
  else
    mhar_ticks_init (&ticks, d->out.low, d->out.high, 8);
  for (guint i = 0; i < ticks.count; i++)
    add_mark (&marks, mhar_ticks_value (&ticks, i), mhar_ticks_label (&ticks, i));
  return marks;
}

static void
marks_clear (Marks *marks)
{
  for (guint i = 0; i < marks->count; i++)
    g_free (marks->labels[i]);
}

typedef struct {
  double label, bracket, bar, ticks, title; /* widths; 0 where absent */
} Columns;

static Columns
columns (const MharDrawing *d)
{
  Columns c = { .bar = d->font * 1.2, .title = d->scale_title ? d->small * 1.6 : 0 };
  Marks marks = make_marks (d, 0, 0); /* the finest that could be drawn: its labels are the longest */

  for (guint i = 0; i < marks.count; i++)
    c.ticks = MAX (c.ticks, mhar_drawing_text_width (d, marks.labels[i], d->small) + d->small * 0.8);
  marks_clear (&marks);
  if (isfinite (d->null_extent)) {
    c.label = d->small * 1.5;
    c.bracket = d->small * 0.9;
  }
  return c;
}

double
mhar_colour_bar_width (const MharDrawing *d)
{
  Columns c = columns (d);

  return d->font > 0 ? c.label + c.bracket + c.bar + c.ticks + c.title : 0;
}

void
mhar_colour_bar_place (MharDrawing *d, const MharFigureRect *area)
{
  Columns c = columns (d);
  double inset = d->over ? d->font * 0.8 : 0;

  d->out.bar = (MharFigureRect){ 0 };
  if (d->font <= 0 || area->height < 4 * d->font)
    return;
  d->out.bar = (MharFigureRect){ area->x + c.label + c.bracket, area->y + inset, c.bar, area->height - inset };
  d->out.bar.height -= d->under ? d->font * 0.8 : 0;
  if (isfinite (d->null_extent) && d->null_extent > d->out.high) {
    double reach = MIN (d->null_extent / d->out.high, NULL_REACH);
    double ends = d->over || d->under ? d->font * 1.6 : 0;
    double height = MIN (area->height / reach, area->height - ends);

    d->out.bar.y = area->y + (area->height - height) / 2;
    d->out.bar.height = height;
  }
}

double
mhar_colour_bar_y (const MharDrawing *d, double value)
{
  if (d->linear > 0)
    return d->out.bar.y + d->out.bar.height * (1 - position (d, value));
  return d->out.bar.y + d->out.bar.height * (d->out.high - value) / (d->out.high - d->out.low);
}

MharRgb
mhar_colour_bar_colour (const MharDrawing *d, double value)
{
  return mhar_colour_map_at (d->map, position (d, value));
}

static gboolean
step_colour (gconstpointer data, guint row, guint column, MharRgb *colour)
{
  const MharDrawing *d = data;

  (void)column;
  *colour = mhar_colour_map_at (d->map, 1 - (row + 0.5) / STEPS);
  return TRUE;
}

/* A point at one end of the bar: there are values beyond. `sign` -1 is the upper end. */
static void
paint_point (const MharDrawing *d, cairo_t *cr, const MharFigureRect *frame, double sign)
{
  MharRgb colour = mhar_colour_map_at (d->map, sign < 0);
  double y = sign < 0 ? frame->y : frame->y + frame->height;

  cairo_move_to (cr, frame->x, y);
  cairo_line_to (cr, frame->x + frame->width / 2, y + sign * d->font * 0.75);
  cairo_line_to (cr, frame->x + frame->width, y);
  cairo_close_path (cr);
  mhar_drawing_set_source (cr, &colour);
  cairo_fill_preserve (cr);
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.5);
  cairo_stroke (cr);
}

static void
paint_bar (const MharDrawing *d, cairo_t *cr)
{
  MharHeatMap map = { .cells = d->out.bar, .rows = STEPS, .columns = 1, .colour = step_colour, .data = d };
  MharFigureRect frame = mhar_heat_map_snap (cr, &d->out.bar);

  if (d->over)
    paint_point (d, cr, &frame, -1);
  if (d->under)
    paint_point (d, cr, &frame, 1);
  mhar_heat_map_paint (&map, cr);
  cairo_rectangle (cr, frame.x, frame.y, frame.width, frame.height);
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.5);
  cairo_stroke (cr);
}

static void
paint_ticks (const MharDrawing *d, cairo_t *cr)
{
  double x = d->out.bar.x + d->out.bar.width;
  Marks marks = make_marks (d, d->out.bar.height, d->small * 1.7);

  for (guint i = 0; i < marks.count; i++) {
    double y = mhar_colour_bar_y (d, marks.values[i]);
    MharTextRun run = { .string = marks.labels[i], .size = d->small, .across = 0.5 };

    mhar_drawing_set_source (cr, &d->palette->line);
    cairo_set_line_width (cr, 0.5);
    cairo_move_to (cr, x, y);
    cairo_rel_line_to (cr, d->small * 0.35, 0);
    cairo_stroke (cr);
    mhar_drawing_write (d, cr, &run, x + d->small * 0.6, y, NULL);
  }
  marks_clear (&marks);
}

/* One end of the bracket: a cap where the null ends, an arrow where it goes on. `sign` -1 is the upper end. */
static void
bracket_end (const MharDrawing *d, cairo_t *cr, double x, double y, double sign, gboolean beyond)
{
  double size = d->small * 0.35;

  if (beyond) {
    cairo_move_to (cr, x - size, y - sign * size * 1.5);
    cairo_line_to (cr, x, y);
    cairo_line_to (cr, x + size, y - sign * size * 1.5);
  } else {
    cairo_move_to (cr, x - size, y);
    cairo_line_to (cr, x + size, y);
  }
  cairo_stroke (cr);
}

static void
paint_null (const MharDrawing *d, cairo_t *cr)
{
  double x = d->out.bar.x - d->small * 0.6, middle = mhar_colour_bar_y (d, 0);
  gboolean beyond = d->null_extent > d->out.high * NULL_REACH;
  double extent = beyond ? d->out.high * NULL_REACH : d->null_extent;
  double top = mhar_colour_bar_y (d, extent), bottom = mhar_colour_bar_y (d, -extent);
  MharTextRun run = {
    .string = d->null_label,
    .size = d->small,
    .up = TRUE,
    .along = 0.5,
    .across = 1,
    .width = d->out.bar.height * NULL_REACH,
  };

  mhar_drawing_set_source (cr, &d->palette->ink);
  cairo_set_line_width (cr, 0.8);
  cairo_move_to (cr, x, top);
  cairo_line_to (cr, x, bottom);
  cairo_stroke (cr);
  bracket_end (d, cr, x, top, -1, beyond);
  bracket_end (d, cr, x, bottom, 1, beyond);
  mhar_drawing_write (d, cr, &run, x - d->small * 0.45, middle, NULL);
}

void
mhar_colour_bar_paint (const MharDrawing *d, cairo_t *cr)
{
  Columns c = columns (d);

  if (d->out.bar.height <= 0)
    return;
  paint_bar (d, cr);
  paint_ticks (d, cr);
  if (isfinite (d->null_extent))
    paint_null (d, cr);
  if (d->scale_title) {
    MharTextRun run
        = { .string = d->scale_title, .size = d->small, .up = TRUE, .along = 0.5, .width = d->out.bar.height * 1.05 };

    mhar_drawing_write (d, cr, &run, d->out.bar.x + d->out.bar.width + c.ticks + d->small * 0.3,
                        d->out.bar.y + d->out.bar.height / 2, &d->palette->faint);
  }
}
