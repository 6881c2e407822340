/* SPDX-License-Identifier: MIT */
/* Byte-level BPE as Hugging Face writes it in tokenizer.json: NFC, the pattern the file names, merges by rank, added
 * tokens found first. Equal to Hugging Face's tokenizers id for id. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _MharTokenizer MharTokenizer;

/* One token of a text: its id and the bytes [start, end) of the *given* text that it covers. A token that covers part of a
 * character has the span of the whole character. Where normalisation changed the text, the span is that of the piece of the
 * original that was normalised together. */
typedef struct {
  gint32 id;
  gsize start, end;
} MharToken;

/* Reads tokenizer.json at `path`. MHAR_ERROR_INPUT naming the file and the part that is malformed or of a kind other than
 * byte-level BPE. The file is not trusted: JSON, pattern and merges are limited. */
MharTokenizer *mhar_tokenizer_load (const char *path, GError **error);
void mhar_tokenizer_free (MharTokenizer *tokenizer);

guint mhar_tokenizer_size (const MharTokenizer *tokenizer); /* one more than the largest id */

/* The whole text (UTF-8, may hold NUL bytes) encoded, added tokens recognised, none put in front: a GArray of MharToken
 * (g_array_unref). MHAR_ERROR_INPUT with the byte offset where the text is not UTF-8, or the pattern exceeds its match
 * limits; also where the text is over 680 MiB or needs a byte that the vocabulary lacks. G_IO_ERROR_CANCELLED where
 * `cancellable` (may be NULL) is cancelled meanwhile. Any thread may call it. */
GArray *mhar_tokenizer_encode (const MharTokenizer *tokenizer, const char *text, gsize length,
                               GCancellable *cancellable, GError **error);

/* The bytes one id stands for (not always whole characters); NULL where there is no such id. Owned by the tokenizer. */
const char *mhar_tokenizer_bytes (const MharTokenizer *tokenizer, gint32 id, gsize *length);

/* The text of the ids, bytes that are not UTF-8 replaced by U+FFFD; g_free. Unknown ids and NUL bytes give U+FFFD. */
char *mhar_tokenizer_decode (const MharTokenizer *tokenizer, const gint32 *ids, gsize n);

/* The bytes as text: valid UTF-8 without NUL bytes; each longest beginning of a character that is cut, and each byte that
 * begins none, is U+FFFD, as Rust and Python have it. g_free. */
char *mhar_text_repair (const char *bytes, gsize length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTokenizer, mhar_tokenizer_free)

G_END_DECLS
