/* SPDX-License-Identifier: MIT */
#include "core/checkpoint.h"

#include "core/error.h"
#include "core/input.h"

#include <string.h>

#define INDEX_MAX 100000000 /* bytes, as the header of a tensor file */
#define SINGLE "model.safetensors"
#define INDEX "model.safetensors.index.json"

struct _MharCheckpoint {
  char *path;
  char *shown; /* path, as messages show it */
  MharConfig *config;
  GPtrArray *names;    /* base names of the files */
  GPtrArray *files;    /* MharSafetensors, one a name */
  GPtrArray *tensors;  /* const MharTensor, file by file */
  GHashTable *by_name; /* -> const MharTensor */
  guint64 bytes;
};

/* The number of the file that holds the tensor. */
static guint
file_of (const MharCheckpoint *checkpoint, const MharTensor *tensor)
{
  guint i = 0;
  while (i + 1 < checkpoint->files->len
         && mhar_safetensors_find (g_ptr_array_index (checkpoint->files, i), tensor->name) != tensor)
    i++;
  return i;
}

static gboolean
add_file (MharCheckpoint *checkpoint, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (checkpoint->path, name, NULL);
  MharSafetensors *file = mhar_safetensors_open (path, error);
  if (file == NULL)
    return FALSE;
  g_ptr_array_add (checkpoint->files, file);
  g_ptr_array_add (checkpoint->names, g_strdup (name));
  for (guint i = 0; i < mhar_safetensors_n_tensors (file); i++) {
    const MharTensor *tensor = mhar_safetensors_tensor (file, i);
    const MharTensor *other = mhar_checkpoint_find (checkpoint, tensor->name);
    if (other != NULL) {
      g_autofree char *quoted = mhar_input_quote (tensor->name);
      return mhar_bad_input (error, "%s: tensor '%s' stands in two shards, '%s' and '%s'; fetch the checkpoint again",
                             checkpoint->shown, quoted, mhar_checkpoint_file (checkpoint, file_of (checkpoint, other)),
                             name);
    }
    g_ptr_array_add (checkpoint->tensors, (gpointer)tensor);
    g_hash_table_insert (checkpoint->by_name, (gpointer)tensor->name, (gpointer)tensor);
    checkpoint->bytes += tensor->bytes;
  }
  return TRUE;
}

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

/* The shards that the index's weight_map names, each once, sorted; the names belong to `map`. */
static GPtrArray *
list_shards (const MharCheckpoint *checkpoint, const char *shown, json_t *map, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) shards = g_ptr_array_new ();
  const char *key;
  json_t *value;
  json_object_foreach (map, key, value) {
    const char *name = json_string_value (value);
    g_autofree char *tensor = mhar_input_quote (key), *shard = mhar_input_quote (name != NULL ? name : "");
    if (name == NULL || !is_plain (name)) {
      mhar_bad_input (error,
                      "%s: puts tensor '%s' in the shard '%s', which is not the name of a file in the same folder; "
                      "fetch the index again",
                      shown, tensor, shard);
      return NULL;
    }
    if (!g_hash_table_add (seen, (gpointer)name))
      continue;
    g_autofree char *path = g_build_filename (checkpoint->path, name, NULL);
    if (!g_file_test (path, G_FILE_TEST_EXISTS)) {
      mhar_bad_input (error, "%s: names the shard '%s', which is not in the folder; fetch that file", shown, shard);
      return NULL;
    }
    g_ptr_array_add (shards, (gpointer)name);
  }
  g_ptr_array_sort (shards, compare_names);
  return g_steal_pointer (&shards);
}

/* Every tensor of the index is in the shard it says. */
static gboolean
check_index (const MharCheckpoint *checkpoint, const char *shown, json_t *map, GError **error)
{
  g_autoptr (GHashTable) shards = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < checkpoint->files->len; i++)
    g_hash_table_insert (shards, g_ptr_array_index (checkpoint->names, i), g_ptr_array_index (checkpoint->files, i));
  const char *key;
  json_t *value;
  json_object_foreach (map, key, value) {
    const char *name = json_string_value (value);
    if (mhar_safetensors_find (g_hash_table_lookup (shards, name), key) == NULL) {
      g_autofree char *tensor = mhar_input_quote (key), *shard = mhar_input_quote (name);
      return mhar_bad_input (error,
                             "%s: says tensor '%s' is in the shard '%s', which does not hold it; fetch the index and "
                             "the shards again, from one place",
                             shown, tensor, shard);
    }
  }
  return TRUE;
}

static gboolean
open_sharded (MharCheckpoint *checkpoint, const char *path, GError **error)
{
  g_autoptr (GMappedFile) text = mhar_input_map (path, INDEX_MAX, error);
  if (text == NULL)
    return FALSE;
  json_auto_t *root
      = mhar_input_json (g_mapped_file_get_contents (text), g_mapped_file_get_length (text), path, "the index", error);
  if (root == NULL)
    return FALSE;
  g_autofree char *shown = g_filename_display_name (path);
  json_t *map = json_object_get (root, "weight_map");
  if (json_object_size (map) == 0)
    return mhar_bad_input (error, "%s: has no 'weight_map' that puts tensors in shards; fetch it again", shown);
  g_autoptr (GPtrArray) shards = list_shards (checkpoint, shown, map, error);
  if (shards == NULL)
    return FALSE;
  for (guint i = 0; i < shards->len; i++)
    if (!add_file (checkpoint, g_ptr_array_index (shards, i), error))
      return FALSE;
  return check_index (checkpoint, shown, map, error);
}

/* An index goes before model.safetensors where a folder has both: it can name that file, not the other way round. */
static gboolean
open_tensors (MharCheckpoint *checkpoint, GError **error)
{
  g_autofree char *index = g_build_filename (checkpoint->path, INDEX, NULL);
  g_autofree char *single = g_build_filename (checkpoint->path, SINGLE, NULL);
  if (g_file_test (index, G_FILE_TEST_EXISTS))
    return open_sharded (checkpoint, index, error);
  if (g_file_test (single, G_FILE_TEST_EXISTS))
    return add_file (checkpoint, SINGLE, error);
  return mhar_bad_input (error, "%s: has neither %s nor %s; give the folder a checkpoint was saved in",
                         checkpoint->shown, SINGLE, INDEX);
}

static gboolean
check_folder (const MharCheckpoint *checkpoint, GError **error)
{
  const char *path = checkpoint->path, *shown = checkpoint->shown;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return mhar_bad_input (error, "%s: there is no such folder; check the path", shown);
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return mhar_bad_input (error,
                           g_str_has_suffix (path, ".safetensors")
                               ? "%s: is a tensor file; give the folder that holds it"
                               : "%s: is not a folder; give the folder that holds config.json and the tensors",
                           shown);
  g_autofree char *config = g_build_filename (path, "config.json", NULL);
  return g_file_test (config, G_FILE_TEST_EXISTS)
         || mhar_bad_input (error, "%s: has no config.json; give the folder a checkpoint was saved in", shown);
}

MharCheckpoint *
mhar_checkpoint_open (const char *path, GError **error)
{
  g_autoptr (MharCheckpoint) checkpoint = g_new0 (MharCheckpoint, 1);
  checkpoint->path = g_strdup (path);
  checkpoint->shown = g_filename_display_name (path);
  checkpoint->names = g_ptr_array_new_with_free_func (g_free);
  checkpoint->files = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_safetensors_free);
  checkpoint->tensors = g_ptr_array_new ();
  checkpoint->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (!check_folder (checkpoint, error))
    return NULL;
  g_autofree char *config = g_build_filename (path, "config.json", NULL);
  checkpoint->config = mhar_config_load (config, error);
  if (checkpoint->config == NULL || !open_tensors (checkpoint, error))
    return NULL;
  return g_steal_pointer (&checkpoint);
}

void
mhar_checkpoint_free (MharCheckpoint *checkpoint)
{
  if (checkpoint == NULL)
    return;
  g_hash_table_unref (checkpoint->by_name);
  g_ptr_array_unref (checkpoint->tensors);
  g_ptr_array_unref (checkpoint->files);
  g_ptr_array_unref (checkpoint->names);
  mhar_config_free (checkpoint->config);
  g_free (checkpoint->shown);
  g_free (checkpoint->path);
  g_free (checkpoint);
}

const char *
mhar_checkpoint_path (const MharCheckpoint *checkpoint)
{
  return checkpoint->path;
}

const MharConfig *
mhar_checkpoint_config (const MharCheckpoint *checkpoint)
{
  return checkpoint->config;
}

guint
mhar_checkpoint_n_tensors (const MharCheckpoint *checkpoint)
{
  return checkpoint->tensors->len;
}

const MharTensor *
mhar_checkpoint_tensor (const MharCheckpoint *checkpoint, guint i)
{
  g_return_val_if_fail (i < checkpoint->tensors->len, NULL);
  return g_ptr_array_index (checkpoint->tensors, i);
}

const MharTensor *
mhar_checkpoint_find (const MharCheckpoint *checkpoint, const char *name)
{
  return g_hash_table_lookup (checkpoint->by_name, name);
}

guint
mhar_checkpoint_n_files (const MharCheckpoint *checkpoint)
{
  return checkpoint->files->len;
}

const char *
mhar_checkpoint_file (const MharCheckpoint *checkpoint, guint i)
{
  g_return_val_if_fail (i < checkpoint->names->len, NULL);
  return g_ptr_array_index (checkpoint->names, i);
}

guint64
mhar_checkpoint_bytes (const MharCheckpoint *checkpoint)
{
  return checkpoint->bytes;
}

const char *
mhar_checkpoint_dtype (const MharCheckpoint *checkpoint)
{
  const char *dtype = NULL;
  for (guint i = 0; i < checkpoint->tensors->len; i++) {
    const MharTensor *tensor = mhar_checkpoint_tensor (checkpoint, i);
    if (tensor->dtype[0] != 'F' && strcmp (tensor->dtype, "BF16") != 0)
      continue;
    if (dtype != NULL && strcmp (dtype, tensor->dtype) != 0)
      return "mixed";
    dtype = tensor->dtype;
  }
  return dtype != NULL ? dtype : "none";
}

/* [n] and [1, n] are one shape, and so are [], [1] and [1, 1]: writers differ, the bytes do not. */
static gboolean
same_shape (guint n, const guint64 *a, guint m, const guint64 *b)
{
  gboolean rows = n <= 2 && m <= 2 && (n < 2 || a[0] == 1) && (m < 2 || b[0] == 1);
  if (rows)
    return (n == 0 ? 1 : a[n - 1]) == (m == 0 ? 1 : b[m - 1]);
  return n == m && memcmp (a, b, n * sizeof *a) == 0;
}

/* "[64, 128]". */
static char *
shape_text (guint n_dims, const guint64 *shape)
{
  GString *text = g_string_new ("[");
  for (guint i = 0; i < n_dims; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", shape[i]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static gboolean
is_readable (const MharTensor *tensor)
{
  return strcmp (tensor->dtype, "BF16") == 0 || strcmp (tensor->dtype, "F16") == 0
         || strcmp (tensor->dtype, "F32") == 0;
}

gboolean
mhar_checkpoint_want (const MharCheckpoint *checkpoint, const char *name, guint n_dims, const guint64 *shape,
                      const MharTensor **tensor, GError **error)
{
  *tensor = NULL;
  const MharTensor *found = mhar_checkpoint_find (checkpoint, name);
  if (found == NULL)
    return TRUE;
  const char *file = mhar_checkpoint_file (checkpoint, file_of (checkpoint, found));
  g_autofree char *quoted = mhar_input_quote (name);
  if (!is_readable (found))
    return mhar_bad_input (error, "%s/%s: tensor '%s' is stored as %s; convert it to BF16, F16 or F32",
                           checkpoint->shown, file, quoted, found->dtype);
  if (!same_shape (found->n_dims, found->shape, n_dims, shape)) {
    g_autofree char *has = shape_text (found->n_dims, found->shape), *asked = shape_text (n_dims, shape);
    return mhar_bad_input (error,
                           "%s/%s: tensor '%s' has the shape %s but config.json asks for %s; give the config.json "
                           "that was saved with the tensors",
                           checkpoint->shown, file, quoted, has, asked);
  }
  *tensor = found;
  return TRUE;
}

const MharTensor *
mhar_checkpoint_need (const MharCheckpoint *checkpoint, const char *name, guint n_dims, const guint64 *shape,
                      GError **error)
{
  const MharTensor *tensor;
  if (!mhar_checkpoint_want (checkpoint, name, n_dims, shape, &tensor, error))
    return NULL;
  if (tensor == NULL) {
    g_autofree char *asked = shape_text (n_dims, shape), *quoted = mhar_input_quote (name);
    gboolean one = checkpoint->files->len == 1;
    mhar_bad_input (error,
                    "%s/%s: tensor '%s' of shape %s is missing; give the config.json that was saved with the tensors",
                    checkpoint->shown, one ? mhar_checkpoint_file (checkpoint, 0) : INDEX, quoted, asked);
  }
  return tensor;
}

/* GLib 2.74 counts a single update of 4 GiB or more wrongly (a 32-bit counter, one carry). */
static void
update (GChecksum *sum, const guint8 *data, gsize length)
{
  const gsize most = 1 << 30;
  for (gsize n; length > 0; data += n, length -= n) {
    n = MIN (length, most);
    g_checksum_update (sum, data, (gssize)n);
  }
}

char *
mhar_checkpoint_digest (const MharCheckpoint *checkpoint, const char *const *names, gboolean whole)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize length;
  const char *text = mhar_config_text (checkpoint->config, &length);
  update (sum, (const guint8 *)text, length);
  for (guint i = 0; i < checkpoint->files->len; i++) {
    const MharSafetensors *file = g_ptr_array_index (checkpoint->files, i);
    const guint8 *data = whole ? mhar_safetensors_contents (file, &length) : mhar_safetensors_header (file, &length);
    update (sum, data, length);
  }
  for (; !whole && names != NULL && *names != NULL; names++) {
    const MharTensor *tensor = mhar_checkpoint_find (checkpoint, *names);
    if (tensor != NULL)
      update (sum, tensor->data, tensor->bytes);
  }
  return g_strdup (g_checksum_get_string (sum));
}

static double
float_value (guint32 bits)
{
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* IEEE half: 1 sign, 5 exponent (bias 15), 10 fraction bits. Every half is a float. */
static double
half_value (guint16 bits)
{
  guint32 sign = (guint32)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 0) /* subnormal: fraction × 2^-24 */
    return float_value (sign | 0x3f800000) * fraction * 0x1p-24;
  guint32 wide = exponent == 31 ? 255 : exponent + (127 - 15);
  return float_value (sign | wide << 23 | fraction << 13);
}

double *
mhar_tensor_values (const MharTensor *tensor)
{
  g_return_val_if_fail (is_readable (tensor), NULL);
  gboolean single = tensor->dtype[1] == '3', half = strcmp (tensor->dtype, "F16") == 0;
  gsize size = single ? 4 : 2, n = tensor->bytes / size;
  double *values = g_malloc_n (MAX (n, 1), sizeof *values);
  for (gsize i = 0; i < n; i++) {
    guint32 bits = 0;
    guint16 word = 0;
    if (single)
      memcpy (&bits, tensor->data + i * size, sizeof bits); /* at any alignment */
    else
      memcpy (&word, tensor->data + i * size, sizeof word);
    word = GUINT16_FROM_LE (word);
    values[i] = single ? float_value (GUINT32_FROM_LE (bits))
                : half ? half_value (word)
                       : float_value ((guint32)word << 16);
  }
  return values;
}
