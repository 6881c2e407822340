/* SPDX-License-Identifier: MIT */
/* Deviation of each head from the mean over heads (the paper's Figure 4), with what a random query reaches. */
#include "app/figure/figure-data.h"
#include "app/figure/head-panels.h"
#include "app/figure/ticks.h"

#include <math.h>

static gboolean
available (const MharDataset *set)
{
  const MharField *field = mhar_figure_field (set, "deviation", 3);

  return mhar_figure_length (field, 1) > 1 && mhar_figure_any_finite (field);
}

/* The largest finite |value| at the first `sites` sites; 0 where there is none. */
static double
largest (const MharField *field, gsize sites)
{
  double most = 0;

  for (gsize i = 0; i < sites; i++)
    for (gsize h = 0; h < field->shape[1]; h++)
      for (gsize n = 0; n < field->shape[2]; n++) {
        double value = fabs (mhar_figure_value (field, i, h, n));

        if (isfinite (value))
          most = MAX (most, value);
      }
  return most;
}

static void
append_verdict (GString *caption, double trained, double null, gint64 draws)
{
  g_autofree char *own = mhar_number (trained, 2);
  g_autofree char *random = mhar_number (null, 2);
  g_autofree char *ratio = mhar_number (trained / null, 2);

  if (!isfinite (null))
    g_string_append_printf (caption, "Largest deviation %s.", own);
  else if (draws == 1)
    g_string_append_printf (caption,
                            "Largest deviation %s; the one random query of the same norm that was drawn reaches %s: too "
                            "few draws for a verdict.",
                            own, random);
  else if (trained <= null)
    g_string_append_printf (caption,
                            "Largest deviation %s; a random query of the same norm reaches %s: within the null, not "
                            "distinguishable.",
                            own, random);
  else
    g_string_append_printf (caption,
                            "Largest deviation %s, %s times the %s that a random query of the same norm reaches.", own,
                            ratio, random);
}

static void
append_agreement (GString *caption, const MharDataset *set)
{
  double replication = mhar_dataset_real (set, "replication_r", NAN);
  double correlation = mhar_dataset_real (set, "head_correlation", NAN);
  double floor = mhar_dataset_real (set, "head_correlation_floor", NAN);
  g_autofree char *r = mhar_number (replication, 2);
  g_autofree char *c = mhar_number (correlation, 2);
  g_autofree char *f = mhar_number (floor, 2);

  if (isfinite (replication))
    g_string_append_printf (caption, " Even and odd windows agree with r = %s.", r);
  if (isfinite (correlation) && isfinite (floor))
    g_string_append_printf (caption, " Correlation between heads %s (floor %s).", c, f);
}

static gboolean
prepare (MharDrawing *d, GError **error)
{
  double null = mhar_dataset_real (d->set, "null_max_deviation", NAN), shown, all;
  GString *caption;

  d->field = mhar_figure_field (d->set, "deviation", 3);
  d->map = MHAR_MAP_DIVERGING;
  if (!mhar_head_panels_prepare (d, FALSE, error))
    return FALSE;
  all = largest (d->field, mhar_figure_length (d->field, 0));
  shown = largest (d->field, d->out.n_rows);
  d->out.high = d->options.limit > 0 ? d->options.limit : shown > 0 ? shown : all > 0 ? all : 1;
  d->out.low = -d->out.high;
  d->scale_title = g_strdup ("deviation");
  if (null > 0 && isfinite (null)) {
    g_autofree char *number = mhar_number (null, 2);

    d->null_extent = null;
    d->null_label = g_strdup_printf ("null ±%s", number);
  }
  mhar_drawing_apply_scale (d);
  caption = mhar_caption_new (d->set, &d->caption_bold);
  g_string_append_c (caption, '\n');
  append_verdict (caption, mhar_dataset_real (d->set, "max_deviation", all), null,
                  mhar_dataset_integer (d->set, "draws", 0));
  append_agreement (caption, d->set);
  g_string_append_c (caption, '\n');
  mhar_head_panels_explain (d, caption);
  d->caption = g_string_free (caption, FALSE);
  return TRUE;
}

const MharFigureClass mhar_figure_deviation = {
  .kind = MHAR_FIGURE_DEVIATION,
  .name = "deviation",
  .listed = TRUE,
  .available = available,
  .prepare = prepare,
  .natural = mhar_head_panels_natural,
  .place = mhar_head_panels_place,
  .paint = mhar_head_panels_paint,
};
