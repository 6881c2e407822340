/* SPDX-License-Identifier: MIT */
/* What a window has open: a checkpoint with its plan, or a saved run. Never changes once it is open, so that the window
 * and a worker may hold it at once. */
#pragma once

#include "core/checkpoint.h"
#include "core/field.h"
#include "core/plan.h"
#include "core/tokenizer.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _MharOpened MharOpened;

/* `path`: a checkpoint folder, a file inside one (config.json, *.safetensors), an archive of torch.save
 * (.pt, .pth, .bin, .ckpt) with config.json and tokenizer.json beside it, or a saved run (.h5). Maps, reads
 * headers and makes the plan; blocks for as long as the disk does. Errors as mhar_checkpoint_open,
 * mhar_plan_from_checkpoint, mhar_h5_read, mhar_results_check. */
MharOpened *mhar_opened_new (const char *path, GError **error);
MharOpened *mhar_opened_ref (MharOpened *opened);
void mhar_opened_unref (MharOpened *opened);

/* The same in a worker thread. */
void mhar_opened_new_async (const char *path, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user);
MharOpened *mhar_opened_new_finish (GAsyncResult *result, GError **error);

const char *mhar_opened_path (const MharOpened *opened);
const char *mhar_opened_name (const MharOpened *opened); /* its last part, UTF-8 */
/* "full_mh · d256 L6 H4 · 13 sites · BF16"; g_free. */
char *mhar_opened_describe (const MharOpened *opened);

/* NULL for a saved run. */
const MharCheckpoint *mhar_opened_checkpoint (const MharOpened *opened);
const MharPlan *mhar_opened_plan (const MharOpened *opened);
/* The root dataset of a saved run and its checkpoints, borrowed; NULL for a checkpoint. */
MharDataset *mhar_opened_root (const MharOpened *opened);
const GPtrArray *mhar_opened_results (const MharOpened *opened);

/* The checkpoint's tokenizer, loaded by the first who asks (any thread). MHAR_ERROR_INPUT where it has none. */
const MharTokenizer *mhar_opened_tokenizer (MharOpened *opened, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharOpened, mhar_opened_unref)

G_END_DECLS
