/* SPDX-License-Identifier: MIT */
#include "core/shard-index.h"

#include "core/error.h"
#include "core/input.h"

#include <string.h>

#define INDEX_MAX 100000000 /* bytes, as the header of a tensor file */

struct _MharShardIndex {
  char *folder;
  char *shown; /* the index's path, as messages show it */
  json_t *root, *map;
  MharNameFilter wanted;
  gpointer user;
  GPtrArray *shards; /* names that belong to map */
};

/* A name that cannot lead out of the folder. */
static gboolean
is_plain (const char *name)
{
  return *name != '\0' && strpbrk (name, "/\\") == NULL && strcmp (name, ".") != 0 && strcmp (name, "..") != 0;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static gboolean
is_wanted (const MharShardIndex *index, const char *name)
{
  return index->wanted == NULL || index->wanted (name, index->user);
}

static gboolean
list_shards (MharShardIndex *index, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  const char *key;
  json_t *value;
  json_object_foreach (index->map, key, value)
  {
    const char *name = json_string_value (value);
    if (name == NULL || !is_plain (name)) {
      g_autofree char *tensor = mhar_input_quote (key), *shard = mhar_input_quote (name != NULL ? name : "");
      return mhar_bad_input (error,
                             "%s: puts tensor '%s' in the shard '%s', which is not the name of a file in the same "
                             "folder; fetch the index again",
                             index->shown, tensor, shard);
    }
    if (!is_wanted (index, key) || !g_hash_table_add (seen, (gpointer)name))
      continue;
    g_autofree char *path = g_build_filename (index->folder, name, NULL);
    if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
      g_autofree char *shard = mhar_input_quote (name);
      return mhar_bad_input (error, "%s: names the shard '%s', which is not in the folder; fetch that file",
                             index->shown, shard);
    }
    g_ptr_array_add (index->shards, (gpointer)name);
  }
  g_ptr_array_sort (index->shards, compare_names);
  return TRUE;
}

MharShardIndex *
mhar_shard_index_open (const char *folder, const char *name, MharNameFilter wanted, gpointer user, GError **error)
{
  g_autoptr (MharShardIndex) index = g_new0 (MharShardIndex, 1);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  index->folder = g_strdup (folder);
  index->shown = g_filename_display_name (path);
  index->wanted = wanted;
  index->user = user;
  index->shards = g_ptr_array_new ();
  g_autoptr (GMappedFile) text = mhar_input_map (path, INDEX_MAX, error);
  if (text == NULL)
    return NULL;
  index->root
      = mhar_input_json (g_mapped_file_get_contents (text), g_mapped_file_get_length (text), path, "the index", error);
  if (index->root == NULL)
    return NULL;
  index->map = json_object_get (index->root, "weight_map");
  if (json_object_size (index->map) == 0) {
    mhar_bad_input (error, "%s: has no 'weight_map' that puts tensors in shards; fetch it again", index->shown);
    return NULL;
  }
  return list_shards (index, error) ? g_steal_pointer (&index) : NULL;
}

void
mhar_shard_index_free (MharShardIndex *index)
{
  if (index == NULL)
    return;
  g_ptr_array_unref (index->shards);
  json_decref (index->root);
  g_free (index->shown);
  g_free (index->folder);
  g_free (index);
}

const GPtrArray *
mhar_shard_index_shards (const MharShardIndex *index)
{
  return index->shards;
}

gboolean
mhar_shard_index_check (const MharShardIndex *index,
                        gboolean (*holds) (const char *shard, const char *tensor, gpointer user), gpointer user,
                        GError **error)
{
  const char *key;
  json_t *value;
  json_object_foreach (index->map, key, value)
  {
    const char *name = json_string_value (value);
    if (!is_wanted (index, key) || holds (name, key, user))
      continue;
    g_autofree char *tensor = mhar_input_quote (key), *shard = mhar_input_quote (name);
    return mhar_bad_input (error,
                           "%s: says tensor '%s' is in the shard '%s', which does not hold it; fetch the index and the "
                           "shards again, from one place",
                           index->shown, tensor, shard);
  }
  return TRUE;
}
