/* SPDX-License-Identifier: MIT */
#include "probes/probe.h"

const MharProbe *const mhar_probes[] = {
  &mhar_probe_depth_maps,
  &mhar_probe_depth_coefficients,
  &mhar_probe_slice_kl,
  &mhar_probe_head_js,
  &mhar_probe_controls,
  &mhar_probe_collinearity,
  &mhar_probe_interventions,
  &mhar_probe_reads,
  NULL,
};

gboolean
mhar_site_counts (const MharSite *site, gboolean multi)
{
  return site->n_sources > 1 && (site->heads > 1) == multi;
}

guint
mhar_plan_count_sites (const MharPlan *plan, gboolean multi)
{
  guint n = 0;

  for (guint s = 0; s < plan->sites->len; s++)
    n += mhar_site_counts (mhar_plan_site (plan, s), multi);
  return n;
}
