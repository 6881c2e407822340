/* SPDX-License-Identifier: MIT */
#include "probes/cautions.h"

void
mhar_caution_of_options (const MharProbeSetup *setup, GPtrArray *warnings)
{
  const MharProbeOptions *o = setup->options;
  int most = 0;

  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    if (site->heads == 1) /* slice disagreement, and so what is matched, is of these */
      most = MAX (most, site->n_sources);
  }
  if ((o->probes & MHAR_PROBE_KL) && most > 1 && o->match_sources > (guint) most)
    g_ptr_array_add (warnings,
                     g_strdup_printf ("no site has the %u sources that --match-sources asks for, the most is %d: "
                                      "nothing is matched",
                                      o->match_sources, most));
}
