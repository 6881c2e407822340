/* SPDX-License-Identifier: MIT */
/* From pooled sums to results: the last step of a run, and of one that is looked at again with less. */
#pragma once

#include "probes/probe.h"
#include "probes/resample.h"

G_BEGIN_DECLS

/* Counts of `plan`; both are borrowed. */
void mhar_probe_setup_init (MharProbeSetup *setup, const MharPlan *plan, const MharProbeOptions *options);

typedef struct {
  const MharProbeSetup *setup;
  const MharCheckpoint *checkpoint;
  const MharDataset *like; /* results of the same checkpoint, where that is not at hand: `checkpoint` is NULL then */
  const MharPool *pool;
  const MharResampler *resampler; /* NULL: no intervals, as for results that are about to change */
  guint context;          /* ids a window, as asked for: what is recorded */
  guint64 stopped, whole; /* a run that was stopped: windows done, windows it would have had; else 0 */
} MharConclusion;

/* The pool of a run; interventions are compared window by window. */
MharPool *mhar_probe_pool (const MharProbeOptions *options);

/* Where the sums by window go that intervals are made of: those of the probes asked for, and the loss. */
MharResampler *mhar_probe_resampler (const MharProbeOptions *options);

/* The loss and the scalars of every probe asked for, from a pool of the run or of resampled windows. */
void mhar_probe_scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out);

/* One checkpoint's dataset, as mhar_probe_run returns it. */
MharDataset *mhar_probe_conclude (const MharConclusion *conclusion);

/* What a whole run with `ran`, which gave the sums `slabs` (MharDataset *, in order) and the results `set`, would have given with
 * `wanted`, bit for bit and without running again: where nothing but the number of draws differs, and is not larger. Appends its
 * sums to `narrowed` (MharDataset *, owned). NULL where the sums do not hold it. */
MharDataset *mhar_probe_narrow (const MharCheckpoint *checkpoint, const MharPlan *plan, const GPtrArray *slabs,
                                const MharDataset *set, const MharProbeOptions *ran, const MharProbeOptions *wanted,
                                GPtrArray *narrowed);

G_END_DECLS
