/* SPDX-License-Identifier: MIT */
/* A checkpoint: config.json and its tensors, in a folder (one file or shards) or in one torch archive. Opening maps;
 * nothing is read through. */
#pragma once

#include "core/config.h"
#include "core/name-map.h"
#include "core/safetensors.h"
#include "core/shard-index.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _MharCheckpoint MharCheckpoint;

/* How to open, where that is not as usual; zeros are. */
typedef struct {
  const char *config;    /* a file read in place of the config.json beside the tensors */
  gboolean tensors_only; /* the config is kept as text only, and may be absent: for models that cannot be run */
  MharNameFilter wanted; /* shards whose tensors are none of these stay closed, and may be absent; NULL: all */
  gpointer user;         /* for `wanted` */
  const char *map;       /* a name map (core/name-map.h), by which the body is found and core/dialect-map.c goes */
} MharCheckpointOptions;

/* `path`: a folder holding config.json and one of, in this order, model.safetensors.index.json and its shards,
 * model.safetensors, pytorch_model.bin.index.json and its shards, pytorch_model.bin; or a torch archive (.pt, .pth,
 * .bin) with config.json beside it. MHAR_ERROR_INPUT naming the file where one is missing, an index names an absent
 * shard or leads out of the folder, a tensor stands in two shards or in none, a map names what is not stored, or any of
 * them is malformed. */
MharCheckpoint *mhar_checkpoint_open (const char *path, GError **error);
MharCheckpoint *mhar_checkpoint_open_with (const char *path, const MharCheckpointOptions *options, GError **error);
void mhar_checkpoint_free (MharCheckpoint *checkpoint);

const char *mhar_checkpoint_path (const MharCheckpoint *checkpoint);   /* as it was given */
const char *mhar_checkpoint_folder (const MharCheckpoint *checkpoint); /* where its files are: tokenizer.json too */
/* NULL where opened for its tensors only. */
const MharConfig *mhar_checkpoint_config (const MharCheckpoint *checkpoint);
/* The config's text, `*length` bytes; NULL where there is none (tensors only). `*path` (may be NULL): its file. */
const char *mhar_checkpoint_config_text (const MharCheckpoint *checkpoint, gsize *length, const char **path);
/* The map it was opened with; NULL: none. */
const MharNameMap *mhar_checkpoint_map (const MharCheckpoint *checkpoint);
guint mhar_checkpoint_n_tensors (const MharCheckpoint *checkpoint);
const MharTensor *mhar_checkpoint_tensor (const MharCheckpoint *checkpoint, guint i);
const MharTensor *mhar_checkpoint_find (const MharCheckpoint *checkpoint, const char *name); /* NULL where absent */
guint mhar_checkpoint_n_files (const MharCheckpoint *checkpoint);
const char *mhar_checkpoint_file (const MharCheckpoint *checkpoint, guint i); /* base name of a tensor file */
guint64 mhar_checkpoint_bytes (const MharCheckpoint *checkpoint);             /* of all tensors */
/* What the floating tensors are stored as: "BF16", "F16", "F32" (another float of the format where they all are),
 * "mixed" or "none". */
const char *mhar_checkpoint_dtype (const MharCheckpoint *checkpoint);

/* Lets a tensor be found under another name as well: what a name map is for. FALSE where `name` is not stored, or where
 * `alias` is another tensor's. */
gboolean mhar_checkpoint_alias (MharCheckpoint *checkpoint, const char *alias, const char *name);

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
 * name the checkpoint lacks adds nothing. NULL and G_IO_ERROR_CANCELLED where `cancellable` (may be NULL) is cancelled
 * meanwhile. */
char *mhar_checkpoint_digest (const MharCheckpoint *checkpoint, const char *const *names, gboolean whole,
                              GCancellable *cancellable, GError **error);

/* The tensor's elements as double, newly allocated (g_free); dtype BF16, F16 or F32. */
double *mhar_tensor_values (const MharTensor *tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharCheckpoint, mhar_checkpoint_free)

G_END_DECLS
