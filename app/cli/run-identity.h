/* SPDX-License-Identifier: MIT */
/* What two runs must have in common for the one to go on with what the other has saved. */
#pragma once

#include "app/cli/run-checkpoints.h"
#include "app/cli/token-source.h"
#include "core/device.h"

G_BEGIN_DECLS

/* A dataset "identity" of text attributes, each called as a message calls it: "--seed", for every option that a number
 * may hang on, given or not; "text" and "checkpoint 1" …, by digest; "device", "precision", "version". What changes no
 * number is not in it: how results are printed and drawn, when they are saved, what files are called.
 * mhar_dataset_unref; NULL where a file cannot be read, or G_IO_ERROR_CANCELLED. */
MharDataset *mhar_run_identity (const MharCliOptions *options, const MharTokenSource *source,
                                const MharRunCheckpoints *checkpoints, const MharDevice *device,
                                GCancellable *cancellable, GError **error);

/* Whether both say the same; MHAR_ERROR_USAGE with what differs, then (`saved`) and now (`own`), of the folder `name`.
 */
gboolean mhar_run_identity_check (const MharDataset *own, const MharDataset *saved, const char *name, GError **error);

G_END_DECLS
