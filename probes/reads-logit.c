/* SPDX-License-Identifier: MIT */
/* What each source adds to the logit of the next token through the last read, the root mean square of the mix taken as
 * it is. Rows come off the device a few tokens at a time. */
#include "probes/reads-private.h"

#include "core/body.h"

#include <math.h>
#include <string.h>

#define CHUNK 32 /* tokens whose rows are in memory at once */

/* One row of a matrix as doubles; g_free. */
static double *
row_of (const MharTensor *matrix, gsize row)
{
  gsize bytes = matrix->bytes / (gsize) matrix->shape[0];
  MharTensor one = *matrix;

  one.n_dims = 1;
  one.shape[0] = matrix->shape[1];
  one.data = matrix->data + row * bytes;
  one.bytes = bytes;
  return mhar_tensor_values (&one);
}

static double *
mean_row (const MharTensor *matrix)
{
  gsize width = (gsize) matrix->shape[1], rows = (gsize) matrix->shape[0];
  double *sum = g_new0 (double, width);

  for (gsize v = 0; v < rows; v++) {
    g_autofree double *row = row_of (matrix, v);
    for (gsize i = 0; i < width; i++)
      sum[i] += row[i];
  }
  for (gsize i = 0; i < width; i++)
    sum[i] /= (double) rows;
  return sum;
}

MharReadsLogit *
mhar_reads_logit_new (const MharPlan *plan, const MharCheckpoint *checkpoint)
{
  const MharBody *body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  const MharSite *site = plan->sites->len > 0 ? mhar_plan_site (plan, plan->sites->len - 1) : NULL;
  MharOuterTensors outer;

  if (site == NULL || site->kind != MHAR_SITE_FINAL || site->whole || site->mode != MHAR_READ_REPLACE ||
      site->gate.kind != MHAR_GATE_NONE || !mhar_body_outer (checkpoint, &outer, NULL))
    return NULL;
  MharReadsLogit *logit = g_new0 (MharReadsLogit, 1);
  logit->site = plan->sites->len - 1;
  logit->head = *outer.head;
  logit->gain = mhar_tensor_values (outer.norm);
  logit->mean_row = mean_row (outer.head);
  logit->eps = body->eps;
  logit->heads = (gsize) site->heads;
  logit->n_sources = (gsize) site->n_sources;
  logit->width = (gsize) plan->width;
  return logit;
}

void
mhar_reads_logit_free (MharReadsLogit *logit)
{
  if (logit == NULL)
    return;
  g_free (logit->gain);
  g_free (logit->mean_row);
  g_free (logit);
}

typedef struct {
  const MharReadsLogit *logit;
  gsize count;
  float *rows;    /* [sources, count, width] */
  float *weights; /* [count, heads, sources] */
  const gint32 *targets;
  double *parts;  /* [count, 2, heads, sources] */
} Chunk;

/* The mix of token i, into h [width]. */
static void
mix (const Chunk *c, gsize i, double *h)
{
  const MharReadsLogit *l = c->logit;
  gsize slice = l->width / l->heads;

  memset (h, 0, l->width * sizeof *h);
  for (gsize n = 0; n < l->n_sources; n++) {
    const float *row = c->rows + (n * c->count + i) * l->width;
    for (gsize k = 0; k < l->width; k++)
      h[k] += (double) c->weights[(i * l->heads + k / slice) * l->n_sources + n] * (double) row[k];
  }
}

/* The parts of token i; h [width] is scratch. */
static void
split (const Chunk *c, gsize i, double *h)
{
  const MharReadsLogit *l = c->logit;
  gsize slice = l->width / l->heads, cells = l->heads * l->n_sources;
  g_autofree double *target = row_of (&l->head, (gsize) c->targets[i]);
  double square = 0;

  mix (c, i, h);
  for (gsize k = 0; k < l->width; k++)
    square += h[k] * h[k];
  double rms = sqrt (square / (double) l->width + l->eps);
  for (gsize n = 0; n < l->n_sources; n++) {
    const float *row = c->rows + (n * c->count + i) * l->width;
    for (gsize head = 0; head < l->heads; head++) {
      double w = (double) c->weights[(i * l->heads + head) * l->n_sources + n], all = 0, mean = 0;
      for (gsize k = head * slice; k < (head + 1) * slice; k++) {
        all += (double) row[k] * l->gain[k] * target[k];
        mean += (double) row[k] * l->gain[k] * l->mean_row[k];
      }
      double *to = c->parts + 2 * i * cells + head * l->n_sources + n;
      to[0] = w * all / rms;
      to[cells] = w * (all - mean) / rms;
    }
  }
}

/* Rows and weights of tokens [first, first + count) of the batch. */
static gboolean
fetch (Chunk *c, MharRig *rig, gsize first, GError **error)
{
  const MharReadsLogit *l = c->logit;
  MharDevice *device = mhar_rig_device (rig);
  const MharOps *ops = mhar_device_ops (device);
  MharContext *context = mhar_device_context (device);
  MharRoute *route = mhar_rig_route (rig);
  const MharSite *site = mhar_plan_site (mhar_rig_setup (rig)->plan, l->site);
  int status = ops->route_weights (context, route, (int) l->site, first, c->count, c->weights);

  for (gsize n = 0; n < l->n_sources && status == MHAR_OK; n++) {
    MharRows rows = ops->route_row (route, site->sources[n]);
    rows.offset += first * l->width;
    status = ops->rows_get (context, rows, c->count * l->width, c->rows + n * c->count * l->width);
  }
  return mhar_device_check (device, status, "fetching the sources of the last read", error);
}

static void
run_chunk (const Chunk *c, double *sums)
{
  const MharReadsLogit *l = c->logit;
  gsize n = 2 * l->heads * l->n_sources;

#pragma omp parallel
  {
    g_autofree double *h = g_new (double, l->width);
#pragma omp for schedule(static)
    for (gsize i = 0; i < c->count; i++)
      split (c, i, h);
  }
  for (gsize i = 0; i < c->count; i++)
    for (gsize k = 0; k < n; k++)
      sums[k] += c->parts[i * n + k];
}

gboolean
mhar_reads_logit_window (const MharReadsLogit *l, MharRig *rig, gsize window, gsize t, const gint32 *ids, double *sums,
                         GError **error)
{
  g_autofree float *rows = g_new (float, CHUNK *l->n_sources *l->width);
  g_autofree float *weights = g_new (float, CHUNK *l->n_sources *l->heads);
  g_autofree double *parts = g_new (double, 2 * CHUNK *l->n_sources *l->heads);

  for (gsize first = 0; first + 1 < t; first += CHUNK) {
    Chunk c = { l, MIN (CHUNK, t - 1 - first), rows, weights, ids + first + 1, parts };
    if (!fetch (&c, rig, window * t + first, error))
      return FALSE;
    run_chunk (&c, sums);
  }
  return TRUE;
}
