/* SPDX-License-Identifier: MIT */
/* The layout: 8 bytes of header length, little-endian; that many bytes of JSON; the tensors, back to back. As in the
 * format's own library, tensors sorted by offset must start at 0, follow one another without a hole and end with the
 * file. */
#include "core/safetensors.h"

#include "core/error.h"
#include "core/input.h"

#include <string.h>

#define LENGTH_BYTES 8
#define HEADER_MAX 100000000 /* the limit of the format's own library */

/* Every dtype the format knows. Some elements are smaller than a byte. */
static const struct {
  const char *name;
  guint bits;
} dtypes[] = {
  { "BOOL", 8 },    { "F4", 4 },      { "F6_E2M3", 6 }, { "F6_E3M2", 6 },     { "U8", 8 },          { "I8", 8 },
  { "F8_E5M2", 8 }, { "F8_E4M3", 8 }, { "F8_E8M0", 8 }, { "F8_E4M3FNUZ", 8 }, { "F8_E5M2FNUZ", 8 }, { "I16", 16 },
  { "U16", 16 },    { "F16", 16 },    { "BF16", 16 },   { "I32", 32 },        { "U32", 32 },        { "F32", 32 },
  { "C64", 64 },    { "F64", 64 },    { "I64", 64 },    { "U64", 64 },
};

typedef struct {
  MharTensor tensor;
  guint64 start, end; /* bytes after the header */
} Entry;

struct _MharSafetensors {
  char *path; /* as messages show it */
  GMappedFile *map;
  gsize header; /* bytes of JSON */
  GStringChunk *names;
  GArray *entries;     /* of Entry, in the order of their data */
  GHashTable *by_name; /* -> MharTensor in entries */
  GHashTable *metadata; /* -> text; both in names */
};

/* "FILE: tensor 'NAME' …": a refusal of one tensor. */
static gboolean G_GNUC_PRINTF (4, 5)
    bad_tensor (const MharSafetensors *file, const char *name, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *quoted = mhar_input_quote (name);
  return mhar_bad_input (error, "%s: tensor '%s' %s", file->path, quoted, what);
}

static gboolean
read_dtype (const MharSafetensors *file, MharTensor *tensor, guint *bits, const json_t *value, GError **error)
{
  const char *dtype = json_string_value (value);
  if (dtype == NULL)
    return bad_tensor (file, tensor->name, error, "has no dtype; the header is damaged, fetch the file again");
  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++)
    if (strcmp (dtype, dtypes[i].name) == 0) {
      tensor->dtype = dtypes[i].name;
      *bits = dtypes[i].bits;
      return TRUE;
    }
  g_autofree char *quoted = mhar_input_quote (dtype);
  return bad_tensor (file, tensor->name, error,
                     "has the dtype '%s', which the safetensors format does not know; "
                     "convert it to BF16, F16 or F32",
                     quoted);
}

static gboolean
read_shape (const MharSafetensors *file, MharTensor *tensor, const json_t *value, GError **error)
{
  if (!json_is_array (value))
    return bad_tensor (file, tensor->name, error, "has no shape; the header is damaged, fetch the file again");
  if (json_array_size (value) > MHAR_TENSOR_MAX_DIMS)
    return bad_tensor (file, tensor->name, error,
                       "has %" G_GSIZE_FORMAT " dimensions, more than the %d that can be read; "
                       "it is not a Transformer's",
                       json_array_size (value), MHAR_TENSOR_MAX_DIMS);
  tensor->n_dims = (guint)json_array_size (value);
  for (guint i = 0; i < tensor->n_dims; i++) {
    const json_t *length = json_array_get (value, i);
    if (!json_is_integer (length))
      return bad_tensor (file, tensor->name, error, "has a shape that is not of whole numbers; fetch the file again");
    if (json_integer_value (length) < 0)
      return bad_tensor (file, tensor->name, error,
                         "has the negative length %" JSON_INTEGER_FORMAT " in its shape; fetch the file again",
                         json_integer_value (length));
    tensor->shape[i] = (guint64)json_integer_value (length);
  }
  return TRUE;
}

static gboolean
read_offsets (const MharSafetensors *file, Entry *entry, const json_t *value, GError **error)
{
  const char *name = entry->tensor.name;
  const json_t *start = json_array_get (value, 0), *end = json_array_get (value, 1);
  if (json_array_size (value) != 2 || !json_is_integer (start) || !json_is_integer (end))
    return bad_tensor (file, name, error, "has no data_offsets of two whole numbers; fetch the file again");
  if (json_integer_value (start) < 0 || json_integer_value (end) < json_integer_value (start))
    return bad_tensor (file, name, error,
                       "says bytes %" JSON_INTEGER_FORMAT "–%" JSON_INTEGER_FORMAT
                       ", which is no range; the header is damaged, fetch the file again",
                       json_integer_value (start), json_integer_value (end));
  entry->start = (guint64)json_integer_value (start);
  entry->end = (guint64)json_integer_value (end);
  return TRUE;
}

/* shape × dtype against the bytes that data_offsets give. */
static gboolean
check_bytes (const MharSafetensors *file, const Entry *entry, guint bits, GError **error)
{
  const MharTensor *tensor = &entry->tensor;
  guint64 size = 1;
  gboolean overflow = FALSE;
  for (guint i = 0; i < tensor->n_dims; i++)
    overflow |= __builtin_mul_overflow (size, tensor->shape[i], &size);
  overflow |= __builtin_mul_overflow (size, (guint64)bits, &size);
  if (overflow)
    return bad_tensor (file, tensor->name, error, "has a shape whose size overflows; fetch the file again");
  if (size % 8 != 0)
    return bad_tensor (file, tensor->name, error, "ends inside a byte; convert it to BF16, F16 or F32");
  if (size / 8 != entry->end - entry->start)
    return bad_tensor (file, tensor->name, error,
                       "needs %" G_GUINT64_FORMAT " bytes for its shape as %s but has %" G_GUINT64_FORMAT
                       "; the header is damaged, fetch the file again",
                       size / 8, tensor->dtype, entry->end - entry->start);
  return TRUE;
}

static gboolean
read_entry (MharSafetensors *file, const char *name, const json_t *value, GError **error)
{
  Entry entry = { .tensor.name = g_string_chunk_insert (file->names, name) };
  guint bits = 0;
  if (!json_is_object (value))
    return bad_tensor (file, name, error,
                       "is not described by a JSON object; the header is damaged, fetch the file again");
  if (!read_dtype (file, &entry.tensor, &bits, json_object_get (value, "dtype"), error)
      || !read_shape (file, &entry.tensor, json_object_get (value, "shape"), error)
      || !read_offsets (file, &entry, json_object_get (value, "data_offsets"), error)
      || !check_bytes (file, &entry, bits, error))
    return FALSE;
  g_array_append_val (file->entries, entry);
  return TRUE;
}

/* `__metadata__`: nothing, or strings only. */
static gboolean
read_metadata (MharSafetensors *file, json_t *value, GError **error)
{
  if (json_is_null (value))
    return TRUE;
  gboolean good = json_is_object (value);
  const char *key;
  json_t *text;
  json_object_foreach (value, key, text)
  {
    good = good && json_is_string (text);
    if (good)
      g_hash_table_insert (file->metadata, g_string_chunk_insert (file->names, key),
                           g_string_chunk_insert (file->names, json_string_value (text)));
  }
  return good
         || mhar_bad_input (error,
                            "%s: __metadata__ in the header is not an object of strings; save the file again "
                            "with the metadata as text",
                            file->path);
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->end != y->end)
    return x->end < y->end ? -1 : 1;
  return strcmp (x->tensor.name, y->tensor.name);
}

/* Points every tensor at its bytes, once these are known to lie in the file, back to back. */
static gboolean
place_entries (MharSafetensors *file, GError **error)
{
  gsize before = LENGTH_BYTES + file->header;
  guint64 size = g_mapped_file_get_length (file->map) - before, at = 0;
  const guint8 *data = (const guint8 *)g_mapped_file_get_contents (file->map) + before;
  g_array_sort (file->entries, compare_entries);
  for (guint i = 0; i < file->entries->len; i++) {
    Entry *entry = &g_array_index (file->entries, Entry, i);
    MharTensor *tensor = &entry->tensor;
    if (entry->end > size)
      return bad_tensor (file, tensor->name, error,
                         "says bytes %" G_GUINT64_FORMAT "–%" G_GUINT64_FORMAT
                         " but the file's data ends at %" G_GUINT64_FORMAT
                         "; the download was cut short, fetch it again",
                         entry->start, entry->end, size);
    if (entry->start < at) /* never the first: at is 0 there */
      return bad_tensor (file, tensor->name, error,
                         "says bytes %" G_GUINT64_FORMAT "–%" G_GUINT64_FORMAT
                         ", which overlap those of the tensor before it, up to %" G_GUINT64_FORMAT
                         "; the header is damaged, fetch the file again",
                         entry->start, entry->end, at);
    if (entry->start > at)
      return bad_tensor (file, tensor->name, error,
                         "starts at byte %" G_GUINT64_FORMAT " and leaves a hole from %" G_GUINT64_FORMAT
                         "; the format has none, save or fetch the file again",
                         entry->start, at);
    tensor->data = data + entry->start;
    tensor->bytes = (gsize)(entry->end - entry->start);
    g_hash_table_insert (file->by_name, (gpointer)tensor->name, tensor);
    at = entry->end;
  }
  return at == size
         || mhar_bad_input (error,
                            "%s: its last tensor ends at byte %" G_GUINT64_FORMAT
                            " but the file's data at %" G_GUINT64_FORMAT
                            "; it is not the file its header describes, fetch it again",
                            file->path, at, size);
}

/* The length of the JSON, checked against the format's limit and the file. */
static gboolean
read_length (MharSafetensors *file, GError **error)
{
  gsize size = g_mapped_file_get_length (file->map);
  if (size < LENGTH_BYTES)
    return mhar_bad_input (error, "%s: has %" G_GSIZE_FORMAT " bytes, too few for a safetensors file; fetch it again",
                           file->path, size);
  guint64 length;
  memcpy (&length, g_mapped_file_get_contents (file->map), sizeof length);
  length = GUINT64_FROM_LE (length);
  if (length > HEADER_MAX)
    return mhar_bad_input (error,
                           "%s: says its header has %" G_GUINT64_FORMAT " bytes, over the format's limit of %d; "
                           "it is damaged or no safetensors file, fetch it again",
                           file->path, length, HEADER_MAX);
  if (length > size - LENGTH_BYTES)
    return mhar_bad_input (error,
                           "%s: says its header has %" G_GUINT64_FORMAT
                           " bytes but the file ends after %" G_GSIZE_FORMAT
                           " of them; the download was cut short, fetch it again",
                           file->path, length, size - LENGTH_BYTES);
  file->header = (gsize)length;
  return TRUE;
}

static gboolean
read_header (MharSafetensors *file, const char *path, GError **error)
{
  const char *text = g_mapped_file_get_contents (file->map) + LENGTH_BYTES;
  json_auto_t *root = mhar_input_json (text, file->header, path, "the header", error);
  if (root == NULL)
    return FALSE;
  const char *name;
  json_t *value;
  json_object_foreach (root, name, value) {
    gboolean metadata = strcmp (name, "__metadata__") == 0;
    if (!(metadata ? read_metadata (file, value, error) : read_entry (file, name, value, error)))
      return FALSE;
  }
  return place_entries (file, error);
}

MharSafetensors *
mhar_safetensors_open (const char *path, GError **error)
{
  g_autoptr (GMappedFile) map = mhar_input_map (path, 0, error);
  if (map == NULL)
    return NULL;
  g_autoptr (MharSafetensors) file = g_new0 (MharSafetensors, 1);
  file->path = g_filename_display_name (path);
  file->map = g_steal_pointer (&map);
  file->names = g_string_chunk_new (4096);
  file->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  file->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  file->metadata = g_hash_table_new (g_str_hash, g_str_equal);
  if (!read_length (file, error) || !read_header (file, path, error))
    return NULL;
  return g_steal_pointer (&file);
}

void
mhar_safetensors_free (MharSafetensors *file)
{
  if (file == NULL)
    return;
  g_hash_table_unref (file->by_name);
  g_hash_table_unref (file->metadata);
  g_array_unref (file->entries);
  g_string_chunk_free (file->names);
  g_mapped_file_unref (file->map);
  g_free (file->path);
  g_free (file);
}

guint
mhar_safetensors_n_tensors (const MharSafetensors *file)
{
  return file->entries->len;
}

const MharTensor *
mhar_safetensors_tensor (const MharSafetensors *file, guint i)
{
  g_return_val_if_fail (i < file->entries->len, NULL);
  return &g_array_index (file->entries, Entry, i).tensor;
}

const MharTensor *
mhar_safetensors_find (const MharSafetensors *file, const char *name)
{
  return g_hash_table_lookup (file->by_name, name);
}

const char *
mhar_safetensors_metadata (const MharSafetensors *file, const char *key)
{
  return g_hash_table_lookup (file->metadata, key);
}

const guint8 *
mhar_safetensors_header (const MharSafetensors *file, gsize *length)
{
  *length = file->header;
  return (const guint8 *)g_mapped_file_get_contents (file->map) + LENGTH_BYTES;
}

const guint8 *
mhar_safetensors_contents (const MharSafetensors *file, gsize *length)
{
  *length = g_mapped_file_get_length (file->map);
  return (const guint8 *)g_mapped_file_get_contents (file->map);
}
