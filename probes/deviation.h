/* SPDX-License-Identifier: MIT */
/* How far the heads of a read lie from their mean: deviation, what the null reaches, whether it replicates. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

/* Of a site's [head, source] entry in a padded [site, head, source] array. */
gsize mhar_deviation_padded (const MharProbeSetup *setup, gsize site, gsize head, gsize source);

/* Σ heads·N of the sites with several heads: how the weights of null queries are packed. */
gsize mhar_deviation_packed_length (const MharProbeSetup *setup);

/* From the sums "weight": attributes max_deviation, head_correlation with its floor and replication_r (the latter two
 * as core/plan.h has H heads), field max_deviation_site [site]. Nothing where no site has several heads. */
void mhar_deviation_scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out);

/* The field deviation [site, head, source]; with draws (pooled sums "weight_null") null_max_deviation (mean over draws
 * of the draw's largest |deviation| at any site), its 95 % over draws, and p-values. max_deviation_null [site, draw] is
 * each draw's largest at a site, max_deviation_p_value [site] compares a site with it. deviation_p_value [site, head]
 * compares a head's largest |deviation| with each draw's largest at *any* site and head (Westfall & Young's single-step
 * maximum), which corrects for their number; so does the attribute max_deviation_p_value. */
void mhar_deviation_finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out);

G_END_DECLS
