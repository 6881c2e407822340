/* SPDX-License-Identifier: MIT */
/* tokenizer.json, then a text through whatever it says. */
#include "fuzz.h"

#include "core/tokenizer.h"

#include <string.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char text[] = "the het<|endoftext|> th  caf\xc3\xa9 e\xcc\x81 12\r\n\n aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  g_autoptr (GError) error = NULL;
  g_autoptr (MharTokenizer) tokenizer = mhar_tokenizer_load (fuzz_file ("tokenizer.json", data, size), &error);
  g_autoptr (GArray) got
      = tokenizer != NULL ? mhar_tokenizer_encode (tokenizer, text, strlen (text), NULL, &error) : NULL;
  g_autofree gint32 *ids = g_new (gint32, got != NULL ? got->len + 1 : 1);
  for (guint i = 0; got != NULL && i < got->len; i++) {
    const MharToken *token = &g_array_index (got, MharToken, i);
    g_assert_cmpuint (token->start, <=, token->end);
    g_assert_cmpuint (token->end, <=, strlen (text));
    ids[i] = token->id;
  }
  g_autofree char *decoded = got != NULL ? mhar_tokenizer_decode (tokenizer, ids, got->len) : NULL;
  g_assert_true (decoded == NULL || g_utf8_validate (decoded, -1, NULL));
  fuzz_check (got != NULL, g_steal_pointer (&error));
  return 0;
}
