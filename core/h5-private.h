/* SPDX-License-Identifier: MIT */
/* What the files behind core/h5file.h share: ids that close themselves, the file driver, types, attributes, fields. */
#pragma once

#define H5_USE_110_API /* the oldest HDF5 we build with; later ones keep these names behind this define */

#include "core/error.h"
#include "core/h5file.h"

#include <hdf5.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define MHAR_H5_SCHEMA 1

/* An id that is released at the end of its scope. */
typedef hid_t MharH5Id;
void mhar_h5_id_release (hid_t id);
G_DEFINE_AUTO_CLEANUP_FREE_FUNC (MharH5Id, mhar_h5_id_release, H5I_INVALID_HID)

/* ---- h5disk.c: HDF5 over a file descriptor that we opened ---- */

typedef struct _MharH5Disk MharH5Disk;

/* Takes `fd`. */
MharH5Disk *mhar_h5_disk_new (int fd, gboolean writable);
/* The HDF5 file in it: made where writable, else opened; negative on failure. Once only. */
hid_t mhar_h5_disk_open_file (MharH5Disk *disk);
/* The errno of the first failed read or write; 0 where none failed. After a failed write all later ones are dropped. */
int mhar_h5_disk_errno (const MharH5Disk *disk);
/* Reads all of `size` bytes from `offset` on; FALSE at the end of the file. */
gboolean mhar_h5_disk_read (MharH5Disk *disk, guint64 offset, void *buffer, gsize size);
/* Drops all later writes, so that a file that is to go away closes at once. */
void mhar_h5_disk_abandon (MharH5Disk *disk);
/* fsync and close of the descriptor; FALSE with the errno noted. */
gboolean mhar_h5_disk_sync (MharH5Disk *disk);
/* After H5Fclose. Closes the descriptor where still open. */
void mhar_h5_disk_free (MharH5Disk *disk);

/* ---- h5error.c ---- */

/* First in every public function. No error stack on stderr, which HDF5 keeps by thread; and no work at exit, where HDF5
 * would come back to what a damaged file or a full disk did not let it close: everything here is closed before. */
void mhar_h5_enter (void);
/* MHAR_ERROR_RUN "cannot write FILE: TEXT", for what HDF5 did not say; marks the writer as failed. Returns FALSE. */
gboolean mhar_h5_write_refused (MharH5Writer *writer, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* What HDF5's deepest frame says of the last failure: "name already exists". Free with g_free. */
char *mhar_h5_reason (void);
/* The same with "THING: why; remedy", after a call of HDF5 that failed; `format` names the thing. */
gboolean mhar_h5_write_failed (MharH5Writer *writer, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* ---- the writer ---- */

struct _MharH5Writer {
  char *path;
  char *shown;  /* the path, for messages */
  char *target; /* symbolic links followed */
  char *temp;
  int lock; /* a descriptor that keeps it locked; −1: none */
  guint mode; /* permissions of the file replaced; 0 where there is none */
  MharH5Disk *disk;
  hid_t file;
  GHashTable *streams; /* group -> MharH5Stream; h5append.c */
  gboolean failed, written;
};

void mhar_h5_stream_free (gpointer stream);

/* ---- h5types.c ---- */

hid_t mhar_h5_text_type (void); /* variable-length UTF-8; a new id, as all here */
hid_t mhar_h5_half_type (void); /* IEEE binary16, little-endian */
hid_t mhar_h5_file_type (MharFieldType type, gboolean f16);
/* float to IEEE half, to nearest, ties to even. */
guint16 mhar_h5_half (float value);
/* Creates or opens the group `path` ("a/b") and those above it. */
hid_t mhar_h5_ensure_group (hid_t file, const char *path);

/* ---- h5attr.c: attributes of any object ---- */

gboolean mhar_h5_set_string (hid_t object, const char *name, const char *value);
gboolean mhar_h5_set_strings (hid_t object, const char *name, const char *const *values); /* NULL-ended */
gboolean mhar_h5_set_integer (hid_t object, const char *name, gint64 value);
/* One element, NaN, of the variable's own type, as netCDF has it. */
gboolean mhar_h5_set_fill_value (hid_t object, hid_t type);
gboolean mhar_h5_set_attribute (hid_t object, const MharAttribute *attribute);

/* ---- h5variable.c: one variable with its axes ---- */

/* A field named as its only dimension is that dimension's coordinates. */
gboolean mhar_h5_is_coordinate (const MharField *field);
/* All fields of `set` into `group`: first the scales, then the variables attached to them. Where `stream` is not NULL,
 * what has that dimension first is made of length 0, to grow without limit. `f16` stores F32 as half. */
gboolean mhar_h5_write_fields (MharH5Writer *writer, hid_t group, const MharDataset *set, const char *stream,
                               gboolean f16, GError **error);
/* Writes `field` into the variable from row `start` of the first dimension on (0 and the whole for others). */
gboolean mhar_h5_write_values (hid_t variable, const MharField *field, gboolean f16, gsize start);
/* Attributes of `set`, and what makes the group NXdata where its attribute "signal" names one of its fields. */
gboolean mhar_h5_write_attributes (MharH5Writer *writer, hid_t group, const MharDataset *set, GError **error);

/* ---- reading: files that anyone may have made ---- */

#define MHAR_H5_MAX_BYTES (4ull << 30) /* of the values of a file together */

/* MHAR_ERROR_INPUT for a file of which a read failed with errno `code`; 0: it could be read and is no HDF5. FALSE. */
gboolean mhar_h5_cannot_read (const char *shown, int code, GError **error);

/* Bytes of a reference to a value of variable length, in files with addresses of 8 bytes. */
#define MHAR_H5_REFERENCE 16

typedef struct {
  MharH5Disk *disk;
  const char *shown;       /* the path, for messages */
  const char *const *skip; /* groups; NULL-ended or NULL */
  guint64 file_bytes;
  guint64 bytes_left; /* for the values of all fields together */
  guint objects_left; /* hard links can form cycles and lattices */
  GHashTable *heaps;  /* h5heap.c: address -> heap */
  guint64 heap_bytes_left;
  gboolean heap_damaged; /* a reference led nowhere */
} MharH5Reader;

/* Memory type of references: H5Dread and H5Aread with it leave values of variable length alone. */
hid_t mhar_h5_reference_type (void);
GHashTable *mhar_h5_heaps_new (void);
/* What a reference refers to: `n` elements of `element` bytes, owned by the reader; FALSE where it leads nowhere. */
gboolean mhar_h5_heap_find (MharH5Reader *reader, const guint8 *reference, gsize element, const guint8 **value,
                            gsize *n);
/* The same as text made valid UTF-8 (free with g_free), or NULL. Counts on reader->bytes_left. */
char *mhar_h5_heap_text (MharH5Reader *reader, const guint8 *reference);

/* Names of the attributes of `object`, in order (char *). NULL where they cannot be listed, are over
 * 4096, or not UTF-8. */
GPtrArray *mhar_h5_attribute_names (hid_t object);
/* Puts the attribute into `set`; what is of a kind that we do not write is left out. FALSE where it cannot be read. */
gboolean mhar_h5_read_attribute (MharH5Reader *reader, hid_t object, const char *name, MharDataset *set);
/* The value of a text attribute (free with g_free); NULL where there is none. */
char *mhar_h5_read_text (MharH5Reader *reader, hid_t object, const char *name);

/* The address of an object in its file, which is what object references hold. */
gboolean mhar_h5_address (hid_t object, guint64 *address);
/* The variable as a field; its dimensions are named after the scales it is attached to (`names`: address -> name, of
 * the group's objects). TRUE and NULL where it is of a kind that we do not write. */
gboolean mhar_h5_read_variable (MharH5Reader *reader, hid_t variable, const char *name, GHashTable *names,
                                MharField **field, GError **error);

G_END_DECLS
