/* SPDX-License-Identifier: MIT */
/* Datasets to HDF5 and back, as xarray, netCDF4, h5py, h5web and silx expect them: a dimension scale for every axis in the
 * variable's own group, units and long_name everywhere, variable-length UTF-8 text, NaN _FillValue, NXdata groups.
 *
 * The file is written under another name in the same folder and takes its own name, after fsync, in
 * mhar_h5_writer_commit; until then, and after any failure or mhar_h5_writer_free, what was there before stays. */
#pragma once

#include "core/field.h"

#include <gio/gio.h>
#include <stdio.h>

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

/* HDF5's own readers are not safe against forged files. mhar_h5_read therefore has the program mhar-h5-reader read the
 * file and takes the dataset from it, checked again: a file that takes HDF5 down is MHAR_ERROR_INPUT, where the reader
 * gets no memory, or is not installed, MHAR_ERROR_RUN, and G_IO_ERROR_CANCELLED where Ctrl-C ends it. It runs for the
 * call alone, with the file open and a pipe, and can be given nothing else. */

/* The reader's half: reads the file open in `fd` (taken), `shown` for messages, and writes the dataset, or the error,
 * to `to`. FALSE where it could not be written. */
gboolean mhar_h5_serve (int fd, const char *shown, const char *const *skip, FILE *to);
/* The other half: what mhar_h5_serve wrote. NULL with an error that it told of; NULL without one where it did not come
 * to the end. */
MharDataset *mhar_h5_accept (FILE *from, const char *shown, GError **error);
/* In this process; NULL with an error as of mhar_h5_read. */
MharDataset *mhar_h5_read_here (int fd, const char *shown, const char *const *skip, GError **error);
/* Exit status of the reader where a library ended it for want of memory. */
#define MHAR_H5_READER_NO_MEMORY 9

/* "1.10.8". */
const char *mhar_h5_version (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharH5Writer, mhar_h5_writer_free)

G_END_DECLS
