/* SPDX-License-Identifier: MIT */
/* Text to tokens in the order Hugging Face's tokenizers do it: added tokens out, what is between normalised, further
 * added tokens out of that, the rest cut into words by the pattern, each word merged. */
#include "core/tokenizer-private.h"

#include "core/error.h"
#include "core/nfc.h"

#include <string.h>

#define LOOK 65536 /* bytes between looks at the cancellable */

/* One call of encode: the text as given, and the tokens found so far. */
typedef struct {
  const MharTokenizer *tokenizer;
  const char *text;
  GArray *tokens;
  GCancellable *cancellable;
  gsize since; /* bytes encoded since it was looked at */
} Encoding;

void
mhar_tokenizer_free (MharTokenizer *tokenizer)
{
  if (tokenizer == NULL)
    return;
  g_clear_pointer (&tokenizer->arena, g_string_chunk_free);
  mhar_bpe_free (tokenizer->bpe);
  mhar_splitter_free (tokenizer->splitter);
  mhar_added_tokens_free (tokenizer->added);
  mhar_added_tokens_free (tokenizer->added_normalised);
  g_free (tokenizer->by_text);
  g_free (tokenizer->token);
  g_free (tokenizer->path);
  g_free (tokenizer);
}

guint
mhar_tokenizer_size (const MharTokenizer *tokenizer)
{
  return tokenizer->n_ids;
}

const char *
mhar_tokenizer_bytes (const MharTokenizer *tokenizer, gint32 id, gsize *length)
{
  if (id < 0 || (guint)id >= tokenizer->n_ids || tokenizer->token[id].bytes == NULL)
    return NULL;
  if (length != NULL)
    *length = tokenizer->token[id].length;
  return tokenizer->token[id].bytes;
}

int
mhar_token_text_compare (const char *a, gsize length_a, const char *b, gsize length_b)
{
  int order = memcmp (a, b, MIN (length_a, length_b));
  return order != 0 ? order : (length_a > length_b) - (length_a < length_b);
}

/* The token that is the whole word, where there is one: ignore_merges takes it as it is. */
static gboolean
find_word (const MharTokenizer *tokenizer, const char *word, gsize length, guint32 *id)
{
  guint low = 0, high = tokenizer->n_by_text;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    const MharTokenText *token = &tokenizer->token[tokenizer->by_text[middle]];
    int order = mhar_token_text_compare (token->bytes, token->length, word, length);
    if (order == 0) {
      *id = tokenizer->by_text[middle];
      return TRUE;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return FALSE;
}

static void
append_token (GArray *tokens, guint32 id, gsize start, gsize end)
{
  MharToken token = { (gint32)id, start, end };
  g_array_append_val (tokens, token);
}

/* Spans from `from` on are within nfc->text; widens them to whole characters and turns them into those of the text
 * given, where the segment begins at `offset`. */
static void
finish_spans (GArray *tokens, guint from, const MharNfc *nfc, gsize offset)
{
  for (guint i = from; i < tokens->len; i++) {
    MharToken *token = &g_array_index (tokens, MharToken, i);
    while (((guint8)nfc->text[token->start] & 0xc0) == 0x80)
      token->start--;
    while (token->end < nfc->length && ((guint8)nfc->text[token->end] & 0xc0) == 0x80)
      token->end++;
    mhar_nfc_original (nfc, &token->start, &token->end);
    token->start += offset;
    token->end += offset;
  }
}

static gboolean
limit_error (const Encoding *encoding, const MharNfc *nfc, gsize at, gsize offset, GError **error)
{
  gsize end = at + 1;
  if (at < nfc->length)
    mhar_nfc_original (nfc, &at, &end);
  return mhar_bad_input (error,
                         "%s: the pattern of the pre_tokenizer exceeds its match limits at byte %" G_GSIZE_FORMAT
                         " of the text; it needs a simpler one",
                         encoding->tokenizer->path, at + offset);
}

/* After `n` more bytes. */
static gboolean
is_interrupted (Encoding *encoding, gsize n, GError **error)
{
  encoding->since += n;
  if (encoding->since < LOOK)
    return FALSE;
  encoding->since = 0;
  return g_cancellable_set_error_if_cancelled (encoding->cancellable, error);
}

/* nfc->text[start, end), which holds no added token: words, merged. `offset` is the segment's, for messages. */
static gboolean
encode_words (Encoding *encoding, const MharNfc *nfc, gsize start, gsize end, gsize offset, GError **error)
{
  const MharTokenizer *tokenizer = encoding->tokenizer;
  const char *text = nfc->text + start;
  MharSplit split;
  MharSplitResult result;
  gsize from, to;
  guint32 id;
  mhar_split_init (&split, tokenizer->splitter, text, end - start);
  while ((result = mhar_split_next (&split, &from, &to)) == MHAR_SPLIT_WORD) {
    if (is_interrupted (encoding, to - from, error))
      return FALSE;
    if (tokenizer->by_text != NULL && find_word (tokenizer, text + from, to - from, &id))
      append_token (encoding->tokens, id, start + from, start + to);
    else if (!mhar_bpe_append (tokenizer->bpe, nfc->text, start + from, start + to, encoding->tokens, error)) {
      g_prefix_error (error, "%s: ", tokenizer->path);
      return FALSE;
    }
  }
  return result == MHAR_SPLIT_END || limit_error (encoding, nfc, start + split.search, offset, error);
}

/* The given text's [start, end), which holds no added token that is looked for there. */
static gboolean
encode_segment (Encoding *encoding, gsize start, gsize end, GError **error)
{
  const MharTokenizer *tokenizer = encoding->tokenizer;
  guint from = encoding->tokens->len;
  gsize at = 0, hit, hit_end;
  guint32 id;
  g_auto (MharNfc) nfc;
  if (tokenizer->nfc)
    mhar_nfc_init (&nfc, encoding->text + start, end - start);
  else
    mhar_nfc_init_as_is (&nfc, encoding->text + start, end - start);
  while (mhar_added_tokens_find (tokenizer->added_normalised, nfc.text, nfc.length, at, &hit, &hit_end, &id)) {
    if (!encode_words (encoding, &nfc, at, hit, start, error))
      return FALSE;
    append_token (encoding->tokens, id, hit, hit_end);
    at = hit_end;
  }
  if (!encode_words (encoding, &nfc, at, nfc.length, start, error))
    return FALSE;
  finish_spans (encoding->tokens, from, &nfc, start);
  return TRUE;
}

/* GLib takes NUL for the end of a text; here it is a character like others. */
static gboolean
check_utf8 (const char *text, gsize length, GError **error)
{
  const char *bad = text;
  while (!g_utf8_validate_len (bad, length - (gsize)(bad - text), &bad)) {
    if (*bad != '\0')
      return mhar_bad_input (error, "the text is not UTF-8 at byte %" G_GSIZE_FORMAT "; convert it first",
                             (gsize)(bad - text));
    bad++;
  }
  return TRUE;
}

GArray *
mhar_tokenizer_encode (const MharTokenizer *tokenizer, const char *text, gsize length, GCancellable *cancellable,
                       GError **error)
{
  g_return_val_if_fail (tokenizer != NULL && (text != NULL || length == 0), NULL);
  g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (MharToken));
  Encoding encoding = { tokenizer, text, tokens, cancellable, 0 };
  gsize at = 0, hit, end;
  guint32 id;
  /* Normalising makes a text three times as long at most, and GRegex counts in int. */
  if (length > G_MAXINT / 3) {
    mhar_bad_input (error, "the text is longer than 680 MiB; encode it in parts");
    return NULL;
  }
  if (!check_utf8 (text, length, error))
    return NULL;
  while (mhar_added_tokens_find (tokenizer->added, text, length, at, &hit, &end, &id)) {
    if (!encode_segment (&encoding, at, hit, error))
      return NULL;
    append_token (tokens, id, hit, end);
    if (is_interrupted (&encoding, end - hit, error))
      return NULL;
    at = end;
  }
  if (!encode_segment (&encoding, at, length, error))
    return NULL;
  return g_steal_pointer (&tokens);
}

/* How many of the bytes, which do not begin a whole character, one U+FFFD stands for: the longest beginning of one
 * (Unicode's "maximal subpart"), as Rust and Python count. */
static gsize
broken_length (const guint8 *p, gsize left)
{
  guint8 low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
  guint8 high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
  gsize whole = p[0] < 0xc2 || p[0] > 0xf4 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4, n = 1;
  for (; n < whole && n < left && p[n] >= low && p[n] <= high; n++) {
    low = 0x80;
    high = 0xbf;
  }
  return n;
}

#define REPLACEMENT "\xef\xbf\xbd"

char *
mhar_text_repair (const char *bytes, gsize length)
{
  GString *text = g_string_sized_new (length);
  const char *end = bytes + length, *bad;
  for (const char *p = bytes; p < end; p = bad) {
    gboolean valid = g_utf8_validate_len (p, (gsize)(end - p), &bad);
    g_string_append_len (text, p, bad - p);
    if (valid)
      break;
    g_string_append (text, REPLACEMENT);
    bad += broken_length ((const guint8 *)bad, (gsize)(end - bad));
  }
  return g_string_free (text, FALSE);
}

char *
mhar_tokenizer_decode (const MharTokenizer *tokenizer, const gint32 *ids, gsize n)
{
  g_autoptr (GString) bytes = g_string_new (NULL);
  for (gsize i = 0; i < n; i++) {
    gsize length = 0;
    const char *token = mhar_tokenizer_bytes (tokenizer, ids[i], &length);
    g_string_append_len (bytes, token != NULL ? token : REPLACEMENT, token != NULL ? (gssize)length : 3);
  }
  return mhar_text_repair (bytes->str, bytes->len);
}
