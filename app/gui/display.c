/* SPDX-License-Identifier: MIT */
/* Display choices as options and as words. */
#include "app/gui/display.h"

#include <math.h>
#include <string.h>

static const char *const scale_names[] = {
  [MHAR_FIGURE_SCALE_AUTO] = "automatic",
  [MHAR_FIGURE_SCALE_PERCENTILE] = "percentile",
  [MHAR_FIGURE_SCALE_FIXED] = "fixed",
  [MHAR_FIGURE_SCALE_SYMMETRIC] = "symmetric",
};

static const char *const map_names[] = {
  [MHAR_MAP_OWN] = "own",   [MHAR_MAP_DIVERGING] = "rdbu",  [MHAR_MAP_SEQUENTIAL] = "viridis",
  [MHAR_MAP_PUOR] = "puor", [MHAR_MAP_CIVIDIS] = "cividis", [MHAR_MAP_GREYS] = "greys",
};

void
mhar_display_init (MharDisplay *display)
{
  *display = (MharDisplay){ .ends = { [MHAR_SCALED_WEIGHT] = { 0, 1 },
                                      [MHAR_SCALED_DEVIATION] = { -0.1, 0.1 },
                                      [MHAR_SCALED_COSINE] = { -1, 1 } } };
}

gboolean
mhar_display_equal (const MharDisplay *a, const MharDisplay *b)
{
  gboolean equal = !a->deviation == !b->deviation && a->scale == b->scale && a->map == b->map && a->theme == b->theme
                   && a->style == b->style;

  for (guint i = 0; i < MHAR_N_SCALED; i++)
    equal = equal && a->ends[i].low == b->ends[i].low && a->ends[i].high == b->ends[i].high;
  return equal;
}

void
mhar_display_to_options (const MharDisplay *display, MharFigureOptions *options)
{
  mhar_figure_options_init (options);
  options->first_sites = 0;
  options->scale = display->scale;
  options->map = display->map;
  options->theme = display->theme;
  options->style = display->style;
  options->deviation = display->deviation;
}

MharScaled
mhar_display_scaled (MharFigureKind kind, const MharFigureOptions *options)
{
  return kind == MHAR_FIGURE_COLLINEARITY ? MHAR_SCALED_COSINE
         : options->deviation             ? MHAR_SCALED_DEVIATION
                                          : MHAR_SCALED_WEIGHT;
}

static guint
find (const char *const *names, guint n, const char *name)
{
  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (names[i], name) == 0)
      return i;
  return 0;
}

const char *
mhar_display_scale_name (MharFigureScale scale)
{
  return scale_names[scale];
}

MharFigureScale
mhar_display_scale_parse (const char *name)
{
  return (MharFigureScale)find (scale_names, G_N_ELEMENTS (scale_names), name);
}

const char *
mhar_display_map_name (MharColourMap map)
{
  return map_names[map];
}

MharColourMap
mhar_display_map_parse (const char *name)
{
  return (MharColourMap)find (map_names, G_N_ELEMENTS (map_names), name);
}

char *
mhar_display_number (double value, int decimals, gboolean plus)
{
  g_autofree char *size = g_strdup_printf ("%.*f", decimals, fabs (value));
  gboolean zero = strspn (size, "0.,") == strlen (size);

  return g_strconcat (zero ? "" : value < 0 ? "−" : plus ? "+" : "", size, NULL);
}
