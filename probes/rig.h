/* SPDX-License-Identifier: MIT */
/* A model on one device with every probe's state there: takes batches of windows, gives slabs of sums. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

/* Room for batches of `windows` windows of setup->options->context ids. The model and the setup must outlive it. Errors as
 * mhar_forward_new. */
MharRig *mhar_rig_new (const MharModel *model, const MharProbeSetup *setup, guint windows, GError **error);
void mhar_rig_free (MharRig *rig);

/* Runs W windows of t ids and every probe on them. The slab [W windows] holds, besides the probes' sums: start (index of the
 * window's first id in the text, counted from `first_id`), count (positions that count), null_count (those the nulls see, at most
 * `null_left` in all; negative: no bound), pairs and, where `loss` says so, loss. NULL on
 * error. */
MharDataset *mhar_rig_batch (MharRig *rig, const gint32 *ids, guint W, guint t, guint64 first_id, gint64 null_left,
                             gboolean loss, GCancellable *cancellable, GError **error);

/* Per-token weights of one window of the batch just run: fields weight [token, site, head, source] F32 (NaN where there is none)
 * and token, the index of each token in the text; only positions that count, and none of the `most`-th token or later. */
MharDataset *mhar_rig_capture (MharRig *rig, guint window, guint64 most, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharRig, mhar_rig_free)

G_END_DECLS
