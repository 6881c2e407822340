/* SPDX-License-Identifier: MIT */
/* One worker thread a device, each running batches of windows; the batches come back in the order of the text, whichever device
 * ran them. While the caller pools and writes one, the devices run the next. */
#pragma once

#include "probes/probe.h"
#include "probes/windows.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* What the workers share; everything outlives the crew. */
typedef struct {
  const MharProbeSetup *setup;
  const MharCheckpoint *checkpoint;
  const gint32 *ids;
  MharWindows windows;
  gboolean capture; /* per-token weights too */
  guint64 capture_first; /* of only so many tokens; 0: of all */
  GCancellable *cancellable;
} MharCrewTask;

typedef struct {
  MharDataset *slab;   /* sums of the batch's windows; unref */
  GPtrArray *captures; /* MharDataset * of each captured window, NULL without capture; unref */
  guint64 first_window;
  guint windows, length; /* W, t */
} MharCrewBatch;

typedef struct _MharCrew MharCrew;

/* A worker for each of `devices` (MharDevice *, which outlive the crew). Models are loaded by the workers, once. */
MharCrew *mhar_crew_new (const MharCrewTask *task, const GPtrArray *devices);
/* Starts the workers on the windows from `first_window` on, `batch` windows at a time. */
void mhar_crew_start (MharCrew *crew, guint64 first_window, guint batch);
/* The next batch; FALSE with *batch.slab NULL after the last, or with an error, of the first batch that failed. */
gboolean mhar_crew_next (MharCrew *crew, MharCrewBatch *batch, GError **error);
/* Stops the workers after their current batch and waits for them; batches not yet taken are dropped. May be started again. */
void mhar_crew_stop (MharCrew *crew);
void mhar_crew_free (MharCrew *crew);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharCrew, mhar_crew_free)

G_END_DECLS
