/* SPDX-License-Identifier: MIT */
/* A training run: every scalar of its checkpoints against the step, in small plots that share their axis of steps. The
 * shaded area around a curve is its interval; the grey one is the null's. */
#include "app/figure/figure-data.h"
#include "app/figure/figure-private.h"
#include "app/figure/legend.h"
#include "app/figure/ticks.h"
#include "core/error.h"

#include <math.h>
#include <string.h>

#define ACROSS 3

/* One small plot. */
typedef struct {
  const MharField *value, *low, *high;          /* [step]; the ends may be NULL */
  const MharField *null, *null_low, *null_high; /* likewise, all three */
  char *title;
  double from, to; /* of the axis */
} Curve;

typedef struct {
  GPtrArray *curves; /* Curve */
  const MharField *step;
} Series;

/* In this order; what else there is follows. A null has no plot of its own. */
static const struct {
  const char *name, *title, *null;
} known[] = {
  { "loss", "loss (nat/token)", NULL },
  { "slice_kl_trained", "slice disagreement (nat)", "slice_kl_null" },
  { "slice_kl_excess", "slice disagreement, excess (nat)", NULL },
  { "slice_kl_median", "slice disagreement, median (nat)", NULL },
  { "slice_kl_p_value", "slice disagreement, p-value", NULL },
  { "matched_kl_trained", "matched sources (nat)", "matched_kl_null" },
  { "matched_kl_excess", "matched sources, excess (nat)", NULL },
  { "matched_kl_median", "matched sources, median (nat)", NULL },
  { "matched_kl_p_value", "matched sources, p-value", NULL },
  { "head_js_trained", "head disagreement (nat)", "head_js_null" },
  { "head_js_excess", "head disagreement, excess (nat)", NULL },
  { "head_js_median", "head disagreement, median (nat)", NULL },
  { "head_js_p_value", "head disagreement, p-value", NULL },
  { "max_deviation", "largest deviation", "null_max_deviation" },
  { "max_deviation_p_value", "largest deviation, p-value", NULL },
  { "head_correlation", "head correlation", "head_correlation_floor" },
  { "replication_r", "replication r", NULL },
  { "collinearity_mean", "mean cosine of outputs", NULL },
  { "collinearity_mean_abs", "mean |cosine| of outputs", NULL },
};

static const MharField *
find (const MharDataset *set, const char *name, const char *end)
{
  g_autofree char *full = g_strconcat (name, end, NULL);
  const MharField *field = mhar_figure_field (set, full, 1), *step = mhar_figure_field (set, "step", 1);

  return field && step && field->shape[0] == step->shape[0] && field->type == MHAR_FIELD_F64 ? field : NULL;
}

static gboolean
available (const MharDataset *set)
{
  if (!mhar_figure_field (set, "step", 1))
    return FALSE;
  for (guint f = 0; f < mhar_dataset_n_fields (set); f++)
    if (mhar_figure_any_finite (find (set, mhar_dataset_field (set, f)->name, "")))
      return TRUE;
  return FALSE;
}

static void
curve_free (gpointer data)
{
  Curve *curve = data;

  g_free (curve->title);
  g_free (curve);
}

static void
series_free (gpointer data)
{
  Series *series = data;

  g_ptr_array_unref (series->curves);
  g_free (series);
}

static void
stretch (const MharField *field, double *from, double *to)
{
  for (gsize i = 0; field && i < field->shape[0]; i++) {
    double value = mhar_field_value (field, i);

    if (isfinite (value)) {
      *from = fmin (*from, value);
      *to = fmax (*to, value);
    }
  }
}

/* The axis: all that is drawn, and a little room. */
static void
find_range (Curve *curve)
{
  const MharField *fields[] = { curve->value, curve->low, curve->high, curve->null, curve->null_low, curve->null_high };
  double room;

  curve->from = INFINITY;
  curve->to = -INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    stretch (fields[i], &curve->from, &curve->to);
  if (g_str_has_suffix (curve->value->name, "p_value")) {
    curve->from = 0;
    curve->to = 1;
  }
  room = 0.06 * (curve->to - curve->from);
  if (!(room > 0))
    room = curve->to != 0 ? 0.1 * fabs (curve->to) : 1;
  curve->from -= room;
  curve->to += room;
}

static void
add_curve (const MharDataset *set, Series *series, const char *name, const char *title, const char *null)
{
  const MharField *value = find (set, name, "");
  Curve *curve;

  if (!mhar_figure_any_finite (value))
    return;
  curve = g_new0 (Curve, 1);
  curve->value = value;
  curve->low = find (set, name, "_low");
  curve->high = find (set, name, "_high");
  if (null && mhar_figure_any_finite (find (set, null, ""))) {
    curve->null = find (set, null, "");
    curve->null_low = find (set, null, "_low");
    curve->null_high = find (set, null, "_high");
  }
  curve->title = mhar_text_clean (title);
  find_range (curve);
  g_ptr_array_add (series->curves, curve);
}

/* Whether a field has no plot of its own: an end, a spread, a floor, or what a known plot has. */
static gboolean
is_covered (const char *name)
{
  static const char *const ends[] = { "_low", "_high", "_sd", "_floor" };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (g_str_has_suffix (name, ends[i]))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (name, known[i].name) == 0 || g_strcmp0 (name, known[i].null) == 0)
      return TRUE;
  return FALSE;
}

static void
find_curves (const MharDataset *set, Series *series)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    add_curve (set, series, known[i].name, known[i].title, known[i].null);
  for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
    const MharField *field = mhar_dataset_field (set, f);
    g_auto (GStrv) words = g_strsplit (field->name, "_", -1);
    g_autofree char *title = g_strjoinv (" ", words);

    if (!is_covered (field->name))
      add_curve (set, series, field->name, title, NULL);
  }
}

static double
value (const MharDrawing *d, guint panel, guint row G_GNUC_UNUSED, guint column)
{
  const Series *series = d->extra;

  return mhar_field_value (((const Curve *)series->curves->pdata[panel])->value, column);
}

static void
prepare_words (MharDrawing *d, const Series *series)
{
  gsize n = series->step->shape[0];
  double first = mhar_field_value (series->step, 0), last = mhar_field_value (series->step, n - 1);
  g_autofree char *name = mhar_figure_checkpoint (d->set);
  GString *heading = g_string_new (name);

  d->heading_bold = heading->len;
  if (n == 1)
    g_string_append_printf (heading, "   one checkpoint, of step %.0f", first);
  else
    g_string_append_printf (heading, "   %" G_GSIZE_FORMAT " checkpoints, of steps %.0f to %.0f", n, first, last);
  d->heading = g_string_free (heading, FALSE);
  d->caption
      = g_strdup ("Each number of a checkpoint against its step of training, means over tokens and sites. Null: random "
                  "queries of the same norm; of the head correlation what heads without anything in common have.");
}

static gboolean
prepare (MharDrawing *d, GError **error G_GNUC_UNUSED)
{
  Series *series = g_new0 (Series, 1);
  guint n;
  char **labels;

  d->extra = series;
  d->extra_free = series_free;
  series->curves = g_ptr_array_new_with_free_func (curve_free);
  series->step = mhar_figure_field (d->set, "step", 1);
  find_curves (d->set, series);
  n = (guint)series->step->shape[0];
  labels = g_new (char *, n);
  for (guint i = 0; i < n; i++)
    labels[i] = g_strdup_printf ("step %.0f", mhar_field_value (series->step, i));
  d->value = value;
  mhar_drawing_set_cells (d, 1, n);
  mhar_drawing_set_panels (d, series->curves->len);
  mhar_axis_init (&d->x, labels, n, g_strdup ("step"));
  prepare_words (d, series);
  return TRUE;
}

static guint
legend_items (const MharDrawing *d, MharLegendItem *items)
{
  const Series *series = d->extra;
  gboolean interval = FALSE, null = FALSE;
  guint n = 0;

  for (guint i = 0; i < series->curves->len; i++) {
    const Curve *curve = series->curves->pdata[i];

    interval = interval || (curve->low && curve->high);
    null = null || curve->null;
  }
  items[n++] = (MharLegendItem){ MHAR_MARK_DOT, interval ? "trained, and its 95 % interval over windows" : "trained" };
  if (null)
    items[n++] = (MharLegendItem){ MHAR_MARK_BAND, interval ? "null, and its 95 % interval" : "null" };
  return n;
}

static MharTextRun
heading_run (const MharDrawing *d)
{
  return (MharTextRun){
    .string = d->heading, .size = d->font, .bold = d->heading_bold, .width = MAX (d->out.width - 2 * d->margin, 1)
  };
}

/* Width of the widest label on an axis of values. */
static double
tick_width (const MharDrawing *d, const Curve *curve, double height)
{
  double width = 0;
  MharTicks ticks;

  mhar_ticks_fit (&ticks, curve->from, curve->to, height, d->small * 2.2);
  for (guint i = 0; i < ticks.count; i++) {
    g_autofree char *label = mhar_ticks_label (&ticks, i);

    width = MAX (width, mhar_drawing_text_width (d, label, d->small));
  }
  return width;
}

typedef struct {
  double top, bottom; /* of the rows: above the first title, below the last plot */
  double title, gap;  /* height of a plot's title; room between columns */
} Insets;

static Insets
measure (MharDrawing *d)
{
  MharFigureRect *heading = &d->out.heading;
  MharLegendItem items[MHAR_LEGEND_MAX];
  MharTextRun run = heading_run (d);
  double along = 0, across = 0, caption = mhar_drawing_place_caption (d);

  if (d->font <= 0)
    return (Insets){ d->margin, d->margin, 0, d->margin };
  mhar_text_measure (d->text, &run, &along, &across);
  *heading = (MharFigureRect){ d->margin, d->margin, along, across };
  return (Insets){ .top = d->margin + across + mhar_legend_height (d, items, legend_items (d, items)) + d->font * 0.6,
                   .bottom = d->margin + caption + d->small * 3.4,
                   .title = d->small * 1.7,
                   .gap = d->font * 1.6 };
}

/* Every plot of a column begins below the other, so that the steps stand below each other. */
static void
place_column (MharDrawing *d, guint column, guint across, const MharFigureRect *area, const Insets *in, double height)
{
  const Series *series = d->extra;
  double left = 0;

  for (guint i = column; i < series->curves->len && d->font > 0; i += across)
    left = MAX (left, tick_width (d, series->curves->pdata[i], height) + d->small * 0.6);
  for (guint i = column, row = 0; i < series->curves->len; i += across, row++)
    d->out.panels[i].cells
        = (MharFigureRect){ area->x + left, area->y + row * (height + in->title + in->gap * 0.8) + in->title,
                            MAX (area->width - left, 1e-3), height };
}

static double
place_all (MharDrawing *d)
{
  guint across = MIN (ACROSS, d->out.n_panels), rows = (d->out.n_panels + across - 1) / across;
  Insets in = measure (d);
  double whole = d->out.height - in.top - in.bottom - rows * in.title - (rows - 1) * in.gap * 0.8;
  double height = MAX (whole / rows, 1e-3), width = (d->out.width - 2 * d->margin - (across - 1) * in.gap) / across;

  for (guint c = 0; c < across; c++) {
    MharFigureRect area = { d->margin + c * (width + in.gap), in.top, width, 0 };

    place_column (d, c, across, &area, &in, height);
  }
  return height;
}

static void
place (MharDrawing *d)
{
  double height = place_all (d);

  if (d->font > 0 && height < d->font * 4) {
    d->no_caption = TRUE;
    height = place_all (d);
  }
  if (d->font > 0 && (height < d->font * 2.5 || d->out.panels[0].cells.width < d->font * 4)) {
    mhar_drawing_mute (d);
    place_all (d);
  }
}

static void
natural (MharDrawing *d, double *width, double *height)
{
  guint across = MIN (ACROSS, d->out.n_panels), rows = (d->out.n_panels + across - 1) / across;
  double plot;

  *width = 504;
  mhar_drawing_set_size (d, *width, 1e4);
  plot = place_all (d);
  *height = 1e4 - rows * plot + rows * (across == 1 ? 200 : across == 2 ? 120 : 84);
}

/* From the first step to the last, with a margin so that no dot is cut. */
static double
step_x (const MharDrawing *d, const MharFigureRect *cells, gsize i)
{
  const Series *series = d->extra;
  gsize n = series->step->shape[0];
  double first = mhar_field_value (series->step, 0), last = mhar_field_value (series->step, n - 1);
  double share = last > first ? (mhar_field_value (series->step, i) - first) / (last - first) : 0.5;

  return cells->x + cells->width * (0.04 + 0.92 * share);
}

static double
value_y (const Curve *curve, const MharFigureRect *cells, double at)
{
  return cells->y + cells->height * (1 - (at - curve->from) / (curve->to - curve->from));
}

/* The areas between two fields where both have values, each a closed path. */
static void
paint_band (const MharDrawing *d, cairo_t *cr, const Curve *curve, const MharFigureRect *cells, const MharField *low,
            const MharField *high)
{
  gsize n = low->shape[0], from, to;

  for (from = 0; from < n; from = MAX (to, from + 1)) {
    for (to = from; to < n && isfinite (mhar_field_value (low, to)) && isfinite (mhar_field_value (high, to)); to++)
      cairo_line_to (cr, step_x (d, cells, to), value_y (curve, cells, mhar_field_value (high, to)));
    for (gsize i = to; i > from; i--)
      cairo_line_to (cr, step_x (d, cells, i - 1), value_y (curve, cells, mhar_field_value (low, i - 1)));
    cairo_close_path (cr);
    cairo_fill (cr);
    cairo_new_path (cr);
  }
}

/* The line through what there is, with gaps where there is nothing. */
static void
paint_line (const MharDrawing *d, cairo_t *cr, const Curve *curve, const MharFigureRect *cells, const MharField *field)
{
  gboolean drawn = FALSE;

  cairo_new_path (cr);
  for (gsize i = 0; i < field->shape[0]; i++) {
    double at = mhar_field_value (field, i);

    if (!isfinite (at))
      drawn = FALSE;
    else if (drawn)
      cairo_line_to (cr, step_x (d, cells, i), value_y (curve, cells, at));
    else {
      cairo_move_to (cr, step_x (d, cells, i), value_y (curve, cells, at));
      drawn = TRUE;
    }
  }
  cairo_stroke (cr);
}

static void
paint_values (const MharDrawing *d, cairo_t *cr, const Curve *curve, const MharFigureRect *cells)
{
  MharTicks ticks;

  mhar_ticks_fit (&ticks, curve->from, curve->to, cells->height, d->font > 0 ? d->small * 2.2 : cells->height / 3);
  cairo_set_line_width (cr, 0.5);
  for (guint i = 0; i < ticks.count; i++) {
    g_autofree char *label = mhar_ticks_label (&ticks, i);
    double y = value_y (curve, cells, mhar_ticks_value (&ticks, i));
    MharTextRun run = { .string = label, .size = d->small, .along = 1, .across = 0.5 };

    mhar_drawing_set_source (cr, &d->palette->grid);
    cairo_move_to (cr, cells->x, y);
    cairo_rel_line_to (cr, cells->width, 0);
    cairo_stroke (cr);
    if (d->font > 0)
      mhar_drawing_write (d, cr, &run, cells->x - d->small * 0.5, y, NULL);
  }
}

/* Ticks of the steps, and their labels under the lowest plot of a column. */
static void
paint_steps (const MharDrawing *d, cairo_t *cr, const MharFigureRect *cells, gboolean labels)
{
  const Series *series = d->extra;
  gsize n = series->step->shape[0];
  double first = mhar_field_value (series->step, 0), last = mhar_field_value (series->step, n - 1);
  g_autofree char *widest = g_strdup_printf ("%.0f", last);
  double pitch = d->font > 0 ? mhar_drawing_text_width (d, widest, d->small) + d->small * 1.2 : cells->width / 4;
  MharTicks ticks;

  mhar_ticks_fit (&ticks, last > first ? first : first - 0.5, last > first ? last : last + 0.5, cells->width * 0.92,
                  pitch);
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.5);
  for (guint i = 0; i < ticks.count; i++) {
    double at = mhar_ticks_value (&ticks, i), share = last > first ? (at - first) / (last - first) : 0.5;
    double x = cells->x + cells->width * (0.04 + 0.92 * share), y = cells->y + cells->height;
    g_autofree char *label = g_strdup_printf ("%.0f", at);
    MharTextRun run = { .string = label, .size = d->small, .along = 0.5 };

    if (at != floor (at))
      continue;
    mhar_drawing_set_source (cr, &d->palette->line);
    cairo_move_to (cr, x, y);
    cairo_rel_line_to (cr, 0, 2);
    cairo_stroke (cr);
    if (labels)
      mhar_drawing_write (d, cr, &run, x, y + d->small * 0.4, NULL);
  }
  if (labels) {
    MharTextRun run = { .string = "step", .size = d->small, .along = 0.5 };

    mhar_drawing_write (d, cr, &run, cells->x + cells->width / 2, cells->y + cells->height + d->small * 1.7,
                        &d->palette->faint);
  }
}

static void
paint_frame (const MharDrawing *d, cairo_t *cr, const MharFigureRect *cells)
{
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.5);
  cairo_move_to (cr, cells->x, cells->y);
  cairo_line_to (cr, cells->x, cells->y + cells->height);
  cairo_line_to (cr, cells->x + cells->width, cells->y + cells->height);
  cairo_stroke (cr);
}

static void
paint_curve (const MharDrawing *d, cairo_t *cr, guint panel)
{
  const Series *series = d->extra;
  const Curve *curve = series->curves->pdata[panel];
  const MharFigureRect *cells = &d->out.panels[panel].cells;
  const MharRgb *accent = &d->palette->accent;
  gsize n = curve->value->shape[0];
  double dot = CLAMP (cells->width / (double)n * 0.7, 1.5, 5);

  mhar_drawing_set_source (cr, &d->palette->band);
  if (curve->null_low && curve->null_high)
    paint_band (d, cr, curve, cells, curve->null_low, curve->null_high);
  paint_values (d, cr, curve, cells);
  cairo_set_source_rgba (cr, accent->r, accent->g, accent->b, 0.22);
  if (curve->low && curve->high)
    paint_band (d, cr, curve, cells, curve->low, curve->high);
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.8);
  if (curve->null)
    paint_line (d, cr, curve, cells, curve->null);
  mhar_drawing_set_source (cr, accent);
  cairo_set_line_width (cr, 1);
  paint_line (d, cr, curve, cells, curve->value);
  for (gsize i = 0; i < n; i++)
    if (isfinite (mhar_field_value (curve->value, i)))
      mhar_mark_paint (d, cr, MHAR_MARK_DOT, step_x (d, cells, i),
                       value_y (curve, cells, mhar_field_value (curve->value, i)), dot);
  paint_frame (d, cr, cells);
}

static void
paint (const MharDrawing *d, cairo_t *cr)
{
  const Series *series = d->extra;
  guint across = MIN (ACROSS, d->out.n_panels);
  MharLegendItem items[MHAR_LEGEND_MAX];
  MharTextRun heading = heading_run (d);

  for (guint i = 0; i < d->out.n_panels; i++) {
    const MharFigureRect *cells = &d->out.panels[i].cells;
    MharTextRun title = {
      .string = ((const Curve *)series->curves->pdata[i])->title, .size = d->small, .across = 1, .width = cells->width
    };

    paint_curve (d, cr, i);
    paint_steps (d, cr, cells, d->font > 0 && i + across >= d->out.n_panels);
    if (d->font > 0)
      mhar_drawing_write (d, cr, &title, cells->x, cells->y - d->small * 0.4, NULL);
  }
  if (d->font <= 0)
    return;
  mhar_drawing_write (d, cr, &heading, d->out.heading.x, d->out.heading.y, NULL);
  mhar_legend_paint (d, cr, items, legend_items (d, items));
}

const MharFigureClass mhar_figure_series = {
  .kind = MHAR_FIGURE_SERIES,
  .name = "series",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = natural,
  .place = place,
  .paint = paint,
};
