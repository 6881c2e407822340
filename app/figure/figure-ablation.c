/* SPDX-License-Identifier: MIT */
/* What a source is worth against what it is given: left the change of the loss where a site reads without one of its
 * sources, right the weight that the site's heads give that source on average. The two are of the same cells, and each
 * has a scale of its own; the left one runs logarithmically where a few sources are worth far more than the others. */
#include "app/figure/colour-bar.h"
#include "app/figure/figure-data.h"
#include "app/figure/head-panels.h"
#include "app/figure/panel-row.h"
#include "app/figure/ticks.h"
#include "core/error.h"

#include <math.h>
#include <stdlib.h>

enum { CHANGE, MASS, N_PANELS };

#define FAR 20.0    /* times the middle one's magnitude: a largest change from which on the scale is logarithmic */
#define DECADES 2.0 /* powers of ten from the linear part to the end */

typedef struct {
  const MharDataset *map;
  const MharField *fields[N_PANELS], *interval;
  MharDrawing *second;
  gboolean uncertain; /* some change is marked as no different from 0 */
} Ablation;

static gboolean
available (const MharDataset *set)
{
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");

  return map && mhar_figure_any_finite (mhar_figure_field (map, "delta_loss", 2))
         && mhar_figure_any_finite (mhar_figure_field (map, "mass", 2));
}

static void
ablation_free (gpointer data)
{
  Ablation *a = data;

  if (a->second)
    a->second->text = NULL; /* the other's */
  mhar_drawing_free (a->second);
  g_free (a);
}

static double
value (const MharDrawing *d, guint panel, guint row, guint column)
{
  const Ablation *a = d->extra;

  return column < d->n_sources[row] ? mhar_figure_value (a->fields[panel], row, column, 0) : NAN;
}

/* Whether the interval of a change has 0 inside. */
static gboolean
is_uncertain (const MharDrawing *d, guint row, guint column)
{
  const Ablation *a = d->extra;
  double low = mhar_figure_value (a->interval, row, column, 0), high = mhar_figure_value (a->interval, row, column, 1);

  return isfinite (low) && isfinite (high) && low <= 0 && high >= 0;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* The finite values of a panel by magnitude, smallest first. */
static GArray *
magnitudes (const MharDrawing *d, guint panel)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = 0; j < d->out.n_columns; j++) {
      double one = fabs (value (d, panel, i, j));

      if (isfinite (one))
        g_array_append_val (all, one);
    }
  g_array_sort (all, compare_doubles);
  return all;
}

static double
largest (const MharDrawing *d, guint panel)
{
  g_autoptr (GArray) all = magnitudes (d, panel);
  double most = all->len > 0 ? g_array_index (all, double, all->len - 1) : 0;

  return most > 0 ? most : 1;
}

static void
find_scale (MharDrawing *d)
{
  g_autoptr (GArray) all = magnitudes (d, CHANGE);
  double most = largest (d, CHANGE), middle = all->len > 0 ? g_array_index (all, double, all->len / 2) : most;

  d->out.high = d->options.limit > 0 ? d->options.limit : most;
  d->out.low = -d->out.high;
  d->over = most > d->out.high * (1 + 1e-6);
  if (most > FAR * middle)
    d->linear = pow (10, floor (log10 (d->out.high)) - DECADES);
}

/* The scale of the right panel, as a drawing that is never painted itself. */
static MharDrawing *
mass_scale (const MharDrawing *d)
{
  MharDrawing *scale = g_new0 (MharDrawing, 1);

  scale->set = d->set;
  scale->palette = d->palette;
  scale->text = d->text;
  scale->map = MHAR_MAP_SEQUENTIAL;
  scale->null_extent = NAN;
  scale->out.high = largest (d, MASS);
  scale->scale_title = g_strdup ("routing weight");
  return scale;
}

/* What column `j` is called at every site that has it; NULL where they differ. */
static char *
shared_label (const MharDrawing *d, guint j)
{
  const Ablation *a = d->extra;
  const char *label = NULL;

  for (guint i = 0; i < d->out.n_rows; i++) {
    const char *here = d->n_sources[i] > j ? mhar_figure_raw_label (a->map, "source_label", i, j) : NULL;

    if (d->n_sources[i] > j && (!here || (label && !g_str_equal (label, here))))
      return NULL;
    label = here ? here : label;
  }
  return label ? mhar_text_clean (label) : NULL;
}

/* Where the sites' lists differ (block and delta modes), a column is a position in the list and has no name. */
static void
prepare_axes (MharDrawing *d)
{
  const Ablation *a = d->extra;
  guint rows = d->out.n_rows, columns = d->out.n_columns;
  char **sites = g_new0 (char *, rows), **sources = g_new0 (char *, columns);
  gboolean named = TRUE;

  for (guint i = 0; i < rows; i++) {
    sites[i] = mhar_figure_label (a->map, "site_label", i, 0);
    if (!sites[i])
      sites[i] = g_strdup_printf ("%u", i);
  }
  for (guint j = 0; j < columns; j++) {
    sources[j] = shared_label (d, j);
    named = named && sources[j];
  }
  for (guint j = 0; j < columns && !named; j++) {
    g_free (sources[j]);
    sources[j] = g_strdup_printf ("%u", j);
  }
  mhar_axis_init (&d->y, sites, rows, g_strdup ("site"));
  mhar_axis_init (&d->x, sources, columns, g_strdup (named ? "source, oldest left" : "source, position in the site’s list"));
}

/* The largest change, where it is, and what of the mass is there. */
static void
append_largest (const MharDrawing *d, GString *text)
{
  const Ablation *a = d->extra;
  guint row = 0, column = 0;

  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = 0; j < d->out.n_columns; j++)
      if (fabs (value (d, CHANGE, i, j)) > fabs (value (d, CHANGE, row, column)))
        row = i, column = j;
  g_autofree char *site = mhar_figure_label (a->map, "site_label", row, 0);
  g_autofree char *source = mhar_figure_label (a->map, "source_label", row, column);
  g_autofree char *change = mhar_number (value (d, CHANGE, row, column), 3);
  g_autofree char *mass = mhar_number (value (d, MASS, row, column), 2);
  g_string_append_printf (text, " Largest change %s: %s without %s, which has %s of its weight.", change,
                          site ? site : "a site", source ? source : "a source", mass);
}

static void
prepare_caption (MharDrawing *d)
{
  const Ablation *a = d->extra;
  GString *text = mhar_caption_new (d->set, &d->caption_bold);
  double rank = mhar_dataset_real (a->map, "rank_correlation", NAN);
  double within = mhar_dataset_real (a->map, "rank_correlation_within", NAN);
  g_autoptr (GArray) all = magnitudes (d, CHANGE);

  g_string_append (text, "\nLeft: what the loss gains when the site reads without the source (nat a token). Right: the "
                         "weight its heads give that source, token mean.");
  if (isfinite (rank)) {
    g_autofree char *number = mhar_number_fixed (rank, 2);

    g_string_append_printf (text, " Rank correlation of the two %s over %u cells", number, all->len);
    if (isfinite (within)) {
      g_autofree char *inside = mhar_number_fixed (within, 2);

      g_string_append_printf (text, ", %s within a site", inside);
    }
    g_string_append_c (text, '.');
  }
  append_largest (d, text);
  d->legend = text->len;
  if (a->uncertain)
    g_string_append (text, " Dots: the 95\u00a0% interval of the change holds 0.");
  g_string_append (text, " Sites from top to bottom");
  mhar_caption_cells (d, text, "source", 0);
  d->caption = g_string_free (text, FALSE);
}

static void
prepare_scales (MharDrawing *d)
{
  Ablation *a = d->extra;

  find_scale (d);
  mhar_drawing_apply_scale (d);
  if (d->linear > 0) {
    g_autofree char *linear = mhar_number_fixed (d->linear, (int)MAX (0, -round (log10 (d->linear))));

    d->scale_title = g_strdup_printf ("Δ loss, log beyond ±%s", linear);
  } else
    d->scale_title = g_strdup ("Δ loss (nat/token)");
  a->second = d->second = mass_scale (d);
  d->second_panel = MASS;
}

/* How many sources the map's i-th site has: what n_sources says, at most `columns`. */
static gsize
count_sources (const Ablation *a, gsize i, gsize columns)
{
  double given = mhar_figure_value (mhar_figure_field (a->map, "n_sources", 1), i, 0, 0);

  return given >= 0 && given < (double)columns ? (gsize)given : columns;
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  Ablation *a = g_new0 (Ablation, 1);
  gsize rows, columns;

  (void)error;
  d->extra = a;
  d->extra_free = ablation_free;
  a->map = mhar_dataset_find_child (d->set, "ablation_map");
  a->fields[CHANGE] = mhar_figure_field (a->map, "delta_loss", 2);
  a->fields[MASS] = mhar_figure_field (a->map, "mass", 2);
  a->interval = mhar_figure_field (a->map, "delta_loss_interval", 3);
  rows = MIN (mhar_figure_length (a->fields[CHANGE], 0), mhar_figure_length (a->fields[MASS], 0));
  columns = MIN (mhar_figure_length (a->fields[CHANGE], 1), mhar_figure_length (a->fields[MASS], 1));
  d->value = value;
  d->map = MHAR_MAP_DIVERGING;
  d->hatched = d->options.style == MHAR_FIGURE_PLAIN;
  mhar_drawing_set_cells (d, (guint)rows, (guint)columns);
  d->n_sources = g_new (gsize, rows);
  for (guint i = 0; i < rows; i++)
    d->n_sources[i] = count_sources (a, i, columns);
  mhar_drawing_set_panels (d, N_PANELS);
  prepare_axes (d);
  prepare_scales (d);
  for (guint i = 0; i < rows; i++)
    for (guint j = 0; j < d->n_sources[i]; j++)
      a->uncertain = a->uncertain || is_uncertain (d, i, j);
  prepare_caption (d);
  return TRUE;
}

/* Width of a panel's colour bar with what is beside it and before it. */
static double
bar_of (const MharDrawing *d, guint panel)
{
  return d->font > 0 ? mhar_colour_bar_width (panel == MASS ? d->second : d) + d->font : 0;
}

static MharRowInsets
measure (MharDrawing *d)
{
  gboolean text = d->font > 0;

  mhar_panel_row_measure (d);
  return (MharRowInsets){
    .left = d->margin + (text ? d->y.extent + d->small * 2.1 : 0),
    .top = d->margin + (text ? d->font * 1.5 : 0),
    .bottom = d->margin + (text ? d->x.extent + d->small * 2.2 : 0) + mhar_drawing_place_caption (d),
    .beside = mhar_panel_row_gap (d) + bar_of (d, CHANGE) + bar_of (d, MASS),
  };
}

static void
place (MharDrawing *d)
{
  MharFigureRect at = mhar_panel_row_place (d, N_PANELS, measure);

  for (guint i = 0; i < N_PANELS; i++) {
    MharFigureRect area = { at.x + at.width + d->font, at.y, bar_of (d, i) - d->font, at.height };
    d->out.panels[i].cells = at;
    mhar_colour_bar_place (i == MASS ? d->second : d, &area);
    at.x += at.width + bar_of (d, i) + mhar_panel_row_gap (d);
  }
}

static void
natural (MharDrawing *d, double *width, double *height)
{
  const MharFigureRect *cells = &d->out.panels[0].cells;

  *width = CLAMP (300 + 2 * 4.0 * d->out.n_columns, 504, 1008);
  mhar_drawing_set_size (d, *width, 1e4);
  place (d);
  *height = 2 * d->margin + d->font * 1.5 + cells->height + d->x.extent + d->small * 2.2 + mhar_drawing_place_caption (d);
}

/* A dot in every cell whose change may be none. */
static void
paint_dots (const MharDrawing *d, cairo_t *cr)
{
  double radius;

  mhar_drawing_set_source (cr, &d->palette->line);
  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = 0; j < d->n_sources[i]; j++) {
      MharFigureRect cell = mhar_figure_layout_cell (&d->out, CHANGE, i, j);

      radius = MIN (cell.width, cell.height) * 0.1;
      if (radius < 0.3 || !is_uncertain (d, i, j))
        continue;
      cairo_arc (cr, cell.x + cell.width / 2, cell.y + cell.height / 2, MIN (radius, 1.2), 0, 2 * G_PI);
      cairo_fill (cr);
    }
}

/* What the rows and columns are, beside the first panel and below both. */
static void
paint_titles (const MharDrawing *d, cairo_t *cr)
{
  const MharFigureRect *first = &d->out.panels[0].cells;
  MharTextRun site = { .string = d->y.title, .size = d->small, .up = TRUE, .along = 0.5, .across = 1, .width = first->height };

  mhar_drawing_write (d, cr, &site, first->x - d->y.extent - d->small * 0.9, first->y + first->height / 2, &d->palette->faint);
  for (guint i = 0; i < N_PANELS; i++) {
    const MharFigureRect *cells = &d->out.panels[i].cells;
    MharTextRun source = { .string = d->x.title, .size = d->small, .along = 0.5, .width = cells->width + 4 * d->font };

    mhar_drawing_write (d, cr, &source, cells->x + cells->width / 2, cells->y + cells->height + d->x.extent + d->small * 0.8,
                        &d->palette->faint);
  }
}

static void
paint (const MharDrawing *d, cairo_t *cr)
{
  static const char *const titles[] = { "Change of the loss", "Routing mass" };

  for (guint i = 0; i < N_PANELS; i++) {
    const MharFigureRect *cells = &d->out.panels[i].cells;
    MharTextRun title
        = { .string = titles[i], .size = d->font, .along = 0.5, .across = 1, .width = cells->width + 2 * d->font };

    mhar_map_panel_paint (d, cr, i);
    if (d->font <= 0)
      continue;
    mhar_drawing_write (d, cr, &title, cells->x + cells->width / 2, cells->y - d->font * 0.25, NULL);
    if (i == 0)
      mhar_axis_paint_left (&d->y, cr, d->text, cells, d->small * 0.6, d->palette);
    mhar_axis_paint_below (&d->x, cr, d->text, cells, d->small * 0.6, d->palette);
  }
  paint_dots (d, cr);
  if (d->font > 0)
    paint_titles (d, cr);
  mhar_colour_bar_paint (d, cr);
  mhar_colour_bar_paint (d->second, cr);
}

const MharFigureClass mhar_figure_ablation = {
  .kind = MHAR_FIGURE_ABLATION,
  .name = "ablation",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = natural,
  .place = place,
  .paint = paint,
};
