/* SPDX-License-Identifier: MIT */
/* Head disagreement at sites with several heads: mean over heads of KL (w_h ‖ that token's mean over heads), a generalised
 * Jensen–Shannon divergence. Not the slice disagreement, and never in one column with it. */
#include "probes/disagreement.h"
#include "probes/probe.h"
#include "probes/statistics.h"

#include <math.h>

static MharField *
add_field (MharDataset *slab, const char *name, gsize windows, gsize n_sites, gsize draws)
{
  const char *dims[] = { "window", "site", "draw" };
  gsize shape[] = { windows, n_sites, draws };
  return mhar_dataset_add (slab, mhar_field_new (name, "sum over the window's tokens of the head disagreement", "nat",
                                                 MHAR_FIELD_F64, draws > 0 ? 3 : 2, dims, shape));
}

static gboolean
batch (gpointer state G_GNUC_UNUSED, MharBatch *b, MharDataset *slab, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (b->rig);
  gsize windows = (gsize) b->span.windows, n = setup->n_sites, draws = setup->options->null_draws;
  const MharNullSums *null = NULL;
  MharRouteSums sums;

  if (mhar_plan_count_sites (setup->plan, TRUE) == 0)
    return TRUE;
  if (!mhar_batch_route_sums (b, &sums, error) || !mhar_batch_head_null (b, &null, error))
    return FALSE;
  MharField *js = add_field (slab, "head_js", windows, n, 0);
  MharField *random = null != NULL ? add_field (slab, "head_js_null", windows, n, draws) : NULL;
  for (gsize s = 0, k = 0; s < n; s++) {
    if (!mhar_site_counts (mhar_plan_site (setup->plan, (guint) s), TRUE))
      continue;
    for (gsize w = 0; w < windows; w++) {
      js->data.f64[w * n + s] = mhar_not_negative (sums.head_js[w * n + s]);
      for (gsize j = 0; random != NULL && j < draws; j++)
        random->data.f64[(w * n + s) * draws + j] = mhar_not_negative (null[k].js[w * draws + j]);
    }
    k++;
  }
  return TRUE;
}

/* The field of what the sites have, and of each draw. */
static void
finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings G_GNUC_UNUSED)
{
  MharDisagreement d;
  const char *dims[] = { "site", "draw" };

  if (!mhar_disagreement_read (setup, pool, "head_js", TRUE, 1, &d))
    return;
  gsize shape[] = { d.n_sites, d.draws };
  MharField *field = mhar_dataset_add (out, mhar_field_new ("head_js", "head disagreement, mean over heads of KL(w_h || mean over heads), token mean",
                                                            "nat", MHAR_FIELD_F32, 1, dims, shape));
  for (gsize s = 0; s < d.n_sites; s++)
    field->data.f32[s] = (float)mhar_disagreement_site (&d, s);
  if (d.draws == 0)
    return;
  field = mhar_dataset_add (out, mhar_field_new ("head_js_null", "head disagreement of null queries, token mean", "nat",
                                                 MHAR_FIELD_F32, 2, dims, shape));
  for (gsize i = 0; i < d.n_sites * d.draws; i++)
    field->data.f32[i] = (float)mhar_disagreement_draw (&d, i / d.draws, i % d.draws);
  mhar_disagreement_p_values (&d, "head_js", out);
}

static void
scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  MharDisagreement d;

  if (mhar_disagreement_read (setup, pool, "head_js", TRUE, 1, &d))
    mhar_disagreement_scalars (&d, "head_js", out);
}

static const char *const sums_by_window[] = { "head_js", "head_js_null", NULL };

const MharProbe mhar_probe_head_js = { "kl", MHAR_PROBE_KL, NULL, batch, NULL, finish, scalars, sums_by_window };
