/* SPDX-License-Identifier: MIT */
/* The central directory says what is where; each local header only how far behind it the data begins. Writers that
 * stream leave sizes out of local headers, so these are never believed. */
#include "core/zip.h"

#include "core/error.h"
#include "core/input.h"
#include "core/zip-private.h"

#define CENTRAL_BYTES 46
#define CENTRAL_MAGIC 0x02014b50
#define LOCAL_BYTES 30
#define LOCAL_MAGIC 0x04034b50
#define ENCRYPTED 1
#define IN_ZIP64 0xffffffff

typedef struct {
  MharZipEntry entry;
  guint64 header, start; /* offsets of the local header and of the data */
} Entry;

/* One record of the directory, as read. */
typedef struct {
  char *name;
  guint64 stored, bytes, header;
  guint16 method, flags;
} Record;

struct _MharZip {
  char *path; /* as messages show it */
  GMappedFile *map;
  const guint8 *data;
  gsize length;
  GStringChunk *names;
  GArray *entries; /* of Entry, in the order of their data */
  GHashTable *by_name;
};

/* "FILE: entry 'NAME' …": a refusal of one entry. */
static gboolean G_GNUC_PRINTF (4, 5)
    bad_entry (const MharZip *zip, const char *name, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *quoted = mhar_input_quote (name);
  return mhar_bad_input (error, "%s: entry '%s' %s", zip->path, quoted, what);
}

/* Relative, and nowhere "." or "..". */
static gboolean
is_plain (const char *name, gsize length)
{
  if (length == 0 || memchr (name, '\0', length) != NULL || memchr (name, '\\', length) != NULL || name[0] == '/'
      || !g_utf8_validate (name, (gssize)length, NULL))
    return FALSE;
  g_autofree char *copy = g_strndup (name, length);
  g_auto (GStrv) parts = g_strsplit (copy, "/", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (strcmp (parts[i], ".") == 0 || strcmp (parts[i], "..") == 0)
      return FALSE;
  return TRUE;
}

/* The 64-bit numbers of those that do not fit the record, in this order, from its extra field of kind 1. */
static gboolean
read_zip64 (Record *record, const guint8 *extra, gsize length)
{
  guint64 *wide[] = { &record->bytes, &record->stored, &record->header };
  for (gsize size; length >= 4; extra += 4 + size, length -= 4 + size) {
    size = mhar_zip_u16 (extra + 2);
    if (size > length - 4)
      break;
    if (mhar_zip_u16 (extra) != 1)
      continue;
    const guint8 *at = extra + 4;
    for (guint i = 0; i < G_N_ELEMENTS (wide); i++) {
      if (*wide[i] != IN_ZIP64)
        continue;
      if ((gsize)(extra + 4 + size - at) < 8)
        return FALSE;
      *wide[i] = mhar_zip_u64 (at);
      at += 8;
    }
    return TRUE;
  }
  return record->bytes != IN_ZIP64 && record->stored != IN_ZIP64 && record->header != IN_ZIP64;
}

static gboolean
check_record (const MharZip *zip, const Record *record, GError **error)
{
  if ((record->flags & ENCRYPTED) != 0)
    return bad_entry (zip, record->name, error, "is encrypted; save the checkpoint again without a password");
  if (record->method != 0)
    return bad_entry (zip, record->name, error,
                      "is compressed (method %u), where torch.save stores; save the checkpoint again with torch.save",
                      record->method);
  if (record->stored != record->bytes)
    return bad_entry (zip, record->name, error,
                      "is stored but has two sizes, %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                      "; the file is damaged, fetch it again",
                      record->stored, record->bytes);
  return TRUE;
}

/* Finds the data behind the local header and adds the entry. */
static gboolean
add_entry (MharZip *zip, const Record *record, guint64 limit, GError **error)
{
  gsize n = strlen (record->name);
  if (record->header > limit || limit - record->header < LOCAL_BYTES + n)
    return bad_entry (zip, record->name, error, "begins outside the file; the file was cut short, fetch it again");
  const guint8 *local = zip->data + record->header;
  if (mhar_zip_u32 (local) != LOCAL_MAGIC || mhar_zip_u16 (local + 26) != n
      || memcmp (local + LOCAL_BYTES, record->name, n) != 0)
    return bad_entry (zip, record->name, error, "has another local header; the file is damaged, fetch it again");
  guint64 start = record->header + LOCAL_BYTES + n + mhar_zip_u16 (local + 28);
  if (start > limit || record->bytes > limit - start)
    return bad_entry (zip, record->name, error,
                      "has %" G_GUINT64_FORMAT " bytes, which reach beyond the data; the file was cut short, fetch it "
                      "again",
                      record->bytes);
  const char *name = g_string_chunk_insert (zip->names, record->name);
  Entry entry = { { name, zip->data + start, (gsize)record->bytes }, record->header, start };
  g_array_append_val (zip->entries, entry);
  return TRUE;
}

/* One record of the directory at *at, which moves on behind it. */
static gboolean
read_record (MharZip *zip, const guint8 **at, const guint8 *end, guint64 limit, GError **error)
{
  const guint8 *p = *at;
  if (end - p < CENTRAL_BYTES || mhar_zip_u32 (p) != CENTRAL_MAGIC)
    return mhar_bad_input (error, "%s: its zip directory is damaged after %u entries; fetch the file again", zip->path,
                           zip->entries->len);
  gsize n = mhar_zip_u16 (p + 28), extra = mhar_zip_u16 (p + 30), comment = mhar_zip_u16 (p + 32);
  if ((gsize)(end - p) - CENTRAL_BYTES < n + extra + comment)
    return mhar_bad_input (error, "%s: its zip directory ends inside entry %u; fetch the file again", zip->path,
                           zip->entries->len);
  g_autofree char *name = g_strndup ((const char *)p + CENTRAL_BYTES, n);
  if (!is_plain ((const char *)p + CENTRAL_BYTES, n))
    return bad_entry (zip, name, error,
                      "has a name that leads out of the archive or is not text; do not trust the file");
  Record record = { .name = name,
                    .flags = mhar_zip_u16 (p + 8),
                    .method = mhar_zip_u16 (p + 10),
                    .stored = mhar_zip_u32 (p + 20),
                    .bytes = mhar_zip_u32 (p + 24),
                    .header = mhar_zip_u32 (p + 42) };
  if (mhar_zip_u16 (p + 34) != 0 || !read_zip64 (&record, p + CENTRAL_BYTES + n, extra))
    return bad_entry (zip, name, error, "has no size or place; the file is damaged, fetch it again");
  *at = p + CENTRAL_BYTES + n + extra + comment;
  return check_record (zip, &record, error) && add_entry (zip, &record, limit, error);
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;
  return x->header != y->header ? (x->header < y->header ? -1 : 1) : strcmp (x->entry.name, y->entry.name);
}

/* Sorted by place, none overlaps the next, no name twice. */
static gboolean
index_entries (MharZip *zip, GError **error)
{
  g_array_sort (zip->entries, compare_entries);
  for (guint i = 0; i < zip->entries->len; i++) {
    Entry *entry = &g_array_index (zip->entries, Entry, i);
    const Entry *before = i > 0 ? entry - 1 : NULL;
    if (before != NULL && before->start + before->entry.bytes > entry->header)
      return bad_entry (zip, entry->entry.name, error,
                        "overlaps the entry before it; the file is damaged, fetch it again");
    if (!g_hash_table_insert (zip->by_name, (gpointer)entry->entry.name, &entry->entry))
      return bad_entry (zip, entry->entry.name, error, "stands twice in the archive; save the checkpoint again");
  }
  return TRUE;
}

static gboolean
read_entries (MharZip *zip, GError **error)
{
  MharZipDirectory directory;
  if (zip->length < 4 || mhar_zip_u32 (zip->data) != LOCAL_MAGIC)
    return mhar_bad_input (error, "%s: is not a zip archive as torch.save writes it; save the checkpoint again with it",
                           zip->path);
  if (!mhar_zip_directory (zip->data, zip->length, zip->path, &directory, error))
    return FALSE;
  const guint8 *at = zip->data + directory.offset, *end = at + directory.size;
  for (guint64 i = 0; i < directory.entries; i++)
    if (!read_record (zip, &at, end, directory.offset, error))
      return FALSE;
  return index_entries (zip, error);
}

MharZip *
mhar_zip_open (const char *path, GError **error)
{
  g_autoptr (GMappedFile) map = mhar_input_map (path, 0, error);
  if (map == NULL)
    return NULL;
  g_autoptr (MharZip) zip = g_new0 (MharZip, 1);
  zip->path = g_filename_display_name (path);
  zip->data = (const guint8 *)g_mapped_file_get_contents (map);
  zip->length = g_mapped_file_get_length (map);
  zip->map = g_steal_pointer (&map);
  zip->names = g_string_chunk_new (4096);
  zip->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  zip->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  return read_entries (zip, error) ? g_steal_pointer (&zip) : NULL;
}

void
mhar_zip_free (MharZip *zip)
{
  if (zip == NULL)
    return;
  g_hash_table_unref (zip->by_name);
  g_array_unref (zip->entries);
  g_string_chunk_free (zip->names);
  g_mapped_file_unref (zip->map);
  g_free (zip->path);
  g_free (zip);
}

guint
mhar_zip_n_entries (const MharZip *zip)
{
  return zip->entries->len;
}

const MharZipEntry *
mhar_zip_entry (const MharZip *zip, guint i)
{
  g_return_val_if_fail (i < zip->entries->len, NULL);
  return &g_array_index (zip->entries, Entry, i).entry;
}

const MharZipEntry *
mhar_zip_find (const MharZip *zip, const char *name)
{
  return g_hash_table_lookup (zip->by_name, name);
}

const guint8 *
mhar_zip_contents (const MharZip *zip, gsize *length)
{
  *length = zip->length;
  return zip->data;
}
