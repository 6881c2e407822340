/* SPDX-License-Identifier: MIT */
/* bench-cpu CHECKPOINT [T] [repeats]: the whole forward (every read, its capture and the loss) over the time of its matrix
 * products alone, through the same OpenBLAS with the same threads, in one run. Prints medians and the ratio. */
#include "core/dialect.h"
#include "core/forward.h"
#include "tests/bench/median.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int m, n, k, count; /* out [m, n] = x [m, k] · w [n, k]ᵀ, done `count` times */
} Product;

static double
now (void)
{
  return (double) g_get_monotonic_time () / G_USEC_PER_SEC;
}

/* Time of the products of one forward: the weights', and the attention's for the causal half. */
static double
time_products (const MharBody *b, int T, gboolean attention)
{
  const int e = b->head_dim, wide = (b->heads + 2 * b->kv_heads) * e, block = 64;
  const Product weights[] = {
    { T, wide, b->width, b->layers },     { T, b->width, b->heads * e, b->layers }, { T, 2 * b->ffn, b->width, b->layers },
    { T, b->width, b->ffn, b->layers },   { T, b->vocab, b->width, 1 },
  };
  gsize largest = (gsize) MAX (MAX (2 * b->ffn, b->vocab), MAX (wide, T));
  g_autofree float *x = g_new0 (float, (gsize) T *MAX (b->ffn, MAX (b->width, b->heads *e)));
  g_autofree float *w = g_new0 (float, largest *MAX (b->ffn, MAX (b->width, T)));
  g_autofree float *out = g_new0 (float, (gsize) T *largest);
  for (gsize i = 0; i < (gsize) T * b->width; i++)
    x[i] = (float) sin ((double) i);
  for (gsize i = 0; i < largest * (gsize) b->width; i++)
    w[i] = (float) cos ((double) i);
  double start = now ();

  for (guint p = 0; p < G_N_ELEMENTS (weights); p++)
    for (int i = 0; i < weights[p].count; i++)
      cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasTrans, weights[p].m, weights[p].n, weights[p].k, 1, x, weights[p].k, w,
                   weights[p].k, 0, out, weights[p].n);
  if (attention) {
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int h = 0; h < b->layers * b->heads; h++)
      for (int q = 0; q < T / block; q++) {
        float *scores = out + ((gsize) h * (gsize) (T / block) + (gsize) q) % 8 * (gsize) block * (gsize) T;
        int seen = (q + 1) * block;
        cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasTrans, block, seen, e, 1, x, e, w, e, 0, scores, seen);
        cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasNoTrans, block, e, seen, 1, scores, seen, w, e, 0, x, e);
      }
  }
  return now () - start;
}

static double
time_forward (MharForward *forward, const gint32 *ids, guint T, GError **error)
{
  double sum = 0, start = now ();

  if (!mhar_forward_run (forward, ids, 1, T, NULL, error) || !mhar_forward_loss (forward, &sum, error))
    return -1;
  return now () - start;
}

static gboolean
bench (const char *path, guint T, int repeats, GError **error)
{
  MharDialectOptions dialect = { 0 };
  MharForwardSize size = { 1, T, FALSE, 0 };
  g_autoptr (MharCheckpoint) checkpoint = mhar_checkpoint_open (path, error);
  g_autoptr (MharPlan) plan = checkpoint != NULL ? mhar_plan_from_checkpoint (checkpoint, &dialect, error) : NULL;
  g_autoptr (MharDevice) device = plan != NULL ? mhar_device_open ("cpu", MHAR_PRECISION_DEFAULT, FALSE, error) : NULL;
  g_autoptr (MharModel) model = device != NULL ? mhar_model_new (device, checkpoint, plan, error) : NULL;
  g_autoptr (MharForward) forward = model != NULL ? mhar_forward_new (model, &size, error) : NULL;
  g_autofree double *whole = g_new (double, repeats), *products = g_new (double, repeats), *all = g_new (double, repeats);
  g_autofree gint32 *ids = g_new (gint32, T);

  if (forward == NULL)
    return FALSE;
  const MharBody *body = mhar_model_body (model);
  for (guint i = 0; i < T; i++)
    ids[i] = (gint32) ((i * 2654435761u) % (guint) body->vocab);
  for (int r = -1; r < repeats; r++) {
    double f = time_forward (forward, ids, T, error), p = time_products (body, (int) T, FALSE);
    double a = time_products (body, (int) T, TRUE);
    if (f < 0)
      return FALSE;
    if (r >= 0)
      whole[r] = f, products[r] = p, all[r] = a;
  }
  double f = median (whole, repeats), p = median (products, repeats), a = median (all, repeats);
  printf ("forward, capture and loss %8.1f ms  (%.0f tokens/s)\n", 1e3 * f, T / f);
  printf ("matrix products           %8.1f ms  with attention's; ratio %.2f\n", 1e3 * a, f / a);
  printf ("weight products alone     %8.1f ms  ratio %.2f\n", 1e3 * p, f / p);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  if (argc < 2) {
    fprintf (stderr, "usage: bench-cpu CHECKPOINT [T] [repeats]\n");
    return 2;
  }
  if (bench (argv[1], argc > 2 ? (guint) atoi (argv[2]) : 1024, argc > 3 ? atoi (argv[3]) : 5, &error))
    return 0;
  fprintf (stderr, "bench-cpu: %s\n", error->message);
  return 1;
}
