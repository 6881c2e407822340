/* SPDX-License-Identifier: MIT */
/* The checksums of HDF5's metadata, by the published file format (version 3 of its specification): what a forger sets
 * right, and what stands between random edits and HDF5's own readers. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A block of metadata, its checksum included. */
typedef struct {
  gsize start, length;
} FuzzH5Block;

/* Bob Jenkins's lookup3 (hashlittle) of the bytes. */
guint32 fuzz_h5_lookup3 (const guint8 *bytes, gsize size);
/* Makes the checksums of the image of a file what its blocks now say: superblock 2 and 3, object headers of version 2
 * with what they go on in, B-trees of version 2, fractal heaps, fixed arrays. Addresses and lengths of 8 bytes. Blocks
 * are found by their signatures, not by what leads to them; one that leads out of the image stays as it is. Returns
 * them (FuzzH5Block); free with g_array_unref. */
GArray *fuzz_h5_seal (guint8 *bytes, gsize size);

G_END_DECLS
