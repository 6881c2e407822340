/* SPDX-License-Identifier: MIT */
/* For tests: zip archives, good and damaged, in memory; and the pickles that torch.save puts in them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *name;
  const void *data;
  gsize length;
} ZipPart;

typedef struct {
  gboolean wide;     /* zip64: sizes and places in extra fields, counts in the zip64 record */
  gboolean streamed; /* local headers without sizes, as torch's own writer leaves them */
  guint method;      /* of every entry; the data stays as it is */
  guint flags;
} ZipStyle;

/* The parts (`n` of them) as an archive; g_byte_array_unref. Data begins at a multiple of 64, by padding. */
GByteArray *zip_write (const ZipPart *parts, guint n, const ZipStyle *style);

/* The place of the end record of an archive without a comment, and of the directory's record of entry i. */
gsize zip_end_at (const GByteArray *zip);
gsize zip_record_at (const GByteArray *zip, guint i);

/* A pickle under construction, protocol 2, after PROTO. */
GString *pickle_new (void);
void pickle_text (GString *pickle, const char *text);
void pickle_integer (GString *pickle, gint32 value);
/* A tensor of so many dims over storage `key` of `elements` numbers of the given class ("FloatStorage"). */
void pickle_tensor (GString *pickle, const char *storage, const char *key, gint32 elements, gint32 offset, guint n_dims,
                    const gint32 *size, const gint32 *stride);
/* Ends with STOP; what it held, as bytes that g_string_free frees. */
GString *pickle_end (GString *pickle);

G_END_DECLS
