/* SPDX-License-Identifier: MIT */
#include "app/gui/run-reads.h"

#include "probes/reads.h"

/* Every weight of every token is looked at: about a seventh of the time of a forward on a CPU. Longer texts are run for
 * their means, and would wait for it. */
#define MOST_TOKENS 65536

/* One list for all runs, so that those that differ in the number of draws alone are known to be alike. */
static const GPtrArray *
all_cells (void)
{
  static GPtrArray *list = NULL;

  if (list == NULL) {
    list = mhar_reads_specs_new ();
    mhar_reads_specs_parse (list, MHAR_READS_ALL, NULL);
  }
  return list;
}

void
mhar_run_ask_reads (MharProbeOptions *options, gsize bytes)
{
  if (bytes > MOST_TOKENS && (options->max_tokens == 0 || options->max_tokens > MOST_TOKENS))
    return;
  options->probes |= MHAR_PROBE_READS;
  options->reads = all_cells ();
}

void
mhar_run_limit_reads (MharProbeOptions *options, const MharPlan *plan)
{
  if (plan->sites->len > 0 && mhar_reads_check (plan, options, NULL))
    return;
  options->probes &= ~(guint) MHAR_PROBE_READS;
  options->reads = NULL;
}
