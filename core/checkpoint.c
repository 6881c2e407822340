/* SPDX-License-Identifier: MIT */
#include "core/checkpoint.h"

#include "core/digest.h"
#include "core/error.h"
#include "core/input.h"
#include "core/tensor-file.h"

#include <string.h>

#define CONFIG "config.json"
#define CONFIG_MAX (16 << 20) /* bytes */
#define SINGLE "model.safetensors"
#define INDEX "model.safetensors.index.json"
#define TORCH_SINGLE "pytorch_model.bin"
#define TORCH_INDEX "pytorch_model.bin.index.json"

struct _MharCheckpoint {
  char *path, *folder;
  char *shown; /* path, as messages show it */
  char *config_path;
  MharConfig *config;       /* or */
  GMappedFile *config_text; /* where only tensors are asked for; NULL where absent */
  const char *index;        /* base name of the index; NULL where there is none */
  GPtrArray *files;         /* MharTensorFile */
  GStringChunk *aliases;
  MharNameMap *map;
  GPtrArray *tensors;  /* const MharTensor, file by file */
  GHashTable *by_name; /* -> const MharTensor */
  guint64 bytes;
};

static const MharTensorFile *
file_at (const MharCheckpoint *checkpoint, guint i)
{
  return g_ptr_array_index (checkpoint->files, i);
}

/* The number of the file that holds the tensor. */
static guint
file_of (const MharCheckpoint *checkpoint, const MharTensor *tensor)
{
  guint i = 0;
  while (i + 1 < checkpoint->files->len && mhar_tensor_file_find (file_at (checkpoint, i), tensor->name) != tensor)
    i++;
  return i;
}

/* Whether the path is that of one file, not of a folder. */
static gboolean
is_archive (const MharCheckpoint *checkpoint)
{
  return strcmp (checkpoint->folder, checkpoint->path) != 0;
}

/* Where the tensor stands, for messages: a file of the folder, or the archive itself. */
static char *
place_of (const MharCheckpoint *checkpoint, const char *name)
{
  return is_archive (checkpoint) ? g_strdup (checkpoint->shown) : g_strconcat (checkpoint->shown, "/", name, NULL);
}

static gboolean
add_file (MharCheckpoint *checkpoint, const char *name, gboolean torch, GError **error)
{
  MharTensorFile *file = mhar_tensor_file_open (checkpoint->folder, name, torch, error);
  if (file == NULL)
    return FALSE;
  g_ptr_array_add (checkpoint->files, file);
  for (guint i = 0; i < mhar_tensor_file_n_tensors (file); i++) {
    const MharTensor *tensor = mhar_tensor_file_tensor (file, i);
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

static gboolean
shard_holds (const char *shard, const char *tensor, gpointer user)
{
  const MharCheckpoint *checkpoint = user;
  for (guint i = 0; i < checkpoint->files->len; i++)
    if (strcmp (mhar_tensor_file_name (file_at (checkpoint, i)), shard) == 0)
      return mhar_tensor_file_find (file_at (checkpoint, i), tensor) != NULL;
  return FALSE;
}

/* Names in a torch archive may have lost prefixes that the index still shows. */
static gboolean
open_sharded (MharCheckpoint *checkpoint, const char *name, gboolean torch, const MharCheckpointOptions *options,
              GError **error)
{
  g_autoptr (MharShardIndex) index
      = mhar_shard_index_open (checkpoint->folder, name, options->wanted, options->user, error);
  if (index == NULL)
    return FALSE;
  const GPtrArray *shards = mhar_shard_index_shards (index);
  checkpoint->index = name;
  for (guint i = 0; i < shards->len; i++)
    if (!add_file (checkpoint, g_ptr_array_index (shards, i), torch, error))
      return FALSE;
  return torch || mhar_shard_index_check (index, shard_holds, checkpoint, error);
}

/* An index goes before a single file where a folder has both: it can name that file, not the other way round. */
static gboolean
open_tensors (MharCheckpoint *checkpoint, const MharCheckpointOptions *options, GError **error)
{
  static const struct {
    const char *name;
    gboolean index, torch;
  } kinds[] = {
    { INDEX, TRUE, FALSE }, { SINGLE, FALSE, FALSE }, { TORCH_INDEX, TRUE, TRUE }, { TORCH_SINGLE, FALSE, TRUE }
  };
  if (is_archive (checkpoint)) {
    g_autofree char *base = g_path_get_basename (checkpoint->path);
    return add_file (checkpoint, base, TRUE, error);
  }
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree char *path = g_build_filename (checkpoint->folder, kinds[i].name, NULL);
    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      continue;
    return kinds[i].index ? open_sharded (checkpoint, kinds[i].name, kinds[i].torch, options, error)
                          : add_file (checkpoint, kinds[i].name, kinds[i].torch, error);
  }
  return mhar_bad_input (error, "%s: has neither %s nor %s nor %s; give the folder a checkpoint was saved in",
                         checkpoint->shown, SINGLE, INDEX, TORCH_SINGLE);
}

/* A folder, or an archive: then its folder is that of the files beside it. */
static gboolean
find_folder (MharCheckpoint *checkpoint, GError **error)
{
  const char *path = checkpoint->path, *shown = checkpoint->shown;
  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    checkpoint->folder = g_strdup (path);
    return TRUE;
  }
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return mhar_bad_input (error, "%s: there is no such folder or file; check the path", shown);
  if (g_str_has_suffix (path, ".safetensors"))
    return mhar_bad_input (error, "%s: is a tensor file; give the folder that holds it", shown);
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return mhar_bad_input (error, "%s: is not a folder; give the folder that holds config.json and the tensors", shown);
  checkpoint->folder = g_path_get_dirname (path);
  return TRUE;
}

static gboolean
read_config (MharCheckpoint *checkpoint, const MharCheckpointOptions *options, GError **error)
{
  checkpoint->config_path
      = options->config != NULL ? g_strdup (options->config) : g_build_filename (checkpoint->folder, CONFIG, NULL);
  gboolean there = g_file_test (checkpoint->config_path, G_FILE_TEST_EXISTS);
  if (!there && options->config == NULL) {
    if (options->tensors_only)
      return TRUE;
    return is_archive (checkpoint)
               ? mhar_bad_input (error, "%s: has no config.json beside it; put it there, or give --config FILE",
                                 checkpoint->shown)
               : mhar_bad_input (error, "%s: has no config.json; give the folder a checkpoint was saved in",
                                 checkpoint->shown);
  }
  if (options->tensors_only) {
    checkpoint->config_text = mhar_input_map (checkpoint->config_path, CONFIG_MAX, error);
    return checkpoint->config_text != NULL;
  }
  checkpoint->config = mhar_config_load (checkpoint->config_path, error);
  return checkpoint->config != NULL;
}

/* A tensor that the map says the body has under another name. */
static gboolean
add_alias (MharCheckpoint *checkpoint, const MharMapPair *pair, int layer, GError **error)
{
  g_autofree char *ours = mhar_name_fill (pair->ours, layer), *theirs = mhar_name_fill (pair->theirs, layer);
  g_autofree char *quoted = mhar_input_quote (theirs);
  if (mhar_checkpoint_find (checkpoint, theirs) == NULL)
    return mhar_bad_input (error, "%s: names the tensor '%s', which %s does not hold; mend the name",
                           checkpoint->map->path, quoted, checkpoint->shown);
  return mhar_checkpoint_alias (checkpoint, ours, theirs)
         || mhar_bad_input (error, "%s: says '%s' is the body's '%s', but %s holds another tensor of that name",
                            checkpoint->map->path, quoted, ours, checkpoint->shown);
}

static gboolean
apply_map (MharCheckpoint *checkpoint, const MharCheckpointOptions *options, GError **error)
{
  if (options->map == NULL)
    return TRUE;
  checkpoint->map = mhar_name_map_load (options->map, error);
  if (checkpoint->map == NULL)
    return FALSE;
  const GArray *body = checkpoint->map->body;
  for (guint i = 0; checkpoint->config != NULL && i < body->len; i++) {
    const MharMapPair *pair = &g_array_index (body, MharMapPair, i);
    int layers = strstr (pair->ours, "{i}") != NULL ? mhar_config_body (checkpoint->config)->layers : 1;
    for (int l = 0; l < layers; l++)
      if (!add_alias (checkpoint, pair, l, error))
        return FALSE;
  }
  return TRUE;
}

MharCheckpoint *
mhar_checkpoint_open (const char *path, GError **error)
{
  const MharCheckpointOptions usual = { 0 };
  return mhar_checkpoint_open_with (path, &usual, error);
}

MharCheckpoint *
mhar_checkpoint_open_with (const char *path, const MharCheckpointOptions *options, GError **error)
{
  g_autoptr (MharCheckpoint) checkpoint = g_new0 (MharCheckpoint, 1);
  checkpoint->path = g_strdup (path);
  checkpoint->shown = g_filename_display_name (path);
  checkpoint->files = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_tensor_file_free);
  checkpoint->tensors = g_ptr_array_new ();
  checkpoint->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  checkpoint->aliases = g_string_chunk_new (4096);
  if (!find_folder (checkpoint, error))
    return NULL;
  /* Of a file that may be anything its own refusal says more than that of a config that is not beside it. */
  gboolean good = is_archive (checkpoint)
                      ? open_tensors (checkpoint, options, error) && read_config (checkpoint, options, error)
                      : read_config (checkpoint, options, error) && open_tensors (checkpoint, options, error);
  if (!good || !apply_map (checkpoint, options, error))
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
  g_string_chunk_free (checkpoint->aliases);
  mhar_name_map_free (checkpoint->map);
  mhar_config_free (checkpoint->config);
  g_clear_pointer (&checkpoint->config_text, g_mapped_file_unref);
  g_free (checkpoint->config_path);
  g_free (checkpoint->shown);
  g_free (checkpoint->folder);
  g_free (checkpoint->path);
  g_free (checkpoint);
}

const char *
mhar_checkpoint_path (const MharCheckpoint *checkpoint)
{
  return checkpoint->path;
}

const char *
mhar_checkpoint_folder (const MharCheckpoint *checkpoint)
{
  return checkpoint->folder;
}

const MharConfig *
mhar_checkpoint_config (const MharCheckpoint *checkpoint)
{
  return checkpoint->config;
}

const char *
mhar_checkpoint_config_text (const MharCheckpoint *checkpoint, gsize *length, const char **path)
{
  if (path != NULL)
    *path = checkpoint->config_path;
  if (checkpoint->config != NULL)
    return mhar_config_text (checkpoint->config, length);
  *length = checkpoint->config_text != NULL ? g_mapped_file_get_length (checkpoint->config_text) : 0;
  return checkpoint->config_text != NULL ? g_mapped_file_get_contents (checkpoint->config_text) : NULL;
}

gboolean
mhar_checkpoint_alias (MharCheckpoint *checkpoint, const char *alias, const char *name)
{
  const MharTensor *tensor = mhar_checkpoint_find (checkpoint, name), *other = mhar_checkpoint_find (checkpoint, alias);
  if (tensor == NULL || (other != NULL && other != tensor))
    return FALSE;
  g_hash_table_insert (checkpoint->by_name, g_string_chunk_insert (checkpoint->aliases, alias), (gpointer)tensor);
  return TRUE;
}

const MharNameMap *
mhar_checkpoint_map (const MharCheckpoint *checkpoint)
{
  return checkpoint->map;
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
  g_return_val_if_fail (i < checkpoint->files->len, NULL);
  return mhar_tensor_file_name (file_at (checkpoint, i));
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
  g_autofree char *file = place_of (checkpoint, mhar_checkpoint_file (checkpoint, file_of (checkpoint, found)));
  g_autofree char *quoted = mhar_input_quote (name);
  if (!is_readable (found))
    return mhar_bad_input (error, "%s: tensor '%s' is stored as %s; convert it to BF16, F16 or F32", file, quoted,
                           found->dtype);
  if (!same_shape (found->n_dims, found->shape, n_dims, shape)) {
    g_autofree char *has = shape_text (found->n_dims, found->shape), *asked = shape_text (n_dims, shape);
    return mhar_bad_input (error,
                           "%s: tensor '%s' has the shape %s but config.json asks for %s; give the config.json "
                           "that was saved with the tensors",
                           file, quoted, has, asked);
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
    const char *one = checkpoint->index != NULL ? checkpoint->index : mhar_checkpoint_file (checkpoint, 0);
    g_autofree char *file = place_of (checkpoint, one);
    mhar_bad_input (error,
                    "%s: tensor '%s' of shape %s is missing; give the config.json that was saved with the tensors",
                    file, quoted, asked);
  }
  return tensor;
}

char *
mhar_checkpoint_digest (const MharCheckpoint *checkpoint, const char *const *names, gboolean whole,
                        GCancellable *cancellable, GError **error)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize length;
  const char *text = mhar_checkpoint_config_text (checkpoint, &length, NULL);
  if (text != NULL && !mhar_digest_update (sum, (const guint8 *)text, length, cancellable, error))
    return NULL;
  for (guint i = 0; i < checkpoint->files->len; i++) {
    const MharTensorFile *file = file_at (checkpoint, i);
    const guint8 *data = whole ? mhar_tensor_file_contents (file, &length) : mhar_tensor_file_header (file, &length);
    if (!mhar_digest_update (sum, data, length, cancellable, error))
      return NULL;
  }
  for (; !whole && names != NULL && *names != NULL; names++) {
    const MharTensor *tensor = mhar_checkpoint_find (checkpoint, *names);
    if (tensor != NULL && !mhar_digest_update (sum, tensor->data, tensor->bytes, cancellable, error))
      return NULL;
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
