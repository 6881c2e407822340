/* SPDX-License-Identifier: MIT */
/* The depth map of a hyper-connected model. Its connections do not depend on the input, so nothing is averaged: the
 * coefficient of each sublayer output in each sublayer's input is exact, and it is signed. */
#include "probes/probe.h"

static gboolean
batch (gpointer state G_GNUC_UNUSED, MharBatch *b G_GNUC_UNUSED, MharDataset *slab G_GNUC_UNUSED,
       GError **error G_GNUC_UNUSED)
{
  return TRUE;
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool G_GNUC_UNUSED, MharDataset *out,
        GPtrArray *warnings G_GNUC_UNUSED)
{
  const MharPlan *plan = setup->plan;
  gsize reads = plan->connections->len, outputs = plan->outputs->len;
  const char *dims[] = { "input", "output" };
  gsize shape[] = { reads, outputs };

  if (plan->streams == 0)
    return;
  g_autofree double *map = mhar_plan_depth_coefficients (plan);
  MharField *label = mhar_dataset_add (out, mhar_field_new ("input_label", "the sublayer that takes the mix of streams",
                                                            "", MHAR_FIELD_STRING, 1, dims, shape));
  MharField *field
      = mhar_dataset_add (out, mhar_field_new ("coefficient", "exact coefficient of a sublayer output in an input", "1",
                                               MHAR_FIELD_F32, 2, dims, shape));
  for (gsize r = 0; r < reads; r++) {
    label->data.str[r]
        = g_strdup (r + 1 < outputs ? mhar_plan_row (plan, g_array_index (plan->outputs, int, r + 1)) : "final");
    for (gsize k = 0; k <= r; k++)
      field->data.f32[r * outputs + k] = (float) map[r * outputs + k];
  }
}

const MharProbe mhar_probe_depth_coefficients = { "depth-maps", MHAR_PROBE_DEPTH_MAPS, NULL, batch, NULL, finish };
