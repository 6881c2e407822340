/* SPDX-License-Identifier: MIT */
/* The index of a sharded checkpoint: which file holds which tensor. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MharShardIndex MharShardIndex;

/* Whether a tensor of this name is wanted. */
typedef gboolean (*MharNameFilter) (const char *name, gpointer user);

/* Reads folder/name and lists the shards that hold wanted tensors (`wanted` NULL: all), sorted, each once.
 * MHAR_ERROR_INPUT naming the index and the shard where it has no weight_map, a name leads out of the folder, or a
 * shard that is needed is not in it. */
MharShardIndex *mhar_shard_index_open (const char *folder, const char *name, MharNameFilter wanted, gpointer user,
                                       GError **error);
void mhar_shard_index_free (MharShardIndex *index);

const GPtrArray *mhar_shard_index_shards (const MharShardIndex *index); /* base names (const char *) */
/* Calls `holds` for every wanted tensor; MHAR_ERROR_INPUT where one is not in the shard that is said to hold it. */
gboolean mhar_shard_index_check (const MharShardIndex *index,
                                 gboolean (*holds) (const char *shard, const char *tensor, gpointer user),
                                 gpointer user, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharShardIndex, mhar_shard_index_free)

G_END_DECLS
