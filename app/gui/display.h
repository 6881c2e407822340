/* SPDX-License-Identifier: MIT */
/* How the drawn pages draw: what the bar above them chooses, the same for all of them. */
#pragma once

#include "app/figure/figure.h"

G_BEGIN_DECLS

/* What a fixed scale is of: each has ends of its own. */
typedef enum { MHAR_SCALED_WEIGHT, MHAR_SCALED_DEVIATION, MHAR_SCALED_COSINE, MHAR_N_SCALED } MharScaled;

typedef struct {
  double low, high;
} MharEnds;

typedef struct {
  gboolean deviation;    /* maps show weight minus the mean over heads, not the weight */
  MharFigureScale scale; /* automatic, 1–99 %, fixed, symmetric */
  MharEnds ends[MHAR_N_SCALED]; /* of the fixed scale */
  MharColourMap map;     /* MHAR_MAP_OWN: by the quantity shown */
  MharFigureTheme theme;
  MharFigureStyle style;
} MharDisplay;

/* Weights on an automatic scale, light; fixed ones from 0 to 1, −0.1 to 0.1 and −1 to 1. */
void mhar_display_init (MharDisplay *display);
gboolean mhar_display_equal (const MharDisplay *a, const MharDisplay *b);
/* The options of a figure of all sites that is drawn so, but for the ends of a fixed scale. */
void mhar_display_to_options (const MharDisplay *display, MharFigureOptions *options);
/* What the scale of such a figure is of. */
MharScaled mhar_display_scaled (MharFigureKind kind, const MharFigureOptions *options);
/* "automatic", "percentile", "fixed", "symmetric"; "own", "rdbu", "viridis", "puor", "cividis", "greys": names in
 * settings. Parsing an unknown name gives the first. */
const char *mhar_display_scale_name (MharFigureScale scale);
MharFigureScale mhar_display_scale_parse (const char *name);
const char *mhar_display_map_name (MharColourMap map);
MharColourMap mhar_display_map_parse (const char *name);

/* A number as the window's language writes it, with a minus sign for a hyphen; "0.000" has no sign, a positive one only
 * with `plus`. g_free. */
char *mhar_display_number (double value, int decimals, gboolean plus);

G_END_DECLS
