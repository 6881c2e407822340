/* SPDX-License-Identifier: MIT */
/* The layout: NAME/data.pkl, a pickle whose tensors name storages; NAME/data/KEY, a storage's bytes; NAME/byteorder. */
#include "core/torch-archive.h"

#include "core/error.h"
#include "core/input.h"
#include "core/unpickle.h"
#include "core/zip.h"

#include <string.h>

#define PICKLE "/data.pkl"

struct _MharTorchArchive {
  char *path; /* as messages show it */
  MharZip *zip;
  char *root; /* the folder inside the archive */
  const MharZipEntry *pickle;
  GStringChunk *names;
  GArray *tensors;     /* of MharTensor */
  GHashTable *by_name; /* -> MharTensor in tensors */
};

static gboolean G_GNUC_PRINTF (4, 5)
    bad_tensor (const MharTorchArchive *archive, const char *name, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *quoted = mhar_input_quote (name);
  return mhar_bad_input (error, "%s: tensor '%s' %s", archive->path, quoted, what);
}

static guint
element_size (const char *dtype)
{
  static const struct {
    const char *dtype;
    guint bytes;
  } sizes[] = { { "BF16", 2 }, { "F16", 2 }, { "F32", 4 }, { "F64", 8 }, { "I64", 8 }, { "I32", 4 }, { "I16", 2 } };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (strcmp (dtype, sizes[i].dtype) == 0)
      return sizes[i].bytes;
  return 1;
}

/* The name without the wrappers of DataParallel and torch.compile. */
static const char *
bare_name (const char *name)
{
  static const char *const prefixes[] = { "module.", "_orig_mod." };
  for (guint i = 0; i < G_N_ELEMENTS (prefixes);) {
    gboolean there = g_str_has_prefix (name, prefixes[i]);
    name += there ? strlen (prefixes[i]) : 0;
    i = there ? 0 : i + 1;
  }
  return name;
}

/* The storage's bytes, which must be all of its elements. */
static const MharZipEntry *
find_storage (const MharTorchArchive *archive, const char *name, const MharPickleValue *storage, GError **error)
{
  const MharPickleValue *key = storage->as.items[0];
  gint64 elements = storage->as.items[1]->as.integer;
  g_autofree char *text = g_strndup (key->as.text, key->n), *quoted = mhar_input_quote (text);
  g_autofree char *path = g_strconcat (archive->root, "/data/", text, NULL);
  const MharZipEntry *entry = mhar_zip_find (archive->zip, path);
  guint64 bytes;
  if (entry == NULL) {
    bad_tensor (archive, name, error,
                "is in the storage '%s', which the archive does not hold; save the checkpoint again", quoted);
    return NULL;
  }
  if (elements < 0 || __builtin_mul_overflow ((guint64)elements, (guint64)element_size (storage->dtype), &bytes)
      || bytes != entry->bytes) {
    bad_tensor (archive, name, error,
                "is in the storage '%s', which says %" G_GINT64_FORMAT " elements of %s but has %" G_GSIZE_FORMAT
                " bytes; save the checkpoint again",
                quoted, elements, storage->dtype, entry->bytes);
    return NULL;
  }
  return entry;
}

/* Sizes into the tensor, and its number of elements; strides must be those of rows one after another. Those of a
 * dimension of length 1, or of a tensor without elements, mean nothing. */
static gboolean
read_layout (const MharTorchArchive *archive, MharTensor *tensor, const MharPickleValue *value, guint64 *elements,
             GError **error)
{
  const MharPickleValue *size = value->as.items[2], *stride = value->as.items[3];
  gboolean contiguous = TRUE;
  if (size->n > MHAR_TENSOR_MAX_DIMS)
    return bad_tensor (archive, tensor->name, error,
                       "has %" G_GSIZE_FORMAT
                       " dimensions, more than the %d that can be read; it is not a Transformer's",
                       size->n, MHAR_TENSOR_MAX_DIMS);
  tensor->n_dims = (guint)size->n;
  *elements = 1;
  for (guint i = tensor->n_dims; i-- > 0;) {
    gint64 length = size->as.items[i]->as.integer, step = stride->as.items[i]->as.integer;
    if (length < 0)
      return bad_tensor (archive, tensor->name, error, "has the negative length %" G_GINT64_FORMAT " in its shape",
                         length);
    contiguous = contiguous && (length == 1 || (step >= 0 && (guint64)step == *elements));
    tensor->shape[i] = (guint64)length;
    if (__builtin_mul_overflow (*elements, (guint64)length, elements))
      return bad_tensor (archive, tensor->name, error, "has a shape whose size overflows; save the checkpoint again");
  }
  return contiguous || *elements == 0
         || bad_tensor (archive, tensor->name, error,
                        "is stored transposed or with gaps; call .contiguous() on it and save the checkpoint again");
}

static gboolean
place_tensor (const MharTorchArchive *archive, MharTensor *tensor, const MharPickleValue *value, GError **error)
{
  const MharPickleValue *storage = value->as.items[0];
  gint64 offset = value->as.items[1]->as.integer;
  guint64 size = element_size (storage->dtype), elements = 0;
  const MharZipEntry *entry = find_storage (archive, tensor->name, storage, error);
  if (entry == NULL || !read_layout (archive, tensor, value, &elements, error))
    return FALSE;
  guint64 room = entry->bytes / size;
  if (offset < 0 || (guint64)offset > room || elements > room - (guint64)offset)
    return bad_tensor (archive, tensor->name, error,
                       "needs %" G_GUINT64_FORMAT " elements from %" G_GINT64_FORMAT
                       " of a storage that has %" G_GUINT64_FORMAT "; save the checkpoint again",
                       elements, offset, room);
  tensor->dtype = storage->dtype;
  tensor->data = entry->data + (guint64)offset * size;
  tensor->bytes = (gsize)(elements * size);
  return TRUE;
}

static gboolean
add_tensor (MharTorchArchive *archive, const MharPickleValue *key, const MharPickleValue *value, GError **error)
{
  g_autofree char *text = g_strndup (key->as.text, key->n);
  MharTensor tensor = { .name = g_string_chunk_insert (archive->names, bare_name (text)) };
  if (memchr (key->as.text, '\0', key->n) != NULL)
    return bad_tensor (archive, text, error, "has a zero byte in its name; save the checkpoint again");
  if (!g_hash_table_add (archive->by_name, (gpointer)tensor.name))
    return bad_tensor (archive, tensor.name, error, "stands twice once prefixes are gone; save one model alone");
  if (!place_tensor (archive, &tensor, value, error))
    return FALSE;
  g_array_append_val (archive->tensors, tensor);
  return TRUE;
}

static gboolean
holds_tensors (const MharPickleValue *value)
{
  for (gsize i = 0; value->kind == MHAR_PICKLE_DICT && i + 1 < value->n; i += 2)
    if (value->as.items[i]->kind == MHAR_PICKLE_STRING && value->as.items[i + 1]->kind == MHAR_PICKLE_TENSOR)
      return TRUE;
  return FALSE;
}

/* The dict whose values are the model's tensors. */
static const MharPickleValue *
find_state_dict (const MharTorchArchive *archive, const MharPickleValue *top, GError **error)
{
  static const char *const places[] = { "model", "state_dict", "model_state", "model_state_dict" };
  const MharPickleValue *found = NULL;
  const char *place = NULL;
  for (gsize i = 0; top->kind == MHAR_PICKLE_DICT && i + 1 < top->n; i += 2)
    for (guint p = 0; p < G_N_ELEMENTS (places); p++) {
      if (!mhar_pickle_is (top->as.items[i], places[p]) || !holds_tensors (top->as.items[i + 1]))
        continue;
      if (found != NULL) {
        mhar_bad_input (error, "%s: holds a state dict under '%s' and another under '%s'; save one of them alone",
                        archive->path, place, places[p]);
        return NULL;
      }
      found = top->as.items[i + 1];
      place = places[p];
    }
  if (found == NULL && holds_tensors (top))
    found = top;
  if (found == NULL)
    mhar_bad_input (error,
                    "%s: holds no state dict, neither at the top nor under model, state_dict, model_state or "
                    "model_state_dict; save torch.save(model.state_dict(), FILE)",
                    archive->path);
  return found;
}

static gboolean
read_tensors (MharTorchArchive *archive, GError **error)
{
  g_autoptr (MharPickle) pickle
      = mhar_pickle_read (archive->pickle->data, archive->pickle->bytes, archive->path, error);
  const MharPickleValue *state = pickle != NULL ? find_state_dict (archive, mhar_pickle_root (pickle), error) : NULL;
  if (state == NULL)
    return FALSE;
  for (gsize i = 0; i + 1 < state->n; i += 2) {
    const MharPickleValue *key = state->as.items[i], *value = state->as.items[i + 1];
    if (key->kind == MHAR_PICKLE_STRING && value->kind == MHAR_PICKLE_TENSOR
        && !add_tensor (archive, key, value, error))
      return FALSE;
  }
  for (guint i = 0; i < archive->tensors->len; i++) { /* now that they stay where they are */
    MharTensor *tensor = &g_array_index (archive->tensors, MharTensor, i);
    g_hash_table_replace (archive->by_name, (gpointer)tensor->name, tensor);
  }
  return TRUE;
}

/* The one folder of the archive that holds data.pkl. */
static gboolean
find_pickle (MharTorchArchive *archive, GError **error)
{
  for (guint i = 0; i < mhar_zip_n_entries (archive->zip); i++) {
    const MharZipEntry *entry = mhar_zip_entry (archive->zip, i);
    const char *slash = strchr (entry->name, '/');
    if (slash == NULL || strcmp (slash, PICKLE) != 0)
      continue;
    if (archive->pickle != NULL)
      return mhar_bad_input (error, "%s: holds two pickles, '%s%s' and '%s'; save the checkpoint again", archive->path,
                             archive->root, PICKLE, entry->name);
    archive->pickle = entry;
    archive->root = g_strndup (entry->name, (gsize)(slash - entry->name));
  }
  return archive->pickle != NULL
         || mhar_bad_input (error, "%s: is a zip archive but holds no data.pkl; give one that torch.save wrote",
                            archive->path);
}

static gboolean
check_byteorder (const MharTorchArchive *archive, GError **error)
{
  g_autofree char *name = g_strconcat (archive->root, "/byteorder", NULL);
  const MharZipEntry *order = mhar_zip_find (archive->zip, name);
  if (order == NULL || (order->bytes == 6 && memcmp (order->data, "little", 6) == 0))
    return TRUE;
  return mhar_bad_input (error, "%s: its numbers are not little-endian; save it on a little-endian machine",
                         archive->path);
}

/* What comes before the zip reader's own words: files that people take for an archive. */
static gboolean
check_kind (const char *path, const char *shown, GError **error)
{
  g_autoptr (GMappedFile) map = mhar_input_map (path, 0, error);
  if (map == NULL)
    return FALSE;
  const guint8 *data = (const guint8 *)g_mapped_file_get_contents (map);
  gsize length = g_mapped_file_get_length (map);
  if (length >= 4 && memcmp (data, "PK\3\4", 4) == 0)
    return TRUE;
  if (length >= 2 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5)
    return mhar_bad_input (
        error,
        "%s: is a pickle of the old kind, from torch before 1.6; open it there and save it again with "
        "torch.save, which writes a zip archive",
        shown);
  return mhar_bad_input (error,
                         "%s: is not a folder, and no archive of torch.save (.pt, .pth, .bin); give the folder that "
                         "holds config.json and the tensors, or such an archive",
                         shown);
}

MharTorchArchive *
mhar_torch_archive_open (const char *path, GError **error)
{
  g_autoptr (MharTorchArchive) archive = g_new0 (MharTorchArchive, 1);
  archive->path = g_filename_display_name (path);
  archive->names = g_string_chunk_new (4096);
  archive->tensors = g_array_new (FALSE, FALSE, sizeof (MharTensor));
  archive->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (!check_kind (path, archive->path, error))
    return NULL;
  archive->zip = mhar_zip_open (path, error);
  if (archive->zip == NULL || !find_pickle (archive, error) || !check_byteorder (archive, error)
      || !read_tensors (archive, error))
    return NULL;
  return g_steal_pointer (&archive);
}

void
mhar_torch_archive_free (MharTorchArchive *archive)
{
  if (archive == NULL)
    return;
  g_hash_table_unref (archive->by_name);
  g_array_unref (archive->tensors);
  g_string_chunk_free (archive->names);
  mhar_zip_free (archive->zip);
  g_free (archive->root);
  g_free (archive->path);
  g_free (archive);
}

guint
mhar_torch_archive_n_tensors (const MharTorchArchive *archive)
{
  return archive->tensors->len;
}

const MharTensor *
mhar_torch_archive_tensor (const MharTorchArchive *archive, guint i)
{
  g_return_val_if_fail (i < archive->tensors->len, NULL);
  return &g_array_index (archive->tensors, MharTensor, i);
}

const MharTensor *
mhar_torch_archive_find (const MharTorchArchive *archive, const char *name)
{
  return g_hash_table_lookup (archive->by_name, name);
}

const guint8 *
mhar_torch_archive_header (const MharTorchArchive *archive, gsize *length)
{
  *length = archive->pickle->bytes;
  return archive->pickle->data;
}

const guint8 *
mhar_torch_archive_contents (const MharTorchArchive *archive, gsize *length)
{
  return mhar_zip_contents (archive->zip, length);
}
