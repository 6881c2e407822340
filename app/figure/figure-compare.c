/* SPDX-License-Identifier: MIT */
/* Two checkpoints on one scale: the first left, the second right, between them the second minus the first on a scale of
 * its own. Sites and sources are matched by label; what only one of them has is absent in the other and in the
 * difference. A head is compared where both have as many heads, elsewhere the mean over heads. */
#include "app/figure/colour-bar.h"
#include "app/figure/pairing.h"
#include "app/figure/figure-data.h"
#include "app/figure/head-panels.h"
#include "app/figure/panel-row.h"
#include "app/figure/ticks.h"
#include "core/error.h"
#include "probes/compare.h"

#include <math.h>
#include <string.h>

enum { FIRST, DIFFERENCE, SECOND, N_PANELS };

typedef struct {
  MharPairing *pairing;
  double *values[2]; /* [n_rows, n_columns] of either dataset */
  gboolean enlarged; /* the difference is, beside the other two */
  gboolean mixed;    /* a head is wanted that some sites of both cannot be compared at */
  MharDrawing *second;
  char *titles[N_PANELS];
} Compare;

static gboolean
available (const MharDataset *set)
{
  return mhar_figure_any_finite (mhar_figure_field (set, "weight", 3));
}

static void
compare_free (gpointer data)
{
  Compare *c = data;

  mhar_pairing_free (c->pairing);
  if (c->second)
    c->second->text = NULL; /* the other's */
  mhar_drawing_free (c->second);
  for (guint i = 0; i < 2; i++)
    g_free (c->values[i]);
  for (guint i = 0; i < N_PANELS; i++)
    g_free (c->titles[i]);
  g_free (c);
}

static double
value (const MharDrawing *d, guint panel, guint row, guint column)
{
  const Compare *c = d->extra;
  gsize at = (gsize)row * d->out.n_columns + column;

  if (panel == DIFFERENCE)
    return c->values[1][at] - c->values[0][at];
  return c->values[panel == SECOND][at];
}

/* A head's value, or the mean over the heads that have one. */
static double
cell (const MharField *field, guint site, int head, guint source)
{
  double sum = 0;
  guint n = 0;

  if (head >= 0)
    return mhar_figure_value (field, site, (gsize)head, source);
  for (gsize h = 0; h < field->shape[1]; h++) {
    double here = mhar_figure_value (field, site, h, source);

    if (isfinite (here)) {
      sum += here;
      n++;
    }
  }
  return n ? sum / n : NAN;
}

/* The head of a row; MHAR_FIGURE_CONSENSUS for the mean over heads. */
static int
row_head (const MharDrawing *d, guint row)
{
  const MharPairing *p = ((const Compare *)d->extra)->pairing;

  return d->options.head < 0
             ? MHAR_FIGURE_CONSENSUS
             : MAX (mhar_pairing_head (d->set, p->sites[0][row], d->options.other, p->sites[1][row], d->options.head),
                    MHAR_FIGURE_CONSENSUS);
}

/* Where the head is that of no site that both have, the whole figure is of means. */
static void
find_heads (MharDrawing *d)
{
  Compare *c = d->extra;
  const MharPairing *p = c->pairing;
  guint both = 0, own = 0;

  for (guint i = 0; i < p->n_rows; i++)
    if (p->sites[0][i] < G_MAXUINT && p->sites[1][i] < G_MAXUINT) {
      both++;
      own += row_head (d, i) >= 0;
    }
  if (both > 0 && own == 0)
    d->options.head = MHAR_FIGURE_CONSENSUS;
  c->mixed = d->options.head >= 0 && own < both;
}

static void
fill_values (MharDrawing *d, guint which, const MharField *field)
{
  Compare *c = d->extra;
  const MharPairing *p = c->pairing;

  c->values[which] = g_new (double, MAX ((gsize)p->n_rows * p->n_columns, 1));
  for (guint i = 0; i < p->n_rows; i++)
    for (guint j = 0; j < p->n_columns; j++) {
      gsize at = (gsize)i * p->n_columns + j;
      guint site = p->sites[which][i], source = p->sources[which][at];
      int head = row_head (d, i);
      /* The mean over heads deviates from nothing. */
      gboolean any = site < G_MAXUINT && source < G_MAXUINT && !(d->options.deviation && c->mixed && head < 0);

      c->values[which][at] = any ? cell (field, site, head, source) : NAN;
    }
}

static const char *
field_name (const MharDrawing *d)
{
  return d->options.deviation ? "deviation" : "weight";
}

/* Both datasets have the field and the head. */
static gboolean
check (const MharDrawing *d, GError **error)
{
  const MharDataset *sets[2] = { d->set, d->options.other };

  if (!d->options.other)
    return mhar_bad_input (error, "there is nothing to compare with; open a second checkpoint or result");
  for (guint i = 0; i < 2; i++) {
    const MharField *field = mhar_figure_field (sets[i], field_name (d), 3);
    g_autofree char *name = mhar_figure_checkpoint (sets[i]);

    if (!mhar_figure_any_finite (field))
      return mhar_bad_input (error, "%s has no %s map to compare; choose %s", name, field_name (d),
                             d->options.deviation ? "weights" : "another checkpoint");
    if (d->options.head >= (int)field->shape[1])
      return mhar_bad_input (error, "%s has no head %d to compare; its heads are 0 to %u", name, d->options.head,
                             (guint)field->shape[1] - 1);
  }
  return TRUE;
}

/* Sites with one source give it all: no choice, and they would set the scale of weights. */
static void
find_scale (MharDrawing *d)
{
  double most = 0, choice = 0;

  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint which = 0; which < 2; which++)
      for (guint j = 0; j < d->out.n_columns; j++) {
        double here = fabs (value (d, which ? SECOND : FIRST, i, j));

        if (!isfinite (here))
          continue;
        most = MAX (most, here);
        if (d->n_sources[i] > 1)
          choice = MAX (choice, here);
      }
  d->out.high = d->options.limit > 0 ? d->options.limit : choice > 0 ? choice : most > 0 ? most : 1;
  d->out.low = d->options.deviation ? -d->out.high : 0;
  d->over = most > d->out.high * (1 + 1e-6);
}

/* The largest difference; where it is goes to the heading. */
static double
largest_difference (const MharDrawing *d, guint *row, guint *column)
{
  double most = 0;

  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = 0; j < d->out.n_columns; j++) {
      double here = fabs (value (d, DIFFERENCE, i, j));

      if (isfinite (here) && here > most) {
        most = here;
        *row = i;
        *column = j;
      }
    }
  return most;
}

/* "B  step-20, head 3", the head where it is another one's match. */
static char *
second_title (const MharDrawing *d)
{
  const MharField *matched = mhar_dataset_get (d->options.other, MHAR_MATCHED_HEAD);
  g_autofree char *name = mhar_figure_checkpoint (d->options.other);
  int head = d->options.head;

  return matched != NULL && matched->type == MHAR_FIELD_I32 && head >= 0 && (gsize) head < mhar_field_length (matched)
             ? g_strdup_printf ("B  %s, head %d", name, matched->data.i32[head])
             : g_strdup_printf ("B  %s", name);
}

static void
prepare_words (MharDrawing *d, double most, guint row, guint column)
{
  Compare *c = d->extra;
  g_autofree char *head
      = d->options.head >= 0 ? g_strdup_printf ("head %d", d->options.head) : g_strdup ("mean over heads");
  g_autofree char *first = mhar_figure_checkpoint (d->set);
  GString *text = g_string_new (d->options.deviation ? "Deviation" : "Weight");

  c->titles[FIRST] = g_strdup_printf ("A  %s", first);
  c->titles[SECOND] = second_title (d);
  c->titles[DIFFERENCE] = g_strdup ("B − A");
  d->heading_bold = text->len;
  g_string_append_printf (text, "   %s", head);
  if (c->mixed)
    g_string_append (text, d->options.deviation ? " (none where A and B have not as many heads)"
                                                : " (mean over heads where A and B have not as many)");
  if (most > 0) {
    g_autofree char *number = mhar_number (value (d, DIFFERENCE, row, column), 3);

    g_string_append_printf (text, " · largest difference %s: %s reads %s", number, c->pairing->rows[row],
                            c->pairing->columns[column]);
  }
  d->heading = g_string_free (text, FALSE);
  d->caption = g_strdup_printf (
      "Sites from top to bottom, sources from left to right, matched by name; %s: one of the two has none.",
      d->hatched ? "hatched" : "dark");
}

/* The scale of the middle panel, as a drawing that is never painted itself. */
static MharDrawing *
difference_scale (MharDrawing *d, double most)
{
  MharDrawing *scale = g_new0 (MharDrawing, 1);

  scale->set = d->set;
  scale->palette = d->palette;
  scale->text = d->text;
  scale->map = MHAR_MAP_DIVERGING;
  scale->null_extent = NAN;
  scale->out.high = most > 0 ? most : 1;
  scale->out.low = -scale->out.high;
  scale->scale_title = g_strdup ("difference");
  return scale;
}

static void
take_axes (MharDrawing *d)
{
  Compare *c = d->extra;
  MharPairing *p = c->pairing;
  char **rows = g_new (char *, MAX (p->n_rows, 1)), **columns = g_new (char *, MAX (p->n_columns, 1));

  for (guint i = 0; i < p->n_rows; i++)
    rows[i] = g_strdup (p->rows[i]);
  for (guint i = 0; i < p->n_columns; i++)
    columns[i] = g_strdup (p->columns[i]);
  mhar_axis_init (&d->y, rows, p->n_rows, NULL);
  mhar_axis_init (&d->x, columns, p->n_columns, NULL);
}

static void
count_sources (MharDrawing *d)
{
  d->n_sources = g_new0 (gsize, MAX (d->out.n_rows, 1));
  for (guint i = 0; i < d->out.n_rows; i++)
    for (guint j = 0; j < d->out.n_columns; j++)
      d->n_sources[i] += isfinite (value (d, FIRST, i, j)) || isfinite (value (d, SECOND, i, j));
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  Compare *c = g_new0 (Compare, 1);
  guint row = 0, column = 0;
  double most;

  d->extra = c;
  d->extra_free = compare_free;
  if (!check (d, error))
    return FALSE;
  c->pairing = mhar_pairing_new (d->set, d->options.other, field_name (d), error);
  if (!c->pairing)
    return FALSE;
  d->value = value;
  d->map = d->options.deviation ? MHAR_MAP_DIVERGING : MHAR_MAP_SEQUENTIAL;
  d->hatched = d->options.style == MHAR_FIGURE_PLAIN;
  mhar_drawing_set_cells (d, c->pairing->n_rows, c->pairing->n_columns);
  find_heads (d);
  fill_values (d, 0, mhar_figure_field (d->set, field_name (d), 3));
  fill_values (d, 1, mhar_figure_field (d->options.other, field_name (d), 3));
  count_sources (d);
  take_axes (d);
  mhar_drawing_set_panels (d, N_PANELS);
  most = largest_difference (d, &row, &column);
  c->second = d->second = difference_scale (d, most);
  d->second_panel = DIFFERENCE;
  find_scale (d);
  mhar_drawing_apply_scale (d);
  for (guint i = 0; i < N_PANELS; i++)
    d->out.panels[i].head = d->options.head >= 0 ? d->options.head : MHAR_FIGURE_CONSENSUS;
  d->scale_title = g_strdup (field_name (d));
  prepare_words (d, most, row, column);
  return TRUE;
}

static MharRowInsets
measure (MharDrawing *d)
{
  gboolean text = d->font > 0;

  mhar_panel_row_measure (d);
  return (MharRowInsets){
    .left = d->margin + (text ? d->y.extent + d->small * 0.6 : 0),
    .top = d->margin + (text ? d->font * 3.2 : 0),
    .bottom = d->margin + (text ? d->x.extent + d->small * 0.6 : 0) + mhar_drawing_place_caption (d),
    .beside
    = 2 * mhar_panel_row_gap (d)
      + (text ? mhar_colour_bar_width (d) + mhar_colour_bar_width (d->second) + 2.8 * d->font : 0),
  };
}

/* The bar of a scale, right of a panel. */
static void
place_bar (MharDrawing *scale, double font, const MharFigureRect *cells)
{
  MharFigureRect area = *cells;

  area.x += cells->width + font * 1.4;
  area.width = mhar_colour_bar_width (scale);
  mhar_colour_bar_place (scale, &area);
}

/* The first above the second, and beside them the difference, as high as both: on a screen, where a row leaves most of the
 * page empty. FALSE, and nothing done, where the difference would not be much larger than in a row. */
static gboolean
place_enlarged (MharDrawing *d, double in_a_row)
{
  double aspect = CLAMP ((double)d->out.n_columns / d->out.n_rows, 0.6, 1.6), font = d->font;
  double labels = d->y.extent + d->small * 0.6, below = d->x.extent + d->small * 0.6 + mhar_drawing_place_caption (d);
  double above = d->margin + font * 3.2, between = font * 1.8, gap = mhar_panel_row_gap (d);
  double beside = mhar_colour_bar_width (d) + mhar_colour_bar_width (d->second) + 2.8 * font + 2 * labels + gap + 2 * d->margin;
  double large = (2 * (d->out.width - beside) + between * aspect) / 3, small, height;

  large = MIN (large, (d->out.height - above - below - d->margin) * aspect);
  small = (large - between * aspect) / 2;
  height = large / aspect;
  if (large < 1.25 * in_a_row || small < font * 3)
    return FALSE;
  double x = d->margin + labels + (d->out.width - beside - small - large) / 2;
  double y = above + (d->out.height - above - below - d->margin - height) / 2;
  MharFigureRect both = { x, y, small, height };
  MharFigureRect first = { x, y, small, small / aspect }, second = { x, y + height - small / aspect, small, small / aspect };
  MharFigureRect difference = { x + small + font * 1.4 + mhar_colour_bar_width (d) + gap + labels, y, large, height };

  d->out.heading = (MharFigureRect){ x, y - font * 3.2, d->out.width - d->margin - x, font * 1.4 };
  d->out.panels[FIRST].cells = first;
  d->out.panels[SECOND].cells = second;
  d->out.panels[DIFFERENCE].cells = difference;
  place_bar (d, font, &both);
  place_bar (d->second, font, &difference);
  return TRUE;
}

/* The labels of an axis whose cells are `pitch` apart, not as close as can be. */
static void
thin_loosely (MharAxis *axis, double pitch, double size)
{
  mhar_axis_thin (axis, pitch * 0.8, size);
}

static void
place (MharDrawing *d)
{
  Compare *c = d->extra;
  MharFigureRect at = mhar_panel_row_place (d, N_PANELS, measure), area;

  c->enlarged = d->options.screen && d->font > 0 && place_enlarged (d, at.width);
  if (c->enlarged) {
    thin_loosely (&d->x, d->out.panels[FIRST].cells.width / d->out.view.width, d->small);
    thin_loosely (&d->y, d->out.panels[FIRST].cells.height / d->out.view.height, d->small);
    return;
  }
  d->out.heading
      = (MharFigureRect){ at.x, MAX (at.y - d->font * 3.2, 0), d->out.width - d->margin - at.x, d->font * 1.4 };
  for (guint i = 0; i < N_PANELS; i++, at.x += at.width + mhar_panel_row_gap (d))
    d->out.panels[i].cells = at;
  area = d->out.panels[N_PANELS - 1].cells;
  place_bar (d, d->font, &area);
  area.x += d->font * 1.4;
  area.width += mhar_colour_bar_width (d);
  place_bar (d->second, d->font, &area);
}

static void
natural (MharDrawing *d, double *width, double *height)
{
  const MharFigureRect *cells = &d->out.panels[0].cells;

  *width = CLAMP (230 + 3 * 2.4 * d->out.n_columns, 504, 1512);
  mhar_drawing_set_size (d, *width, 1e4);
  place (d);
  *height
      = 2 * d->margin + d->font * 3.2 + cells->height + d->x.extent + d->small * 0.6 + mhar_drawing_place_caption (d);
}

/* A row has the sites at its first panel alone; an enlarged difference has all of its own, the other two one list of sources. */
static void
paint_axes (const MharDrawing *d, cairo_t *cr, guint panel)
{
  const Compare *c = d->extra;
  const MharFigureRect *cells = &d->out.panels[panel].cells;
  MharAxis x = d->x, y = d->y;

  if (c->enlarged && panel == DIFFERENCE) {
    thin_loosely (&x, cells->width / d->out.view.width, d->small);
    thin_loosely (&y, cells->height / d->out.view.height, d->small);
  }
  if (c->enlarged || panel == FIRST)
    mhar_axis_paint_left (&y, cr, d->text, cells, d->small * 0.6, d->palette);
  if (!c->enlarged || panel != FIRST)
    mhar_axis_paint_below (&x, cr, d->text, cells, d->small * 0.6, d->palette);
}

static void
paint (const MharDrawing *d, cairo_t *cr)
{
  const Compare *c = d->extra;
  MharTextRun heading
      = { .string = d->heading, .size = d->font, .bold = d->heading_bold, .width = d->out.heading.width };

  for (guint i = 0; i < N_PANELS; i++) {
    const MharFigureRect *cells = &d->out.panels[i].cells;
    MharTextRun title
        = { .string = c->titles[i], .size = d->font, .along = 0.5, .across = 1, .width = cells->width + d->font };

    mhar_map_panel_paint (d, cr, i);
    if (d->font <= 0)
      continue;
    mhar_drawing_write (d, cr, &title, cells->x + cells->width / 2, cells->y - d->font * 0.25, NULL);
    paint_axes (d, cr, i);
  }
  if (d->font > 0)
    mhar_drawing_write (d, cr, &heading, d->out.heading.x, d->out.heading.y, NULL);
  mhar_colour_bar_paint (d, cr);
  mhar_colour_bar_paint (d->second, cr);
}

const MharPairing *
mhar_drawing_pairing (const MharDrawing *d)
{
  const Compare *c = d->extra;

  return d->out.kind == MHAR_FIGURE_COMPARE ? c->pairing : NULL;
}

const MharFigureClass mhar_figure_compare = {
  .kind = MHAR_FIGURE_COMPARE,
  .name = "compare",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = natural,
  .place = place,
  .paint = paint,
};
