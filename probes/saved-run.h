/* SPDX-License-Identifier: MIT */
/* What a saved run says of its checkpoint and of how it was made, as the probes' last halves want it. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

typedef struct {
  MharPlan *plan; /* labels, sites and their numbers of heads and sources; no queries and no steps: it cannot be run */
  MharProbeOptions options;
  GPtrArray *interventions; /* MharIntervention *, what options.interventions borrows where there are any */
} MharSavedRun;

/* Of a checkpoint's results (checked, mhar_results_check). MHAR_ERROR_INPUT, naming `path`, where they do not say it. */
MharSavedRun *mhar_saved_run_new (const MharDataset *set, const char *path, GError **error);
void mhar_saved_run_free (MharSavedRun *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharSavedRun, mhar_saved_run_free)

G_END_DECLS
