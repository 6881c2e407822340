/* SPDX-License-Identifier: MIT */
/* A text wrapped to a width, and where on it each token lies. Paragraph by paragraph, so that a long text costs only
 * what is looked at; colours are no part of it, so that they can change many times a second. */
#pragma once

#include <glib.h>
#include <pango/pango.h>

G_BEGIN_DECLS

/* Part of a token: a token that is wrapped, or in text of both directions, has several. Pixels. */
typedef struct {
  guint token;
  float x, y, width, height;
} MharTokenPiece;

typedef struct _MharTokenLayout MharTokenLayout;

/* `text` need not be UTF-8 (each byte that is not shows as "?"); `tokens` are MharToken (core/tokenizer.h) with spans
 * in it, of which the first `n_tokens` are shown. Both are copied. */
MharTokenLayout *mhar_token_layout_new (const char *text, gsize length, const GArray *tokens, guint n_tokens);
void mhar_token_layout_free (MharTokenLayout *layout);

/* Wraps to `width` pixels in the context's font, or does nothing where that is how it is. Returns the height. */
int mhar_token_layout_wrap (MharTokenLayout *layout, PangoContext *context, int width);

guint mhar_token_layout_n_tokens (const MharTokenLayout *layout);
guint mhar_token_layout_n_paragraphs (const MharTokenLayout *layout);
/* The paragraphs [*first, *end) that reach into [top, bottom). */
void mhar_token_layout_range (const MharTokenLayout *layout, double top, double bottom, guint *first, guint *end);
/* A paragraph's text and where its top is; borrowed. */
PangoLayout *mhar_token_layout_text (const MharTokenLayout *layout, guint paragraph, double *y);
/* The pieces of the paragraph's tokens, in order (GArray of MharTokenPiece, borrowed). */
const GArray *mhar_token_layout_pieces (MharTokenLayout *layout, guint paragraph);
/* The paragraph where a token begins. */
guint mhar_token_layout_paragraph (const MharTokenLayout *layout, guint token);
/* The token at a point; −1 where there is none. Of several that share a character, the first. */
int mhar_token_layout_hit (MharTokenLayout *layout, double x, double y);
/* The token's text fit to show: line ends and the like as escapes, at most 60 characters. g_free. */
char *mhar_token_layout_quote (const MharTokenLayout *layout, guint token);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTokenLayout, mhar_token_layout_free)

G_END_DECLS
