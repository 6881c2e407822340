/* SPDX-License-Identifier: MIT */
/* A tokenizer's pattern, up to the first line feed, and the text behind it that it splits: words without gap or
 * overlap, or a refusal within the limits. */
#include "fuzz.h"

#include "core/splitter.h"

#include <string.h>

static void
split (const MharSplitter *splitter, const char *text, gsize length)
{
  MharSplit walk;
  MharSplitResult result;
  gsize start, end, before = 0;
  mhar_split_init (&walk, splitter, text, length);
  while ((result = mhar_split_next (&walk, &start, &end)) == MHAR_SPLIT_WORD) {
    g_assert_cmpuint (start, ==, before);
    g_assert_cmpuint (end, >, start);
    before = end;
  }
  if (result == MHAR_SPLIT_END)
    g_assert_cmpuint (before, ==, length);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const uint8_t *line = size > 0 ? memchr (data, '\n', size) : NULL;
  gsize length = line != NULL ? (gsize)(line - data) : size;
  g_autofree char *pattern = g_strndup ((const char *)data, length);
  g_autoptr (GError) error = NULL;
  if (!g_utf8_validate (pattern, -1, NULL)) /* JSON's strings are */
    return 0;
  g_autoptr (MharSplitter) splitter = mhar_splitter_new (pattern, &error);
  const char *text = line != NULL ? (const char *)line + 1 : "";
  gsize left = line != NULL ? size - length - 1 : 0;
  if (splitter != NULL && g_utf8_validate_len (text, left, NULL))
    split (splitter, text, left);
  fuzz_check (splitter != NULL, g_steal_pointer (&error));
  return 0;
}
