/* SPDX-License-Identifier: MIT */
/* How sure a run's scalars are: each one again over resampled windows. */
#pragma once

#include "probes/probe.h"
#include "probes/resample.h"

G_BEGIN_DECLS

/* Beside every scalar of `out` that mhar_probe_scalars gives, X, the ends of its 95 % interval, X_low and X_high
 * (mhar_interval_about over MHAR_RESAMPLES resamples; a spread has none, nor has what fewer than half of the resamples
 * have). An attribute's are attributes, a field's are fields. Also the integers bootstrap_resamples, bootstrap_entries
 * and bootstrap_block. The mean over draws of each draw's largest deviation is resampled over draws alone: the largest
 * of a sum is not the sum of largests. Nothing is added where mhar_resample_enough says no. */
void mhar_intervals_add (const MharProbeSetup *setup, const MharResampler *resampler, MharDataset *out);

G_END_DECLS
