/* SPDX-License-Identifier: MIT */
/* How much memory a run will take: anonymous memory, which leaves out the mapped files that the weights lie in. */
#pragma once

#include "core/body.h"
#include "probes/probe.h"

G_BEGIN_DECLS

typedef struct {
  const MharProbeSetup *setup;
  const MharBody *body;
  const GPtrArray *devices; /* MharDevice * */
  guint64 windows;          /* of the whole run */
  gboolean capture, file;   /* every token's weights are kept; sums are written */
} MharMemoryRun;

/* Bytes at most that a run takes in batches of `batch` windows, besides what is taken when it begins: what a CPU computes
 * in, sums that wait or are kept for the intervals, null queries, and what they are written with. An estimate from above;
 * tests/cli/long-runs.py holds it against what is taken. */
guint64 mhar_memory_need (const MharMemoryRun *run, guint batch);

/* Bytes of anonymous memory that the process has now; 0 where the system does not tell. */
guint64 mhar_memory_taken (void);

/* The most windows a batch, no more than `most`, that keep the process within setup->options->max_memory. 0 and
 * MHAR_ERROR_USAGE, saying what is needed, where one is too many. */
guint mhar_memory_batch (const MharMemoryRun *run, guint most, GError **error);

G_END_DECLS
