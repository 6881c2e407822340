/* SPDX-License-Identifier: MIT */
/* Figures as pixels, layouts and edge cases: every cell has the colour its number asks for, nothing leaves the page,
 * and nothing that a dataset holds or lacks does worse than an error. */
#include "app/figure/colour-map.h"
#include "app/figure/figure.h"
#include "core/error.h"
#include "figure-samples.h"
#include "scratch.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#define FONT "DejaVu Sans"

static const MharFigureKind kinds[]
    = { MHAR_FIGURE_DEVIATION, MHAR_FIGURE_DEPTH_MAP, MHAR_FIGURE_KL, MHAR_FIGURE_COLLINEARITY, MHAR_FIGURE_COEFFICIENTS,
        MHAR_FIGURE_ABLATION,  MHAR_FIGURE_READS };

static MharFigureOptions
plain_options (void)
{
  MharFigureOptions options;

  mhar_figure_options_init (&options);
  options.family = FONT;
  return options;
}

/* The figure on an image of whole size, `scale` pixels a unit. */
static cairo_surface_t *
render (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options, double width, double height,
        double scale)
{
  cairo_surface_t *surface
      = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int)ceil (width * scale), (int)ceil (height * scale));
  cairo_t *cr = cairo_create (surface);
  g_autoptr (GError) error = NULL;

  cairo_scale (cr, scale, scale);
  g_assert_true (mhar_figure_draw (cr, set, kind, options, width, height, &error));
  g_assert_no_error (error);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static guint32
pixel (cairo_surface_t *surface, int x, int y)
{
  const guint8 *data = cairo_image_surface_get_data (surface);
  guint32 value;

  g_assert_cmpint (x, >=, 0);
  g_assert_cmpint (y, >=, 0);
  g_assert_cmpint (x, <, cairo_image_surface_get_width (surface));
  g_assert_cmpint (y, <, cairo_image_surface_get_height (surface));
  memcpy (&value, data + (gsize)y * (gsize)cairo_image_surface_get_stride (surface) + (gsize)x * 4, 4);
  return value & 0xffffff;
}

/* The largest difference of a channel, in levels of 255. */
static double
colour_error (guint32 got, const MharRgb *want)
{
  double r = fabs ((got >> 16 & 255) - want->r * 255), g = fabs ((got >> 8 & 255) - want->g * 255);

  return MAX (MAX (r, g), fabs ((got & 255) - want->b * 255));
}

typedef double (*CellValue) (const MharDataset *set, const MharFigureLayout *layout, guint panel, guint row,
                             guint column);

static double
field_cell (const MharDataset *set, const char *name, int head, guint row, guint column)
{
  const MharField *field = mhar_dataset_get (set, name);
  gsize heads = field->shape[1], sources = field->shape[2];
  double sum = 0;

  if (head >= 0)
    return field->data.f32[(row * heads + (gsize)head) * sources + column];
  for (gsize h = 0; h < heads; h++)
    sum += field->data.f32[(row * heads + h) * sources + column];
  return sum / (double)heads;
}

static double
deviation_cell (const MharDataset *set, const MharFigureLayout *layout, guint panel, guint row, guint column)
{
  return field_cell (set, "deviation", layout->panels[panel].head, row, column);
}

static double
weight_cell (const MharDataset *set, const MharFigureLayout *layout, guint panel, guint row, guint column)
{
  return field_cell (set, "weight", layout->panels[panel].head, row, column);
}

static double
cosine_cell (const MharDataset *set, const MharFigureLayout *layout, guint panel, guint row, guint column)
{
  const MharField *field = mhar_dataset_get (set, "cosine");

  (void)layout;
  (void)panel;
  return row == column ? NAN : field->data.f32[row * field->shape[1] + column];
}

static double
coefficient_cell (const MharDataset *set, const MharFigureLayout *layout, guint panel, guint row, guint column)
{
  const MharField *field = mhar_dataset_get (set, "coefficient");

  (void)layout;
  (void)panel;
  return field->data.f32[row * field->shape[1] + column];
}

/* Every cell's centre against the colour its value asks for; cells without a value against `absent`. Allowance: one
 * level. */
static void
check_cells (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options, CellValue value,
             MharColourMap map, const MharRgb *absent, double width, double height)
{
  g_autoptr (MharFigureLayout) layout = mhar_figure_layout_new (set, kind, options, width, height, NULL);
  cairo_surface_t *surface = render (set, kind, options, width, height, 2);
  double worst = 0;
  guint present = 0, missing = 0;

  for (guint p = 0; p < layout->n_panels; p++)
    for (guint i = 0; i < layout->n_rows; i++)
      for (guint j = 0; j < layout->n_columns; j++) {
        MharFigureRect cell = mhar_figure_layout_cell (layout, p, i, j);
        guint32 got = pixel (surface, (int)((cell.x + cell.width / 2) * 2), (int)((cell.y + cell.height / 2) * 2));
        double v = value (set, layout, p, i, j);
        MharRgb want = *absent;

        if (isfinite (v)) {
          want = mhar_colour_map_at (map, (v - layout->low) / (layout->high - layout->low));
          present++;
        } else {
          missing++;
        }
        worst = MAX (worst, colour_error (got, &want));
      }
  cairo_surface_destroy (surface);
  g_test_message ("%s %gx%g: %u cells, %u absent, largest error %.0f %% of the allowance", mhar_figure_kind_name (kind),
                  width, height, present, missing, 100 * worst);
  g_assert_cmpuint (present, >, 0);
  g_assert_cmpuint (missing, >, 0);
  g_assert_cmpfloat (worst, <=, 1.0);
}

static void
test_deviation_cells (void)
{
  static const guint heads[] = { 2, 4, 8, 16 };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    for (int theme = 0; theme < 2; theme++) {
      g_autoptr (MharDataset) set = sample_full (25, heads[i]);
      MharFigureOptions options = plain_options ();
      const MharPalette *palette;

      options.theme = theme ? MHAR_FIGURE_DARK : MHAR_FIGURE_LIGHT;
      options.style = theme ? MHAR_FIGURE_AUTHORS : MHAR_FIGURE_PLAIN;
      palette = mhar_palette_get (options.theme, options.style);
      check_cells (set, MHAR_FIGURE_DEVIATION, &options, deviation_cell, MHAR_MAP_DIVERGING, &palette->absent, 504,
                   380);
      options.first_sites = 0;
      check_cells (set, MHAR_FIGURE_DEVIATION, &options, deviation_cell, MHAR_MAP_DIVERGING, &palette->absent, 1000,
                   771.3);
    }
}

static void
test_depth_map_cells (void)
{
  g_autoptr (MharDataset) set = sample_full (13, 4);
  g_autoptr (MharFigureLayout) layout = NULL;
  MharFigureOptions options = plain_options ();
  const MharPalette *palette = mhar_palette_get (MHAR_FIGURE_LIGHT, MHAR_FIGURE_AUTHORS);

  options.style = MHAR_FIGURE_AUTHORS;
  check_cells (set, MHAR_FIGURE_DEPTH_MAP, &options, weight_cell, MHAR_MAP_SEQUENTIAL, &palette->absent, 504, 300);
  layout = mhar_figure_layout_new (set, MHAR_FIGURE_DEPTH_MAP, &options, 504, 300, NULL);
  g_assert_cmpuint (layout->n_panels, ==, 5);
  g_assert_cmpint (layout->panels[4].head, ==, MHAR_FIGURE_CONSENSUS);
  g_assert_cmpfloat (layout->high, ==, 0.7);
}

static void
test_collinearity_cells (void)
{
  static const guint sizes[] = { 2, 9, 73, 193 }; /* the last is over the rectangle limit */

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (MharDataset) set = sample_full (sizes[i], 1);
    MharFigureOptions options = plain_options ();

    check_cells (set, MHAR_FIGURE_COLLINEARITY, &options, cosine_cell, MHAR_MAP_DIVERGING,
                 &mhar_palette_get (MHAR_FIGURE_LIGHT, MHAR_FIGURE_PLAIN)->absent, 700, 560);
  }
}

/* The first input, 1 by definition, does not set the scale. */
static void
test_coefficient_cells (void)
{
  static const guint sizes[] = { 2, 9, 73, 211 }; /* the last is over the rectangle limit */

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (MharDataset) set = sample_full (sizes[i], 1);
    g_autoptr (MharFigureLayout) layout = NULL;
    MharFigureOptions options = plain_options ();
    const MharRgb *absent = &mhar_palette_get (MHAR_FIGURE_LIGHT, MHAR_FIGURE_PLAIN)->absent;

    check_cells (set, MHAR_FIGURE_COEFFICIENTS, &options, coefficient_cell, MHAR_MAP_DIVERGING, absent, 504, 400);
    options.first_sites = 0;
    check_cells (set, MHAR_FIGURE_COEFFICIENTS, &options, coefficient_cell, MHAR_MAP_DIVERGING, absent, 700, 660);
    layout = mhar_figure_layout_new (set, MHAR_FIGURE_COEFFICIENTS, &options, 700, 660, NULL);
    g_assert_cmpuint (layout->n_rows, ==, sizes[i]);
    g_assert_cmpfloat (layout->low, ==, -layout->high);
    g_assert_cmpfloat (layout->high, <=, 0.6);
  }
}

/* The left map's colours run by asinh, 0 in the middle, dots on the uncertain ones; the right map's evenly from 0. */
static void
test_ablation_cells (void)
{
  g_autoptr (MharDataset) set = sample_full (9, 4);
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");
  const double *delta = mhar_dataset_get (map, "delta_loss")->data.f64, *mass = mhar_dataset_get (map, "mass")->data.f64;
  MharFigureOptions options = plain_options ();
  g_autoptr (MharFigureLayout) layout = mhar_figure_layout_new (set, MHAR_FIGURE_ABLATION, &options, 504, 300, NULL);
  cairo_surface_t *surface = render (set, MHAR_FIGURE_ABLATION, &options, 504, 300, 8);
  double most = 0, worst = 0;
  guint dots = 0;

  g_assert_cmpfloat (layout->high, ==, 4);
  g_assert_cmpfloat (layout->low, ==, -4);
  for (guint i = 0; i < layout->n_rows; i++)
    for (guint j = 0; j < i + 2; j++)
      most = MAX (most, mass[i * 9 + j]);
  for (guint p = 0; p < 2; p++)
    for (guint i = 0; i < layout->n_rows; i++)
      for (guint j = 0; j < i + 2; j++) {
        MharFigureRect cell = mhar_figure_layout_cell (layout, p, i, j);
        guint32 corner = pixel (surface, (int)((cell.x + cell.width * 0.2) * 8), (int)((cell.y + cell.height * 0.2) * 8));
        guint32 centre = pixel (surface, (int)((cell.x + cell.width / 2) * 8), (int)((cell.y + cell.height / 2) * 8));
        double share = 0.5 + 0.5 * asinh (delta[i * 9 + j] / 0.01) / asinh (400);
        MharRgb want = p == 0 ? mhar_colour_map_at (MHAR_MAP_DIVERGING, share)
                              : mhar_colour_map_at (MHAR_MAP_SEQUENTIAL, mass[i * 9 + j] / most);

        worst = MAX (worst, colour_error (corner, &want));
        dots += colour_error (centre, &want) > 8;
        g_assert_true (p == 0 || corner == centre);
        g_assert_cmpint (corner != centre, ==, p == 0 && (i + j) % 5 == 4);
      }
  cairo_surface_destroy (surface);
  g_test_message ("largest error %.0f %% of the allowance", 100 * worst);
  g_assert_cmpfloat (worst, <=, 1);
  g_assert_cmpuint (dots, >, 0);
}

/* Zero is not the colour of nothing, nor of the page. */
static void
test_absent_is_distinct (void)
{
  for (int theme = 0; theme < 2; theme++)
    for (int style = 0; style < 2; style++) {
      const MharPalette *palette = mhar_palette_get ((MharFigureTheme)theme, (MharFigureStyle)style);
      MharRgb zero = mhar_colour_map_at (MHAR_MAP_DIVERGING, 0.5);

      g_assert_cmpfloat (fabs (zero.g - palette->absent.g), >, 0.3);
      g_assert_cmpfloat (fabs (zero.g - palette->ground.g) + fabs (zero.g - palette->hatch.g), >, 0.2);
    }
}

static void
test_colour_maps (void)
{
  MharRgb low = mhar_colour_map_at (MHAR_MAP_DIVERGING, 0), high = mhar_colour_map_at (MHAR_MAP_DIVERGING, 1);
  MharRgb over = mhar_colour_map_at (MHAR_MAP_DIVERGING, 7), nan = mhar_colour_map_at (MHAR_MAP_DIVERGING, NAN);
  double before = -1;

  g_assert_cmpfloat (low.b, >, low.r);
  g_assert_cmpfloat (high.r, >, high.b);
  g_assert_cmpmem (&over, sizeof over, &high, sizeof high);
  g_assert_cmpmem (&nan, sizeof nan, &low, sizeof low);
  /* Viridis gets lighter all the way. */
  for (int i = 0; i <= 100; i++) {
    MharRgb c = mhar_colour_map_at (MHAR_MAP_SEQUENTIAL, i / 100.0);
    double light = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;

    g_assert_cmpfloat (light, >, before);
    before = light;
  }
}

/* A dot sits at its site and value; filled outside the null's band, hollow inside. */
static void
test_kl_dots (void)
{
  for (guint heads = 1; heads <= 2; heads++) {
    g_autoptr (MharDataset) set = sample_full (13, heads);
    MharFigureOptions options = plain_options ();
    g_autoptr (MharFigureLayout) layout = mhar_figure_layout_new (set, MHAR_FIGURE_KL, &options, 504, 280, NULL);
    const MharPalette *palette = mhar_palette_get (MHAR_FIGURE_LIGHT, MHAR_FIGURE_PLAIN);
    cairo_surface_t *surface = render (set, MHAR_FIGURE_KL, &options, 504, 280, 4);

    g_assert_cmpuint (layout->n_columns, ==, 12); /* the first site has one source */
    g_assert_cmpuint (layout->columns[0], ==, 1);
    for (guint j = 0; j < layout->n_columns; j++) {
      MharFigureRect cell = mhar_figure_layout_cell (layout, 0, 0, j);
      gboolean hollow = layout->columns[j] % 4 == 3;
      double y = cell.y + cell.height * (1 - (hollow ? 0.05 : 0.2) / layout->high);
      guint32 got = pixel (surface, (int)((cell.x + cell.width / 2) * 4), (int)(y * 4));

      g_assert_cmpfloat (colour_error (got, hollow ? &palette->paper : &palette->accent), <=, 1);
    }
    cairo_surface_destroy (surface);
  }
}

static void
test_hits (void)
{
  g_autoptr (MharDataset) set = sample_full (25, 8);
  MharFigureOptions options = plain_options ();

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    g_autoptr (MharFigureLayout) layout = mhar_figure_layout_new (set, kinds[k], &options, 733, 491, NULL);
    guint panel = 77, row = 77, column = 77;

    for (guint p = 0; p < layout->n_panels; p++)
      for (guint i = 0, own = layout->panels[p].n_columns; i < layout->n_rows; i++)
        for (guint j = 0; j < (own > 0 ? own : layout->n_columns); j++) {
          MharFigureRect cell = mhar_figure_layout_cell (layout, p, i, j);

          g_assert_true (mhar_figure_layout_hit (layout, cell.x + cell.width * 0.03, cell.y + cell.height * 0.97,
                                                 &panel, &row, &column));
          g_assert_cmpuint (panel, ==, p);
          g_assert_cmpuint (row, ==, i);
          g_assert_cmpuint (column, ==, j);
        }
    panel = 77;
    g_assert_false (mhar_figure_layout_hit (layout, 1, 1, &panel, &row, &column));
    g_assert_false (mhar_figure_layout_hit (layout, NAN, 200, &panel, &row, &column));
    g_assert_false (mhar_figure_layout_hit (layout, -1e300, 1e300, &panel, &row, &column));
    g_assert_cmpuint (panel, ==, 77);
    g_assert_cmpfloat (mhar_figure_layout_cell (layout, layout->n_panels, 0, 0).width, ==, 0);
  }
}

static void
assert_inside (const MharFigureRect *rect, double width, double height)
{
  g_assert_cmpfloat (rect->x, >=, 0);
  g_assert_cmpfloat (rect->y, >=, 0);
  g_assert_cmpfloat (rect->x + rect->width, <=, width + 1e-6);
  g_assert_cmpfloat (rect->y + rect->height, <=, height + 1e-6);
}

/* The border of the page, 2 units wide, is empty: nothing is clipped at it. */
static void
check_border (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options, double width,
              double height)
{
  const MharPalette *palette = mhar_palette_get (options->theme, options->style);
  cairo_surface_t *surface = render (set, kind, options, width, height, 1);
  int w = cairo_image_surface_get_width (surface), h = cairo_image_surface_get_height (surface);
  g_autoptr (MharFigureLayout) layout = mhar_figure_layout_new (set, kind, options, width, height, NULL);
  double worst = 0;

  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
        worst = MAX (worst, colour_error (pixel (surface, x, y), &palette->paper));
  cairo_surface_destroy (surface);
  if (worst > 1)
    g_test_message ("%s %gx%g reaches the border (%g levels)", mhar_figure_kind_name (kind), width, height, worst);
  g_assert_cmpfloat (worst, <=, 1);
  for (guint p = 0; p < layout->n_panels; p++)
    assert_inside (&layout->panels[p].cells, width, height);
  assert_inside (&layout->bar, width, height);
  assert_inside (&layout->histogram, width, height);
  assert_inside (&layout->caption, width, height);
}

static void
test_border (void)
{
  static const double sizes[][2]
      = { { 1280, 800 }, { 900, 300 }, { 300, 700 }, { 420, 300 }, { 260, 170 }, { 150, 100 } };
  static const guint shapes[][2] = { { 1, 1 }, { 13, 1 }, { 9, 2 }, { 25, 4 }, { 73, 16 }, { 193, 3 } };

  for (guint s = 0; s < G_N_ELEMENTS (shapes); s++) {
    g_autoptr (MharDataset) set = sample_full (shapes[s][0], shapes[s][1]);

    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      MharFigureOptions options = plain_options ();
      double width, height;

      if (!mhar_figure_available (set, kinds[k]))
        continue;
      options.theme = k % 2 ? MHAR_FIGURE_DARK : MHAR_FIGURE_LIGHT;
      options.first_sites = s % 2 ? 0 : 10;
      for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
        check_border (set, kinds[k], &options, sizes[i][0], sizes[i][1]);
      g_assert_true (mhar_figure_natural_size (set, kinds[k], &options, &width, &height, NULL));
      g_assert_cmpfloat (width, ==, floor (width));
      g_assert_cmpfloat (height, ==, floor (height));
      check_border (set, kinds[k], &options, width, height);
    }
  }
}

/* At its natural size a figure has all its parts. */
static void
test_natural_is_complete (void)
{
  static const guint heads[] = { 1, 2, 4, 8, 16 };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      g_autoptr (MharDataset) set = sample_full (73, heads[i]);
      g_autoptr (MharFigureLayout) layout = NULL;
      MharFigureOptions options = plain_options ();
      double width, height;

      if (!mhar_figure_available (set, kinds[k]))
        continue;
      g_assert_true (mhar_figure_natural_size (set, kinds[k], &options, &width, &height, NULL));
      layout = mhar_figure_layout_new (set, kinds[k], &options, width, height, NULL);
      g_assert_cmpfloat (layout->caption.height, >, 0);
      if (kinds[k] == MHAR_FIGURE_READS) { /* plots without a scale of colours */
        guint last = layout->n_panels - 1;

        g_assert_cmpuint (layout->n_panels, ==, 5);
        g_assert_cmpfloat (layout->panels[last].cells.width / layout->panels[last].n_columns, >=, 2);
        continue;
      }
      g_assert_cmpfloat (kinds[k] == MHAR_FIGURE_KL ? layout->heading.height : layout->bar.height, >, 0);
      if (kinds[k] != MHAR_FIGURE_KL)
        g_assert_cmpfloat (layout->panels[0].cells.width / layout->n_columns, >=, 2);
    }
}

/* What does not beat its null is said above the maps, with the caption, and makes room for itself. */
static void
test_certainty (void)
{
  static const double sizes[][2] = { { 504, 300 }, { 200, 150 }, { 120, 90 } };

  for (guint heads = 1; heads <= 4; heads += 3) {
    g_autoptr (MharDataset) set = sample_full (13, heads);
    MharFigureKind kind = heads > 1 ? MHAR_FIGURE_DEVIATION : MHAR_FIGURE_KL;
    MharFigureOptions options = plain_options (), bare = plain_options ();
    g_autoptr (MharFigureLayout) before = mhar_figure_layout_new (set, kind, &options, 504, 400, NULL);

    sample_add_certainty (set, 13, heads > 1);
    bare.bare = TRUE;
    g_autoptr (MharFigureLayout) after = mhar_figure_layout_new (set, kind, &options, 504, 400, NULL);
    g_autoptr (MharFigureLayout) without = mhar_figure_layout_new (set, kind, &bare, 504, 400, NULL);
    g_assert_cmpfloat (after->heading.height, >, before->heading.height);
    g_assert_cmpfloat (after->panels[0].cells.y, >, after->heading.y + after->heading.height);
    if (heads > 1)
      g_assert_cmpfloat (without->heading.height, ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
      check_border (set, kind, &options, sizes[i][0], sizes[i][1]);
      check_border (set, MHAR_FIGURE_KL, &options, sizes[i][0], sizes[i][1]);
    }
  }
}

static void
set_label (MharDataset *set, const char *name, guint i, const char *label)
{
  MharField *field = mhar_dataset_get (set, name);

  g_free (field->data.str[i]);
  field->data.str[i] = g_strdup (label);
}

/* Labels of a megabyte, of other scripts, of bytes that are not UTF-8, with line breaks, absent. */
static void
test_hostile_labels (void)
{
  g_autofree char *long_label = g_strnfill (1 << 20, 'W');
  g_autoptr (MharDataset) set = sample_full (9, 2);
  MharDataset *map;

  set_label (set, "site_label", 0, long_label);
  set_label (set, "site_label", 1, "two\nlines\tand a tab\x01");
  set_label (set, "site_label", 2, "\xff\xfe\x80 not UTF-8");
  set_label (set, "site_label", 3, "\u202e<b>&\u4f60\u597d");
  set_label (set, "site_label", 4, NULL);
  set_label (set, "source_label", 8 * 9 + 8, long_label);
  set_label (set, "output_label", 2, long_label);
  map = mhar_dataset_find_child (set, "ablation_map");
  set_label (map, "site_label", 0, long_label);
  set_label (map, "site_label", 1, "\xff\xfe\x80 not UTF-8");
  set_label (map, "site_label", 2, NULL);
  set_label (map, "source_label", 7 * 9 + 8, long_label);
  mhar_dataset_set_string (set, "path", long_label);
  mhar_dataset_set_string (set, "mode", "a\nb\xff");
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    MharFigureOptions options = plain_options ();
    double width, height;

    g_assert_true (mhar_figure_natural_size (set, kinds[k], &options, &width, &height, NULL));
    check_border (set, kinds[k], &options, width, height);
    check_border (set, kinds[k], &options, 300, 220);
  }
}

static void
test_any_size (void)
{
  static const double sizes[][2]
      = { { 1, 1 }, { 0.01, 0.01 }, { 2, 900 }, { 900, 2 }, { 17, 23 }, { 60, 60 }, { 3000, 40 } };

  for (guint heads = 1; heads <= 16; heads += 15) {
    g_autoptr (MharDataset) set = sample_full (33, heads);

    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      for (guint i = 0; mhar_figure_available (set, kinds[k]) && i < G_N_ELEMENTS (sizes); i++) {
        MharFigureOptions options = plain_options ();
        cairo_surface_t *surface = render (set, kinds[k], &options, sizes[i][0], sizes[i][1], 1);

        g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
        cairo_surface_destroy (surface);
      }
  }
}

/* Without labels, counts and attributes a figure has numbers for names and fewer words. */
static void
test_bare_fields (void)
{
  const char *dims[] = { "site", "head", "source" }, *pair[] = { "output", "output_b" };
  gsize shape[] = { 6, 2, 4 }, square[] = { 3, 3 };
  g_autoptr (MharDataset) set = mhar_dataset_new ("x");
  MharField *field;

  field = sample_field (set, "deviation", 3, dims, shape);
  for (guint i = 0; i < 48; i++)
    field->data.f32[i] = i % 4 <= i / 8 ? (float)(sample_value (i, 0, 0) - 0.5) : NAN;
  mhar_dataset_add (set, mhar_field_new ("weight", "w", "1", MHAR_FIELD_F64, 3, dims, shape));
  ((MharField *)mhar_dataset_get (set, "weight"))->data.f64[0] = 1;
  sample_field (set, "head_js", 1, dims, shape)->data.f32[2] = 0.1f;
  sample_field (set, "cosine", 2, pair, square)->data.f32[1] = 0.5f;
  sample_field (set, "coefficient", 2, pair, square)->data.f32[4] = -0.5f;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    MharFigureOptions options = plain_options ();
    double width, height;

    if (kinds[k] == MHAR_FIGURE_ABLATION || kinds[k] == MHAR_FIGURE_READS) /* their fields come together */
      continue;
    g_assert_true (mhar_figure_natural_size (set, kinds[k], NULL, &width, &height, NULL));
    check_border (set, kinds[k], &options, width, height);
  }
}

/* Infinite, zero and huge numbers. */
static void
test_odd_numbers (void)
{
  static const float values[] = { INFINITY, -INFINITY, 0, 3e38f, -3e38f, 1e-40f };

  for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
    g_autoptr (MharDataset) set = sample_full (9, 2);
    static const char *const names[] = { "deviation", "weight", "head_js", "head_js_null", "cosine", "coefficient" };

    for (guint n = 0; n < G_N_ELEMENTS (names); n++) {
      MharField *field = mhar_dataset_get (set, names[n]);

      for (gsize i = n % 2; i < mhar_field_length (field); i += 2)
        field->data.f32[i] = values[v];
    }
    for (guint n = 0; n < 2; n++) {
      MharField *field = mhar_dataset_get (mhar_dataset_find_child (set, "ablation_map"), n ? "mass" : "delta_loss");

      for (gsize i = n; i < mhar_field_length (field); i += 2)
        field->data.f64[i] = (double)values[v];
    }
    mhar_dataset_set_real (set, "null_max_deviation", (double)values[v]);
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      MharFigureOptions options = plain_options ();

      if (mhar_figure_available (set, kinds[k]))
        check_border (set, kinds[k], &options, 504, 300);
    }
  }
}

static void
assert_no_figure (const MharDataset *set, MharFigureKind kind, const char *words)
{
  g_autoptr (GError) error = NULL;
  double width, height;

  g_assert_false (mhar_figure_natural_size (set, kind, NULL, &width, &height, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
  g_assert_nonnull (strstr (error->message, words));
  g_clear_error (&error);
  g_assert_null (mhar_figure_layout_new (set, kind, NULL, 500, 300, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
}

static void
test_errors (void)
{
  g_autoptr (MharDataset) single = sample_full (13, 1), several = sample_full (13, 4),
                          empty = mhar_dataset_new ("nothing");
  g_autoptr (MharDataset) baseline = mhar_dataset_new ("b");
  const char *dims[] = { "site", "source" };
  gsize shape[] = { 3, 3 };
  MharField *field;

  assert_no_figure (single, MHAR_FIGURE_DEVIATION, "sample has one routing head: no deviation; use --figure-kind kl");
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    assert_no_figure (empty, kinds[k], "nothing holds no results");
  mhar_dataset_set_integer (baseline, "heads", 0);
  sample_field (baseline, "cosine", 2, dims, shape)->data.f32[1] = 0.5f;
  mhar_dataset_set_integer (baseline, "sites", 5);
  assert_no_figure (baseline, MHAR_FIGURE_COEFFICIENTS, "b has no hyper-connections: no coefficients; use");
  assert_no_figure (baseline, MHAR_FIGURE_KL, "b has no depth routing: no kl; use --figure-kind collinearity");
  /* NaN everywhere. */
  field = mhar_dataset_get (several, "deviation");
  for (gsize i = 0; i < mhar_field_length (field); i++)
    field->data.f32[i] = NAN;
  assert_no_figure (several, MHAR_FIGURE_DEVIATION, "use --figure-kind kl");
  /* Wrong shape and type. */
  sample_field (several, "weight", 2, dims, shape);
  assert_no_figure (several, MHAR_FIGURE_DEPTH_MAP, "holds no results for a depth-map figure");
  mhar_dataset_add (several, mhar_field_new ("weight", "w", "", MHAR_FIELD_STRING, 2, dims, shape));
  assert_no_figure (several, MHAR_FIGURE_DEPTH_MAP, "holds no results");
  shape[1] = 2;
  sample_field (several, "cosine", 2, dims, shape)->data.f32[0] = 1;
  assert_no_figure (several, MHAR_FIGURE_COLLINEARITY, "holds no results");
}

static void
test_default_kind (void)
{
  g_autoptr (MharDataset) single = sample_full (13, 1), several = sample_full (13, 4), empty = mhar_dataset_new ("x");
  g_autoptr (MharDataset) hyper = mhar_dataset_new ("h");
  const char *dims[] = { "input", "output" };
  gsize shape[] = { 2, 2 };

  g_assert_cmpint (mhar_figure_default_kind (several), ==, MHAR_FIGURE_DEVIATION);
  g_assert_cmpint (mhar_figure_default_kind (single), ==, MHAR_FIGURE_KL);
  g_assert_cmpint (mhar_figure_default_kind (empty), ==, MHAR_FIGURE_COLLINEARITY);
  sample_field (hyper, "coefficient", 2, dims, shape)->data.f32[0] = 1;
  sample_field (hyper, "cosine", 2, dims, shape)->data.f32[1] = 0.5f;
  g_assert_cmpint (mhar_figure_default_kind (hyper), ==, MHAR_FIGURE_COEFFICIENTS);
  g_assert_true (mhar_figure_available (single, MHAR_FIGURE_DEFAULT));
  g_assert_false (mhar_figure_available (empty, MHAR_FIGURE_DEFAULT));
}

static void
test_names (void)
{
  g_autoptr (GError) error = NULL;
  MharFigureKind kind = MHAR_FIGURE_DEFAULT;
  MharFigureTheme theme;
  MharFigureStyle style;

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    g_assert_true (mhar_figure_kind_parse (mhar_figure_kind_name (kinds[k]), &kind, NULL));
    g_assert_cmpint (kind, ==, kinds[k]);
  }
  g_assert_false (mhar_figure_kind_parse ("pie", &kind, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_USAGE);
  g_assert_true (mhar_figure_theme_parse ("dark", &theme, NULL) && theme == MHAR_FIGURE_DARK);
  g_assert_true (mhar_figure_style_parse ("authors", &style, NULL) && style == MHAR_FIGURE_AUTHORS);
  g_assert_true (mhar_figure_style_parse ("default", &style, NULL) && style == MHAR_FIGURE_PLAIN);
  g_assert_false (mhar_figure_theme_parse ("d", &theme, NULL));
  g_assert_false (mhar_figure_style_parse ("", &style, NULL));
}

/* One head alone, the mean alone, a head that does not exist, a shared scale. */
static void
test_options (void)
{
  g_autoptr (MharDataset) set = sample_full (13, 4);
  g_autoptr (MharFigureLayout) one = NULL;
  g_autoptr (MharFigureLayout) mean = NULL;
  g_autoptr (GError) error = NULL;
  MharFigureOptions options = plain_options ();

  options.head = 2;
  options.limit = 0.3;
  options.bare = TRUE;
  one = mhar_figure_layout_new (set, MHAR_FIGURE_DEVIATION, &options, 400, 400, NULL);
  g_assert_cmpuint (one->n_panels, ==, 1);
  g_assert_cmpint (one->panels[0].head, ==, 2);
  g_assert_cmpfloat (one->low, ==, -0.3);
  g_assert_cmpfloat (one->caption.height, ==, 0);
  g_assert_cmpuint (one->n_rows, ==, 10);
  options.head = MHAR_FIGURE_CONSENSUS;
  options.first_sites = 200;
  mean = mhar_figure_layout_new (set, MHAR_FIGURE_DEPTH_MAP, &options, 400, 400, NULL);
  g_assert_cmpint (mean->panels[0].head, ==, MHAR_FIGURE_CONSENSUS);
  g_assert_cmpuint (mean->n_rows, ==, 13);
  options.head = 4;
  g_assert_null (mhar_figure_layout_new (set, MHAR_FIGURE_DEPTH_MAP, &options, 400, 400, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
}

/* The state of the caller's cairo_t comes back, and its error is passed on. */
static void
test_cairo_state (void)
{
  g_autoptr (MharDataset) set = sample_full (9, 2);
  g_autoptr (GError) error = NULL;
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 300, 200);
  cairo_t *cr = cairo_create (surface);
  double x, y;

  cairo_translate (cr, 20, 10);
  cairo_set_line_width (cr, 7);
  g_assert_true (mhar_figure_draw (cr, set, MHAR_FIGURE_DEFAULT, NULL, 200, 150, &error));
  x = y = 0;
  cairo_user_to_device (cr, &x, &y);
  g_assert_cmpfloat (x, ==, 20);
  g_assert_cmpfloat (cairo_get_line_width (cr), ==, 7);
  g_assert_false (cairo_has_current_point (cr));
  g_assert_cmphex (pixel (surface, 10, 5), ==, 0); /* outside */
  cairo_surface_finish (surface);
  g_assert_false (mhar_figure_draw (cr, set, MHAR_FIGURE_DEFAULT, NULL, 200, 150, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

/* A machine without fonts: run apart, since fonts are looked up once a process. */
static void
test_no_font (void)
{
  if (g_test_subprocess ()) {
    char *folder = scratch_new ();
    g_autofree char *file = g_build_filename (folder, "fonts.conf", NULL);
    g_autofree char *text = g_strdup_printf ("<fontconfig><cachedir>%s</cachedir></fontconfig>", folder);
    g_autoptr (MharDataset) set = sample_full (13, 4);

    g_assert_true (g_file_set_contents (file, text, -1, NULL));
    g_setenv ("FONTCONFIG_FILE", file, TRUE);
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      MharFigureOptions options = plain_options ();
      g_autoptr (MharFigureLayout) layout = mhar_figure_layout_new (set, kinds[k], &options, 504, 300, NULL);
      cairo_surface_t *surface = render (set, kinds[k], &options, 504, 300, 1);
      guint ink = 0;

      check_border (set, kinds[k], &options, 504, 300);
      for (int y = (int)layout->caption.y; y < layout->caption.y + layout->caption.height; y++)
        for (int x = 10; x < 494; x++)
          ink += pixel (surface, x, y) != 0xffffff;
      g_assert_cmpuint (ink, >, 100);
      cairo_surface_destroy (surface);
    }
    scratch_remove (folder);
    return;
  }
  g_test_trap_subprocess (NULL, 30 * G_USEC_PER_SEC, 0);
  g_test_trap_assert_passed ();
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/figure/colour-maps", test_colour_maps);
  g_test_add_func ("/figure/absent-is-distinct", test_absent_is_distinct);
  g_test_add_func ("/figure/names", test_names);
  g_test_add_func ("/figure/default-kind", test_default_kind);
  g_test_add_func ("/figure/errors", test_errors);
  g_test_add_func ("/figure/options", test_options);
  g_test_add_func ("/figure/deviation-cells", test_deviation_cells);
  g_test_add_func ("/figure/depth-map-cells", test_depth_map_cells);
  g_test_add_func ("/figure/collinearity-cells", test_collinearity_cells);
  g_test_add_func ("/figure/coefficient-cells", test_coefficient_cells);
  g_test_add_func ("/figure/ablation-cells", test_ablation_cells);
  g_test_add_func ("/figure/kl-dots", test_kl_dots);
  g_test_add_func ("/figure/hits", test_hits);
  g_test_add_func ("/figure/border", test_border);
  g_test_add_func ("/figure/natural-is-complete", test_natural_is_complete);
  g_test_add_func ("/figure/certainty", test_certainty);
  g_test_add_func ("/figure/hostile-labels", test_hostile_labels);
  g_test_add_func ("/figure/any-size", test_any_size);
  g_test_add_func ("/figure/bare-fields", test_bare_fields);
  g_test_add_func ("/figure/odd-numbers", test_odd_numbers);
  g_test_add_func ("/figure/cairo-state", test_cairo_state);
  g_test_add_func ("/figure/no-font", test_no_font);
  return g_test_run ();
}
