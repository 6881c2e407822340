/* SPDX-License-Identifier: MIT */
/* Inside the zip reader: where the table of contents stands in a file, and little-endian numbers at any alignment. */
#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* The central directory: `entries` records in `size` bytes from `offset` on, all within the file. */
typedef struct {
  guint64 entries, offset, size;
} MharZipDirectory;

/* Finds it from the end of the file, zip64 or not. MHAR_ERROR_INPUT (`shown` names the file) where there is none, it is
 * outside the file, or the archive spans several disks. */
gboolean mhar_zip_directory (const guint8 *data, gsize length, const char *shown, MharZipDirectory *directory,
                             GError **error);

static inline guint16
mhar_zip_u16 (const guint8 *at)
{
  guint16 x;
  memcpy (&x, at, sizeof x);
  return GUINT16_FROM_LE (x);
}

static inline guint32
mhar_zip_u32 (const guint8 *at)
{
  guint32 x;
  memcpy (&x, at, sizeof x);
  return GUINT32_FROM_LE (x);
}

static inline guint64
mhar_zip_u64 (const guint8 *at)
{
  guint64 x;
  memcpy (&x, at, sizeof x);
  return GUINT64_FROM_LE (x);
}

G_END_DECLS
