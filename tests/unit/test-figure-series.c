/* SPDX-License-Identifier: MIT */
/* The figure of a training run: a plot a scalar, a dot a step where there is a value, and nothing that a file holds or
 * lacks does worse than an error. */
#include "app/figure/colour-map.h"
#include "app/figure/drawing.h"
#include "app/figure/figure.h"

#include <math.h>
#include <string.h>

#define FONT "DejaVu Sans"

static const gint32 steps[] = { 10, 100, 1000, 1500, 2000 };

static MharField *
add (MharDataset *set, const char *name, MharFieldType type, gsize n)
{
  const char *dim = "step";
  return mhar_dataset_add (set, mhar_field_new (name, name, "1", type, 1, &dim, &n));
}

/* Values that differ from step to step, with ends around them. */
static void
add_curve (MharDataset *set, const char *name, gsize n, gboolean ends)
{
  static const char *const tails[] = { "", "_low", "_high" };

  for (guint e = 0; e < (ends ? 3 : 1); e++) {
    g_autofree char *full = g_strconcat (name, tails[e], NULL);
    MharField *field = add (set, full, MHAR_FIELD_F64, n);
    for (gsize i = 0; i < n; i++)
      field->data.f64[i] = 1 + 0.3 * sin ((double)i * 1.3 + (double)strlen (name)) + (e == 1 ? -0.1 : e == 2 ? 0.1 : 0);
  }
}

static MharDataset *
make_series (gsize n)
{
  MharDataset *set = mhar_dataset_new ("series");
  MharField *step = add (set, "step", MHAR_FIELD_I32, n);

  for (gsize i = 0; i < n; i++)
    step->data.i32[i] = steps[i];
  add_curve (set, "loss", n, TRUE);
  add_curve (set, "head_js_trained", n, TRUE);
  add_curve (set, "head_js_null", n, TRUE);
  add_curve (set, "head_correlation", n, TRUE);
  add_curve (set, "head_correlation_floor", n, FALSE);
  add_curve (set, "head_js_null_sd", n, FALSE);
  add_curve (set, "something_new", n, FALSE);
  return set;
}

static MharFigureOptions
plain_options (void)
{
  MharFigureOptions options;

  mhar_figure_options_init (&options);
  options.family = FONT;
  return options;
}

static cairo_surface_t *
render (const MharDataset *set, const MharFigureOptions *options, double width, double height)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int)ceil (width), (int)ceil (height));
  cairo_t *cr = cairo_create (surface);
  g_autoptr (GError) error = NULL;

  g_assert_true (mhar_figure_draw (cr, set, MHAR_FIGURE_SERIES, options, width, height, &error));
  g_assert_no_error (error);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

/* Pixels of exactly the accent colour around x, in the height of the panel. */
static guint
count_accent (cairo_surface_t *surface, const MharFigureRect *cells, double x)
{
  const MharRgb *accent = &mhar_palette_get (MHAR_FIGURE_LIGHT, MHAR_FIGURE_PLAIN)->accent;
  guint32 want = (guint32)lround (accent->r * 255) << 16 | (guint32)lround (accent->g * 255) << 8
                 | (guint32)lround (accent->b * 255);
  const guint8 *data = cairo_image_surface_get_data (surface);
  guint n = 0;

  for (int row = (int)cells->y; row < (int)(cells->y + cells->height); row++)
    for (int column = (int)x - 1; column <= (int)x + 1; column++) {
      guint32 value;
      memcpy (&value, data + (gsize)row * (gsize)cairo_image_surface_get_stride (surface) + (gsize)column * 4, 4);
      n += (value & 0xffffff) == want;
    }
  return n;
}

static double
step_x (const MharFigureRect *cells, gsize i, gsize n)
{
  return cells->x + cells->width * (0.04 + 0.92 * (double)(steps[i] - steps[0]) / (double)(steps[n - 1] - steps[0]));
}

static void
test_a_dot_a_value (void)
{
  const gsize n = G_N_ELEMENTS (steps);
  g_autoptr (MharDataset) set = make_series (n);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharFigureLayout) layout = NULL;
  cairo_surface_t *surface;

  /* Neither neighbour of the first curve's third step has a value: no line passes, and no dot is there. */
  for (gsize i = 1; i < 4; i++)
    mhar_dataset_get (set, "loss")->data.f64[i] = NAN;
  options.bare = TRUE;
  layout = mhar_figure_layout_new (set, MHAR_FIGURE_SERIES, &options, 900, 700, NULL);
  surface = render (set, &options, 900, 700);
  g_assert_cmpuint (layout->n_panels, ==, 4); /* loss, head disagreement, head correlation, something new */
  g_assert_cmpuint (layout->n_columns, ==, n);
  for (guint p = 0; p < layout->n_panels; p++)
    for (gsize i = 2; i < n; i++) { /* the first two are too near each other to tell apart */
      guint found = count_accent (surface, &layout->panels[p].cells, step_x (&layout->panels[p].cells, i, n));
      if (p == 0 && i < 4)
        g_assert_cmpuint (found, ==, 0);
      else
        g_assert_cmpuint (found, >=, 2);
    }
  cairo_surface_destroy (surface);
}

static void
test_values (void)
{
  g_autoptr (MharDataset) set = make_series (5);
  MharFigureOptions options = plain_options ();
  g_autoptr (MharDrawing) drawing = mhar_drawing_new (set, MHAR_FIGURE_DEFAULT, &options, NULL);

  g_assert_nonnull (drawing);
  g_assert_cmpint (mhar_drawing_layout (drawing)->kind, ==, MHAR_FIGURE_SERIES);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpfloat (mhar_drawing_value (drawing, 1, 0, i), ==,
                       mhar_dataset_get (set, "head_js_trained")->data.f64[i]);
  g_assert_cmpstr (mhar_drawing_label (drawing, 0, TRUE, 2), ==, "step 1000");
}

/* Plots lie on the page and not on each other, whatever its size. */
static void
test_sizes (void)
{
  static const double sizes[][2]
      = { { 1, 1 }, { 20, 300 }, { 300, 20 }, { 90, 60 }, { 250, 180 }, { 504, 300 }, { 1600, 1200 } };
  g_autoptr (MharDataset) set = make_series (5);
  MharFigureOptions options = plain_options ();

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    g_autoptr (MharFigureLayout) layout
        = mhar_figure_layout_new (set, MHAR_FIGURE_SERIES, &options, sizes[k][0], sizes[k][1], NULL);
    cairo_surface_destroy (render (set, &options, sizes[k][0], sizes[k][1]));
    for (guint p = 0; p < layout->n_panels; p++) {
      const MharFigureRect *at = &layout->panels[p].cells;
      g_assert_cmpfloat (at->x, >=, 0);
      g_assert_cmpfloat (at->y, >=, 0);
      if (sizes[k][0] >= 90) {
        g_assert_cmpfloat (at->x + at->width, <=, sizes[k][0] + 1e-6);
        g_assert_cmpfloat (at->y + at->height, <=, sizes[k][1] + 1e-6);
      }
      for (guint other = 0; other < p; other++) {
        const MharFigureRect *its = &layout->panels[other].cells;
        g_assert_true (its->x + its->width <= at->x + 1e-6 || its->y + its->height <= at->y + 1e-6
                       || at->x + at->width <= its->x + 1e-6);
      }
    }
  }
}

static void
test_odd_data (void)
{
  MharFigureOptions options = plain_options ();

  for (gsize n = 1; n <= 2; n++) {
    g_autoptr (MharDataset) few = make_series (n);
    cairo_surface_destroy (render (few, &options, 504, 400));
  }
  g_autoptr (MharDataset) odd = make_series (5);
  mhar_dataset_get (odd, "loss")->data.f64[2] = INFINITY;
  mhar_dataset_get (odd, "loss_low")->data.f64[3] = -1e308;
  mhar_dataset_get (odd, "loss_high")->data.f64[3] = 1e308;
  for (guint i = 0; i < 5; i++)
    mhar_dataset_get (odd, "something_new")->data.f64[i] = 0; /* no range at all */
  add (odd, "too_short", MHAR_FIELD_F64, 3)->data.f64[0] = 1;
  cairo_surface_destroy (render (odd, &options, 504, 400));
  g_autoptr (MharFigureLayout) layout = mhar_figure_layout_new (odd, MHAR_FIGURE_SERIES, &options, 504, 400, NULL);
  g_assert_cmpuint (layout->n_panels, ==, 4); /* what is not as long as the steps is no curve */
  g_autoptr (MharDataset) bare = mhar_dataset_new ("series");
  g_assert_false (mhar_figure_available (bare, MHAR_FIGURE_SERIES));
  add (bare, "step", MHAR_FIELD_I32, 3);
  add (bare, "loss", MHAR_FIELD_F64, 3);
  g_assert_false (mhar_figure_available (bare, MHAR_FIGURE_SERIES)); /* all NaN */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/figure-series/a-dot-a-value", test_a_dot_a_value);
  g_test_add_func ("/figure-series/values", test_values);
  g_test_add_func ("/figure-series/sizes", test_sizes);
  g_test_add_func ("/figure-series/odd-data", test_odd_data);
  return g_test_run ();
}
