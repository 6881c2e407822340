/* SPDX-License-Identifier: MIT */
/* Byte-pair encoding of one word: which pairs of tokens merge, in which order, into what. */
#pragma once

#include "core/tokenizer.h"

G_BEGIN_DECLS

/* Tokens `left` and `right`, standing side by side, become `id`. */
typedef struct {
  guint32 left, right, id;
} MharBpePair;

typedef struct _MharBpe MharBpe;

/* `byte_ids` [256]: the token of each single byte, G_MAXUINT32 where there is none. `pairs` [n_pairs]: the merges,
 * earlier ones first applied; where a pair stands twice the later place counts, as in Hugging Face's tokenizers. Every
 * id is below `n_ids`. Copies what it needs. */
MharBpe *mhar_bpe_new (const guint32 *byte_ids, const MharBpePair *pairs, gsize n_pairs, gsize n_ids);
void mhar_bpe_free (MharBpe *bpe);

/* Appends the tokens of the word text[start, end) to `tokens` (of MharToken); their spans are byte offsets in `text`,
 * not rounded to characters. O(n log n) in the word's length. MHAR_ERROR_INPUT where a byte has no token,
 * MHAR_ERROR_RUN where a very long word does not fit in memory. */
gboolean mhar_bpe_append (const MharBpe *bpe, const char *text, gsize start, gsize end, GArray *tokens, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharBpe, mhar_bpe_free)

G_END_DECLS
