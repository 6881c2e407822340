/* SPDX-License-Identifier: MIT */
/* The plan of a hyper-connected model, run on coefficients instead of activations: each stream is a sum of sublayer
 * outputs. */
#include "core/plan.h"

#include <string.h>

/* streams [n, outputs] after one SPREAD of the output numbered `k`. */
static void
spread (const MharConnection *connection, int n, gsize outputs, gsize k, double *streams)
{
  g_autofree double *old = g_memdup2 (streams, (gsize) n * outputs * sizeof *streams);

  memset (streams, 0, (gsize) n * outputs * sizeof *streams);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++)
      for (gsize o = 0; o < outputs; o++)
        streams[(gsize) j * outputs + o] += connection->carry[j * n + i] * old[(gsize) i * outputs + o];
    streams[(gsize) j * outputs + k] += connection->write[j];
  }
}

double *
mhar_plan_depth_coefficients (const MharPlan *plan)
{
  gsize outputs = plan->outputs->len, n = (gsize) plan->streams, r = 0, k = 0;
  double *map = g_new0 (double, plan->connections->len *outputs + 1);
  g_autofree double *streams = g_new0 (double, n *outputs + 1);

  for (gsize j = 0; j < n; j++)
    streams[j * outputs] = 1;
  for (guint i = 0; i < plan->steps->len; i++) {
    const MharStep *step = &g_array_index (plan->steps, MharStep, i);
    if (step->kind != MHAR_STEP_MIX && step->kind != MHAR_STEP_SPREAD)
      continue;
    const MharConnection *connection = g_ptr_array_index (plan->connections, step->index);
    if (step->kind == MHAR_STEP_SPREAD) {
      spread (connection, plan->streams, outputs, ++k, streams);
      continue;
    }
    for (gsize j = 0; j < n; j++)
      for (gsize o = 0; o < outputs; o++)
        map[r * outputs + o] += connection->read[j] * streams[j * outputs + o];
    r++;
  }
  return map;
}
