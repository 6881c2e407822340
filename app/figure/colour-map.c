/* SPDX-License-Identifier: MIT */
/* The colour maps as short tables, interpolated linearly in sRGB, and the palettes. */
#include "app/figure/colour-map.h"

#include <math.h>

/* clang-format off */
#define HEX(rgb) { ((rgb) >> 16 & 255) / 255.0, ((rgb) >> 8 & 255) / 255.0, ((rgb) & 255) / 255.0 }
/* clang-format on */

/* RdBu with 11 classes, blue first; PuOr, brown first. "This product includes color specifications and designs
 * developed by Cynthia Brewer (http://colorbrewer.org/)." Apache License 2.0. */
static const MharRgb diverging[] = {
  HEX (0x053061), HEX (0x2166ac), HEX (0x4393c3), HEX (0x92c5de), HEX (0xd1e5f0), HEX (0xf7f7f7),
  HEX (0xfddbc7), HEX (0xf4a582), HEX (0xd6604d), HEX (0xb2182b), HEX (0x67001f),
};

static const MharRgb brown_violet[] = {
  HEX (0x7f3b08), HEX (0xb35806), HEX (0xe08214), HEX (0xfdb863), HEX (0xfee0b6), HEX (0xf7f7f7),
  HEX (0xd8daeb), HEX (0xb2abd2), HEX (0x8073ac), HEX (0x542788), HEX (0x2d004b),
};

/* Ten colours of cividis, by Nuñez, Anderton and Renslow (PLoS ONE 13, 2018, e0199239). */
static const MharRgb cividis[] = {
  HEX (0x00204d), HEX (0x00336f), HEX (0x39486b), HEX (0x575c6d), HEX (0x707173),
  HEX (0x8a8779), HEX (0xa69d75), HEX (0xc4b56c), HEX (0xe4cf5b), HEX (0xffea46),
};

static const MharRgb greys[] = { HEX (0xf4f4f4), HEX (0x101010) };

/* Every 15th of the 256 colours of viridis, by Nathaniel Smith and Stefan van der Walt, CC0. */
static const MharRgb sequential[] = {
  { 0.267004, 0.004874, 0.329415 }, { 0.281924, 0.089666, 0.412415 }, { 0.280255, 0.165693, 0.476498 },
  { 0.263663, 0.237631, 0.518762 }, { 0.237441, 0.305202, 0.541921 }, { 0.208623, 0.367752, 0.552675 },
  { 0.182256, 0.426184, 0.557120 }, { 0.159194, 0.482237, 0.558073 }, { 0.137770, 0.537492, 0.554906 },
  { 0.121148, 0.592739, 0.544641 }, { 0.128087, 0.647749, 0.523491 }, { 0.180653, 0.701402, 0.488189 },
  { 0.274149, 0.751988, 0.436601 }, { 0.395174, 0.797475, 0.367757 }, { 0.535621, 0.835785, 0.281908 },
  { 0.688944, 0.865448, 0.182725 }, { 0.845561, 0.887322, 0.099702 }, { 0.993248, 0.906157, 0.143936 },
};

static const struct {
  const MharRgb *table;
  guint last;
} maps[] = {
  [MHAR_MAP_OWN] = { sequential, G_N_ELEMENTS (sequential) - 1 },
  [MHAR_MAP_DIVERGING] = { diverging, G_N_ELEMENTS (diverging) - 1 },
  [MHAR_MAP_SEQUENTIAL] = { sequential, G_N_ELEMENTS (sequential) - 1 },
  [MHAR_MAP_PUOR] = { brown_violet, G_N_ELEMENTS (brown_violet) - 1 },
  [MHAR_MAP_CIVIDIS] = { cividis, G_N_ELEMENTS (cividis) - 1 },
  [MHAR_MAP_GREYS] = { greys, G_N_ELEMENTS (greys) - 1 },
};

MharRgb
mhar_colour_map_at (MharColourMap map, double t)
{
  const MharRgb *table = maps[map].table;
  guint last = maps[map].last;
  double at = t > 0 ? MIN (t, 1.0) * last : 0; /* NaN > 0 is false */
  guint i = MIN ((guint)at, last - 1);
  double f = at - i;
  MharRgb a = table[i], b = table[i + 1];

  return (MharRgb){ a.r + f * (b.r - a.r), a.g + f * (b.g - a.g), a.b + f * (b.b - a.b) };
}

static const MharPalette light = {
  .paper = HEX (0xffffff),
  .ink = HEX (0x1a1a1a),
  .faint = HEX (0x5c6066),
  .line = HEX (0x6e7278),
  .grid = HEX (0xe4e6e9),
  .absent = HEX (0x9a9da1),
  .ground = HEX (0xeceef0),
  .hatch = HEX (0xbfc3c8),
  .accent = HEX (0x0b5fa5),
  .soft = HEX (0x7fabd3),
  .band = HEX (0xd3d7dc),
};

static const MharPalette dark = {
  .paper = HEX (0x1e1f22),
  .ink = HEX (0xececec),
  .faint = HEX (0xa9adb3),
  .line = HEX (0x8b8f95),
  .grid = HEX (0x33363a),
  .absent = HEX (0x4a4d52),
  .ground = HEX (0x2f3135),
  .hatch = HEX (0x55595f),
  .accent = HEX (0x6cb6f5),
  .soft = HEX (0x467aa8),
  .band = HEX (0x474b51),
};

static const MharPalette light_authors = {
  .paper = HEX (0xffffff),
  .ink = HEX (0x1a1a1a),
  .faint = HEX (0x5c6066),
  .line = HEX (0x6e7278),
  .grid = HEX (0xe4e6e9),
  .absent = HEX (0x2b2b2b),
  .ground = HEX (0x2b2b2b),
  .hatch = HEX (0x2b2b2b),
  .accent = HEX (0x0b5fa5),
  .soft = HEX (0x7fabd3),
  .band = HEX (0xd3d7dc),
};

static const MharPalette dark_authors = {
  .paper = HEX (0x1e1f22),
  .ink = HEX (0xececec),
  .faint = HEX (0xa9adb3),
  .line = HEX (0x8b8f95),
  .grid = HEX (0x33363a),
  .absent = HEX (0x0c0c0d),
  .ground = HEX (0x0c0c0d),
  .hatch = HEX (0x0c0c0d),
  .accent = HEX (0x6cb6f5),
  .soft = HEX (0x467aa8),
  .band = HEX (0x474b51),
};

const MharPalette *
mhar_palette_get (MharFigureTheme theme, MharFigureStyle style)
{
  if (style == MHAR_FIGURE_AUTHORS)
    return theme == MHAR_FIGURE_DARK ? &dark_authors : &light_authors;
  return theme == MHAR_FIGURE_DARK ? &dark : &light;
}
