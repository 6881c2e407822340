/* SPDX-License-Identifier: MIT */
/* A zip archive of stored (uncompressed) entries, as torch.save writes it: mapped, every field checked before anything
 * points into it. Nothing is unpacked. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The bytes are where the archive put them, at any alignment; both are owned by the archive. */
typedef struct {
  const char *name; /* valid UTF-8, relative, without a component "." or ".." */
  const guint8 *data;
  gsize bytes;
} MharZipEntry;

typedef struct _MharZip MharZip;

/* Maps the archive, zip64 or not. MHAR_ERROR_INPUT naming the file and the entry where it is not a regular file, a
 * git-lfs pointer, cut short, no zip archive, or an entry is compressed, encrypted, outside the file, overlaps another,
 * has a name that leads elsewhere, stands twice, or differs from its own local header. Checksums are not computed: that
 * would read all of it. */
MharZip *mhar_zip_open (const char *path, GError **error);
void mhar_zip_free (MharZip *zip);

guint mhar_zip_n_entries (const MharZip *zip);
const MharZipEntry *mhar_zip_entry (const MharZip *zip, guint i);         /* in the order of their data */
const MharZipEntry *mhar_zip_find (const MharZip *zip, const char *name); /* NULL where absent */
/* The whole file, `*length` bytes (for digests). */
const guint8 *mhar_zip_contents (const MharZip *zip, gsize *length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharZip, mhar_zip_free)

G_END_DECLS
