/* SPDX-License-Identifier: MIT */
/* The shape that sums by window must have before a pool takes them, where they come from a file. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

/* Whether `slab` holds the sums that the run of `setup` makes, and no others: F64, the windows first. MHAR_ERROR_INPUT
 * with a phrase that names the first that does not fit ("sums/weight is missing"). */
gboolean mhar_sums_check (const MharProbeSetup *setup, const MharDataset *slab, GError **error);

/* The same of a dataset "pooled", of mhar_pool_pooled with `halves`, else of mhar_pool_pooled_totals. */
gboolean mhar_pooled_check (const MharProbeSetup *setup, const MharDataset *pooled, gboolean halves, GError **error);

G_END_DECLS
