/* SPDX-License-Identifier: MIT */
/* model.safetensors.index.json, in a folder that holds two shards. */
#include "fuzz.h"

#include "core/shard-index.h"

#include <string.h>

static gboolean
holds (const char *shard, const char *tensor, gpointer user)
{
  (void)user;
  return g_str_has_prefix (shard, "a") && *tensor != '\0';
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static gboolean shards;
  if (!shards) {
    fuzz_file ("a.safetensors", (const uint8_t *)"x", 1);
    fuzz_file ("b.safetensors", (const uint8_t *)"x", 1);
    shards = TRUE;
  }
  g_autoptr (GError) error = NULL;
  fuzz_file ("model.safetensors.index.json", data, size);
  MharShardIndex *index = mhar_shard_index_open (fuzz_folder (), "model.safetensors.index.json", NULL, NULL, &error);
  gboolean good = index != NULL && mhar_shard_index_check (index, holds, NULL, &error);
  for (guint i = 0; index != NULL && i < mhar_shard_index_shards (index)->len; i++)
    g_assert_null (strchr (g_ptr_array_index (mhar_shard_index_shards (index), i), '/'));
  mhar_shard_index_free (index);
  fuzz_check (good, g_steal_pointer (&error));
  return 0;
}
