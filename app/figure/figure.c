/* SPDX-License-Identifier: MIT */
/* The kinds by name, and the way from a dataset to a drawing of a size. */
#include "app/figure/figure-data.h"
#include "app/figure/figure-private.h"
#include "core/error.h"

#include <math.h>
#include <string.h>

static const MharFigureClass *const classes[] = {
  &mhar_figure_deviation,    &mhar_figure_depth_map, &mhar_figure_kl,
  &mhar_figure_collinearity, &mhar_figure_coefficients, &mhar_figure_sources, &mhar_figure_compare, &mhar_figure_ablation,
  &mhar_figure_series, &mhar_figure_reads,
};

static const MharFigureClass *
find_class (MharFigureKind kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (classes[i]->kind == kind)
      return classes[i];
  return NULL;
}

void
mhar_figure_options_init (MharFigureOptions *options)
{
  *options = (MharFigureOptions){ .first_sites = 10, .head = MHAR_FIGURE_ALL_HEADS };
}

const char *
mhar_figure_kind_name (MharFigureKind kind)
{
  const MharFigureClass *class = find_class (kind);

  return class ? class->name : "default";
}

gboolean
mhar_figure_kind_parse (const char *name, MharFigureKind *kind, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (classes[i]->listed && g_str_equal (classes[i]->name, name)) {
      *kind = classes[i]->kind;
      return TRUE;
    }
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE,
               "figure kind “%s” is not one of deviation, depth-map, kl, collinearity, coefficients, ablation, compare, series, reads", name);
  return FALSE;
}

gboolean
mhar_figure_theme_parse (const char *name, MharFigureTheme *theme, GError **error)
{
  if (!g_str_equal (name, "light") && !g_str_equal (name, "dark")) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "theme “%s” is not one of light, dark", name);
    return FALSE;
  }
  *theme = name[0] == 'd' ? MHAR_FIGURE_DARK : MHAR_FIGURE_LIGHT;
  return TRUE;
}

gboolean
mhar_figure_style_parse (const char *name, MharFigureStyle *style, GError **error)
{
  if (!g_str_equal (name, "default") && !g_str_equal (name, "authors")) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "style “%s” is not one of default, authors", name);
    return FALSE;
  }
  *style = name[0] == 'a' ? MHAR_FIGURE_AUTHORS : MHAR_FIGURE_PLAIN;
  return TRUE;
}

gboolean
mhar_figure_available (const MharDataset *set, MharFigureKind kind)
{
  const MharFigureClass *class = find_class (kind == MHAR_FIGURE_DEFAULT ? mhar_figure_default_kind (set) : kind);

  return class && class->available (set);
}

MharFigureKind
mhar_figure_default_kind (const MharDataset *set)
{
  if (mhar_figure_series.available (set))
    return MHAR_FIGURE_SERIES;
  if (mhar_figure_deviation.available (set))
    return MHAR_FIGURE_DEVIATION;
  if (mhar_figure_kl.available (set))
    return MHAR_FIGURE_KL;
  if (mhar_figure_coefficients.available (set))
    return MHAR_FIGURE_COEFFICIENTS;
  return mhar_figure_reads.available (set) && !mhar_figure_collinearity.available (set) ? MHAR_FIGURE_READS
                                                                                        : MHAR_FIGURE_COLLINEARITY;
}

/* Says why the checkpoint has nothing for the kind, and which kind it has. */
static void
explain_absence (const MharDataset *set, const MharFigureClass *class, GError **error)
{
  g_autofree char *name = mhar_figure_checkpoint (set);
  MharFigureKind other = mhar_figure_default_kind (set);
  gint64 heads = mhar_dataset_integer (set, "heads", -1), sites = mhar_dataset_integer (set, "sites", -1);
  g_autofree char *why = NULL;
  g_autofree char *remedy = NULL;

  if (class->kind == MHAR_FIGURE_ABLATION)
    why = g_strdup ("holds no results for an ablation figure");
  else if (class->kind == MHAR_FIGURE_COEFFICIENTS && sites > 0)
    why = g_strdup ("has no hyper-connections: no coefficients");
  else if (class->kind == MHAR_FIGURE_DEVIATION && heads == 1 && sites != 0)
    why = g_strdup ("has one routing head: no deviation");
  else if (class->kind != MHAR_FIGURE_COLLINEARITY && (heads == 0 || sites == 0))
    why = g_strdup_printf ("has no depth routing: no %s", class->name);
  else
    why = g_strdup_printf ("holds no results for a %s figure", class->name);
  if (class->kind == MHAR_FIGURE_ABLATION)
    remedy = g_strdup ("run it with --ablation-map");
  else if (class->kind == MHAR_FIGURE_READS && sites != 0)
    remedy = g_strdup ("run it with --reads");
  else if (mhar_figure_available (set, other))
    remedy = g_strdup_printf ("use --figure-kind %s", mhar_figure_kind_name (other));
  else
    remedy = g_strdup ("run the probe that gives them (--depth-maps, --kl, --collinearity)");
  mhar_bad_input (error, "%s %s; %s", name, why, remedy);
}

MharDrawing *
mhar_drawing_new (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options, GError **error)
{
  const MharFigureClass *class = find_class (kind == MHAR_FIGURE_DEFAULT ? mhar_figure_default_kind (set) : kind);
  g_autoptr (MharDrawing) drawing = NULL;

  g_return_val_if_fail (class != NULL, NULL);
  if (!class->available (set)) {
    explain_absence (set, class, error);
    return NULL;
  }
  drawing = g_new0 (MharDrawing, 1);
  drawing->out.kind = class->kind;
  drawing->set = set;
  if (options)
    drawing->options = *options;
  else
    mhar_figure_options_init (&drawing->options);
  drawing->palette = mhar_palette_get (drawing->options.theme, drawing->options.style);
  drawing->text = mhar_text_new (drawing->options.family);
  drawing->options.family = NULL;
  drawing->null_extent = NAN;
  if (!class->prepare (drawing, error))
    return NULL;
  mhar_drawing_set_view (drawing, &drawing->options.view);
  return g_steal_pointer (&drawing);
}

void
mhar_drawing_free (MharDrawing *drawing)
{
  if (!drawing)
    return;
  for (guint i = 0; i < drawing->out.n_panels; i++)
    g_free (drawing->out.panels[i].columns);
  g_free (drawing->out.panels);
  g_free (drawing->out.rows);
  g_free (drawing->out.columns);
  mhar_axis_clear (&drawing->x);
  mhar_axis_clear (&drawing->y);
  mhar_text_free (drawing->text);
  g_free (drawing->heading);
  g_free (drawing->caption);
  g_free (drawing->null_label);
  g_free (drawing->scale_title);
  g_free (drawing->n_sources);
  g_free (drawing->trained);
  g_free (drawing->null_mean);
  g_free (drawing->null_sd);
  g_free (drawing->low);
  g_free (drawing->high);
  g_free (drawing->p_value);
  g_free (drawing->counts);
  g_free (drawing->consensus);
  if (drawing->extra)
    drawing->extra_free (drawing->extra);
  g_free (drawing);
}

void
mhar_drawing_set_cells (MharDrawing *drawing, guint rows, guint columns)
{
  drawing->out.n_rows = rows;
  drawing->out.n_columns = columns;
  drawing->out.rows = g_new (guint, MAX (rows, 1));
  drawing->out.columns = g_new (guint, MAX (columns, 1));
  for (guint i = 0; i < rows; i++)
    drawing->out.rows[i] = i;
  for (guint i = 0; i < columns; i++)
    drawing->out.columns[i] = i;
  drawing->out.view = (MharFigureRect){ 0, 0, columns, rows };
}

gboolean
mhar_drawing_is_zoomed (const MharDrawing *drawing)
{
  const MharFigureRect *view = &drawing->out.view;

  return view->width < drawing->out.n_columns || view->height < drawing->out.n_rows;
}

void
mhar_drawing_set_view (MharDrawing *drawing, const MharFigureRect *view)
{
  double columns = drawing->out.n_columns, rows = drawing->out.n_rows;
  MharFigureRect *to = &drawing->out.view;

  *to = (MharFigureRect){ 0, 0, columns, rows };
  if (drawing->map != MHAR_MAP_OWN && view->width > 0 && view->height > 0) {
    to->width = CLAMP (view->width, MIN (1, columns), columns);
    to->height = CLAMP (view->height, MIN (1, rows), rows);
    to->x = CLAMP (view->x, 0, columns - to->width);
    to->y = CLAMP (view->y, 0, rows - to->height);
  }
  if (drawing->map == MHAR_MAP_OWN) /* a plot: its axes are not those of cells */
    return;
  drawing->x.start = to->x;
  drawing->x.span = to->width;
  drawing->y.start = to->y;
  drawing->y.span = to->height;
}

const MharFigureLayout *
mhar_drawing_layout (const MharDrawing *drawing)
{
  return &drawing->out;
}

const char *
mhar_drawing_label (const MharDrawing *drawing, guint panel, gboolean across, guint i)
{
  /* Of the two plots of a sources figure the second has its labels where maps have those of their rows. */
  gboolean lower = drawing->out.kind == MHAR_FIGURE_SOURCES && panel > 0;
  const MharAxis *axis = across && !lower ? &drawing->x : &drawing->y;

  if (drawing->out.kind == MHAR_FIGURE_READS)
    return across ? mhar_figure_reads_label (drawing, panel, i) : NULL;
  return i < axis->n && (across || !lower) ? axis->labels[i] : NULL;
}

double
mhar_drawing_value (const MharDrawing *drawing, guint panel, guint row, guint column)
{
  const MharFigureLayout *out = &drawing->out;
  guint columns = panel < out->n_panels && out->panels[panel].n_columns ? out->panels[panel].n_columns : out->n_columns;

  if (!drawing->value || panel >= out->n_panels || row >= out->n_rows || column >= columns)
    return NAN;
  return drawing->value (drawing, panel, row, column);
}

void
mhar_drawing_set_panels (MharDrawing *drawing, guint n)
{
  drawing->out.n_panels = n;
  drawing->out.panels = g_new0 (MharFigurePanel, n);
  for (guint i = 0; i < n; i++)
    drawing->out.panels[i].head = MHAR_FIGURE_ALL_HEADS;
}

void
mhar_drawing_set_size (MharDrawing *drawing, double width, double height)
{
  double base = drawing->options.font_size > 0 ? drawing->options.font_size : 8;
  double fit = MIN (width / (28 * base), height / ((drawing->options.fill ? 8 : 17) * base));

  drawing->out.width = width;
  drawing->out.height = height;
  drawing->font = base * CLAMP (fit, 0, 1);
  drawing->no_caption = drawing->options.bare;
  drawing->small = drawing->font * 0.875;
  drawing->margin = drawing->font * 0.9;
  /* Text smaller than this is noise. */
  if (drawing->font < base * 0.5)
    mhar_drawing_mute (drawing);
}

void
mhar_drawing_mute (MharDrawing *drawing)
{
  drawing->font = drawing->small = 0;
  drawing->margin = MIN (drawing->out.width, drawing->out.height) * 0.03;
  drawing->out.caption = drawing->out.heading = (MharFigureRect){ 0 };
}

void
mhar_drawing_natural_size (MharDrawing *drawing, double *width, double *height)
{
  find_class (drawing->out.kind)->natural (drawing, width, height);
  *width = ceil (*width);
  *height = ceil (*height);
}

void
mhar_drawing_place (MharDrawing *drawing, double width, double height)
{
  mhar_drawing_set_size (drawing, width, height);
  find_class (drawing->out.kind)->place (drawing);
}

void
mhar_drawing_paint (MharDrawing *drawing, cairo_t *cr)
{
  cairo_save (cr);
  cairo_rectangle (cr, 0, 0, drawing->out.width, drawing->out.height);
  cairo_clip_preserve (cr);
  mhar_drawing_set_source (cr, &drawing->palette->paper);
  cairo_fill (cr);
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_BUTT);
  find_class (drawing->out.kind)->paint (drawing, cr);
  mhar_drawing_paint_caption (drawing, cr);
  cairo_restore (cr);
}

gboolean
mhar_figure_natural_size (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options, double *width,
                          double *height, GError **error)
{
  g_autoptr (MharDrawing) drawing = mhar_drawing_new (set, kind, options, error);

  if (!drawing)
    return FALSE;
  mhar_drawing_natural_size (drawing, width, height);
  return TRUE;
}

gboolean
mhar_figure_draw (cairo_t *cr, const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                  double width, double height, GError **error)
{
  g_autoptr (MharDrawing) drawing = NULL;

  g_return_val_if_fail (width > 0 && height > 0, FALSE);
  drawing = mhar_drawing_new (set, kind, options, error);
  if (!drawing)
    return FALSE;
  mhar_drawing_place (drawing, width, height);
  mhar_drawing_paint (drawing, cr);
  if (cairo_status (cr) != CAIRO_STATUS_SUCCESS) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "drawing the %s figure failed: %s",
                 mhar_figure_kind_name (drawing->out.kind), cairo_status_to_string (cairo_status (cr)));
    return FALSE;
  }
  return TRUE;
}
