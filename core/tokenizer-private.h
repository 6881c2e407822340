/* SPDX-License-Identifier: MIT */
/* What a loaded tokenizer is; tokenizer-file.c fills it, tokenizer.c uses it. Nothing changes after loading. */
#pragma once

#include "core/added-tokens.h"
#include "core/bpe.h"
#include "core/splitter.h"
#include "core/tokenizer.h"

G_BEGIN_DECLS

typedef struct {
  const char *bytes; /* in the tokenizer's `arena`; NULL where there is no such id */
  guint length;
  gboolean mapped; /* written in the byte alphabet, so a word can be it */
} MharTokenText;

struct _MharTokenizer {
  char *path;
  gboolean nfc;
  MharTokenText *token; /* [n_ids] */
  guint n_ids;
  GStringChunk *arena;
  guint32 *by_text; /* ids of the mapped tokens sorted by their bytes; NULL unless the file says ignore_merges */
  guint n_by_text;
  MharBpe *bpe;
  MharSplitter *splitter;
  MharAddedTokens *added;            /* looked for in the text as given */
  MharAddedTokens *added_normalised; /* looked for in the normalised text between those */
};

/* Order of two tokens' bytes, as of memcmp. */
int mhar_token_text_compare (const char *a, gsize length_a, const char *b, gsize length_b);

G_END_DECLS
