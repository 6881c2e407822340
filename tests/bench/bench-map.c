/* SPDX-License-Identifier: MIT */
/* How long a depth map of a deep model (96 layers, 193 sites) takes to draw in a window of 1000 × 700.
 *
 * "redraw": what a frame costs when only pointer or cursor moved: the view's snapshot and GTK's renderer putting it on
 * a surface. "zoom step": what one step of zoom or pan adds: the picture made anew. "new data": the same with
 * everything that depends on the data, as while running. Milliseconds, the median and the least of so many. With
 * --check the exit status is 1 where a redraw or a zoom step of one map takes more than 4 ms. Needs a display. */
#include "app/gui/map-view.h"
#include "figure-samples.h"

#include <stdlib.h>
#include <string.h>

#define SITES 193
#define HEADS 8
#define ROUNDS 41
#define WIDTH 1000
#define HEIGHT 700
#define ALLOWED 4.0

typedef struct {
  GtkWidget *window, *view;
  cairo_surface_t *target;
  guint round;
} Bench;

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return x < y ? -1 : x > y;
}

/* Runs `step` and prints its times; returns the median. */
static double
measure (const char *what, Bench *bench, void (*step) (Bench *bench))
{
  double times[ROUNDS];

  for (bench->round = 0; bench->round < ROUNDS; bench->round++) {
    gint64 before = g_get_monotonic_time ();

    step (bench);
    times[bench->round] = (double)(g_get_monotonic_time () - before) / 1e3;
  }
  qsort (times, ROUNDS, sizeof times[0], compare_doubles);
  g_print ("%-34s %7.2f %7.2f\n", what, times[ROUNDS / 2], times[0]);
  return times[ROUNDS / 2];
}

/* The widget's nodes, made by its own snapshot, and put on an image as GTK's Cairo renderer does. */
static void
frame (Bench *bench)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  cairo_t *cr = cairo_create (bench->target);
  int scale = gtk_widget_get_scale_factor (bench->view);

  GTK_WIDGET_GET_CLASS (bench->view)->snapshot (bench->view, snapshot);
  node = gtk_snapshot_free_to_node (snapshot);
  cairo_scale (cr, scale, scale);
  if (node != NULL)
    gsk_render_node_draw (node, cr);
  cairo_destroy (cr);
  g_clear_pointer (&node, gsk_render_node_unref);
}

static void
redraw (Bench *bench)
{
  MharSelection *selection = mhar_figure_view_get_selection (MHAR_FIGURE_VIEW (bench->view));

  mhar_selection_set_cell (selection, 100 + (int)bench->round, 2, (int)bench->round);
  frame (bench);
}

static void
zoom_step (Bench *bench)
{
  double cells = 190 - 3.3 * bench->round;

  mhar_figure_view_set_zoom (MHAR_FIGURE_VIEW (bench->view),
                             &(MharFigureRect){ 0.7 * bench->round, 0.9 * bench->round, cells, cells });
  frame (bench);
}

static void
new_data (Bench *bench)
{
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (bench->view),
                                mhar_figure_view_get_dataset (MHAR_FIGURE_VIEW (bench->view)));
  frame (bench);
}

static double
run_maps (Bench *bench, gboolean enlarged)
{
  const char *maps = enlarged ? "one map" : "nine maps";
  double still, moving;

  mhar_map_view_set_enlarged (MHAR_MAP_VIEW (bench->view), enlarged);
  gtk_test_widget_wait_for_draw (bench->window);
  mhar_figure_view_set_zoom (MHAR_FIGURE_VIEW (bench->view), &(MharFigureRect){ 0 });
  frame (bench);
  g_print ("%s, %d × %d cells each\n", maps, SITES, SITES);
  still = measure ("  redraw", bench, redraw);
  moving = measure ("  zoom step", bench, zoom_step);
  mhar_figure_view_set_zoom (MHAR_FIGURE_VIEW (bench->view), &(MharFigureRect){ 0 });
  measure ("  new data", bench, new_data);
  return MAX (still, moving);
}

int
main (int argc, char **argv)
{
  gboolean check = argc > 1 && strcmp (argv[1], "--check") == 0;
  Bench bench = { 0 };
  MharSelection *selection;
  MharDataset *set;
  double worst;
  int scale;

  if (!gtk_init_check ())
    return 77;
  selection = mhar_selection_new ();
  set = sample_full (SITES, HEADS);
  sample_add_sources (set, SITES, HEADS);
  mhar_selection_set_dataset (selection, set);
  mhar_selection_set_cell (selection, 100, 2, 40);
  bench.view = mhar_map_view_new (selection);
  mhar_map_view_set_dataset (MHAR_MAP_VIEW (bench.view), set);
  bench.window = gtk_window_new ();
  gtk_window_set_decorated (GTK_WINDOW (bench.window), FALSE);
  gtk_window_set_default_size (GTK_WINDOW (bench.window), WIDTH, HEIGHT);
  gtk_window_set_child (GTK_WINDOW (bench.window), bench.view);
  gtk_window_present (GTK_WINDOW (bench.window));
  gtk_test_widget_wait_for_draw (bench.window);
  scale = gtk_widget_get_scale_factor (bench.view);
  bench.target = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, WIDTH * scale, HEIGHT * scale);
  g_print ("%d × %d at scale %d; milliseconds: median, least of %d\n", WIDTH, HEIGHT, scale, ROUNDS);
  worst = run_maps (&bench, TRUE);
  run_maps (&bench, FALSE);
  gtk_window_destroy (GTK_WINDOW (bench.window));
  cairo_surface_destroy (bench.target);
  g_object_unref (selection);
  mhar_dataset_unref (set);
  return check && worst > ALLOWED;
}
