/* SPDX-License-Identifier: MIT */
/* A checkpoint folder: config.json and its tensors, in one file or in shards. Opening maps; nothing is read through. */
#pragma once

#include "core/config.h"
#include "core/safetensors.h"

G_BEGIN_DECLS

typedef struct _MharCheckpoint MharCheckpoint;

/* `path`: a folder holding config.json and model.safetensors, or model.safetensors.index.json and its shards.
 * MHAR_ERROR_INPUT naming the file where one is missing, an index names an absent shard or leads out of the folder, a
 * tensor stands in two shards or in none, or any of them is malformed. */
MharCheckpoint *mhar_checkpoint_open (const char *path, GError **error);
void mhar_checkpoint_free (MharCheckpoint *checkpoint);

const char *mhar_checkpoint_path (const MharCheckpoint *checkpoint);
const MharConfig *mhar_checkpoint_config (const MharCheckpoint *checkpoint);
guint mhar_checkpoint_n_tensors (const MharCheckpoint *checkpoint);
const MharTensor *mhar_checkpoint_tensor (const MharCheckpoint *checkpoint, guint i);
const MharTensor *mhar_checkpoint_find (const MharCheckpoint *checkpoint, const char *name); /* NULL where absent */
guint mhar_checkpoint_n_files (const MharCheckpoint *checkpoint);
const char *mhar_checkpoint_file (const MharCheckpoint *checkpoint, guint i); /* base name of a tensor file */
guint64 mhar_checkpoint_bytes (const MharCheckpoint *checkpoint);  /* of all tensors */
/* What the floating tensors are stored as: "BF16", "F16", "F32" (another float of the format where they all are),
 * "mixed" or "none". */
const char *mhar_checkpoint_dtype (const MharCheckpoint *checkpoint);

/* The named tensor, which must be floating (BF16, F16, F32) and of the given shape; a vector also passes as [1, n] or
 * [n] for each other, a single number as [], [1] or [1, 1]. MHAR_ERROR_INPUT naming file, tensor, its shape and the
 * shape the config asks for. */
const MharTensor *mhar_checkpoint_need (const MharCheckpoint *checkpoint, const char *name, guint n_dims,
                                        const guint64 *shape, GError **error);
/* The same where the tensor may be absent: then *tensor is NULL. */
gboolean mhar_checkpoint_want (const MharCheckpoint *checkpoint, const char *name, guint n_dims, const guint64 *shape,
                               const MharTensor **tensor, GError **error);

/* SHA-256 (hex; free with g_free) of config.json, each file's header and each routing tensor (`names`, NULL-ended).
 * With `whole`, of config.json and every byte of every tensor file. Files in order of name; `names` may be NULL, and a
 * name the checkpoint lacks adds nothing. */
char *mhar_checkpoint_digest (const MharCheckpoint *checkpoint, const char *const *names, gboolean whole);

/* The tensor's elements as double, newly allocated (g_free); dtype BF16, F16 or F32. */
double *mhar_tensor_values (const MharTensor *tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharCheckpoint, mhar_checkpoint_free)

G_END_DECLS
