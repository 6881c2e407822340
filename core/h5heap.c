/* SPDX-License-Identifier: MIT */
/* Variable-length values of a file that anyone may have made, read without HDF5's own code for them.
 *
 * HDF5 copies as many bytes as the heap says into memory of the size that the reference says, and follows any index:
 * one wrong byte in a file takes a program down. So references come out of HDF5 as 16 opaque bytes (length, address of
 * a heap, index in it), through a conversion registered here, and the heap is read with every number checked. */
#include "core/h5-private.h"

#include <string.h>

#define HEAP_HEAD 16   /* "GCOL", version, 3 unused, size of the whole */
#define OBJECT_HEAD 16 /* index, uses, 4 unused, size; then the bytes, to a multiple of 8 */

typedef struct {
  guint8 *bytes;
  GArray *objects; /* by index: Object */
} Heap;

typedef struct {
  gsize at, size; /* 0, 0 where the heap has no such index */
} Object;

static guint64
little (const guint8 *bytes, guint n)
{
  guint64 value = 0;
  while (n-- > 0)
    value = value << 8 | bytes[n];
  return value;
}

/* ---- references ---- */

static herr_t
keep_reference (hid_t from G_GNUC_UNUSED, hid_t to G_GNUC_UNUSED, H5T_cdata_t *data, size_t n G_GNUC_UNUSED,
                size_t stride G_GNUC_UNUSED, size_t background_stride G_GNUC_UNUSED, void *buffer G_GNUC_UNUSED,
                void *background G_GNUC_UNUSED, hid_t list G_GNUC_UNUSED)
{
  if (data->command == H5T_CONV_INIT) {
    data->need_bkg = H5T_BKG_NO;
    return H5Tget_size (to) == MHAR_H5_REFERENCE ? 0 : -1;
  }
  return 0; /* the bytes stay as they are in the file */
}

static gpointer
register_conversion (gpointer unused G_GNUC_UNUSED)
{
  g_auto (MharH5Id) text = mhar_h5_text_type ();
  g_auto (MharH5Id) opaque = H5Tcreate (H5T_OPAQUE, MHAR_H5_REFERENCE);
  herr_t status = H5Tregister (H5T_PERS_SOFT, "mhar-reference", text, opaque, keep_reference);
  return GINT_TO_POINTER (status >= 0);
}

hid_t
mhar_h5_reference_type (void)
{
  /* Once: HDF5 keeps conversions for the whole process, and this one touches no types but ours. */
  static GOnce once = G_ONCE_INIT;
  if (!GPOINTER_TO_INT (g_once (&once, register_conversion, NULL)))
    return H5I_INVALID_HID;
  return H5Tcreate (H5T_OPAQUE, MHAR_H5_REFERENCE);
}

/* ---- heaps ---- */

static void
heap_free (gpointer data)
{
  Heap *heap = data;
  g_free (heap->bytes);
  g_array_unref (heap->objects);
  g_free (heap);
}

GHashTable *
mhar_h5_heaps_new (void)
{
  return g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, heap_free);
}

/* Fills heap->objects from its bytes; FALSE where an object leads out of the heap. */
static gboolean
index_objects (Heap *heap, gsize size)
{
  gsize at = HEAP_HEAD;
  while (size - at >= OBJECT_HEAD) {
    guint index = (guint)little (heap->bytes + at, 2);
    guint64 length = little (heap->bytes + at + 8, 8);
    if (index == 0) /* free space, to the end */
      break;
    Object object = { at + OBJECT_HEAD, length };
    if (length > size - object.at)
      return FALSE;
    if (index >= heap->objects->len)
      g_array_set_size (heap->objects, index + 1);
    g_array_index (heap->objects, Object, index) = object;
    gsize padded = (length + 7) & ~(guint64)7;
    if (padded > size - object.at)
      break;
    at = object.at + padded;
  }
  return TRUE;
}

/* The heap at `address`, or NULL. All heaps together take no more than the file: those of a sound file do not overlap.
 */
static const Heap *
find_heap (MharH5Reader *reader, guint64 address)
{
  guint8 head[HEAP_HEAD];
  Heap *heap = g_hash_table_lookup (reader->heaps, &address);
  if (heap != NULL)
    return heap;
  if (!mhar_h5_disk_read (reader->disk, address, head, sizeof head) || memcmp (head, "GCOL\1", 5) != 0)
    return NULL;
  guint64 size = little (head + 8, 8);
  if (size < HEAP_HEAD || size > reader->heap_bytes_left)
    return NULL;
  heap = g_new0 (Heap, 1);
  heap->objects = g_array_new (FALSE, TRUE, sizeof (Object));
  heap->bytes = g_try_malloc (size);
  if (heap->bytes == NULL || !mhar_h5_disk_read (reader->disk, address, heap->bytes, size)
      || !index_objects (heap, size)) {
    heap_free (heap);
    return NULL;
  }
  reader->heap_bytes_left -= size;
  g_hash_table_insert (reader->heaps, g_memdup2 (&address, sizeof address), heap);
  return heap;
}

gboolean
mhar_h5_heap_find (MharH5Reader *reader, const guint8 *reference, gsize element, const guint8 **value, gsize *n)
{
  guint64 length = little (reference, 4), address = little (reference + 4, 8);
  guint index = (guint)little (reference + 12, 4);
  *value = (const guint8 *)"";
  *n = 0;
  if (length == 0 || address == 0 || address == G_MAXUINT64)
    return TRUE;
  const Heap *heap = find_heap (reader, address);
  const Object *object
      = heap != NULL && index < heap->objects->len ? &g_array_index (heap->objects, Object, index) : NULL;
  if (object == NULL || object->at == 0 || length > object->size / element) {
    reader->heap_damaged = TRUE;
    return FALSE;
  }
  *value = heap->bytes + object->at;
  *n = length;
  return TRUE;
}

char *
mhar_h5_heap_text (MharH5Reader *reader, const guint8 *reference)
{
  const guint8 *bytes;
  gsize n;
  if (!mhar_h5_heap_find (reader, reference, 1, &bytes, &n) || n > reader->bytes_left)
    return NULL;
  reader->bytes_left -= n;
  g_autofree char *raw = g_strndup ((const char *)bytes, n); /* up to a NUL, as HDF5 has it */
  return g_utf8_make_valid (raw, -1);
}
