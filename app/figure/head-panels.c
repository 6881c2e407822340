/* SPDX-License-Identifier: MIT */
/* The grid of maps. */
#include "app/figure/head-panels.h"

#include "app/figure/colour-bar.h"
#include "app/figure/figure-data.h"
#include "core/error.h"

#include <math.h>

#define MAX_PANELS 1024
#define PAGE 504.0 /* natural width */
#define WIDE_PAGE 1008.0

/* The label that column `j` has in every shown site that has that source; NULL where they differ. */
static char *
shared_source_label (const MharDrawing *d, guint j)
{
  const char *label = NULL;

  for (guint i = 0; i < d->out.n_rows; i++) {
    const char *here;

    if (d->n_sources[i] <= j)
      continue;
    here = mhar_figure_raw_label (d->set, "source_label", i, j);
    if (!here || (label && !g_str_equal (label, here)))
      return NULL;
    label = here;
  }
  return label ? mhar_text_clean (label) : NULL;
}

/* Where the sites' lists differ (block and delta modes), a column is a position in the list and has no name. */
static void
prepare_source_labels (MharDrawing *d)
{
  guint n = d->out.n_columns;
  char **labels = g_new0 (char *, n);
  gboolean named = TRUE;

  for (guint j = 0; j < n && named; j++) {
    labels[j] = shared_source_label (d, j);
    named = labels[j] != NULL;
  }
  for (guint j = 0; j < n && !named; j++) {
    g_free (labels[j]);
    labels[j] = g_strdup_printf ("%u", j);
  }
  mhar_axis_init (&d->x, labels, n, g_strdup (named ? "source, oldest left" : "source, position in the site’s list"));
}

static void
prepare_site_labels (MharDrawing *d)
{
  guint n = d->out.n_rows;
  char **labels = g_new0 (char *, n);

  for (guint i = 0; i < n; i++) {
    labels[i] = mhar_figure_label (d->set, "site_label", i, 0);
    if (!labels[i])
      labels[i] = g_strdup_printf ("%u", i);
  }
  mhar_axis_init (&d->y, labels, n, g_strdup ("site"));
}

static gboolean
prepare_panels (MharDrawing *d, gboolean consensus, GError **error)
{
  guint heads = (guint)mhar_figure_length (d->field, 1);
  int head = d->options.head;
  guint n = heads + (consensus && heads > 1 ? 1 : 0);

  if (heads > MAX_PANELS)
    return mhar_bad_input (error, "%u routing heads are more than a figure can show", heads);
  if (head == MHAR_FIGURE_ALL_HEADS) {
    mhar_drawing_set_panels (d, n);
    for (guint i = 0; i < n; i++)
      d->out.panels[i].head = i < heads ? (int)i : MHAR_FIGURE_CONSENSUS;
    return TRUE;
  }
  if (head != MHAR_FIGURE_CONSENSUS && (head < 0 || head >= (int)heads))
    return mhar_bad_input (error, "there is no head %d to draw; heads are 0 to %u", head, heads - 1);
  mhar_drawing_set_panels (d, 1);
  d->out.panels[0].head = head;
  return TRUE;
}

/* The mean over the heads that have a value. */
static double
mean_over_heads (const MharDrawing *d, guint row, guint column)
{
  gsize heads = mhar_figure_length (d->field, 1);
  double sum = 0;
  guint n = 0;

  for (gsize h = 0; h < heads; h++) {
    double value = mhar_figure_value (d->field, row, h, column);

    if (isfinite (value)) {
      sum += value;
      n++;
    }
  }
  return n ? sum / n : NAN;
}

static void
prepare_consensus (MharDrawing *d)
{
  gsize columns = d->out.n_columns;

  if (d->out.panels[d->out.n_panels - 1].head != MHAR_FIGURE_CONSENSUS)
    return;
  d->consensus = g_new (double, d->out.n_rows *columns);
  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = 0; j < columns; j++)
      d->consensus[i * columns + j] = j < d->n_sources[i] ? mean_over_heads (d, i, j) : NAN;
}

gboolean
mhar_head_panels_prepare (MharDrawing *d, gboolean consensus, GError **error)
{
  guint sites = (guint)mhar_figure_length (d->field, 0);
  guint rows = d->options.first_sites ? MIN (d->options.first_sites, sites) : sites;
  gsize columns = 1;

  d->n_sources = g_new (gsize, rows);
  for (guint i = 0; i < rows; i++) {
    d->n_sources[i] = mhar_figure_n_sources (d->set, d->field, i);
    columns = MAX (columns, d->n_sources[i]);
  }
  mhar_drawing_set_cells (d, rows, (guint)columns);
  d->value = mhar_head_panels_value;
  prepare_source_labels (d);
  prepare_site_labels (d);
  if (!prepare_panels (d, consensus, error))
    return FALSE;
  prepare_consensus (d);
  return TRUE;
}

double
mhar_head_panels_value (const MharDrawing *d, guint panel, guint row, guint column)
{
  int head = d->out.panels[panel].head;

  if (column >= d->n_sources[row])
    return NAN;
  if (head == MHAR_FIGURE_CONSENSUS)
    return d->consensus[(gsize)row * d->out.n_columns + column];
  /* The common case, and asked for every cell. */
  if (d->field->type == MHAR_FIELD_F32)
    return (double)d->field->data.f32[((gsize)row * d->field->shape[1] + (gsize)head) * d->field->shape[2] + column];
  return mhar_figure_value (d->field, row, (gsize)head, column);
}

/* Rows whose weights, or whatever is shown, are not finite where there are sources. */
static guint
count_broken (const MharDrawing *d)
{
  const MharField *weight = mhar_figure_field (d->set, "weight", 3);
  guint n = 0;

  if (weight == NULL)
    weight = d->field;
  for (guint i = 0; i < d->out.n_rows; i++)
    n += d->n_sources[i] > 0 && !isfinite (mhar_figure_value (weight, i, 0, 0));
  return n;
}

void
mhar_head_panels_explain (MharDrawing *d, GString *caption)
{
  gsize sites = mhar_figure_length (d->field, 0);

  d->legend = caption->len;
  if (d->out.n_rows < sites)
    g_string_append_printf (caption, "First %u of %" G_GSIZE_FORMAT " sites, first on top", d->out.n_rows, sites);
  else
    g_string_append (caption, "Sites from top to bottom");
  mhar_caption_cells (d, caption, "source", count_broken (d));
}

typedef struct {
  double left, right, top, bottom; /* around the grid */
  double gap_x, gap_y;             /* between panels */
  double bar;                      /* width of the colour bar with its labels, part of `right` */
} Insets;

static MharTextRun
heading_run (const MharDrawing *d)
{
  return (MharTextRun){
    .string = d->heading, .size = d->font, .wrap = TRUE, .width = MAX (d->out.width - 2 * d->margin, 1)
  };
}

/* Height of the sentence above the panels, and its rectangle. */
static double
place_heading (MharDrawing *d)
{
  MharTextRun run = heading_run (d);
  double along, across;

  d->out.heading = (MharFigureRect){ 0 };
  if (!d->heading || d->no_caption || d->options.fill || d->font <= 0)
    return 0;
  mhar_text_measure (d->text, &run, &along, &across);
  d->out.heading = (MharFigureRect){ d->margin, d->margin + d->options.room_above, along, across };
  return across + d->font * 0.6;
}

/* Also measures the axes and places the heading and the caption. */
static Insets
measure (MharDrawing *d)
{
  Insets in = { .gap_x = d->font * 1.2 };
  double label_gap = d->small * 0.6;

  mhar_axis_measure (&d->y, d->text, d->small, MIN (d->small * 11, d->out.width * 0.22));
  mhar_axis_measure (&d->x, d->text, d->small, MIN (d->small * 11, d->out.height * 0.22));
  in.bar = mhar_colour_bar_width (d);
  in.left = d->margin + d->y.extent + label_gap + (d->options.fill ? 0 : d->small * 1.5);
  in.right = d->margin + (in.bar > 0 ? in.bar + d->font * 1.4 : 0);
  in.top = d->margin + (d->options.fill ? 0 : d->font * 1.5) + d->options.room_above + place_heading (d);
  in.bottom
      = d->margin + d->x.extent + label_gap + (d->options.fill ? 0 : d->small * 1.6) + mhar_drawing_place_caption (d);
  in.gap_y = d->font * 1.9;
  if (d->font <= 0) {
    in.gap_x = in.gap_y = MIN (d->out.width, d->out.height) * 0.02;
    in.left = in.right = in.top = in.bottom = d->margin;
  }
  return in;
}

/* Width over height of a panel: square cells unless that makes it a ribbon, which `fill` asks for. */
static double
panel_aspect (const MharDrawing *d, const Insets *in)
{
  if (d->options.fill && d->out.n_panels == 1)
    return MAX (d->out.width - in->left - in->right, 1e-3) / MAX (d->out.height - in->top - in->bottom, 1e-3);
  return CLAMP ((double)d->out.n_columns / d->out.n_rows, 0.6, 1.6);
}

static double
panel_width (const MharDrawing *d, const Insets *in, guint across)
{
  guint down = (d->out.n_panels + across - 1) / across;
  double width = (d->out.width - in->left - in->right - (across - 1) * in->gap_x) / across;
  double height = (d->out.height - in->top - in->bottom - (down - 1) * in->gap_y) / down;

  return MIN (width, height * panel_aspect (d, in));
}

/* Panels in a line on paper: small enough for a page, with few places left empty. */
static guint
natural_across (guint panels)
{
  if (panels <= 5)
    return panels;
  if (panels <= 10)
    return (panels + 1) / 2;
  if (panels <= 16)
    return 4;
  return (guint)ceil (sqrt (panels));
}

void
mhar_head_panels_natural (MharDrawing *d, double *width, double *height)
{
  guint across = natural_across (d->out.n_panels), down = (d->out.n_panels + across - 1) / across;
  double most, panel;
  Insets in;

  mhar_drawing_set_size (d, PAGE, 1e4);
  in = measure (d);
  most = (PAGE - in.left - in.right - (across - 1) * in.gap_x) / across;
  most = MAX (most, MIN (2.0 * d->out.n_columns, (WIDE_PAGE - in.left - in.right) / across - in.gap_x));
  panel = MIN (MIN (most, MAX (16.0 * d->out.n_columns, 70)), 400 * panel_aspect (d, &in));
  *width = MAX (in.left + in.right + across * panel + (across - 1) * in.gap_x, PAGE * 0.7);
  mhar_drawing_set_size (d, *width, 1e4);
  in = measure (d);
  *height = in.top + in.bottom + down * panel / panel_aspect (d, &in) + (down - 1) * in.gap_y;
}

/* The number of panels in a line that makes them largest; of equals, the one that leaves fewer places empty. */
static guint
best_across (const MharDrawing *d, const Insets *in)
{
  guint best = 1, n = d->out.n_panels;
  double score = -INFINITY;

  for (guint across = 1; across <= n; across++) {
    guint down = (n + across - 1) / across;
    double here = panel_width (d, in, across) * (1 - 0.01 * (across * down - n));

    if (here > score + 1e-9) {
      score = here;
      best = across;
    }
  }
  return best;
}

static void
place_bar (MharDrawing *d, const Insets *in, const MharFigureRect *grid)
{
  MharFigureRect area = { grid->x + grid->width + d->font * 1.4, grid->y, in->bar, grid->height };
  double most = d->font * 34;

  if (area.height > most) {
    area.y += (area.height - most) / 2;
    area.height = most;
  }
  mhar_colour_bar_place (d, &area);
}

/* Insets that leave room for panels, *across in a line: where they get too small the caption goes, then all text. */
static Insets
fit (MharDrawing *d, guint *across)
{
  Insets in = measure (d);

  *across = best_across (d, &in);
  while (d->font > 0 && !d->options.fill
         && panel_width (d, &in, *across) * MIN (1, 1 / panel_aspect (d, &in)) < d->font * 2.5) {
    if (d->out.caption.height > 0)
      d->no_caption = TRUE;
    else
      mhar_drawing_mute (d);
    in = measure (d);
    *across = best_across (d, &in);
  }
  return in;
}

void
mhar_head_panels_place (MharDrawing *d)
{
  guint across;
  Insets in = fit (d, &across);
  guint down = (d->out.n_panels + across - 1) / across;
  double w = MAX (panel_width (d, &in, across), 1e-3), h = w / panel_aspect (d, &in);
  MharFigureRect grid = { .width = across * w + (across - 1) * in.gap_x, .height = down * h + (down - 1) * in.gap_y };

  grid.x = in.left + MAX (0, (d->out.width - in.left - in.right - grid.width) / 2);
  grid.y = in.top + MAX (0, (d->out.height - in.top - in.bottom - grid.height) / 2);
  d->grid_columns = across;
  for (guint i = 0; i < d->out.n_panels; i++)
    d->out.panels[i].cells
        = (MharFigureRect){ grid.x + (i % across) * (w + in.gap_x), grid.y + (i / across) * (h + in.gap_y), w, h };
  mhar_axis_thin (&d->x, w / d->out.view.width, d->small);
  mhar_axis_thin (&d->y, h / d->out.view.height, d->small);
  place_bar (d, &in, &grid);
}

static void
paint_title (const MharDrawing *d, cairo_t *cr, const MharFigurePanel *panel)
{
  /* "head 12" takes about four sizes. */
  gboolean short_titles = panel->cells.width < d->font * 4.4;
  g_autofree char *title = NULL;
  MharTextRun run = { .size = d->font, .along = 0.5, .across = 1, .width = panel->cells.width + d->font };

  title = panel->head >= 0 ? g_strdup_printf (short_titles ? "%d" : "head %d", panel->head) : g_strdup ("mean");
  run.string = title;
  mhar_drawing_write (d, cr, &run, panel->cells.x + panel->cells.width / 2, panel->cells.y - d->font * 0.25, NULL);
}

/* Whether a map has more cells across than the image it is painted on has pixels for them. */
static gboolean
is_reduced (const MharDrawing *d, cairo_t *cr)
{
  double width = d->out.panels[0].cells.width, height = d->out.panels[0].cells.height;

  if (cairo_surface_get_type (cairo_get_group_target (cr)) != CAIRO_SURFACE_TYPE_IMAGE)
    return FALSE;
  cairo_user_to_device_distance (cr, &width, &height);
  return d->out.view.width > round (fabs (width)) || d->out.view.height > round (fabs (height));
}

static void
paint_axis_titles (const MharDrawing *d, cairo_t *cr)
{
  guint n = d->out.n_panels, last_in_line = MIN (d->grid_columns, n) - 1;
  const MharFigureRect *first = &d->out.panels[0].cells, *right = &d->out.panels[last_in_line].cells;
  const MharFigureRect *bottom = &d->out.panels[n - 1].cells;
  double label_gap = d->small * 0.6, end = bottom->y + bottom->height;
  gboolean reduced = is_reduced (d, cr);
  double middle = (first->x + right->x + right->width) / 2;
  g_autofree char *title
      = g_strconcat (d->x.title, reduced ? "; of cells that share a pixel the largest is seen" : "", NULL);
  MharTextRun x = { .string = title, .size = d->small, .along = 0.5, .width = d->out.width - 2 * d->margin };
  MharTextRun y = { .string = d->y.title, .size = d->small, .along = 0.5, .across = 1, .up = TRUE };

  if (reduced)
    x.width = 2 * MIN (middle, d->out.width - middle) - 2 * d->margin;
  mhar_drawing_write (d, cr, &x, middle, end + d->x.extent + label_gap + d->small * 0.3, &d->palette->faint);
  mhar_drawing_write (d, cr, &y, first->x - d->y.extent - label_gap - d->small * 0.2, (first->y + end) / 2,
                      &d->palette->faint);
}

void
mhar_head_panels_paint (const MharDrawing *d, cairo_t *cr)
{
  for (guint i = 0; i < d->out.n_panels; i++) {
    const MharFigurePanel *panel = &d->out.panels[i];

    mhar_map_panel_paint (d, cr, i);
    if (d->font <= 0)
      continue;
    if (!d->options.fill && (d->out.n_panels > 1 || panel->head != 0))
      paint_title (d, cr, panel);
    if (i % d->grid_columns == 0)
      mhar_axis_paint_left (&d->y, cr, d->text, &panel->cells, d->small * 0.6, d->palette);
    if (i + d->grid_columns >= d->out.n_panels)
      mhar_axis_paint_below (&d->x, cr, d->text, &panel->cells, d->small * 0.6, d->palette);
  }
  if (d->font > 0 && !d->options.fill)
    paint_axis_titles (d, cr);
  mhar_colour_bar_paint (d, cr);
  if (d->out.heading.height > 0) {
    MharTextRun heading = heading_run (d);

    mhar_drawing_write (d, cr, &heading, d->out.heading.x, d->out.heading.y, NULL);
  }
}
