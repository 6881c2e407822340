/* SPDX-License-Identifier: MIT */
/* Tokens that are found in the text as they are, before anything else looks at it: the leftmost, of those the longest.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MharAddedTokens MharAddedTokens;

MharAddedTokens *mhar_added_tokens_new (void);
void mhar_added_tokens_free (MharAddedTokens *added);

/* Adds one: `length` bytes, at least 1, copied; the longest bounds the work at each byte of a text. Of two with the
 * same content the first counts. */
void mhar_added_tokens_add (MharAddedTokens *added, const char *content, gsize length, guint32 id);
/* Once after the last add, before the first find. */
void mhar_added_tokens_seal (MharAddedTokens *added);

/* The first added token in text[from, length); FALSE where there is none. */
gboolean mhar_added_tokens_find (const MharAddedTokens *added, const char *text, gsize length, gsize from, gsize *start,
                                 gsize *end, guint32 *id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharAddedTokens, mhar_added_tokens_free)

G_END_DECLS
