/* SPDX-License-Identifier: MIT */
/* Datasets to HDF5 and back, as xarray, netCDF4, h5py, h5web and silx expect them: a dimension scale for every axis in the
 * variable's own group, units and long_name everywhere, variable-length UTF-8 text, NaN _FillValue, NXdata groups.
 *
 * The file is written under another name in the same folder and takes its own name, after fsync, in
 * mhar_h5_writer_commit; until then, and after any failure or mhar_h5_writer_free, what was there before stays. */
#pragma once

#include "core/field.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _MharH5Writer MharH5Writer;

/* MHAR_ERROR_RUN where the folder cannot be written. Takes no lock; the last to commit wins whole. */
MharH5Writer *mhar_h5_writer_new (const char *path, GError **error);
/* Appends `slab` to group `group` ("checkpoint_0/sums"): every field's first dimension is unlimited and grows by the slab's
 * length; the group is made, with scales, by the first slab; later ones have the same fields. Integer coordinates given in the
 * slab under the first dimension's name are appended too, else counted on. `f16` stores F32 fields as IEEE half. Chunked,
 * shuffled, deflated (level 4). */
gboolean mhar_h5_writer_append (MharH5Writer *writer, const char *group, const MharDataset *slab, gboolean f16, GError **error);
/* Writes `root`: its attributes to "/", each child as a group of its name (which may already hold appended groups), children of
 * children likewise. A child with a field named by its attribute "signal" becomes NXdata. */
gboolean mhar_h5_writer_write (MharH5Writer *writer, const MharDataset *root, GError **error);
/* Flush, close, fsync, rename, fsync of the folder. MHAR_ERROR_RUN, and no file, where one fails. */
gboolean mhar_h5_writer_commit (MharH5Writer *writer, GError **error);
/* Frees; without a commit the unfinished file is removed. */
void mhar_h5_writer_free (MharH5Writer *writer);

/* The whole file but groups named in `skip` (NULL-ended: "sums", "capture"): "/" as the dataset returned, groups as children.
 * An array that is no field, because an axis of it has no dimension scale or its type is none of a field's, is noted as
 * lost (mhar_dataset_is_lost), as is a group that is skipped. MHAR_ERROR_INPUT where it is not ours (attribute mhar_schema), of a later schema, or malformed: sizes and dimensions are
 * checked before anything is allocated. */
MharDataset *mhar_h5_read (const char *path, const char *const *skip, GError **error);

/* "1.10.8". */
const char *mhar_h5_version (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharH5Writer, mhar_h5_writer_free)

G_END_DECLS
