/* SPDX-License-Identifier: MIT */
/* What a head reads of a source: its mean weight by position in the window, by position in the document, by class and
 * by piece of the token that reads, all on one scale; and, at the last read, what each source adds to the logit of the
 * next token. With a head chosen it is that head's; else the mean over the heads. */
#include "app/figure/figure-data.h"
#include "app/figure/legend.h"
#include "app/figure/ticks.h"
#include "core/error.h"

#include <math.h>
#include <string.h>

#define PANELS_MAX 5
#define FEW 10 /* tokens: a mean over fewer is drawn hollow */

typedef struct {
  const char *prefix; /* of the fields; NULL: the logit */
  gboolean bars;
  char *title;
  gsize bold; /* bytes of the title */
  guint n;
  double *values;  /* [n] NaN where there is none */
  gint32 *tokens;  /* [n]; NULL: not counted */
  double low, high;
  MharAxis axis;
  gboolean wide; /* a row of its own */
} Panel;

typedef struct {
  const MharDataset *reads;
  guint site, source;
  int head;
  double mean; /* over all tokens */
  Panel panels[PANELS_MAX];
} Reads;

static const MharDataset *
reads_of (const MharDataset *set)
{
  return mhar_dataset_find_child (set, "reads");
}

static const MharField *
four (const MharDataset *reads, const char *name)
{
  const MharField *field = reads != NULL ? mhar_dataset_get (reads, name) : NULL;

  return field != NULL && field->type == MHAR_FIELD_F32 && field->n_dims == 4 && mhar_field_length (field) > 0 ? field
                                                                                                               : NULL;
}

static gboolean
available (const MharDataset *set)
{
  return four (reads_of (set), "weight_by_position") != NULL;
}

static void
reads_free (gpointer data)
{
  Reads *r = data;

  for (guint p = 0; p < PANELS_MAX; p++) {
    g_free (r->panels[p].title);
    g_free (r->panels[p].values);
    g_free (r->panels[p].tokens);
    mhar_axis_clear (&r->panels[p].axis);
  }
  g_free (r);
}

/* ---- numbers ---- */

static double
weight_at (const MharField *field, guint site, guint head, guint source, guint bin)
{
  const gsize *n = field->shape;

  if (site >= n[0] || head >= n[1] || source >= n[2] || bin >= n[3])
    return NAN;
  return (double)field->data.f32[((site * n[1] + head) * n[2] + source) * n[3] + bin];
}

static guint
n_sources (const Reads *r)
{
  double given = mhar_figure_value (mhar_figure_field (r->reads, "n_sources", 1), r->site, 0, 0);

  return (guint)CLAMP (given, 1, (double)four (r->reads, "weight_by_position")->shape[2]);
}

/* The head's value, or the mean over the heads that have one. */
static double
over_heads (int head, gsize heads, double (*get) (const MharField *, const Reads *, guint, guint),
            const MharField *field, const Reads *r, guint i)
{
  double sum = 0;
  guint n = 0;

  if (head >= 0)
    return get (field, r, (guint)head, i);
  for (guint h = 0; h < heads; h++) {
    double here = get (field, r, h, i);

    if (isfinite (here)) {
      sum += here;
      n++;
    }
  }
  return n > 0 ? sum / n : NAN;
}

static double
get_weight (const MharField *field, const Reads *r, guint head, guint bin)
{
  return weight_at (field, r->site, head, r->source, bin);
}

static double
get_logit (const MharField *field, const Reads *r G_GNUC_UNUSED, guint head, guint source)
{
  return mhar_figure_value (field, head, source, 0);
}

static double
value (const MharDrawing *d, guint panel, guint row, guint column)
{
  const Reads *r = d->extra;

  (void)row;
  return column < r->panels[panel].n ? r->panels[panel].values[column] : NAN;
}

const char *
mhar_figure_reads_label (const MharDrawing *d, guint panel, guint column)
{
  const Reads *r = d->extra;

  return panel < d->out.n_panels && column < r->panels[panel].n ? r->panels[panel].axis.labels[column] : NULL;
}

/* ---- panels ---- */

static const gint32 *
counts_of (const MharDataset *reads, const char *prefix, const char *suffix, gsize n)
{
  g_autofree char *name = g_strconcat (prefix, suffix, NULL);
  const MharField *field = mhar_dataset_get (reads, name);

  return field != NULL && field->type == MHAR_FIELD_I32 && field->n_dims == 1 && field->shape[0] == n ? field->data.i32
                                                                                                      : NULL;
}

/* What a bin is called: a name, or where its positions begin and end. */
static char *
bin_label (const MharDataset *reads, const char *prefix, gsize n, guint i)
{
  g_autofree char *name = g_strconcat (prefix, "_label", NULL);
  const gint32 *first = counts_of (reads, prefix, "_first", n), *last = counts_of (reads, prefix, "_last", n);
  char *label = mhar_figure_label (reads, name, i, 0);

  if (label != NULL || first == NULL || last == NULL)
    return label != NULL ? label : g_strdup_printf ("%u", i);
  return first[i] == last[i] ? g_strdup_printf ("%d", first[i]) : g_strdup_printf ("%d–%d", first[i], last[i]);
}

static gboolean
prepare_weights (const MharDrawing *d, Panel *panel, const char *prefix, const char *words)
{
  Reads *r = d->extra;
  g_autofree char *name = g_strconcat ("weight_by_", prefix, NULL);
  const MharField *field = four (r->reads, name);

  if (field == NULL)
    return FALSE;
  gsize n = field->shape[3];
  const gint32 *tokens = counts_of (r->reads, prefix, "_tokens", n);
  char **labels = g_new0 (char *, n);
  panel->prefix = prefix;
  panel->title = g_strdup (words);
  panel->bold = strlen (words);
  panel->n = (guint)n;
  panel->values = g_new (double, n);
  panel->tokens = tokens != NULL ? g_memdup2 (tokens, n * sizeof *tokens) : NULL;
  for (guint i = 0; i < n; i++) {
    panel->values[i] = over_heads (r->head, field->shape[1], get_weight, field, r, i);
    labels[i] = bin_label (r->reads, prefix, n, i);
  }
  mhar_axis_init (&panel->axis, labels, (guint)n, NULL);
  return TRUE;
}

static void
find_ends (Panel *panel)
{
  double low = 0, high = 0;

  for (guint i = 0; i < panel->n; i++)
    if (isfinite (panel->values[i])) {
      low = MIN (low, panel->values[i]);
      high = MAX (high, panel->values[i]);
    }
  panel->high = high > 0 ? mhar_ticks_ceiling (high, 4) : 0;
  panel->low = low < 0 ? -mhar_ticks_ceiling (-low, 4) : 0;
  if (panel->high - panel->low <= 0)
    panel->high = 1;
}

static gboolean
prepare_logit (const MharDrawing *d, Panel *panel)
{
  const Reads *r = d->extra;
  const MharField *field = mhar_figure_field (r->reads, "logit_contribution_centred", 2);
  gsize n = n_sources (r);

  if (field == NULL || mhar_dataset_integer (r->reads, "logit_site", -1) != (gint64)r->site 
      || n > mhar_figure_length (field, 1))
    return FALSE;
  char **labels = g_new0 (char *, n);
  panel->bars = panel->wide = TRUE;
  panel->n = (guint)n;
  panel->values = g_new (double, n);
  panel->title = g_strdup ("Added to the next token’s logit by each source, less the mean of the vocabulary");
  panel->bold = strlen ("Added to the next token’s logit");
  for (guint i = 0; i < n; i++) {
    panel->values[i] = over_heads (r->head, mhar_figure_length (field, 0), get_logit, field, r, i);
    labels[i] = mhar_figure_label (r->reads, "source_label", r->site, i);
    if (labels[i] == NULL)
      labels[i] = g_strdup_printf ("%u", i);
  }
  mhar_axis_init (&panel->axis, labels, (guint)n, NULL);
  find_ends (panel);
  return TRUE;
}

/* The mean over all tokens, and one scale for all panels of weights. */
static void
share_scale (Reads *r, guint panels)
{
  double sum = 0, n = 0, high = 0;

  for (guint i = 0; r->panels[0].tokens != NULL && i < r->panels[0].n; i++)
    if (isfinite (r->panels[0].values[i])) {
      sum += r->panels[0].values[i] * r->panels[0].tokens[i];
      n += r->panels[0].tokens[i];
    }
  r->mean = n > 0 ? sum / n : NAN;
  for (guint p = 0; p < panels; p++) {
    find_ends (&r->panels[p]);
    high = MAX (high, r->panels[p].high);
  }
  for (guint p = 0; p < panels; p++)
    r->panels[p].high = high;
}

static guint
prepare_panels (MharDrawing *d)
{
  static const struct {
    const char *prefix, *words;
    gboolean bars;
  } kinds[] = { { "position", "Weight by position in the window", FALSE },
                { "document_position", "By position in the document", FALSE },
                { "class", "By class of token", TRUE },
                { "piece", "By piece of a word", TRUE } };
  Reads *r = d->extra;
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (prepare_weights (d, &r->panels[n], kinds[i].prefix, kinds[i].words))
      r->panels[n++].bars = kinds[i].bars;
  share_scale (r, n);
  return prepare_logit (d, &r->panels[n]) ? n + 1 : n;
}

static void
prepare_words (MharDrawing *d)
{
  const Reads *r = d->extra;
  g_autofree char *site = mhar_figure_label (r->reads, "site_label", r->site, 0);
  g_autofree char *source = mhar_figure_label (r->reads, "source_label", r->site, r->source);
  g_autofree char *who = r->head >= 0 ? g_strdup_printf ("head %d", r->head) : g_strdup ("mean over heads");
  g_autofree char *mean = mhar_number (r->mean, 3);
  GString *text = mhar_caption_new (d->set, &d->caption_bold);

  d->legend = text->len;
  g_string_append_printf (
      text,
      "\n%s, %s, reads %s: token mean of the weight, by what reads; dashed line: the mean over all tokens, %s. "
      "A position stands for those up to the next; hollow: fewer than %d tokens.",
      site != NULL ? site : "?", who, source != NULL ? source : "?", mean, FEW);
  d->caption = g_string_free (text, FALSE);
}

/* The cell that the options name, else the first that was asked for, else the first there is. */
static void
choose_cell (MharDrawing *d)
{
  Reads *r = d->extra;
  const MharField *weight = four (r->reads, "weight_by_position"), *site = mhar_figure_field (r->reads, "cell_site", 1);

  r->site = d->options.cell ? d->options.site : (guint)fmax (mhar_figure_value (site, 0, 0, 0), 0);
  r->head = d->options.cell ? d->options.head
                            : (int)fmax (mhar_figure_value (mhar_figure_field (r->reads, "cell_head", 1), 0, 0, 0), 0);
  r->source = d->options.cell
                  ? d->options.source
                  : (guint)fmax (mhar_figure_value (mhar_figure_field (r->reads, "cell_source", 1), 0, 0, 0), 0);
  r->site = MIN (r->site, (guint)weight->shape[0] - 1);
  r->source = MIN (r->source, n_sources (r) - 1);
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  Reads *r = g_new0 (Reads, 1);
  guint n, most = 1;

  d->extra = r;
  d->extra_free = reads_free;
  r->reads = reads_of (d->set);
  choose_cell (d);
  if (r->head >= (int)four (r->reads, "weight_by_position")->shape[1])
    return mhar_bad_input (error, "there is no head %d to draw; heads are counted from 0", r->head);
  n = prepare_panels (d);
  d->value = value;
  for (guint p = 0; p < n; p++)
    most = MAX (most, r->panels[p].n);
  mhar_drawing_set_cells (d, 1, most);
  mhar_drawing_set_panels (d, n);
  for (guint p = 0; p < n; p++) {
    MharFigurePanel *panel = &d->out.panels[p];
    panel->head = r->head >= 0 ? r->head : MHAR_FIGURE_CONSENSUS;
    panel->n_columns = r->panels[p].n;
    panel->columns = g_new (guint, panel->n_columns);
    for (guint i = 0; i < panel->n_columns; i++)
      panel->columns[i] = i;
  }
  d->out.high = r->panels[0].high;
  prepare_words (d);
  return TRUE;
}

/* ---- places ---- */

static guint
n_rows (const MharDrawing *d)
{
  const Reads *r = d->extra;
  guint rows = 0, column = 0;

  for (guint p = 0; p < d->out.n_panels; p++) {
    rows += column == 0 || r->panels[p].wide;
    column = r->panels[p].wide ? 0 : 1 - column;
  }
  return rows;
}

static double
tick_width (const MharDrawing *d, const Panel *panel)
{
  double width = 0;
  MharTicks ticks;

  mhar_ticks_init (&ticks, panel->low, panel->high, 6);
  for (guint i = 0; i < ticks.count; i++) {
    g_autofree char *label = mhar_ticks_label (&ticks, i);
    width = MAX (width, mhar_drawing_text_width (d, label, d->small));
  }
  return width;
}

static double
above (const MharDrawing *d)
{
  return d->font * 1.9;
}

/* Room for labels under a panel: one line, or as long as those that read upwards are. */
static double
below (const MharDrawing *d, const Panel *panel)
{
  return d->font <= 0 ? 0 : panel->wide ? panel->axis.extent + d->small * 1.4 : d->small * 2.2;
}

static void
place_panels (MharDrawing *d, double caption)
{
  Reads *r = d->extra;
  double ticks = 0, taken = 0, y = d->margin, gap = d->font * 1.2;
  guint rows = n_rows (d), column = 0;

  for (guint p = 0; p < d->out.n_panels; p++) {
    ticks = MAX (ticks, tick_width (d, &r->panels[p]));
    if (column == 0 || r->panels[p].wide)
      taken += above (d) + below (d, &r->panels[p]);
    column = r->panels[p].wide ? 0 : 1 - column;
  }
  double left = d->margin + (d->font > 0 ? d->small * 0.8 + ticks : 0),
         width = MAX (d->out.width - d->margin - left, 2e-3);
  double height = MAX ((d->out.height - 2 * d->margin - caption - taken) / rows, 1e-3),
         half = MAX ((width - 2 * gap) / 2, 1e-3);
  column = 0;
  for (guint p = 0; p < d->out.n_panels; p++) {
    gboolean wide = r->panels[p].wide;
    if (wide && column == 1) {
      y += above (d) + height + below (d, &r->panels[p - 1]);
      column = 0;
    }
    d->out.panels[p].cells
        = (MharFigureRect){ left + (column ? half + 2 * gap : 0), y + above (d), wide ? width : half, height };
    column = wide ? 0 : 1 - column;
    if (column == 0)
      y += above (d) + height + below (d, &r->panels[p]);
  }
}

static void
place (MharDrawing *d)
{
  Reads *r = d->extra;
  const MharFigureRect *cells = &d->out.panels[0].cells;

  for (guint p = 0; p < d->out.n_panels; p++)
    mhar_axis_measure (&r->panels[p].axis, d->text, d->small, MIN (d->small * 11, d->out.height * 0.12));
  place_panels (d, mhar_drawing_place_caption (d));
  if (d->font > 0 && cells->height < d->font * 3) {
    d->out.caption = (MharFigureRect){ 0 };
    place_panels (d, 0);
  }
  if (d->font > 0 && (cells->height < d->font * 1.5 || cells->width < d->font * 6)) {
    mhar_drawing_mute (d);
    place_panels (d, 0);
  }
  for (guint p = 0; p < d->out.n_panels; p++)
    if (r->panels[p].wide)
      mhar_axis_thin (&r->panels[p].axis, d->out.panels[p].cells.width / r->panels[p].n, d->small);
}

static void
natural (MharDrawing *d, double *width, double *height)
{
  const Reads *r = d->extra;
  guint last = d->out.n_panels - 1;

  *width = r->panels[last].wide ? CLAMP (80 + 6.0 * r->panels[last].n, 504, 1008) : 504;
  mhar_drawing_set_size (d, *width, 1e4);
  place (d);
  *height = 1e4 - n_rows (d) * (d->out.panels[0].cells.height - 84);
}

/* ---- ink ---- */

static double
y_of (const Panel *panel, const MharFigureRect *cells, double at)
{
  return cells->y + cells->height * (1 - CLAMP ((at - panel->low) / (panel->high - panel->low), 0, 1));
}

static void
paint_axis (const MharDrawing *d, cairo_t *cr, const Panel *panel, const MharFigureRect *cells, gboolean labels)
{
  MharTicks ticks;

  mhar_ticks_fit (&ticks, panel->low, panel->high, cells->height, d->small * 2.2);
  cairo_set_line_width (cr, 0.5);
  for (guint i = 0; i < ticks.count; i++) {
    g_autofree char *label = mhar_ticks_label (&ticks, i);
    double at = mhar_ticks_value (&ticks, i), y = y_of (panel, cells, at);
    MharTextRun run = { .string = label, .size = d->small, .along = 1, .across = 0.5 };

    mhar_drawing_set_source (cr, fabs (at) < 1e-12 ? &d->palette->line : &d->palette->grid);
    cairo_move_to (cr, cells->x, y);
    cairo_rel_line_to (cr, cells->width, 0);
    cairo_stroke (cr);
    if (labels)
      mhar_drawing_write (d, cr, &run, cells->x - d->small * 0.6, y, NULL);
  }
}

static void
paint_mean (const MharDrawing *d, cairo_t *cr, const Panel *panel, const MharFigureRect *cells)
{
  const Reads *r = d->extra;
  double y = y_of (panel, cells, r->mean);

  if (!isfinite (r->mean))
    return;
  mhar_drawing_set_source (cr, &d->palette->faint);
  cairo_set_line_width (cr, 0.8);
  cairo_set_dash (cr, (const double[]){ 3, 2 }, 2, 0);
  cairo_move_to (cr, cells->x, y);
  cairo_rel_line_to (cr, cells->width, 0);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
}

/* What is written under a column: its label, a range by where it begins. g_free. */
static char *
short_label (const Panel *panel, guint i)
{
  const char *label = panel->axis.labels[i], *dash = panel->bars ? NULL : strstr (label, "–");

  return dash != NULL ? g_strndup (label, (gsize)(dash - label)) : g_strdup (label);
}

static double
longest_label (const MharDrawing *d, const Panel *panel)
{
  double longest = 0;

  for (guint i = 0; i < panel->n; i++) {
    g_autofree char *label = short_label (panel, i);
    longest = MAX (longest, mhar_drawing_text_width (d, label, d->small));
  }
  return longest;
}

/* Names a little smaller where that makes room for all, positions every so many. */
static void
paint_labels (const MharDrawing *d, cairo_t *cr, const Panel *panel, const MharFigureRect *cells)
{
  double slot = cells->width / panel->n, needed = longest_label (d, panel) + d->small * 0.5;
  double size = panel->bars && needed > slot ? MAX (d->small * slot / needed, d->small * 0.8) : d->small;
  guint step = (guint)MAX (ceil (needed * size / d->small / slot - 1e-9), 1);

  for (guint i = 0; i < panel->n; i += step) {
    g_autofree char *label = short_label (panel, i);
    MharTextRun run = { .string = label, .size = size, .along = 0.5 };

    mhar_drawing_write (d, cr, &run, cells->x + slot * (i + 0.5), cells->y + cells->height + d->small * 0.5, NULL);
  }
}

static gboolean
is_few (const Panel *panel, guint i)
{
  return panel->tokens != NULL && panel->tokens[i] < FEW;
}

static void
paint_bars (const MharDrawing *d, cairo_t *cr, const Panel *panel, const MharFigureRect *cells)
{
  const Reads *r = d->extra;
  double slot = cells->width / panel->n, zero = y_of (panel, cells, 0);
  double width = d->font > 0 ? MIN (slot * 0.6, d->font * 4.5) : slot * 0.6;

  for (guint i = 0; i < panel->n; i++) {
    double y = y_of (panel, cells, panel->values[i]);

    if (!isfinite (panel->values[i]))
      continue;
    mhar_drawing_set_source (cr, panel->wide && i != r->source ? &d->palette->soft : &d->palette->accent);
    cairo_rectangle (cr, cells->x + slot * (i + 0.5) - width / 2, MIN (y, zero), width, fabs (y - zero));
    if (is_few (panel, i)) {
      cairo_set_line_width (cr, 0.8);
      cairo_stroke (cr);
    } else {
      cairo_fill (cr);
    }
  }
}

static void
paint_line (const MharDrawing *d, cairo_t *cr, const Panel *panel, const MharFigureRect *cells)
{
  double slot = cells->width / panel->n, size = MIN (d->font > 0 ? d->font * 0.8 : 6, slot * 0.8);

  mhar_drawing_set_source (cr, &d->palette->accent);
  cairo_set_line_width (cr, 1);
  for (guint i = 0; i < panel->n; i++)
    if (isfinite (panel->values[i]))
      cairo_line_to (cr, cells->x + slot * (i + 0.5), y_of (panel, cells, panel->values[i]));
    else
      cairo_new_sub_path (cr);
  cairo_stroke (cr);
  for (guint i = 0; i < panel->n; i++)
    if (isfinite (panel->values[i]))
      mhar_mark_paint (d, cr, is_few (panel, i) ? MHAR_MARK_RING : MHAR_MARK_DOT, cells->x + slot * (i + 0.5),
                       y_of (panel, cells, panel->values[i]), size);
}

static void
paint_panel (const MharDrawing *d, cairo_t *cr, guint p)
{
  const Reads *r = d->extra;
  const Panel *panel = &r->panels[p];
  const MharFigureRect *cells = &d->out.panels[p].cells;
  MharTextRun title = { .string = panel->title, .size = d->font, .bold = panel->bold, .width = cells->width };

  paint_axis (d, cr, panel, cells, d->font > 0 && cells->x <= d->out.panels[0].cells.x);
  if (!panel->wide)
    paint_mean (d, cr, panel, cells);
  (panel->bars ? paint_bars : paint_line) (d, cr, panel, cells);
  if (d->font <= 0)
    return;
  mhar_drawing_write (d, cr, &title, cells->x, cells->y - above (d) + d->font * 0.2, NULL);
  if (panel->wide)
    mhar_axis_paint_below (&panel->axis, cr, d->text, cells, d->small * 0.6, d->palette);
  else
    paint_labels (d, cr, panel, cells);
}

static void
paint (const MharDrawing *d, cairo_t *cr)
{
  for (guint p = 0; p < d->out.n_panels; p++)
    paint_panel (d, cr, p);
}

const MharFigureClass mhar_figure_reads = {
  .kind = MHAR_FIGURE_READS,
  .name = "reads",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = natural,
  .place = place,
  .paint = paint,
};
