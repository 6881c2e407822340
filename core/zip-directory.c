/* SPDX-License-Identifier: MIT */
/* The end of a zip archive: [zip64 record] [zip64 locator] end record [comment]. */
#include "core/zip-private.h"

#include "core/error.h"

#define END_BYTES 22
#define END_MAGIC 0x06054b50
#define LOCATOR_BYTES 20
#define LOCATOR_MAGIC 0x07064b50
#define WIDE_BYTES 56
#define WIDE_MAGIC 0x06064b50
#define COMMENT_MAX 65535
#define ENTRY_BYTES 46

static gboolean
not_whole (const char *shown, GError **error)
{
  return mhar_bad_input (error,
                         "%s: begins as a zip archive but has no end of one; the download or the save was cut short, "
                         "fetch it again",
                         shown);
}

/* The end record: the last place where its magic stands and its comment is what remains of the file. */
static const guint8 *
find_end (const guint8 *data, gsize length)
{
  gsize least = length > END_BYTES + COMMENT_MAX ? length - END_BYTES - COMMENT_MAX : 0;
  if (length < END_BYTES)
    return NULL;
  for (gsize at = length - END_BYTES;; at--) {
    if (mhar_zip_u32 (data + at) == END_MAGIC && mhar_zip_u16 (data + at + 20) == length - END_BYTES - at)
      return data + at;
    if (at == least)
      return NULL;
  }
}

/* The zip64 record's numbers in place of the short ones; *limit: where the directory must end. */
static gboolean
read_wide (const guint8 *data, const guint8 *locator, const char *shown, MharZipDirectory *directory, guint64 *limit,
           GError **error)
{
  guint64 at = mhar_zip_u64 (locator + 8), most = (guint64)(locator - data);
  if (mhar_zip_u32 (locator + 4) != 0 || at > most || most - at < WIDE_BYTES || mhar_zip_u32 (data + at) != WIDE_MAGIC
      || mhar_zip_u32 (data + at + 16) != 0 || mhar_zip_u32 (data + at + 20) != 0)
    return mhar_bad_input (error, "%s: its zip64 record is damaged; fetch the file again", shown);
  directory->entries = mhar_zip_u64 (data + at + 32);
  directory->size = mhar_zip_u64 (data + at + 40);
  directory->offset = mhar_zip_u64 (data + at + 48);
  *limit = at;
  return TRUE;
}

gboolean
mhar_zip_directory (const guint8 *data, gsize length, const char *shown, MharZipDirectory *directory, GError **error)
{
  const guint8 *end = find_end (data, length);
  if (end == NULL)
    return not_whole (shown, error);
  guint64 limit = (guint64)(end - data);
  if (mhar_zip_u16 (end + 4) != 0 || mhar_zip_u16 (end + 6) != 0)
    return mhar_bad_input (error, "%s: is one part of a zip archive in several; save it in one file", shown);
  directory->entries = mhar_zip_u16 (end + 10);
  directory->size = mhar_zip_u32 (end + 12);
  directory->offset = mhar_zip_u32 (end + 16);
  if (limit >= LOCATOR_BYTES && mhar_zip_u32 (end - LOCATOR_BYTES) == LOCATOR_MAGIC
      && !read_wide (data, end - LOCATOR_BYTES, shown, directory, &limit, error))
    return FALSE;
  if (directory->offset > limit || directory->size > limit - directory->offset)
    return mhar_bad_input (error,
                           "%s: its zip directory of %" G_GUINT64_FORMAT " bytes at %" G_GUINT64_FORMAT
                           " lies outside the file; the file is damaged, fetch it again",
                           shown, directory->size, directory->offset);
  if (directory->entries > directory->size / ENTRY_BYTES)
    return mhar_bad_input (error,
                           "%s: says it has %" G_GUINT64_FORMAT " entries, more than its zip directory can hold; the "
                           "file is damaged, fetch it again",
                           shown, directory->entries);
  return TRUE;
}
