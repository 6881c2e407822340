/* SPDX-License-Identifier: MIT */
/* Mode hyper_connection: n residual streams, read and written with coefficients that do not depend on the input. A
 * sublayer takes Σ softmax (hc_alpha)_r stream_r and leaves Σ_i A_ji stream_i + beta_j out; the last norm takes the
 * streams' mean. */
#include "core/dialect-mhar-private.h"

#include <math.h>

#define DEFAULT_STREAMS 4

static double *
values (MharBuilder *b, MharSiteKind kind, int layer, const char *what, guint n_dims, GError **error)
{
  guint64 shape[2] = { (guint64) b->plan->streams, (guint64) b->plan->streams };
  g_autofree char *name
      = g_strdup_printf ("model.layers.%d.hc_%s_%s", layer, what, kind == MHAR_SITE_MLP ? "mlp" : "attn");

  return mhar_builder_values (b, name, n_dims, shape, error);
}

static void
softmax (double *x, int n)
{
  double top = -INFINITY, sum = 0;

  for (int i = 0; i < n; i++)
    top = fmax (top, x[i]);
  for (int i = 0; i < n; i++)
    sum += x[i] = exp (x[i] - top);
  for (int i = 0; i < n; i++)
    x[i] /= sum;
}

static gboolean
add_sublayer (MharBuilder *b, MharSiteKind kind, int layer, GError **error)
{
  g_autofree double *read = values (b, kind, layer, "alpha", 1, error);
  g_autofree double *carry = read != NULL ? values (b, kind, layer, "A", 2, error) : NULL;
  g_autofree double *write = carry != NULL ? values (b, kind, layer, "beta", 1, error) : NULL;

  if (write == NULL)
    return FALSE;
  softmax (read, b->plan->streams);
  int k
      = mhar_plan_add_connection (b->plan, g_steal_pointer (&read), g_steal_pointer (&carry), g_steal_pointer (&write));
  mhar_plan_add_step (b->plan, MHAR_STEP_MIX, k, MHAR_VALUE_STREAM);
  mhar_plan_run_sublayer (b->plan, kind, layer);
  mhar_plan_add_step (b->plan, MHAR_STEP_SPREAD, k, MHAR_VALUE_OUT);
  return TRUE;
}

gboolean
mhar_build_hyper (MharBuilder *b, GError **error)
{
  MharPlan *plan = b->plan;

  if (!mhar_config_integer (b->config, "attnres_hyper_n", 1, 64, DEFAULT_STREAMS, &plan->streams, error))
    return FALSE;
  mhar_plan_store_embedding (plan);
  for (int l = 0; l < b->body->layers; l++)
    if (!add_sublayer (b, MHAR_SITE_ATTN, l, error) || !add_sublayer (b, MHAR_SITE_MLP, l, error))
      return FALSE;
  double *mean = g_new (double, plan->streams);
  for (int r = 0; r < plan->streams; r++)
    mean[r] = 1.0 / plan->streams;
  int last = mhar_plan_add_connection (plan, mean, NULL, NULL);
  mhar_plan_add_step (plan, MHAR_STEP_MIX, last, MHAR_VALUE_STREAM);
  return TRUE;
}
