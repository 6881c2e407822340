/* SPDX-License-Identifier: MIT */
/* bench-forward DEVICE FOLDER [SHAPE…]: whole forward passes of random checkpoints at full size, made in FOLDER on the spot. Medians
 * over runs between two synchronisations, warmed up; tokens a second. The peers' figures it is read against are in RESULTS.md. */
#include "core/dialect.h"
#include "probes/rig.h"
#include "probes/run.h"
#include "tests/bench/random-checkpoint.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 7

static const MharBenchShape shapes[] = {
  { "100M", 512, 12, 8, 4, 64, 1536, 151936, 4, 8, 2048 },
  { "350M", 1024, 24, 16, 8, 64, 4096, 151936, 8, 8, 1024 },
  { "1B", 1280, 36, 16, 8, 80, 5120, 151936, 8, 8, 1024 },
  { "tiny", 64, 3, 4, 2, 16, 128, 512, 2, 4, 64 },
};

typedef struct {
  const MharBenchShape *shape;
  MharDevice *device;
  MharCheckpoint *checkpoint;
  MharPlan *plan;
  MharModel *model;
  gint32 *ids;
  float *logits;
} Bench;

/* What a timed run does after the forward pass. */
typedef struct {
  const char *name;
  gboolean forward_only, loss, plain;
  MharProbeFlags probes;
  guint draws;
} Work;

static const Work works[] = {
  { "forward, last logit", TRUE, FALSE, FALSE, 0, 0 },
  { "the same, plain routing", TRUE, FALSE, TRUE, 0, 0 },
  { "+ capture and collinearity", FALSE, FALSE, FALSE, MHAR_PROBE_DEPTH_MAPS | MHAR_PROBE_COLLINEARITY, 0 },
  { "+ full loss", FALSE, TRUE, FALSE, MHAR_PROBE_DEPTH_MAPS | MHAR_PROBE_COLLINEARITY, 0 },
  { "+ full loss, 1 draw", FALSE, TRUE, FALSE, MHAR_PROBE_ALL, 1 },
  { "+ full loss, 32 draws", FALSE, TRUE, FALSE, MHAR_PROBE_ALL, 32 },
  { "+ full loss, 256 draws", FALSE, TRUE, FALSE, MHAR_PROBE_ALL, 256 },
};

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* One run of the work, in seconds; negative on error. Without the loss, the probes' sums are taken by hand. */
static double
run_once (Bench *b, MharForward *forward, MharRig *rig, const Work *work, GError **error)
{
  const MharOps *ops = mhar_device_ops (b->device);
  guint W = (guint) b->shape->windows, t = (guint) b->shape->length;
  gint64 start;

  ops->synchronize (mhar_device_context (b->device));
  start = g_get_monotonic_time ();
  if (work->forward_only) {
    if (!mhar_forward_run (forward, b->ids, W, t, NULL, error) || !mhar_forward_last_logits (forward, b->logits, error))
      return -1;
  } else {
    g_autoptr (MharDataset) slab = mhar_rig_batch (rig, b->ids, W, t, 0, -1, work->loss, NULL, error);
    if (slab == NULL || (!work->loss && !mhar_forward_last_logits (mhar_rig_forward (rig), b->logits, error)))
      return -1;
  }
  ops->synchronize (mhar_device_context (b->device));
  return (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
}

static gboolean
time_work (Bench *b, const Work *work, GError **error)
{
  double times[RUNS];
  guint W = (guint) b->shape->windows, t = (guint) b->shape->length;
  MharForwardSize size = { W, t, work->plain, 0 };
  MharProbeOptions options;
  g_autoptr (MharForward) forward = NULL;
  g_autoptr (MharRig) rig = NULL;

  mhar_probe_options_init (&options);
  options.context = t;
  options.probes = work->probes;
  options.null_draws = work->draws;
  MharProbeSetup setup = { b->plan, &options, b->plan->sites->len, (gsize) b->shape->routing_heads,
                           2 * (gsize) b->plan->layers + 1, b->plan->outputs->len };
  if (work->forward_only)
    forward = mhar_forward_new (b->model, &size, error);
  else
    rig = mhar_rig_new (b->model, &setup, W, error);
  if (forward == NULL && rig == NULL)
    return FALSE;
  for (int r = -2; r < RUNS; r++) {
    double seconds = run_once (b, forward, rig, work, error);
    if (seconds < 0)
      return FALSE;
    if (r >= 0)
      times[r] = seconds;
  }
  qsort (times, RUNS, sizeof *times, compare);
  printf ("  %-28s %9.2f ms %10.0f tokens/s\n", work->name, 1e3 * times[RUNS / 2], W * t / times[RUNS / 2]);
  fflush (stdout);
  return TRUE;
}

static gboolean
bench_shape (Bench *b, const char *folder, GError **error)
{
  const MharBenchShape *s = b->shape;
  MharDialectOptions dialect = { 0 };
  gsize T = (gsize) s->windows * s->length;

  if (!mhar_bench_write_checkpoint (folder, s, error) || (b->checkpoint = mhar_checkpoint_open (folder, error)) == NULL ||
      (b->plan = mhar_plan_from_checkpoint (b->checkpoint, &dialect, error)) == NULL)
    return FALSE;
  gint64 start = g_get_monotonic_time ();
  b->model = mhar_model_new (b->device, b->checkpoint, b->plan, error);
  if (b->model == NULL)
    return FALSE;
  printf ("%s: d%d L%d, %d windows of %d, H %d, vocabulary %d; weights loaded in %.2f s\n", s->name, s->width, s->layers,
          s->windows, s->length, s->routing_heads, s->vocab, (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC);
  b->ids = g_new (gint32, T);
  b->logits = g_new (float, (gsize) s->windows *s->vocab);
  for (gsize i = 0; i < T; i++)
    b->ids[i] = (gint32) ((i * 2654435761u) % (guint) s->vocab);
  for (guint w = 0; w < G_N_ELEMENTS (works); w++)
    if (!time_work (b, &works[w], error))
      return FALSE;
  return TRUE;
}

static void
bench_clear (Bench *b)
{
  g_clear_pointer (&b->model, mhar_model_free);
  g_clear_pointer (&b->plan, mhar_plan_free);
  g_clear_pointer (&b->checkpoint, mhar_checkpoint_free);
  g_clear_pointer (&b->ids, g_free);
  g_clear_pointer (&b->logits, g_free);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Bench b = { 0 };
  gboolean good = TRUE;

  if (argc < 4) {
    fprintf (stderr, "usage: bench-forward DEVICE FOLDER SHAPE…\n");
    return 2;
  }
  b.device = mhar_device_open (argv[1], MHAR_PRECISION_DEFAULT, TRUE, &error);
  good = b.device != NULL;
  for (guint i = 0; good && i < G_N_ELEMENTS (shapes); i++)
    for (int a = 3; a < argc && good; a++)
      if (strcmp (argv[a], shapes[i].name) == 0) {
        b.shape = &shapes[i];
        good = bench_shape (&b, argv[2], &error);
        bench_clear (&b);
      }
  mhar_device_free (b.device);
  if (!good)
    fprintf (stderr, "bench-forward: %s\n", error->message);
  return good ? 0 : 1;
}
