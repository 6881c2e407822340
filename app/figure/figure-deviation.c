/* SPDX-License-Identifier: MIT */
/* Deviation of each head from the mean over heads (the paper's Figure 4), with what a random query reaches. */
#include "app/figure/figure-data.h"
#include "app/figure/head-panels.h"
#include "app/figure/null-words.h"
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

/* The largest deviation beside what the null reaches; the heading has the verdict. */
static void
append_verdict (GString *caption, const MharDataset *set, double trained, double null)
{
  MharVerdict verdict = mhar_verdict_of (set, "max_deviation_p_value");
  const char *query = mhar_null_words (set);
  g_autofree char *own = mhar_number (trained, 2);
  g_autofree char *random = mhar_number (null, 2);
  g_autofree char *ratio = mhar_number (trained / null, 2);

  if (!isfinite (null))
    g_string_append_printf (caption, "Largest deviation %s.", own);
  else if (mhar_dataset_integer (set, "draws", 0) == 1)
    g_string_append_printf (caption,
                            "Largest deviation %s; the one random query of the same norm that was drawn reaches %s: too "
                            "few draws for a verdict.",
                            own, random);
  else if (verdict == MHAR_VERDICT_ALIKE || verdict == MHAR_VERDICT_BELOW)
    g_string_append_printf (caption, "Largest deviation %s; %s reaches %s on average: %s.", own, query, random,
                            mhar_verdict_words (verdict));
  else if (trained > null && null > 0)
    g_string_append_printf (caption, "Largest deviation %s, %s times the %s that %s reaches on average.", own, ratio,
                            random, query);
  else
    g_string_append_printf (caption, "Largest deviation %s; %s reaches %s on average.", own, query, random);
}

/* Sites at which some head deviates more than 95 % of the draws do anywhere. */
static void
append_sites (GString *caption, const MharDataset *set)
{
  const MharField *p = mhar_figure_field (set, "deviation_p_value", 2);
  guint all = 0, above = 0;

  for (gsize i = 0; i < mhar_figure_length (p, 0); i++) {
    double least = NAN;

    for (gsize h = 0; h < mhar_figure_length (p, 1); h++)
      least = fmin (least, mhar_figure_value (p, i, h, 0)); /* of a number and NaN, the number */
    MharVerdict verdict = mhar_null_verdict (set, least);
    all += verdict != MHAR_VERDICT_NONE && verdict != MHAR_VERDICT_TOO_FEW;
    above += verdict == MHAR_VERDICT_ABOVE;
  }
  if (all > 0)
    g_string_append_printf (
        caption, " %u of %u sites deviate more than 95 %% of the draws do anywhere (p ≤ 0.05, corrected for all sites and heads).",
        above, all);
}

/* "Largest deviation 0.021 [0.018, 0.025] — not distinguishable from its null (p = 0.4)", above the panels. */
static void
prepare_heading (MharDrawing *d, double trained)
{
  g_autofree char *sentence = mhar_null_sentence (d->set, "max_deviation_p_value"), *own = mhar_number (trained, 2);
  double low = mhar_dataset_real (d->set, "max_deviation_low", NAN),
         high = mhar_dataset_real (d->set, "max_deviation_high", NAN);
  g_autofree char *from = mhar_number (low, 2), *to = mhar_number (high, 2);
  g_autofree char *interval
      = isfinite (low) && isfinite (high) ? g_strdup_printf (" [%s, %s]", from, to) : g_strdup ("");

  if (sentence == NULL || d->options.bare)
    return;
  d->heading = g_strdup_printf ("Largest deviation %s%s — %s", own, interval, sentence);
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
  /* Whose middle is the grey of what is absent. */
  d->hatched = d->options.map == MHAR_MAP_CIVIDIS || d->options.map == MHAR_MAP_GREYS;
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
  prepare_heading (d, mhar_dataset_real (d->set, "max_deviation", all));
  caption = mhar_caption_new (d->set, &d->caption_bold);
  g_string_append_c (caption, '\n');
  append_verdict (caption, d->set, mhar_dataset_real (d->set, "max_deviation", all), null);
  append_sites (caption, d->set);
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
