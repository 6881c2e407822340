/* SPDX-License-Identifier: MIT */
/* Disagreement by site against a random query: slice_kl for models with one head, head_js for those with more. The two
 * are different quantities and never share a figure. */
#include "app/figure/figure-data.h"
#include "app/figure/figure-private.h"
#include "app/figure/legend.h"
#include "app/figure/null-words.h"
#include "app/figure/plot.h"
#include "app/figure/ticks.h"
#include "core/error.h"

#include <math.h>

#define BAND 2.0 /* standard deviations of the null on either side */

/* The quantity to show: head disagreement where there is one. */
static const MharField *
find_field (const MharDataset *set)
{
  const MharField *heads = mhar_figure_field (set, "head_js", 1), *slices = mhar_figure_field (set, "slice_kl", 2);

  if (mhar_figure_any_finite (heads))
    return heads;
  return mhar_figure_any_finite (slices) ? slices : NULL;
}

static gboolean
is_slices (const MharDrawing *d)
{
  return d->field->n_dims == 2;
}

static gboolean
available (const MharDataset *set)
{
  return find_field (set) != NULL;
}

/* The field of one number a site that goes with the quantity shown: `end` is "_site_low", "_p_value" …; NULL where
 * absent. */
static const MharField *
companion (const MharDrawing *d, const char *end)
{
  g_autofree char *name = g_strconcat (is_slices (d) ? "slice_kl" : "head_js", end, NULL);

  return mhar_figure_field (d->set, name, 1);
}

/* Columns: the sites that have a value. A site with one source has nothing to disagree about. */
static void
prepare_columns (MharDrawing *d)
{
  const MharField *null = mhar_figure_field (d->set, is_slices (d) ? "slice_kl_null" : "head_js_null", 2);
  const MharField *counts = mhar_figure_field (d->set, "n_sources", 1), *p = companion (d, "_p_value");
  const MharField *low = companion (d, "_site_low"), *high = companion (d, "_site_high");
  guint sites = (guint)d->field->shape[0], n = 0;
  char **labels = g_new0 (char *, sites);

  mhar_drawing_set_cells (d, 1, sites);
  d->trained = g_new (double, sites);
  d->null_mean = g_new (double, sites);
  d->null_sd = g_new (double, sites);
  d->low = g_new (double, sites);
  d->high = g_new (double, sites);
  d->p_value = g_new (double, sites);
  for (guint i = 0; i < sites; i++) {
    double unused;

    if (mhar_figure_value (counts, i, 0, 0) < 2)
      continue;
    mhar_figure_row_statistics (d->field, i, &d->trained[n], &unused);
    if (!isfinite (d->trained[n])) {
      d->broken++;
      continue;
    }
    mhar_figure_row_statistics (null, i, &d->null_mean[n], &d->null_sd[n]);
    d->low[n] = mhar_figure_value (low, i, 0, 0);
    d->high[n] = mhar_figure_value (high, i, 0, 0);
    d->p_value[n] = mhar_figure_value (p, i, 0, 0);
    labels[n] = mhar_figure_label (d->set, "site_label", i, 0);
    if (!labels[n])
      labels[n] = g_strdup_printf ("%u", i);
    d->out.columns[n++] = i;
  }
  d->out.n_columns = n;
  mhar_axis_init (&d->x, labels, n, g_strdup ("site"));
}

static double
top_value (const MharDrawing *d)
{
  double top = 0;

  for (guint i = 0; i < d->out.n_columns; i++) {
    top = MAX (top, isfinite (d->high[i]) ? fmax (d->high[i], d->trained[i]) : d->trained[i]);
    if (isfinite (d->null_mean[i]))
      top = MAX (top, d->null_mean[i] + BAND * d->null_sd[i]);
    for (gsize s = 0; is_slices (d) && s < d->field->shape[1]; s++) {
      double value = mhar_figure_value (d->field, d->out.columns[i], s, 0);

      if (isfinite (value))
        top = MAX (top, value);
    }
  }
  return mhar_ticks_ceiling (top, 6);
}

/* A scalar of the quantity shown: `end` is "trained", "null", "null_sd" or "excess"; NaN where absent. */
static double
scalar (const MharDrawing *d, const char *end)
{
  g_autofree char *name = g_strconcat (is_slices (d) ? "slice_kl_" : "head_js_", end, NULL);

  return mhar_dataset_real (d->set, name, NAN);
}

static void
append_number (GString *text, const char *before, double value, int decimals)
{
  g_autofree char *number = mhar_number_fixed (value, decimals);

  if (isfinite (value))
    g_string_append_printf (text, "%s%s", before, number);
}

/* " [0.140, 0.152]" of the excess. */
static void
append_interval (const MharDrawing *d, GString *text, int decimals)
{
  double low = scalar (d, "excess_low"), high = scalar (d, "excess_high");
  g_autofree char *from = mhar_number_fixed (low, decimals), *to = mhar_number_fixed (high, decimals);

  if (isfinite (low) && isfinite (high))
    g_string_append_printf (text, " [%s, %s]", from, to);
}

/* "Slice disagreement   trained 0.176 · null 0.030 ± 0.001 · excess 0.146 [0.140, 0.152] nats", with the same decimals
 * everywhere, and below it whether that beats the null. */
static void
prepare_heading (MharDrawing *d)
{
  GString *text = g_string_new (is_slices (d) ? "Slice disagreement" : "Head disagreement");
  double trained = scalar (d, "trained"), null = scalar (d, "null"), sd = scalar (d, "null_sd");
  int decimals = MAX (mhar_number_decimals (fmax (fabs (trained), fabs (null)), 3), mhar_number_decimals (sd, 1));
  g_autofree char *sentence = mhar_null_sentence (d->set, is_slices (d) ? "slice_kl_p_value" : "head_js_p_value");
  gsize bare = text->len;

  d->heading_bold = bare;
  append_number (text, "   trained ", trained, decimals);
  append_number (text, " · null ", null, decimals);
  append_number (text, " ± ", sd, decimals);
  append_number (text, " · excess ", scalar (d, "excess"), decimals);
  append_interval (d, text, decimals);
  if (text->len > bare)
    g_string_append (text, " nats");
  if (sentence)
    g_string_append_printf (text, "\nThe mean over sites: %s.", sentence);
  d->heading = g_string_free (text, FALSE);
}

/* Sites, and those that beat their null. */
static guint
count_above (const MharDrawing *d, guint *known)
{
  guint above = 0;

  *known = 0;
  for (guint i = 0; i < d->out.n_columns; i++) {
    MharVerdict verdict = mhar_null_verdict (d->set, d->p_value[i]);

    *known += verdict != MHAR_VERDICT_NONE && verdict != MHAR_VERDICT_TOO_FEW;
    above += verdict == MHAR_VERDICT_ABOVE;
  }
  return above;
}

/* What the numbers of the heading say, in words: of files without p-values by the distance from the null. */
static void
append_verdict (const MharDrawing *d, GString *text)
{
  double trained = scalar (d, "trained"), null = scalar (d, "null"), sd = scalar (d, "null_sd");
  double distance = (trained - null) / sd;
  g_autofree char *number = mhar_number (fabs (distance), 2);
  guint known, above = count_above (d, &known);

  if (mhar_dataset_integer (d->set, "draws", 0) == 1 && isfinite (null))
    g_string_append (text, " One draw has no spread: no verdict.");
  if (known > 0)
    g_string_append_printf (text, " %u of %u sites lie above their null (each p ≤ 0.05).", above, known);
  if (d->broken > 0)
    g_string_append_printf (text, " Left out: %u site%s whose weights are NaN or infinite.", d->broken,
                            d->broken == 1 ? "" : "s");
  if (companion (d, "_site_low"))
    g_string_append (text, " Lines through marks: 95 % intervals.");
  if (isfinite (scalar (d, "p_value")) || !isfinite (distance))
    return;
  if (fabs (distance) <= BAND)
    g_string_append_printf (text, " The mean over sites lies within 2 sd of the null: not distinguishable.");
  else
    g_string_append_printf (text, " The mean over sites lies %s sd %s the null.", number,
                            distance > 0 ? "above" : "below");
}

static void
prepare_caption (MharDrawing *d)
{
  GString *text = mhar_caption_new (d->set, &d->caption_bold);
  gint64 slices = mhar_dataset_integer (d->set, "slices", -1), draws = mhar_dataset_integer (d->set, "draws", -1);
  const char *slicing = mhar_dataset_string (d->set, "slicing");

  g_string_append_c (text, '\n');
  if (is_slices (d)) {
    g_autofree char *how = mhar_text_clean (slicing ? slicing : "");

    g_string_append (text, "KL from the weights of a slice of the query to those of the whole query");
    if (slices > 0)
      g_string_append_printf (text, "; %" G_GINT64_FORMAT "%s%s slices", slices, *how ? " " : "", how);
  } else {
    g_string_append (text, "KL from a head’s weights to their mean over heads, averaged over heads");
  }
  g_string_append_printf (text, ". Null: %s", mhar_null_words (d->set));
  if (draws > 0)
    g_string_append_printf (text, ", %" G_GINT64_FORMAT " draw%s", draws, draws == 1 ? "" : "s");
  g_string_append_c (text, '.');
  append_verdict (d, text);
  d->caption = g_string_free (text, FALSE);
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  d->field = find_field (d->set);
  prepare_columns (d);
  if (d->out.n_columns == 0) {
    g_autofree char *name = mhar_figure_checkpoint (d->set);

    return mhar_bad_input (error, "%s has no site with two sources: no kl; use --figure-kind collinearity", name);
  }
  mhar_drawing_set_panels (d, 1);
  d->out.high = d->options.limit > 0 ? d->options.limit : top_value (d);
  d->scale_title = g_strdup (is_slices (d) ? "slice disagreement (nats)" : "head disagreement (nats)");
  prepare_heading (d);
  prepare_caption (d);
  return TRUE;
}

/* Whether a site does not beat its null; of files without p-values, whether it lies within the band. */
static gboolean
within_null (const MharDrawing *d, guint i)
{
  MharVerdict verdict = mhar_null_verdict (d->set, d->p_value[i]);

  if (verdict != MHAR_VERDICT_NONE && verdict != MHAR_VERDICT_TOO_FEW)
    return verdict != MHAR_VERDICT_ABOVE;
  return isfinite (d->null_mean[i]) && fabs (d->trained[i] - d->null_mean[i]) <= BAND * d->null_sd[i];
}

static guint
legend_items (const MharDrawing *d, MharLegendItem *items)
{
  gboolean null = FALSE, inside = FALSE, outside = FALSE;
  guint known, n = 0;

  count_above (d, &known);

  for (guint i = 0; i < d->out.n_columns; i++) {
    null = null || isfinite (d->null_mean[i]);
    inside = inside || within_null (d, i);
    outside = outside || !within_null (d, i);
  }
  if (outside)
    items[n++] = (MharLegendItem){ MHAR_MARK_DOT, known > 0 && inside ? "trained, beats its null"
                                                  : is_slices (d)     ? "trained, mean over slices"
                                                                      : "trained" };
  if (inside)
    items[n++] = (MharLegendItem){ MHAR_MARK_RING,
                                   known > 0 ? "trained, does not beat its null" : "trained, within the null" };
  if (is_slices (d))
    items[n++] = (MharLegendItem){ MHAR_MARK_DASH, "one slice" };
  if (null)
    items[n++] = (MharLegendItem){ MHAR_MARK_BAND, "null, mean ± 2 sd over draws" };
  return n;
}

static MharTextRun
heading_run (const MharDrawing *d)
{
  return (MharTextRun){ .string = d->heading,
                        .size = d->font,
                        .bold = d->heading_bold,
                        .wrap = TRUE,
                        .width = MAX (d->out.width - d->out.heading.x - d->margin, 1) };
}

/* The plot between heading and legend above, labels and caption below. */
static void
place_plot (MharDrawing *d, double caption)
{
  MharFigureRect *cells = &d->out.panels[0].cells;
  double left = d->margin + (d->font > 0 ? d->small * 2 + mhar_plot_tick_width (d, d->out.high) + d->small * 0.7 : 0);
  MharLegendItem items[MHAR_LEGEND_MAX];
  double along, across, top, bottom;
  MharTextRun heading;

  d->out.heading = (MharFigureRect){ left, d->margin, 0, 0 };
  heading = heading_run (d);
  mhar_text_measure (d->text, &heading, &along, &across);
  d->out.heading.width = along;
  d->out.heading.height = across;
  top = d->margin + across + mhar_legend_height (d, items, legend_items (d, items)) + d->font * 0.8;
  bottom = d->out.height - d->margin - caption - d->x.extent - d->small * (caption > 0 ? 2.2 : 0.6);
  *cells = (MharFigureRect){ left, top, MAX (d->out.width - d->margin - left, 1e-3), MAX (bottom - top, 1e-3) };
}

static void
place (MharDrawing *d)
{
  const MharFigureRect *cells = &d->out.panels[0].cells;

  mhar_axis_measure (&d->x, d->text, d->small, MIN (d->small * 11, d->out.height * 0.22));
  place_plot (d, mhar_drawing_place_caption (d));
  /* Where the plot gets too low, first the caption goes, then all text. */
  if (d->font > 0 && cells->height < d->font * 9) {
    d->out.caption = (MharFigureRect){ 0 };
    place_plot (d, 0);
  }
  if (d->font > 0 && (cells->height < d->font * 5 || cells->width < d->font * 8)) {
    mhar_drawing_mute (d);
    d->x.extent = 0;
    place_plot (d, 0);
  }
  mhar_axis_thin (&d->x, cells->width / d->out.n_columns, d->small);
}

static void
natural (MharDrawing *d, double *width, double *height)
{
  *width = CLAMP (80 + 6.0 * d->out.n_columns, 504, 1008);
  mhar_drawing_set_size (d, *width, 1e4);
  place (d);
  /* What is not plot, and a plot of pleasant shape. */
  *height = 1e4 - d->out.panels[0].cells.height + *width * 0.33;
}

static MharPlot
plot_of (const MharDrawing *d)
{
  return (MharPlot){ d->out.panels[0].cells, d->out.high, d->out.n_columns, d->scale_title };
}

static double
value_y (const MharDrawing *d, double value)
{
  MharPlot plot = plot_of (d);

  return mhar_plot_y (&plot, value);
}

static double
column_x (const MharDrawing *d, double column)
{
  MharPlot plot = plot_of (d);

  return mhar_plot_x (&plot, column);
}

/* The band from `from` on while there is a null: a closed path of steps. Returns the first column after it. */
static guint
band_path (const MharDrawing *d, cairo_t *cr, guint from)
{
  guint to = from;

  for (; to < d->out.n_columns && isfinite (d->null_mean[to]); to++) {
    double y = value_y (d, d->null_mean[to] + BAND * d->null_sd[to]);

    cairo_line_to (cr, column_x (d, to), y);
    cairo_line_to (cr, column_x (d, to + 1), y);
  }
  for (guint i = to; i > from; i--) {
    double y = value_y (d, d->null_mean[i - 1] - BAND * d->null_sd[i - 1]);

    cairo_line_to (cr, column_x (d, i), y);
    cairo_line_to (cr, column_x (d, i - 1), y);
  }
  cairo_close_path (cr);
  return to;
}

static void
paint_null (const MharDrawing *d, cairo_t *cr)
{
  mhar_drawing_set_source (cr, &d->palette->band);
  for (guint i = 0; i < d->out.n_columns;) {
    if (!isfinite (d->null_mean[i])) {
      i++;
      continue;
    }
    cairo_new_path (cr);
    i = band_path (d, cr, i);
    cairo_fill (cr);
  }
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.7);
  for (guint i = 0; i < d->out.n_columns; i++) {
    if (!isfinite (d->null_mean[i]))
      continue;
    cairo_move_to (cr, column_x (d, i), value_y (d, d->null_mean[i]));
    cairo_line_to (cr, column_x (d, i + 1), value_y (d, d->null_mean[i]));
    cairo_stroke (cr);
  }
}

/* The interval of the mean: a thin line behind its mark. */
static void
paint_interval (const MharDrawing *d, cairo_t *cr, guint i, double x, double size)
{
  if (!isfinite (d->low[i]) || !isfinite (d->high[i]))
    return;
  mhar_drawing_set_source (cr, &d->palette->accent);
  cairo_set_line_width (cr, size * 0.13);
  cairo_move_to (cr, x, value_y (d, d->low[i]));
  cairo_line_to (cr, x, value_y (d, d->high[i]));
  cairo_stroke (cr);
}

static void
paint_column (const MharDrawing *d, cairo_t *cr, guint i)
{
  double x = column_x (d, i + 0.5), slot = column_x (d, 1) - column_x (d, 0);
  double size = d->font > 0 ? MIN (d->font, slot * 1.1) : MIN (slot, d->out.height * 0.05);

  for (gsize s = 0; is_slices (d) && s < d->field->shape[1]; s++) {
    double value = mhar_figure_value (d->field, d->out.columns[i], s, 0);

    if (isfinite (value))
      mhar_mark_paint (d, cr, MHAR_MARK_DASH, x, value_y (d, value), size);
  }
  paint_interval (d, cr, i, x, size);
  mhar_mark_paint (d, cr, within_null (d, i) ? MHAR_MARK_RING : MHAR_MARK_DOT, x, value_y (d, d->trained[i]), size);
}

static void
paint (const MharDrawing *d, cairo_t *cr)
{
  MharTextRun heading = heading_run (d);
  MharLegendItem items[MHAR_LEGEND_MAX];
  MharPlot plot = plot_of (d);

  paint_null (d, cr);
  mhar_plot_paint_axis (d, cr, &plot);
  for (guint i = 0; i < d->out.n_columns; i++)
    paint_column (d, cr, i);
  if (d->font <= 0)
    return;
  mhar_drawing_write (d, cr, &heading, d->out.heading.x, d->out.heading.y, NULL);
  mhar_legend_paint (d, cr, items, legend_items (d, items));
  mhar_axis_paint_below (&d->x, cr, d->text, &d->out.panels[0].cells, d->small * 0.6, d->palette);
}

const MharFigureClass mhar_figure_kl = {
  .kind = MHAR_FIGURE_KL,
  .name = "kl",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = natural,
  .place = place,
  .paint = paint,
};
