/* SPDX-License-Identifier: MIT */
/* Source collinearity: the cosine between every pair of the 2L + 1 sublayer outputs, embedding first, per token, averaged over
 * tokens. Near-parallel sources make routing weights arbitrary, so a depth map is read beside it. */
#include "probes/probe.h"

static gboolean
batch (gpointer state G_GNUC_UNUSED, MharBatch *b, MharDataset *slab, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (b->rig);
  MharDevice *device = mhar_rig_device (b->rig);
  gsize n = setup->n_outputs, windows = (gsize) b->span.windows;
  const char *dims[] = { "window", "output", "output_b" };
  gsize shape[] = { windows, n, n };
  MharField *cosine = mhar_dataset_add (slab, mhar_field_new ("cosine", "sum over the window's tokens of the cosine between outputs",
                                                              "1", MHAR_FIELD_F64, 3, dims, shape));
  MharField *absolute = mhar_dataset_add (slab, mhar_field_new ("mean_abs_cosine", "sum over the window's tokens of the mean |cosine| over pairs",
                                                                "1", MHAR_FIELD_F64, 1, dims, shape));
  MharField *zeros = mhar_dataset_add (slab, mhar_field_new ("zero_outputs", "whether an output was exactly zero in the batch", "1",
                                                             MHAR_FIELD_F64, 1, dims, shape));
  int zero = 0;
  int status = mhar_device_ops (device)->cosines (mhar_device_context (device), mhar_rig_route (b->rig),
                                                  (const gint32 *) setup->plan->outputs->data, n, b->span,
                                                  cosine->data.f64, absolute->data.f64, &zero);
  for (gsize w = 0; w < windows; w++)
    zeros->data.f64[w] = zero;
  return mhar_device_check (device, status, "computing the collinearity", error);
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings)
{
  const double *sums = mhar_pool_total (pool, "cosine");
  double tokens = mhar_pool_scalar (pool, "count");
  gsize n = setup->n_outputs;
  const char *dims[] = { "output", "output_b" };
  gsize shape[] = { n, n };
  MharField *field = mhar_dataset_add (out, mhar_field_new ("cosine", "token mean of the cosine between two sublayer outputs", "1",
                                                            MHAR_FIELD_F32, 2, dims, shape));

  for (gsize i = 0; i < n; i++)
    for (gsize j = 0; j < n; j++)
      field->data.f32[i * n + j] = (float)(sums[i * n + j] / tokens);
  if (mhar_pool_scalar (pool, "zero_outputs") > 0)
    g_ptr_array_add (warnings, g_strdup ("a sublayer output is exactly zero at some token: its cosine counts as 0"));
}

static void
scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  const double *sums = mhar_pool_total (pool, "cosine");
  double tokens = mhar_pool_scalar (pool, "count"), mean = 0;
  gsize n = setup->n_outputs;

  for (gsize i = 0; i < n; i++)
    for (gsize j = i + 1; j < n; j++)
      mean += sums[i * n + j] / tokens;
  mhar_dataset_set_real (out, "collinearity_mean", mean / ((double)n * (double)(n - 1) / 2));
  mhar_dataset_set_real (out, "collinearity_mean_abs", mhar_pool_scalar (pool, "mean_abs_cosine") / tokens);
}

static const char *const sums_by_window[] = { "cosine", "mean_abs_cosine", NULL };

const MharProbe mhar_probe_collinearity
    = { "collinearity", MHAR_PROBE_COLLINEARITY, NULL, batch, NULL, finish, scalars, sums_by_window };
