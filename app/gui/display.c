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
  *display = (MharDisplay){ .high = 1 };
}

gboolean
mhar_display_equal (const MharDisplay *a, const MharDisplay *b)
{
  return !a->deviation == !b->deviation && a->scale == b->scale && a->low == b->low && a->high == b->high
         && a->map == b->map && a->theme == b->theme && a->style == b->style;
}

void
mhar_display_to_options (const MharDisplay *display, MharFigureOptions *options)
{
  mhar_figure_options_init (options);
  options->first_sites = 0;
  options->scale = display->scale;
  options->low = display->low;
  options->high = display->high;
  options->map = display->map;
  options->theme = display->theme;
  options->style = display->style;
  options->deviation = display->deviation;
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
