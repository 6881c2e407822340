/* SPDX-License-Identifier: MIT */
/* bench-window CHECKPOINT [SECONDS [table]]: how long the window leaves its main loop waiting, in a run over a deep model
 * while pages are turned, sites are walked and the window is asked to do what a person asks of it.
 *
 * A source of high priority wants to be called every 5 ms. What passes between two calls, less those 5 ms, is a gap: a
 * key pressed then waits as long. Prints the gaps over 20 ms, how much of each the window's own thread computed (the rest
 * is other programs' and the run's), the page that was up, and the largest; the aim is 50 ms. With "table" the tables of
 * the pages' numbers are up instead of their pictures. Needs a display. */
#include "app/gui/application.h"
#include "app/gui/pages.h"

#include <stdlib.h>
#include <time.h>

#define TICK_MS 5
#define STEP_MS 150
#define SHOWN_MS 20.0

typedef struct {
  GtkApplication *application;
  gint64 last, end; /* µs */
  double computed;  /* ms of this thread, at `last` */
  gint64 now_page;  /* index of the page that is up */
  int step, seconds, beats;
  gboolean table, over;
  guint gaps;
  double largest, largest_own; /* ms */
} Bench;

static GtkWidget *
window_of (Bench *bench)
{
  return GTK_WIDGET (gtk_application_get_active_window (bench->application));
}

/* Milliseconds that this thread has computed. */
static double
computed (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static gboolean
tick (gpointer data)
{
  Bench *bench = data;
  gint64 now = g_get_monotonic_time ();
  double gap = (double)(now - bench->last) / 1e3 - TICK_MS, own = computed () - bench->computed;

  if (bench->over)
    return G_SOURCE_REMOVE;
  bench->last = now;
  bench->computed += own;
  bench->beats++;
  if (gap > SHOWN_MS) {
    g_print ("%7.1f ms, %.1f of them computed, on %s, step %d\n", gap, own, mhar_page_name ((MharPage)bench->now_page),
             bench->step);
    bench->gaps++;
  }
  bench->largest = MAX (bench->largest, gap);
  bench->largest_own = MAX (bench->largest_own, own);
  return G_SOURCE_CONTINUE;
}

/* What a person does: turns pages, walks along sites, changes what is drawn. */
static gboolean
act (gpointer data)
{
  Bench *bench = data;
  GtkWidget *window = window_of (bench);

  if (window == NULL)
    return G_SOURCE_CONTINUE;
  if (g_get_monotonic_time () > bench->end) {
    bench->over = TRUE;
    gtk_window_destroy (GTK_WINDOW (window));
    return G_SOURCE_REMOVE;
  }
  bench->step++;
  if (bench->step % 3 == 0) {
    bench->now_page = (bench->now_page + 1) % MHAR_PAGE_COMPARE;
    gtk_widget_activate_action (window, "win.page", "s", mhar_page_name ((MharPage)bench->now_page));
  } else if (bench->step % 7 == 0) {
    gtk_widget_activate_action (window, "win.other-quantity", NULL);
  } else if (bench->step % 11 == 0) {
    gtk_widget_activate_action (window, "win.enlarge", NULL);
  }
  return G_SOURCE_CONTINUE;
}

/* When the checkpoint is there: the run, and the clock. */
static gboolean
begin (gpointer data)
{
  Bench *bench = data;
  GtkWidget *window = window_of (bench);
  gboolean enabled
      = window != NULL && g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run");

  if (!enabled)
    return G_SOURCE_CONTINUE;
  if (bench->table)
    gtk_widget_activate_action (window, "win.table", NULL);
  gtk_widget_activate_action (window, "win.run", NULL);
  bench->last = g_get_monotonic_time ();
  bench->computed = computed ();
  bench->end = bench->last + bench->seconds * G_USEC_PER_SEC;
  g_timeout_add_full (G_PRIORITY_HIGH, TICK_MS, tick, bench, NULL);
  g_timeout_add (STEP_MS, act, bench);
  return G_SOURCE_REMOVE;
}

int
main (int argc, char **argv)
{
  Bench bench = { .seconds = argc > 2 ? atoi (argv[2]) : 20, .table = argc > 3 && g_str_equal (argv[3], "table") };

  if (argc < 2 || !gtk_init_check ()) {
    g_printerr ("bench-window CHECKPOINT [SECONDS [table]], on a display\n");
    return 77;
  }
  g_autoptr (MharApplication) application = mhar_application_new ();
  bench.application = GTK_APPLICATION (application);
  g_application_set_flags (G_APPLICATION (application),
                           g_application_get_flags (G_APPLICATION (application)) | G_APPLICATION_NON_UNIQUE);
  g_timeout_add (200, begin, &bench);
  int status = g_application_run (G_APPLICATION (application), 2, argv);
  g_print ("%d turns of the main loop in %d s; %u gaps over %.0f ms; the largest %.1f ms, the most computed at once "
           "%.1f ms\n",
           bench.beats, bench.seconds, bench.gaps, SHOWN_MS, bench.largest, bench.largest_own);
  return status;
}
