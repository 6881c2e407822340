/* SPDX-License-Identifier: MIT */
/* Above: how many sources each site reads from, exp (entropy) of its weights. Below: what each source gives to one
 * site, the token mean of ‖w_n s_n‖. With a head chosen its values are dots and bars and the other heads' dashes; else
 * the mean over heads takes its place. */
#include "app/figure/figure-data.h"
#include "app/figure/legend.h"
#include "app/figure/plot.h"
#include "app/figure/ticks.h"
#include "core/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const MharField *entropy, *contribution;
  guint site, n_sources;
  double number_high, contribution_high;
  char *number_title, *contribution_title; /* above the plots */
} Sources;

static gboolean
available (const MharDataset *set)
{
  return mhar_figure_any_finite (mhar_figure_field (set, "entropy", 2));
}

static void
sources_free (gpointer data)
{
  Sources *s = data;

  g_free (s->number_title);
  g_free (s->contribution_title);
  g_free (s);
}

/* exp of the entropy of one head at one site. */
static double
effective (const Sources *s, guint site, guint head)
{
  return exp (mhar_figure_value (s->entropy, site, head, 0));
}

/* What is shown in a column of either plot for one head. */
static double
head_value (const MharDrawing *d, guint panel, guint column, guint head)
{
  const Sources *s = d->extra;

  if (panel == 0)
    return effective (s, column, head);
  return mhar_figure_value (s->contribution, s->site, head, d->out.panels[1].columns[column]);
}

static guint
n_heads (const MharDrawing *d)
{
  const Sources *s = d->extra;

  return (guint)mhar_figure_length (s->entropy, 1);
}

/* The chosen head's value, else the mean over the heads that have one. */
static double
value (const MharDrawing *d, guint panel, guint row, guint column)
{
  double sum = 0;
  guint n = 0;

  (void)row;
  if (d->options.head >= 0)
    return head_value (d, panel, column, (guint)d->options.head);
  for (guint h = 0; h < n_heads (d); h++) {
    double here = head_value (d, panel, column, h);

    if (isfinite (here)) {
      sum += here;
      n++;
    }
  }
  return n ? sum / n : NAN;
}

static double
top_value (const MharDrawing *d, guint panel, guint columns)
{
  double top = 0;

  for (guint i = 0; i < columns; i++)
    for (guint h = 0; h < n_heads (d); h++) {
      double here = head_value (d, panel, i, h);

      if (isfinite (here))
        top = MAX (top, here);
    }
  return mhar_ticks_ceiling (top, 5);
}

typedef struct {
  double value;
  guint source;
} Ranked;

/* The largest first; what has no value last; equal ones in their own order. */
static int
compare_ranked (gconstpointer a, gconstpointer b)
{
  const Ranked *x = a, *y = b;
  double p = isfinite (x->value) ? x->value : -INFINITY, q = isfinite (y->value) ? y->value : -INFINITY;

  if (p != q)
    return p > q ? -1 : 1;
  return x->source < y->source ? -1 : 1;
}

static void
sort_sources (MharDrawing *d)
{
  const Sources *s = d->extra;
  guint *columns = d->out.panels[1].columns;
  Ranked *ranked = g_new (Ranked, s->n_sources);

  for (guint i = 0; i < s->n_sources; i++)
    ranked[i] = (Ranked){ value (d, 1, 0, i), columns[i] };
  qsort (ranked, s->n_sources, sizeof *ranked, compare_ranked);
  for (guint i = 0; i < s->n_sources; i++)
    columns[i] = ranked[i].source;
  g_free (ranked);
}

static char *
label_or_number (const MharDataset *set, const char *name, guint i, guint j, guint number)
{
  char *label = mhar_figure_label (set, name, i, j);

  return label ? label : g_strdup_printf ("%u", number);
}

/* Columns and labels: d->x belongs to the sites, d->y to the sources of the one site. */
static void
prepare_columns (MharDrawing *d)
{
  Sources *s = d->extra;
  guint sites = (guint)mhar_figure_length (s->entropy, 0);
  char **names = g_new0 (char *, sites), **sources;

  mhar_drawing_set_cells (d, 1, sites);
  for (guint i = 0; i < sites; i++)
    names[i] = label_or_number (d->set, "site_label", i, 0, i);
  mhar_axis_init (&d->x, names, sites, NULL);
  if (s->n_sources == 0)
    return;
  d->out.panels[1].n_columns = s->n_sources;
  d->out.panels[1].columns = g_new (guint, s->n_sources);
  for (guint i = 0; i < s->n_sources; i++)
    d->out.panels[1].columns[i] = i;
  if (d->options.sorted)
    sort_sources (d);
  sources = g_new0 (char *, s->n_sources);
  for (guint i = 0; i < s->n_sources; i++) {
    guint source = d->out.panels[1].columns[i];

    sources[i] = label_or_number (d->set, "source_label", s->site, source, source);
  }
  mhar_axis_init (&d->y, sources, s->n_sources, NULL);
}

static void
prepare_words (MharDrawing *d)
{
  Sources *s = d->extra;
  g_autofree char *site = label_or_number (d->set, "site_label", s->site, 0, s->site);
  g_autofree char *who = d->options.head >= 0 ? g_strdup_printf ("head %d", d->options.head) : NULL;
  GString *text = mhar_caption_new (d->set, &d->caption_bold);

  const char *rest = n_heads (d) == 1 ? "" : who ? " (dashes: the other heads)" : " (dashes: the heads)";

  if (!who)
    who = g_strdup (n_heads (d) > 1 ? "mean over heads" : "token mean");
  s->number_title = g_strdup_printf ("Effective number of sources, %s%s; line: all there are", who, rest);
  s->contribution_title = g_strdup_printf ("What each source gives %s, %s%s", site, who, rest);
  g_string_append (
      text, "\nEffective number: exp of the entropy of the weights, averaged over tokens; no site can have more than "
            "it has sources. Contribution: token mean of the length of weight × source.");
  d->caption = g_string_free (text, FALSE);
}

/* Room for the line of all sources too. */
static double
number_ceiling (const MharDrawing *d)
{
  double top = top_value (d, 0, d->out.n_columns);

  for (guint i = 0; i < d->out.n_columns; i++)
    top = MAX (top, mhar_ticks_ceiling ((double)mhar_figure_n_sources (d->set, ((const Sources *)d->extra)->contribution, i), 5));
  return top;
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  Sources *s = g_new0 (Sources, 1);
  guint heads;

  d->extra = s;
  d->extra_free = sources_free;
  s->entropy = mhar_figure_field (d->set, "entropy", 2);
  s->contribution = mhar_figure_field (d->set, "contribution", 3);
  heads = n_heads (d);
  s->site = MIN (d->options.site, (guint)mhar_figure_length (s->entropy, 0) - 1);
  if (s->contribution)
    s->n_sources = (guint)mhar_figure_n_sources (d->set, s->contribution, s->site);
  if (d->options.head >= (int)heads)
    return mhar_bad_input (error, "there is no head %d to draw; heads are 0 to %u", d->options.head, heads - 1);
  d->value = value;
  mhar_drawing_set_panels (d, s->n_sources > 0 ? 2 : 1);
  for (guint p = 0; p < d->out.n_panels; p++)
    d->out.panels[p].head = d->options.head >= 0 ? d->options.head : MHAR_FIGURE_CONSENSUS;
  prepare_columns (d);
  s->number_high = number_ceiling (d);
  s->contribution_high = s->n_sources > 0 ? top_value (d, 1, s->n_sources) : 1;
  d->out.high = s->number_high;
  prepare_words (d);
  return TRUE;
}

static MharPlot
plot_of (const MharDrawing *d, guint panel)
{
  const Sources *s = d->extra;

  if (panel == 0)
    return (MharPlot){ d->out.panels[0].cells, s->number_high, d->out.n_columns, "sources" };
  return (MharPlot){ d->out.panels[1].cells, s->contribution_high, s->n_sources, "contribution" };
}

/* Height of what is above and below a plot. */
static double
above (const MharDrawing *d)
{
  return d->font * 2.2;
}

static double
below (const MharDrawing *d, const MharAxis *axis)
{
  return d->font > 0 ? axis->extent + d->small * 1.2 : 0;
}

static void
place_plots (MharDrawing *d, double caption)
{
  const Sources *s = d->extra;
  double ticks = fmax (mhar_plot_tick_width (d, s->number_high), mhar_plot_tick_width (d, s->contribution_high));
  double left = d->margin + (d->font > 0 ? d->small * 2.7 + ticks : 0), y = d->margin;
  double room = d->out.height - 2 * d->margin - caption, width = MAX (d->out.width - d->margin - left, 1e-3);
  guint n = d->out.n_panels;

  for (guint p = 0; p < n; p++)
    room -= above (d) + below (d, p ? &d->y : &d->x) + (p ? d->font : 0);
  for (guint p = 0; p < n; p++) {
    y += above (d) + (p ? d->font : 0);
    d->out.panels[p].cells = (MharFigureRect){ left, y, width, MAX (room / n, 1e-3) };
    y += room / n + below (d, p ? &d->y : &d->x);
  }
}

static void
place (MharDrawing *d)
{
  const MharFigureRect *cells = &d->out.panels[0].cells;

  mhar_axis_measure (&d->x, d->text, d->small, MIN (d->small * 11, d->out.height * 0.15));
  mhar_axis_measure (&d->y, d->text, d->small, MIN (d->small * 11, d->out.height * 0.15));
  place_plots (d, mhar_drawing_place_caption (d));
  if (d->font > 0 && cells->height < d->font * 5) {
    d->out.caption = (MharFigureRect){ 0 };
    place_plots (d, 0);
  }
  if (d->font > 0 && (cells->height < d->font * 3 || cells->width < d->font * 8)) {
    mhar_drawing_mute (d);
    place_plots (d, 0);
  }
  for (guint p = 0; p < d->out.n_panels; p++)
    mhar_axis_thin (p ? &d->y : &d->x, cells->width / (p ? d->y.n : d->x.n), d->small);
}

static void
natural (MharDrawing *d, double *width, double *height)
{
  *width = CLAMP (80 + 6.0 * d->out.n_columns, 504, 1008);
  mhar_drawing_set_size (d, *width, 1e4);
  place (d);
  *height = 1e4 - d->out.n_panels * (d->out.panels[0].cells.height - *width * 0.22);
}

/* How many sources there are at all, as a line that leaves the plot where there are more than it is high. */
static void
paint_bound (const MharDrawing *d, cairo_t *cr, const MharPlot *plot)
{
  const MharField *counts = mhar_figure_field (d->set, "n_sources", 1);

  cairo_save (cr);
  cairo_rectangle (cr, plot->cells.x, plot->cells.y, plot->cells.width, plot->cells.height);
  cairo_clip (cr);
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, 0.8);
  for (guint i = 0; i < plot->columns; i++) {
    double n = mhar_figure_value (counts, i, 0, 0);

    if (!isfinite (n) || n > plot->high)
      break;
    cairo_line_to (cr, mhar_plot_x (plot, i), mhar_plot_y (plot, n));
    cairo_line_to (cr, mhar_plot_x (plot, i + 1), mhar_plot_y (plot, n));
  }
  cairo_stroke (cr);
  cairo_restore (cr);
}

static void
paint_bar (const MharDrawing *d, cairo_t *cr, const MharPlot *plot, guint column)
{
  double x = mhar_plot_x (plot, column), slot = mhar_plot_x (plot, 1) - mhar_plot_x (plot, 0);
  double y = mhar_plot_y (plot, value (d, 1, 0, column)), bottom = plot->cells.y + plot->cells.height;

  mhar_drawing_set_source (cr, &d->palette->accent);
  cairo_rectangle (cr, x + slot * 0.2, y, slot * 0.6, bottom - y);
  cairo_fill (cr);
}

/* The heads' values as dashes; over a bar in the ink's colour, or they would be lost in it. */
static void
paint_heads (const MharDrawing *d, cairo_t *cr, guint panel, const MharPlot *plot, guint column, double size)
{
  double x = mhar_plot_x (plot, column + 0.5);

  for (guint h = 0; n_heads (d) > 1 && h < n_heads (d); h++) {
    double here = head_value (d, panel, column, h), y;

    if (!isfinite (here) || (int)h == d->options.head)
      continue;
    y = mhar_plot_y (plot, here);
    if (panel == 0) {
      mhar_mark_paint (d, cr, MHAR_MARK_DASH, x, y, size);
      continue;
    }
    mhar_drawing_set_source (cr, &d->palette->ink);
    cairo_set_line_width (cr, 1);
    cairo_move_to (cr, x - size * 0.3, y);
    cairo_rel_line_to (cr, size * 0.6, 0);
    cairo_stroke (cr);
  }
}

static void
paint_plot (const MharDrawing *d, cairo_t *cr, guint panel)
{
  const Sources *s = d->extra;
  MharPlot plot = plot_of (d, panel);
  double slot = mhar_plot_x (&plot, 1) - mhar_plot_x (&plot, 0);
  double size = d->font > 0 ? MIN (d->font, slot * 1.1) : MIN (slot, d->out.height * 0.05);
  MharTextRun title
      = { .string = panel ? s->contribution_title : s->number_title, .size = d->font, .width = plot.cells.width };

  mhar_plot_paint_axis (d, cr, &plot);
  if (panel == 0)
    paint_bound (d, cr, &plot);
  for (guint i = 0; i < plot.columns; i++) {
    double here = value (d, panel, 0, i);

    if (panel == 1 && isfinite (here))
      paint_bar (d, cr, &plot, i);
    paint_heads (d, cr, panel, &plot, i, size);
    if (panel == 0 && isfinite (here))
      mhar_mark_paint (d, cr, MHAR_MARK_DOT, mhar_plot_x (&plot, i + 0.5), mhar_plot_y (&plot, here), size);
  }
  if (d->font <= 0)
    return;
  if (panel && d->options.screen) /* a window has its control of the order at the right end */
    title.width = MAX (title.width - d->font * 12, 1);
  title.bold = panel ? strlen ("What each source gives") : strlen ("Effective number of sources");
  mhar_drawing_write (d, cr, &title, plot.cells.x, plot.cells.y - above (d) + d->font * 0.2, NULL);
  mhar_axis_paint_below (panel ? &d->y : &d->x, cr, d->text, &plot.cells, d->small * 0.6, d->palette);
}

static void
paint (const MharDrawing *d, cairo_t *cr)
{
  for (guint p = 0; p < d->out.n_panels; p++)
    paint_plot (d, cr, p);
}

const MharFigureClass mhar_figure_sources = {
  .kind = MHAR_FIGURE_SOURCES,
  .name = "sources",
  .available = available,
  .prepare = prepare,
  .natural = natural,
  .place = place,
  .paint = paint,
};
