/* SPDX-License-Identifier: MIT */
/* Depth coefficients of a hyper-connected model: how much of each sublayer output is in each sublayer's input. They are
 * exact, the same for every text, and signed; one panel, drawn as a head's map is. */
#include "app/figure/figure-data.h"
#include "app/figure/head-panels.h"
#include "app/figure/ticks.h"

#include <math.h>

static gboolean
available (const MharDataset *set)
{
  return mhar_figure_any_finite (mhar_figure_field (set, "coefficient", 2));
}

static double
value (const MharDrawing *d, guint panel, guint row, guint column)
{
  (void)panel;
  return mhar_figure_value (d->field, row, column, 0);
}

/* Labels of a dimension, or numbers where it has none. */
static char **
labels_of (const MharDataset *set, const char *name, guint n)
{
  char **labels = g_new0 (char *, n);

  for (guint i = 0; i < n; i++) {
    labels[i] = mhar_figure_label (set, name, i, 0);
    if (!labels[i])
      labels[i] = g_strdup_printf ("%u", i);
  }
  return labels;
}

/* How many outputs an input has coefficients of. */
static gsize
count_outputs (const MharField *field, gsize input)
{
  gsize n = mhar_figure_length (field, 1);

  while (n > 0 && !isfinite (mhar_figure_value (field, input, n - 1, 0)))
    n--;
  return n;
}

/* The value of the largest magnitude over the first `rows` inputs that have `least` outputs or more; 0 where there is
 * none. */
static double
largest (const MharField *field, gsize rows, gsize least)
{
  double most = 0;

  for (gsize i = 0; i < rows; i++) {
    gsize n = count_outputs (field, i);

    for (gsize j = 0; n >= least && j < n; j++) {
      double here = mhar_figure_value (field, i, j, 0);

      if (isfinite (here) && fabs (here) > fabs (most))
        most = here;
    }
  }
  return most;
}

/* The first input is the embedding itself, 1 by definition: it would set the scale. */
static void
find_scale (MharDrawing *d)
{
  double any = fabs (largest (d->field, d->out.n_rows, 1)), choice = fabs (largest (d->field, d->out.n_rows, 2));

  d->out.high = d->options.limit > 0 ? d->options.limit : choice > 0 ? choice : any > 0 ? any : 1;
  d->out.low = -d->out.high;
  d->over = any > d->out.high * (1 + 1e-6);
}

static void
prepare_caption (MharDrawing *d)
{
  gsize inputs = mhar_figure_length (d->field, 0);
  GString *text = mhar_caption_new (d->set, &d->caption_bold);
  double most = largest (d->field, inputs, 2);
  g_autofree char *number = mhar_number (most != 0 ? most : largest (d->field, inputs, 1), 3);

  g_string_append_printf (text,
                          "\nExact coefficient of each sublayer output in the input of each sublayer, the same for "
                          "every text; a plain residual stream has 1 throughout. The largest, the "
                          "first row aside, is %s.\n",
                          number);
  d->legend = text->len;
  if (d->out.n_rows < inputs)
    g_string_append_printf (text, "First %u of %" G_GSIZE_FORMAT " inputs, first on top", d->out.n_rows, inputs);
  else
    g_string_append (text, "Inputs from top to bottom, the last norm’s at the end");
  mhar_caption_cells (d, text, "output", 0);
  d->caption = g_string_free (text, FALSE);
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  guint inputs, rows, columns = 1;

  (void)error;
  d->field = mhar_figure_field (d->set, "coefficient", 2);
  inputs = (guint)mhar_figure_length (d->field, 0);
  rows = d->options.first_sites ? MIN (d->options.first_sites, inputs) : inputs;
  d->n_sources = g_new (gsize, rows);
  for (guint i = 0; i < rows; i++) {
    d->n_sources[i] = count_outputs (d->field, i);
    columns = MAX (columns, (guint)d->n_sources[i]);
  }
  d->map = MHAR_MAP_DIVERGING;
  d->value = value;
  mhar_drawing_set_cells (d, rows, columns);
  mhar_drawing_set_panels (d, 1);
  d->out.panels[0].head = 0; /* no title */
  mhar_axis_init (&d->x, labels_of (d->set, "output_label", columns), columns, g_strdup ("output, oldest left"));
  mhar_axis_init (&d->y, labels_of (d->set, "input_label", rows), rows, g_strdup ("input of"));
  find_scale (d);
  d->scale_title = g_strdup ("coefficient");
  mhar_drawing_apply_scale (d);
  prepare_caption (d);
  return TRUE;
}

const MharFigureClass mhar_figure_coefficients = {
  .kind = MHAR_FIGURE_COEFFICIENTS,
  .name = "coefficients",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = mhar_head_panels_natural,
  .place = mhar_head_panels_place,
  .paint = mhar_head_panels_paint,
};
