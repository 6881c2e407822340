/* SPDX-License-Identifier: MIT */
/* Unicode normalisation form C with the way back: which bytes of the original each normalised byte came from. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One stretch that normalisation changed: [start, end) of the normalised text was made of [from_start, from_end). */
typedef struct {
  gsize start, end;
  gsize from_start, from_end;
} MharNfcPiece;

/* A normalised text. `text` is the original itself (borrowed) where that was in form C already, else `made`'s. */
typedef struct {
  const char *text;
  gsize length;
  GString *made;  /* NULL where nothing changed */
  GArray *pieces; /* of MharNfcPiece, in order; NULL where nothing changed */
} MharNfc;

/* Normalises `length` bytes of valid UTF-8 (NUL bytes allowed) in time proportional to them. `text` must outlive `nfc`;
 * free with mhar_nfc_clear. Cannot fail. Equal to Hugging Face's tokenizers, whose tables are Unicode 9's: a combining
 * mark that came later is left where it stands. */
void mhar_nfc_init (MharNfc *nfc, const char *text, gsize length);
/* The same struct for a text that is not to be normalised. */
void mhar_nfc_init_as_is (MharNfc *nfc, const char *text, gsize length);
void mhar_nfc_clear (MharNfc *nfc);

/* Turns the byte range [*start, *end) of the normalised text, not empty and of whole characters, into that of the
 * original. A changed stretch is taken whole. */
void mhar_nfc_original (const MharNfc *nfc, gsize *start, gsize *end);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MharNfc, mhar_nfc_clear)

G_END_DECLS
