/* SPDX-License-Identifier: MIT */
/* The ends of the colour scale that the options ask for. */
#include "app/figure/figure-private.h"

#include <math.h>

#define TAIL 0.01 /* share of the values beyond either end of MHAR_FIGURE_SCALE_PERCENTILE */

static int
compare_values (gconstpointer a, gconstpointer b)
{
  float x = *(const float *)a, y = *(const float *)b;

  return x < y ? -1 : x > y;
}

/* Every finite value shown, sorted; where there is a choice of source the sites without one (all the weight on one
 * source) are left out. */
static GArray *
sorted_values (const MharDrawing *d)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (float));

  for (guint p = 0; p < d->out.n_panels; p++)
    for (guint i = 0; i < d->out.n_rows; i++)
      for (guint j = 0; j < d->out.n_columns; j++) {
        float value = (float)d->value (d, p, i, j);

        if (isfinite (value) && (!d->second || p != d->second_panel) && (!d->n_sources || d->n_sources[i] > 1))
          g_array_append_val (values, value);
      }
  g_array_sort (values, compare_values);
  return values;
}

/* Value at a share of the sorted values, between neighbours in proportion. */
static double
quantile (const GArray *values, double share)
{
  double at = share * (values->len - 1);
  guint i = (guint)at;
  double a = (double)g_array_index (values, float, i),
         b = (double)g_array_index (values, float, MIN (i + 1, values->len - 1));

  return a + (at - i) * (b - a);
}

static void
set_limits (MharDrawing *d, const GArray *values)
{
  double first = quantile (values, 0), last = quantile (values, 1);
  gboolean both_ways = d->out.low < 0;

  if (d->options.scale == MHAR_FIGURE_SCALE_FIXED) {
    d->out.low = d->options.low;
    d->out.high = d->options.high;
  } else if (d->options.scale == MHAR_FIGURE_SCALE_SYMMETRIC) {
    d->out.high = MAX (fabs (first), fabs (last));
    d->out.low = -d->out.high;
  } else {
    d->out.low = quantile (values, TAIL);
    d->out.high = quantile (values, 1 - TAIL);
    if (both_ways) {
      d->out.high = MAX (fabs (d->out.low), fabs (d->out.high));
      d->out.low = -d->out.high;
    }
  }
  d->over = last > d->out.high + 1e-6 * (d->out.high - d->out.low);
  d->under = first < d->out.low - 1e-6 * (d->out.high - d->out.low);
}

void
mhar_drawing_apply_scale (MharDrawing *d)
{
  const MharFigureOptions *o = &d->options;
  gboolean fixed = o->scale == MHAR_FIGURE_SCALE_FIXED && isfinite (o->low) && isfinite (o->high) && o->low < o->high;
  double low = d->out.low, high = d->out.high;
  GArray *values;

  if (o->map != MHAR_MAP_OWN)
    d->map = o->map;
  if (o->scale == MHAR_FIGURE_SCALE_AUTO || (o->scale == MHAR_FIGURE_SCALE_FIXED && !fixed))
    return;
  values = sorted_values (d);
  if (values->len > 0)
    set_limits (d, values);
  g_array_unref (values);
  /* One value only, or none: as without. */
  if (!(d->out.low < d->out.high)) {
    d->out.low = low;
    d->out.high = high;
  }
  /* What the null reaches is marked around the middle of the bar, which has to be 0. */
  if (d->out.low != -d->out.high)
    d->null_extent = NAN;
}
