/* SPDX-License-Identifier: MIT */
/* A whole run: ids through the model in batches of windows, every probe on each, one dataset at the end. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

/* Called from the thread that runs; any member may be NULL. */
typedef struct {
  void (*progress) (guint64 done, guint64 total, gpointer user); /* tokens */
  /* Takes the sums of each batch (group "sums") and, with `capture`, the per-token weights of each window ("capture"), in order;
   * FALSE stops the run with its error. */
  gboolean (*slab) (const char *group, const MharDataset *slab, gpointer user, GError **error);
  gboolean capture;
  gpointer user;
  /* Lends the results of the windows done so far, after a batch that is not the last, ten times a second at most. */
  void (*partial) (MharDataset *so_far, gpointer user);
  gboolean keep;         /* a cancelled run returns what is done, with a warning, where a window is */
  guint64 capture_first; /* `capture` takes only this many tokens, the first; 0: all */

  /* So that a run that dies can go on. `due` is asked after each batch, with the windows since the last save, and `save`
   * is lent what no slab has, after the slabs of all windows before: attributes "window" (how many) and "batch", children
   * "pooled" and "reads". It is always called after the last window. FALSE stops the run with its error. */
  gboolean (*due) (guint64 windows, gpointer user);
  gboolean (*save) (const MharDataset *state, gpointer user, GError **error);
  /* What `save` was lent: the run goes on from there, once `replay` has given the slabs of "sums" before, in order: a new
   * dataset, which has nothing but the fields of the slabs, and NULL after the last. */
  const MharDataset *resume;
  gboolean (*replay) (MharDataset **slab, gpointer user, GError **error);
} MharRunHooks;

/* Sets what the paper uses: 4 contiguous slices, 32 draws, all probes, windows of 1,024. */
void mhar_probe_options_init (MharProbeOptions *options);

/* Ids a window that a run of the checkpoint takes: as asked for, else min (1024, the model's). */
guint mhar_probe_context (const MharProbeOptions *options, const MharCheckpoint *checkpoint);

/* Runs `ids` [n] (each checked here against the vocabulary) on `devices` (MharDevice *, at least one), windows split over them;
 * the numbers do not depend on how many there are. options->context 0 becomes min (1024, the model's). Returns one
 * checkpoint's dataset, as data/hdf5-schema.md describes: fields, scalars, labels, warnings. Errors: MHAR_ERROR_INPUT (an id beyond
 * the vocabulary, too little text), MHAR_ERROR_USAGE (slices that do not divide the width), MHAR_ERROR_RUN, G_IO_ERROR_CANCELLED. */
MharDataset *mhar_probe_run (const GPtrArray *devices, const MharCheckpoint *checkpoint, const MharPlan *plan,
                             const gint32 *ids, gsize n, const MharProbeOptions *options, const MharRunHooks *hooks, GCancellable *cancellable,
                             GError **error);

G_END_DECLS
