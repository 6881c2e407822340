/* SPDX-License-Identifier: MIT */
/* bench-interventions CHECKPOINT [T] [W] [repeats]: the whole ablation map (every source of every site left out in turn,
 * with its loss) over W windows of T tokens on the CPU, the beginning of the forwards shared and not, in one run. Prints
 * medians of the processor time, the ratio of the two, and what one intervention costs of a forward. */
#include "core/dialect.h"
#include "core/forward.h"
#include "tests/bench/median.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of all threads together, which other programs on the machine change less than they do the clock. */
static double
now (void)
{
  return (double) clock () / CLOCKS_PER_SEC;
}

/* A drop for each source of each site that has two. */
static GPtrArray *
every_drop (const MharPlan *plan)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);

  for (guint s = 0; s < plan->sites->len; s++) {
    int n_sources = mhar_plan_site (plan, s)->n_sources;
    for (int n = 0; n_sources > 1 && n < n_sources; n++) {
      g_autofree gboolean *drop = g_new0 (gboolean, n_sources);
      MharPlanEdit *edit = mhar_plan_edit_new ();
      drop[n] = TRUE;
      g_ptr_array_add (edit, mhar_site_edit_drop (plan, s, drop));
      g_ptr_array_add (list, edit);
    }
  }
  return list;
}

static gboolean
take_loss (MharForward *forward, guint index G_GNUC_UNUSED, gpointer user, GError **error)
{
  return mhar_forward_loss (forward, user, error);
}

/* Seconds of all edits; negative with an error. */
static double
time_edits (MharForward *forward, const GPtrArray *list, gboolean apart, double *sums, GError **error)
{
  MharForwardEdits edits = { .list = list, .done = take_loss, .user = sums, .apart = apart };
  double start = now ();

  return mhar_forward_run_edits (forward, &edits, NULL, error) ? now () - start : -1;
}

static gboolean
bench (const char *path, guint T, guint W, int repeats, GError **error)
{
  const MharDialectOptions dialect = { 0 };
  const MharForwardSize size = { .windows = W, .length = T, .again = TRUE };
  g_autoptr (MharCheckpoint) checkpoint = mhar_checkpoint_open (path, error);
  g_autoptr (MharPlan) plan = checkpoint != NULL ? mhar_plan_from_checkpoint (checkpoint, &dialect, error) : NULL;
  g_autoptr (MharDevice) device = plan != NULL ? mhar_device_open ("cpu", MHAR_PRECISION_DEFAULT, FALSE, error) : NULL;
  g_autoptr (MharModel) model = device != NULL ? mhar_model_new (device, checkpoint, plan, error) : NULL;
  g_autoptr (MharForward) forward = model != NULL ? mhar_forward_new (model, &size, error) : NULL;
  g_autofree double *shared = g_new (double, repeats), *apart = g_new (double, repeats), *one = g_new (double, repeats);
  g_autofree double *sums = g_new (double, W);
  g_autofree gint32 *ids = g_new (gint32, W * T);

  if (forward == NULL)
    return FALSE;
  g_autoptr (GPtrArray) list = every_drop (plan);
  for (guint i = 0; i < W * T; i++)
    ids[i] = (gint32) ((i * 2654435761u) % (guint) mhar_model_body (model)->vocab);
  for (int r = 0; r < repeats; r++) {
    double start = now ();
    if (!mhar_forward_run (forward, ids, W, T, NULL, error) || !mhar_forward_loss (forward, sums, error))
      return FALSE;
    one[r] = now () - start;
    shared[r] = time_edits (forward, list, FALSE, sums, error);
    apart[r] = shared[r] < 0 ? -1 : time_edits (forward, list, TRUE, sums, error);
    if (apart[r] < 0)
      return FALSE;
  }
  double f = median (one, repeats), s = median (shared, repeats), a = median (apart, repeats);
  printf ("processor time of all threads:\n");
  printf ("forward and loss                 %9.1f ms\n", 1e3 * f);
  printf ("%4u ablations, beginning shared %9.1f ms  %.2f of a forward each\n", list->len, 1e3 * s, s / f / list->len);
  printf ("%4u ablations, each by itself   %9.1f ms  ratio %.2f\n", list->len, 1e3 * a, s / a);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  if (argc < 2) {
    fprintf (stderr, "usage: bench-interventions CHECKPOINT [T] [W] [repeats]\n");
    return 2;
  }
  if (bench (argv[1], argc > 2 ? (guint) atoi (argv[2]) : 1024, argc > 3 ? (guint) atoi (argv[3]) : 2,
             argc > 4 ? atoi (argv[4]) : 3, &error))
    return 0;
  fprintf (stderr, "bench-interventions: %s\n", error->message);
  return 1;
}
