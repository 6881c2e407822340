/* SPDX-License-Identifier: MIT */
/* What a window asks of figures beyond what is printed: a part of a map, other scales and colours, sources,
 * comparisons. */
#include "app/figure/colour-map.h"
#include "app/figure/drawing.h"
#include "app/figure/pairing.h"
#include "core/error.h"
#include "figure-samples.h"

#include <math.h>
#include <string.h>

#define FONT "DejaVu Sans"

static MharFigureOptions
plain_options (void)
{
  MharFigureOptions options;

  mhar_figure_options_init (&options);
  options.family = FONT;
  options.first_sites = 0;
  return options;
}

static cairo_surface_t *
paint (MharDrawing *drawing, int width, int height, double scale)
{
  cairo_surface_t *surface
      = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int)(width * scale), (int)(height * scale));
  cairo_t *cr = cairo_create (surface);

  cairo_scale (cr, scale, scale);
  mhar_drawing_place (drawing, width, height);
  mhar_drawing_paint (drawing, cr);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static guint32
pixel (cairo_surface_t *surface, double x, double y)
{
  const guint8 *data = cairo_image_surface_get_data (surface);
  guint32 value;

  memcpy (&value, data + (gsize)y * (gsize)cairo_image_surface_get_stride (surface) + (gsize)x * 4, 4);
  return value & 0xffffff;
}

static double
colour_error (guint32 got, double r, double g, double b)
{
  double dr = fabs ((got >> 16 & 255) - r * 255), dg = fabs ((got >> 8 & 255) - g * 255);

  return MAX (MAX (dr, dg), fabs ((got & 255) - b * 255));
}

/* Every visible cell's middle has its colour, at whole and fractional offsets, in both pixel densities. */
static void
test_view_cells (void)
{
  static const MharFigureRect views[]
      = { { 0, 0, 193, 193 }, { 3, 2, 20, 20 }, { 17.37, 40.81, 12.5, 12.5 }, { 180, 180, 40, 40 } };
  g_autoptr (MharDataset) set = sample_full (193, 2);
  MharFigureOptions options = plain_options ();
  double worst = 0;
  guint cells = 0;

  options.head = 1;
  options.screen = TRUE;
  for (guint v = 0; v < G_N_ELEMENTS (views); v++)
    for (int scale = 1; scale <= 2; scale++) {
      g_autoptr (MharDrawing) drawing = mhar_drawing_new (set, MHAR_FIGURE_DEPTH_MAP, &options, NULL);
      const MharFigureLayout *layout = mhar_drawing_layout (drawing);
      cairo_surface_t *surface;

      mhar_drawing_set_view (drawing, &views[v]);
      surface = paint (drawing, 800, 700, scale);
      for (guint i = 0; i < 193; i++)
        for (guint j = 0; j <= i; j++) {
          MharFigureRect cell = mhar_figure_layout_cell (layout, 0, i, j);
          double x = cell.x + cell.width / 2, y = cell.y + cell.height / 2, r, g, b;
          guint panel, row, column;

          if (!mhar_figure_layout_hit (layout, x, y, &panel, &row, &column))
            continue;
          g_assert_cmpuint (row, ==, i);
          g_assert_cmpuint (column, ==, j);
          mhar_drawing_colour (drawing, 0, mhar_drawing_value (drawing, 0, i, j), &r, &g, &b);
          worst = MAX (worst, colour_error (pixel (surface, x * scale, y * scale), r, g, b));
          cells++;
        }
      cairo_surface_destroy (surface);
    }
  g_test_message ("%u cells, largest error %.0f %% of the allowance", cells, 100 * worst);
  g_assert_cmpfloat (worst, <=, 1);
  g_assert_cmpuint (cells, >, 30000);
}

static void
test_view_limits (void)
{
  g_autoptr (MharDataset) set = sample_full (25, 2);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharDrawing) drawing = mhar_drawing_new (set, MHAR_FIGURE_DEVIATION, &options, NULL);
  g_autoptr (MharDrawing) plot = mhar_drawing_new (set, MHAR_FIGURE_KL, &options, NULL);
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);

  mhar_drawing_set_view (drawing, &(MharFigureRect){ -50, 1e9, 10, 10 });
  g_assert_cmpfloat (layout->view.x, ==, 0);
  g_assert_cmpfloat (layout->view.y, ==, 15);
  mhar_drawing_set_view (drawing, &(MharFigureRect){ 3, 3, 0.001, 1e9 });
  g_assert_cmpfloat (layout->view.width, ==, 1);
  g_assert_cmpfloat (layout->view.height, ==, 25);
  mhar_drawing_set_view (drawing, &(MharFigureRect){ 0 });
  g_assert_cmpfloat (layout->view.width, ==, 25);
  mhar_drawing_set_view (plot, &(MharFigureRect){ 3, 0, 2, 1 });
  g_assert_cmpfloat (mhar_drawing_layout (plot)->view.width, ==, 24);
}

/* A map on an image is the same with and without a view of everything. */
static void
test_view_of_all_is_no_view (void)
{
  g_autoptr (MharDataset) set = sample_full (25, 4);
  MharFigureOptions options = plain_options ();
  cairo_surface_t *surfaces[2];

  for (guint i = 0; i < 2; i++) {
    g_autoptr (MharDrawing) drawing = NULL;

    options.view = i ? (MharFigureRect){ 0, 0, 25, 25 } : (MharFigureRect){ 0 };
    drawing = mhar_drawing_new (set, MHAR_FIGURE_DEPTH_MAP, &options, NULL);
    surfaces[i] = paint (drawing, 600, 400, 1);
  }
  g_assert_cmpmem (
      cairo_image_surface_get_data (surfaces[0]), (gsize)cairo_image_surface_get_stride (surfaces[0]) * 400,
      cairo_image_surface_get_data (surfaces[1]), (gsize)cairo_image_surface_get_stride (surfaces[1]) * 400);
  cairo_surface_destroy (surfaces[0]);
  cairo_surface_destroy (surfaces[1]);
}

/* More cells than pixels: the one that stands out is seen, wherever it is. */
static void
test_reduction_keeps_the_largest (void)
{
  for (guint at = 100; at < 108; at++) {
    g_autoptr (MharDataset) set = sample_full (193, 1);
    MharFigureOptions options = plain_options ();
    g_autoptr (MharDrawing) drawing = NULL;
    MharField *weight = mhar_dataset_get (set, "weight");
    const MharFigureRect *cells;
    cairo_surface_t *surface;
    guint found = 0;

    for (gsize i = 0; i < mhar_field_length (weight); i++)
      if (isfinite (weight->data.f32[i]))
        weight->data.f32[i] = 0.001f;
    weight->data.f32[150 * 193 + at] = 0.9f;
    drawing = mhar_drawing_new (set, MHAR_FIGURE_DEPTH_MAP, &options, NULL);
    surface = paint (drawing, 150, 110, 1);
    cells = &mhar_drawing_layout (drawing)->panels[0].cells;
    g_assert_cmpfloat (cells->width, <, 120);
    for (double y = cells->y + 1; y < cells->y + cells->height - 1; y++)
      for (double x = cells->x + 1; x < cells->x + cells->width - 1; x++)
        found += colour_error (pixel (surface, x, y), 0.993248, 0.906157, 0.143936) <= 1;
    cairo_surface_destroy (surface);
    g_assert_cmpuint (found, >=, 1);
    g_assert_cmpuint (found, <=, 6);
  }
}

static void
check_scale (MharFigureKind kind, MharFigureScale scale, double low, double high)
{
  g_autoptr (MharDataset) set = sample_full (13, 4);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharFigureLayout) layout = NULL;

  options.scale = scale;
  options.low = -0.5;
  options.high = 0.25;
  layout = mhar_figure_layout_new (set, kind, &options, 600, 400, NULL);
  if (isfinite (low))
    g_assert_cmpfloat_with_epsilon (layout->low, low, 1e-9);
  if (isfinite (high))
    g_assert_cmpfloat_with_epsilon (layout->high, high, 1e-9);
  g_assert_cmpfloat (layout->low, <, layout->high);
}

/* The share of a sorted list of values, by hand. */
static void
test_scales (void)
{
  g_autoptr (MharDataset) set = sample_full (13, 4);
  g_autoptr (MharFigureLayout) own = mhar_figure_layout_new (set, MHAR_FIGURE_DEVIATION, NULL, 600, 400, NULL);
  g_autoptr (MharFigureLayout) tails = NULL;
  MharFigureOptions options = plain_options ();
  const MharField *deviation = mhar_dataset_get (set, "deviation");
  guint beyond = 0, all = 0;

  g_assert_cmpfloat (own->low, ==, -own->high);
  check_scale (MHAR_FIGURE_DEPTH_MAP, MHAR_FIGURE_SCALE_FIXED, -0.5, 0.25);
  check_scale (MHAR_FIGURE_DEVIATION, MHAR_FIGURE_SCALE_FIXED, -0.5, 0.25);
  check_scale (MHAR_FIGURE_COLLINEARITY, MHAR_FIGURE_SCALE_FIXED, -0.5, 0.25);
  options.scale = MHAR_FIGURE_SCALE_PERCENTILE;
  tails = mhar_figure_layout_new (set, MHAR_FIGURE_DEVIATION, &options, 600, 400, NULL);
  g_assert_cmpfloat (tails->low, ==, -tails->high);
  for (guint i = 1; i < 13; i++)
    for (guint k = 0; k < 4 * 13; k++) {
      double value = fabs ((double)deviation->data.f32[i * 4 * 13 + k]);

      all += isfinite (value);
      beyond += value > tails->high;
    }
  g_test_message ("%u of %u values beyond the 1–99 %% scale", beyond, all);
  g_assert_cmpuint (beyond, >=, 1);
  g_assert_cmpfloat (beyond, <=, 0.02 * all + 1);
}

/* Limits that are no limits leave the scale as it is. */
static void
test_odd_scales (void)
{
  static const double limits[][2] = { { 1, 1 }, { 2, 1 }, { NAN, 1 }, { 0, INFINITY } };
  g_autoptr (MharDataset) set = sample_full (13, 4);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharFigureLayout) own = mhar_figure_layout_new (set, MHAR_FIGURE_DEPTH_MAP, &options, 600, 400, NULL);

  options.scale = MHAR_FIGURE_SCALE_FIXED;
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    g_autoptr (MharFigureLayout) layout = NULL;

    options.low = limits[i][0];
    options.high = limits[i][1];
    layout = mhar_figure_layout_new (set, MHAR_FIGURE_DEPTH_MAP, &options, 600, 400, NULL);
    g_assert_cmpfloat (layout->low, ==, own->low);
    g_assert_cmpfloat (layout->high, ==, own->high);
  }
}

static void
test_maps (void)
{
  for (int map = MHAR_MAP_DIVERGING; map <= MHAR_MAP_GREYS; map++) {
    g_autoptr (MharDataset) set = sample_full (9, 2);
    MharFigureOptions options = plain_options ();
    g_autoptr (MharDrawing) drawing = NULL;
    MharRgb want;
    double r, g, b;

    options.map = (MharColourMap)map;
    drawing = mhar_drawing_new (set, MHAR_FIGURE_DEPTH_MAP, &options, NULL);
    want = mhar_colour_map_at ((MharColourMap)map, 1);
    mhar_drawing_colour (drawing, 0, mhar_drawing_layout (drawing)->high, &r, &g, &b);
    g_assert_cmpfloat (r, ==, want.r);
    g_assert_cmpfloat (g, ==, want.g);
    g_assert_cmpfloat (b, ==, want.b);
  }
}

static void
test_sources (void)
{
  g_autoptr (MharDataset) set = sample_full (13, 4);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharDrawing) drawing = NULL;
  const MharFigureLayout *layout;
  guint panel, row, column;
  MharFigureRect cell;

  sample_add_sources (set, 13, 4);
  options.site = 7;
  options.head = 2;
  options.sorted = TRUE;
  drawing = mhar_drawing_new (set, MHAR_FIGURE_SOURCES, &options, NULL);
  cairo_surface_destroy (paint (drawing, 700, 500, 1));
  layout = mhar_drawing_layout (drawing);
  g_assert_cmpuint (layout->n_panels, ==, 2);
  g_assert_cmpuint (layout->n_columns, ==, 13);
  g_assert_cmpuint (layout->panels[1].n_columns, ==, 8);
  for (guint i = 1; i < 8; i++)
    g_assert_cmpfloat (mhar_drawing_value (drawing, 1, 0, i - 1), >=, mhar_drawing_value (drawing, 1, 0, i));
  g_assert_cmpfloat_with_epsilon (mhar_drawing_value (drawing, 0, 0, 7),
                                  exp ((double)((MharField *)mhar_dataset_get (set, "entropy"))->data.f32[7 * 4 + 2]),
                                  1e-9);
  cell = mhar_figure_layout_cell (layout, 1, 0, 7);
  g_assert_true (mhar_figure_layout_hit (layout, cell.x + cell.width / 2, cell.y + 3, &panel, &row, &column));
  g_assert_cmpuint (panel, ==, 1);
  g_assert_cmpuint (column, ==, 7);
  g_assert_cmpfloat (mhar_figure_layout_cell (layout, 1, 0, 8).width, ==, 0);
}

/* Depths differ: what both have stands side by side, the rest has its place, `final` stays last. */
static void
test_compare (void)
{
  g_autoptr (MharDataset) shallow = sample_full (13, 4), deep = sample_full (25, 2);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharDrawing) drawing = NULL;
  const MharPairing *pairing;
  guint row, column;

  options.head = 1;
  options.other = deep;
  drawing = mhar_drawing_new (shallow, MHAR_FIGURE_COMPARE, &options, NULL);
  cairo_surface_destroy (paint (drawing, 900, 400, 1));
  pairing = mhar_drawing_pairing (drawing);
  g_assert_cmpuint (pairing->n_rows, ==, 25);
  g_assert_cmpuint (pairing->n_columns, ==, 25);
  g_assert_cmpstr (pairing->rows[24], ==, "final");
  g_assert_cmpuint (pairing->sites[0][24], ==, 12);
  g_assert_cmpuint (pairing->sites[1][24], ==, 24);
  g_assert_cmpuint (pairing->sites[0][20], ==, G_MAXUINT);
  g_assert_true (mhar_pairing_find (pairing, 0, 12, 5, &row, &column));
  g_assert_cmpuint (row, ==, 24);
  g_assert_cmpuint (column, ==, 5);
  g_assert_true (isnan (mhar_drawing_value (drawing, 0, 20, 3)));
  g_assert_true (isfinite (mhar_drawing_value (drawing, 2, 20, 3)));
  g_assert_true (isnan (mhar_drawing_value (drawing, 1, 20, 3)));
  g_assert_cmpfloat (mhar_drawing_value (drawing, 1, 7, 2), ==,
                     mhar_drawing_value (drawing, 2, 7, 2) - mhar_drawing_value (drawing, 0, 7, 2));
}

/* Heads of four and of two are not the same heads: the mean over heads is compared. */
static void
test_compare_numbers_of_heads (void)
{
  g_autoptr (MharDataset) four = sample_full (13, 4), two = sample_full (13, 2);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharDrawing) drawing = NULL;
  const MharField *weight = mhar_dataset_get (four, "weight");
  double mean = 0;

  options.head = 1;
  options.other = two;
  drawing = mhar_drawing_new (four, MHAR_FIGURE_COMPARE, &options, NULL);
  for (gsize h = 0; h < 4; h++)
    mean += mhar_field_value (weight, (7 * 4 + h) * weight->shape[2] + 2) / 4;
  g_assert_cmpint (mhar_drawing_layout (drawing)->panels[0].head, ==, MHAR_FIGURE_CONSENSUS);
  g_assert_cmpfloat_with_epsilon (mhar_drawing_value (drawing, 0, 7, 2), mean, 1e-9);
}

/* On a screen the difference is larger than the other two, none of the three lies upon another, and all are on the page; a
 * page to be saved has them in a row. */
static void
test_compare_enlarged (void)
{
  static const double sizes[][2] = { { 688, 610 }, { 560, 408 }, { 1200, 900 } };
  g_autoptr (MharDataset) one = sample_full (13, 4), two = sample_full (13, 4);
  MharFigureOptions options = plain_options ();

  options.other = two;
  options.screen = TRUE;
  options.bare = TRUE;
  for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes); i++) {
    g_autoptr (MharDrawing) drawing = NULL;
    const double *size = sizes[i / 2];

    options.screen = i % 2 == 0;
    drawing = mhar_drawing_new (one, MHAR_FIGURE_COMPARE, &options, NULL);
    cairo_surface_destroy (paint (drawing, (int)size[0], (int)size[1], 1));
    const MharFigureLayout *layout = mhar_drawing_layout (drawing);
    const MharFigureRect *a = &layout->panels[0].cells, *difference = &layout->panels[1].cells, *b = &layout->panels[2].cells;
    g_assert_cmpfloat_with_epsilon (a->width, b->width, 1e-9);
    if (!options.screen) {
      g_assert_cmpfloat_with_epsilon (difference->width, a->width, 1e-9);
      continue;
    }
    g_assert_cmpfloat (difference->width, >, 2 * a->width);
    g_assert_cmpfloat (difference->width, >, 0.35 * size[0]);
    g_assert_cmpfloat (a->y + a->height, <, b->y);
    g_assert_cmpfloat_with_epsilon (b->y + b->height, difference->y + difference->height, 1e-6);
    g_assert_cmpfloat (a->x + a->width, <, layout->bar.x);
    g_assert_cmpfloat (layout->bar.x + layout->bar.width, <, difference->x);
    g_assert_cmpfloat (difference->x + difference->width, <, size[0]);
    g_assert_cmpfloat (difference->y + difference->height, <, size[1]);
    g_assert_cmpfloat (layout->heading.y, >=, 0);
  }
}

static void
test_compare_errors (void)
{
  g_autoptr (MharDataset) one = sample_full (13, 4), two = sample_full (13, 2), empty = mhar_dataset_new ("empty");
  MharFigureOptions options = plain_options ();
  const MharDataset *others[] = { NULL, empty, two };

  options.head = 3;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autoptr (GError) error = NULL;

    options.other = others[i];
    g_assert_null (mhar_drawing_new (one, MHAR_FIGURE_COMPARE, &options, &error));
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
  }
}

/* Labels that a file may hold: none, the same again and again. */
static void
test_pairing_of_odd_labels (void)
{
  g_autoptr (MharDataset) a = sample_full (9, 2), b = sample_full (9, 2);
  MharField *sites = mhar_dataset_get (a, "site_label"), *sources = mhar_dataset_get (b, "source_label");
  g_autoptr (MharPairing) pairing = NULL;

  for (guint i = 0; i < 9; i++) {
    g_free (sites->data.str[i]);
    sites->data.str[i] = i % 2 ? g_strdup ("same") : NULL;
  }
  for (gsize i = 0; i < mhar_field_length (sources); i++) {
    g_free (sources->data.str[i]);
    sources->data.str[i] = g_strdup ("final");
  }
  pairing = mhar_pairing_new (a, b, "weight", NULL);
  g_assert_cmpuint (pairing->n_rows, ==, 6 + 9);
  g_assert_cmpuint (pairing->n_columns, ==, 10);
}

/* Only by their numbers: the command line has no names for what needs more than a name. */
static void
test_names (void)
{
  MharFigureKind kind;

  g_assert_false (mhar_figure_kind_parse ("sources", &kind, NULL));
  g_assert_cmpstr (mhar_figure_kind_name (MHAR_FIGURE_SOURCES), ==, "sources");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/figure-display/view-cells", test_view_cells);
  g_test_add_func ("/figure-display/view-limits", test_view_limits);
  g_test_add_func ("/figure-display/view-of-all-is-no-view", test_view_of_all_is_no_view);
  g_test_add_func ("/figure-display/reduction-keeps-the-largest", test_reduction_keeps_the_largest);
  g_test_add_func ("/figure-display/scales", test_scales);
  g_test_add_func ("/figure-display/odd-scales", test_odd_scales);
  g_test_add_func ("/figure-display/maps", test_maps);
  g_test_add_func ("/figure-display/sources", test_sources);
  g_test_add_func ("/figure-display/compare", test_compare);
  g_test_add_func ("/figure-display/compare-heads", test_compare_numbers_of_heads);
  g_test_add_func ("/figure-display/compare-enlarged", test_compare_enlarged);
  g_test_add_func ("/figure-display/compare-errors", test_compare_errors);
  g_test_add_func ("/figure-display/pairing-of-odd-labels", test_pairing_of_odd_labels);
  g_test_add_func ("/figure-display/names", test_names);
  return g_test_run ();
}
