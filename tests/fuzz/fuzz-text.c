/* SPDX-License-Identifier: MIT */
/* A text through the demo's tokenizer: tokens cover it in order, and their bytes are the text, normalised. */
#include "fuzz.h"

#include "core/nfc.h"
#include "core/tokenizer.h"

#include <string.h>

static void
check_tokens (const MharTokenizer *tokenizer, const GArray *tokens, const char *text, gsize length)
{
  g_autoptr (GString) bytes = g_string_new (NULL);
  gsize before = 0;
  for (guint i = 0; i < tokens->len; i++) {
    const MharToken *token = &g_array_index (tokens, MharToken, i);
    gsize n = 0;
    const char *piece = mhar_tokenizer_bytes (tokenizer, token->id, &n);
    g_assert_nonnull (piece);
    g_assert_cmpuint (token->start, >=, before);
    g_assert_cmpuint (token->start, <=, token->end);
    g_assert_cmpuint (token->end, <=, length);
    g_string_append_len (bytes, piece, (gssize)n);
    before = token->start;
  }
  if (memchr (text, '\0', length) != NULL || g_strstr_len (text, (gssize)length, "<|endoftext|>") != NULL)
    return; /* an added token parts what is normalised together */
  g_auto (MharNfc) nfc;
  mhar_nfc_init (&nfc, text, length);
  g_assert_cmpmem (bytes->str, bytes->len, nfc.text, nfc.length);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static MharTokenizer *tokenizer;
  g_autoptr (GError) error = NULL;
  if (tokenizer == NULL) {
    g_autofree char *path = fuzz_source ("../data/demo/single/tokenizer.json");
    tokenizer = mhar_tokenizer_load (path, &error);
    g_assert_no_error (error);
  }
  g_autoptr (GArray) tokens = mhar_tokenizer_encode (tokenizer, (const char *)data, size, NULL, &error);
  if (tokens != NULL)
    check_tokens (tokenizer, tokens, (const char *)data, size);
  fuzz_check (tokens != NULL, g_steal_pointer (&error));
  return 0;
}
