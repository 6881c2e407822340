/* SPDX-License-Identifier: MIT */
/* Cosine between every pair of sublayer outputs: a symmetric map, its scale, and along the scale how often each value
 * occurs. */
#include "app/figure/colour-bar.h"
#include "app/figure/figure-data.h"
#include "app/figure/head-panels.h"
#include "app/figure/heat-map.h"
#include "app/figure/ticks.h"

#include <math.h>

#define BINS 25 /* odd: one is centred on 0 */

static gboolean
available (const MharDataset *set)
{
  const MharField *field = mhar_figure_field (set, "cosine", 2);

  return mhar_figure_length (field, 0) == mhar_figure_length (field, 1) && mhar_figure_any_finite (field);
}

/* The diagonal is 1 by definition and says nothing. */
static double
value (const MharDrawing *d, guint panel, guint row, guint column)
{
  (void)panel;
  return row == column ? NAN : mhar_figure_value (d->field, row, column, 0);
}

static char **
output_labels (const MharDataset *set, guint n)
{
  char **labels = g_new0 (char *, n);

  for (guint i = 0; i < n; i++) {
    labels[i] = mhar_figure_label (set, "output_label", i, 0);
    if (!labels[i])
      labels[i] = g_strdup_printf ("%u", i);
  }
  return labels;
}

/* Largest, mean and mean absolute value over the pairs i < j. */
static gsize
pair_statistics (const MharDrawing *d, double *most, double *mean, double *mean_abs)
{
  double sum = 0, sum_abs = 0;
  gsize pairs = 0;

  *most = 0;
  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = i + 1; j < d->out.n_columns; j++) {
      double cosine = value (d, 0, i, j);

      if (!isfinite (cosine))
        continue;
      *most = MAX (*most, fabs (cosine));
      sum += cosine;
      sum_abs += fabs (cosine);
      pairs++;
    }
  *mean = pairs ? sum / (double)pairs : NAN;
  *mean_abs = pairs ? sum_abs / (double)pairs : NAN;
  return pairs;
}

static void
count_bins (MharDrawing *d)
{
  d->n_counts = BINS;
  d->counts = g_new0 (guint, BINS);
  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = i + 1; j < d->out.n_columns; j++) {
      double t = (value (d, 0, i, j) - d->out.low) / (d->out.high - d->out.low);

      if (t >= 0 && t <= 1)
        d->counts[MIN ((guint)(t * BINS), BINS - 1)]++;
    }
}

static void
prepare_caption (MharDrawing *d, gsize pairs, double mean, double mean_abs)
{
  GString *text = mhar_caption_new (d->set, &d->caption_bold);
  g_autofree char *m = mhar_number (mhar_dataset_real (d->set, "collinearity_mean", mean), 3);
  g_autofree char *a = mhar_number (mhar_dataset_real (d->set, "collinearity_mean_abs", mean_abs), 3);

  g_string_append_printf (text,
                          "\nCosine between sublayer outputs, averaged over tokens. Over %" G_GSIZE_FORMAT
                          " pair%s: mean %s, mean absolute value %s.",
                          pairs, pairs == 1 ? "" : "s", m, a);
  d->caption = g_string_free (text, FALSE);
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  double most, mean, mean_abs;
  gsize pairs;
  guint n;

  (void)error;
  d->field = mhar_figure_field (d->set, "cosine", 2);
  n = (guint)mhar_figure_length (d->field, 0);
  d->map = MHAR_MAP_DIVERGING;
  d->value = value;
  mhar_drawing_set_cells (d, n, n);
  mhar_drawing_set_panels (d, 1);
  mhar_axis_init (&d->x, output_labels (d->set, n), n, NULL);
  mhar_axis_init (&d->y, output_labels (d->set, n), n, NULL);
  pairs = pair_statistics (d, &most, &mean, &mean_abs);
  d->out.high = d->options.limit > 0 ? d->options.limit : most > 0 ? most : 1;
  d->out.low = -d->out.high;
  mhar_drawing_apply_scale (d);
  d->scale_title = g_strdup ("cosine");
  count_bins (d);
  prepare_caption (d, pairs, mean, mean_abs);
  return TRUE;
}

static void
place (MharDrawing *d)
{
  double label_gap = d->small * 0.6, bar = mhar_colour_bar_width (d), histogram = d->font * 9;
  double left, right, bottom, top = d->margin, side;
  MharFigureRect *cells = &d->out.panels[0].cells;
  MharFigureRect area;

  mhar_axis_measure (&d->x, d->text, d->small, MIN (d->small * 11, d->out.height * 0.22));
  mhar_axis_measure (&d->y, d->text, d->small, MIN (d->small * 11, d->out.width * 0.22));
  left = d->margin + (d->font > 0 ? d->y.extent + label_gap : 0);
  right = d->margin + (d->font > 0 ? d->font * 1.6 + bar + d->font * 0.6 + histogram : 0);
  bottom = d->margin + (d->font > 0 ? d->x.extent + label_gap : 0) + mhar_drawing_place_caption (d);
  side = MAX (MIN (d->out.width - left - right, d->out.height - top - bottom), 1e-3);
  top += MAX (0, (d->out.height - top - bottom - side) / 2);
  *cells = (MharFigureRect){ left + MAX (0, (d->out.width - left - right - side) / 2), top, side, side };
  mhar_axis_thin (&d->x, side / d->out.view.width, d->small);
  mhar_axis_thin (&d->y, side / d->out.view.height, d->small);
  area = (MharFigureRect){ cells->x + side + d->font * 1.6, top + d->font * 0.5, bar, side - d->font };
  mhar_colour_bar_place (d, &area);
  d->out.histogram = (MharFigureRect){ 0 };
  if (d->out.bar.height > 0)
    d->out.histogram = (MharFigureRect){ area.x + bar + d->font * 0.6, d->out.bar.y, histogram, d->out.bar.height };
}

static void
natural (MharDrawing *d, double *width, double *height)
{
  const MharFigureRect *cells = &d->out.panels[0].cells;

  *width = CLAMP (230 + 2.4 * d->out.n_rows, 440, 1008);
  mhar_drawing_set_size (d, *width, 1e4);
  place (d);
  /* The map fills the width; below it stay its labels and the caption. */
  *height = 2 * d->margin + cells->height + d->x.extent + d->small * 0.6 + mhar_drawing_place_caption (d);
}

/* The longest bar; right of it the mean has its label. */
static double
bars_width (const MharDrawing *d)
{
  return d->out.histogram.width - d->small * 3.4;
}

static void
paint_histogram (const MharDrawing *d, cairo_t *cr)
{
  const MharFigureRect *box = &d->out.histogram;
  double bin = box->height / d->n_counts;
  guint most = 1;

  for (guint i = 0; i < d->n_counts; i++)
    most = MAX (most, d->counts[i]);
  for (guint i = 0; i < d->n_counts; i++) {
    double length = bars_width (d) * d->counts[i] / most;
    double centre = d->out.low + (d->out.high - d->out.low) * (i + 0.5) / d->n_counts;
    MharFigureRect bar = { box->x, box->y + box->height - bin * (i + 1), length, bin };
    MharRgb colour = mhar_colour_bar_colour (d, centre);

    bar = mhar_heat_map_snap (cr, &bar);
    if (d->counts[i] == 0)
      continue;
    cairo_rectangle (cr, bar.x, bar.y, bar.width, bar.height);
    mhar_drawing_set_source (cr, &colour);
    cairo_fill_preserve (cr);
    mhar_drawing_set_source (cr, &d->palette->line);
    cairo_set_line_width (cr, 0.4);
    cairo_stroke (cr);
  }
}

/* The histogram's base line, the mean as a line across it, and what the lengths are. */
static void
paint_histogram_marks (const MharDrawing *d, cairo_t *cr)
{
  const MharFigureRect *box = &d->out.histogram;
  double most, mean, mean_abs, y;
  MharTextRun title = { .string = "pairs", .size = d->small, .along = 0.5, .width = box->width };
  MharTextRun label = { .string = "mean", .size = d->small, .along = 1, .across = 0.5 };

  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.5);
  cairo_move_to (cr, box->x, box->y);
  cairo_rel_line_to (cr, 0, box->height);
  cairo_stroke (cr);
  mhar_drawing_write (d, cr, &title, box->x + bars_width (d) / 2, box->y + box->height + d->small * 0.1,
                      &d->palette->faint);
  if (pair_statistics (d, &most, &mean, &mean_abs) == 0)
    return;
  y = CLAMP (mhar_colour_bar_y (d, mean), box->y, box->y + box->height);
  mhar_drawing_set_source (cr, &d->palette->ink);
  cairo_set_line_width (cr, 0.8);
  cairo_move_to (cr, box->x, y);
  cairo_rel_line_to (cr, bars_width (d) + d->small * 0.5, 0);
  cairo_stroke (cr);
  mhar_drawing_write (d, cr, &label, box->x + box->width, y, NULL);
}

static void
paint (const MharDrawing *d, cairo_t *cr)
{
  const MharFigureRect *cells = &d->out.panels[0].cells;

  mhar_map_panel_paint (d, cr, 0);
  if (d->font <= 0)
    return;
  mhar_axis_paint_left (&d->y, cr, d->text, cells, d->small * 0.6, d->palette);
  mhar_axis_paint_below (&d->x, cr, d->text, cells, d->small * 0.6, d->palette);
  mhar_colour_bar_paint (d, cr);
  if (d->out.histogram.height > 0) {
    paint_histogram (d, cr);
    paint_histogram_marks (d, cr);
  }
}

const MharFigureClass mhar_figure_collinearity = {
  .kind = MHAR_FIGURE_COLLINEARITY,
  .name = "collinearity",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = natural,
  .place = place,
  .paint = paint,
};
