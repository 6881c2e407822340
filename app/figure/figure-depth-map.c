/* SPDX-License-Identifier: MIT */
/* Depth maps: the token mean of the routing weight, a panel per head and one for their mean. */
#include "app/figure/figure-data.h"
#include "app/figure/head-panels.h"

#include <math.h>

#define AUTHORS_LIMIT 0.7

static gboolean
available (const MharDataset *set)
{
  return mhar_figure_any_finite (mhar_figure_field (set, "weight", 3));
}

/* The largest weight shown where there is a choice: a site with one source gives it all, and would set the scale. Finds
 * out.high and whether anything lies above it. */
static void
find_scale (MharDrawing *d)
{
  double choice = 0, any = 0;

  for (guint p = 0; p < d->out.n_panels; p++)
    for (guint i = 0; i < d->out.n_rows; i++)
      for (guint j = 0; j < d->out.n_columns; j++) {
        double value = mhar_head_panels_value (d, p, i, j);

        if (!isfinite (value))
          continue;
        any = MAX (any, value);
        if (d->n_sources[i] > 1)
          choice = MAX (choice, value);
      }
  if (d->options.limit > 0)
    d->out.high = d->options.limit;
  else if (d->options.style == MHAR_FIGURE_AUTHORS)
    d->out.high = AUTHORS_LIMIT;
  else
    d->out.high = choice > 0 ? choice : any > 0 ? any : 1;
  d->over = any > d->out.high * (1 + 1e-6);
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  GString *caption;

  d->field = mhar_figure_field (d->set, "weight", 3);
  d->map = MHAR_MAP_SEQUENTIAL;
  d->hatched = d->options.style == MHAR_FIGURE_PLAIN;
  if (!mhar_head_panels_prepare (d, TRUE, error))
    return FALSE;
  find_scale (d);
  mhar_drawing_apply_scale (d);
  d->scale_title = g_strdup (d->options.deviation ? "deviation" : "weight");
  caption = mhar_caption_new (d->set, &d->caption_bold);
  g_string_append_c (caption, '\n');
  mhar_head_panels_explain (d, caption);
  d->caption = g_string_free (caption, FALSE);
  return TRUE;
}

const MharFigureClass mhar_figure_depth_map = {
  .kind = MHAR_FIGURE_DEPTH_MAP,
  .name = "depth-map",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = mhar_head_panels_natural,
  .place = mhar_head_panels_place,
  .paint = mhar_head_panels_paint,
};
