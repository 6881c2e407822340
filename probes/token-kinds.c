/* SPDX-License-Identifier: MIT */
#include "probes/token-kinds.h"

#include "core/tokenizer.h"

#include <string.h>

#define AROUND 5 /* tokens shown on each side of one */
#define CHARACTER_MAX 4 /* bytes */
#define REPLACEMENT "\xef\xbf\xbd"
#define END_OF_TEXT "<|endoftext|>"

struct _MharTokenKinds {
  const gint32 *ids;
  gsize n;
  char *problem;
  GArray *ends;
  guint32 *document;      /* [n] */
  GString *bytes;         /* of the whole text; NULL: no text */
  gsize *at;              /* [n + 1] where in it each token begins */
  guint8 *classes, *pieces; /* [n] */
};

const char *
mhar_token_class_name (MharTokenClass class)
{
  static const char *const names[] = { "letter", "digit", "punctuation", "white space", "other" };
  return names[class];
}

const char *
mhar_token_piece_name (MharTokenPiece piece)
{
  static const char *const names[] = { "first piece", "continuation", "no word" };
  return names[piece];
}

/* ---- text ---- */

/* Whether a byte is not the first of its character. */
static gboolean
is_inside (const MharTokenKinds *k, gsize i)
{
  return i > 0 && i < k->bytes->len && ((guint8) k->bytes->str[i] & 0xc0) == 0x80;
}

/* The bytes of the whole characters that a token covers. */
static void
find_span (const MharTokenKinds *k, gsize token, gsize *start, gsize *end)
{
  *start = k->at[token];
  *end = k->at[token + 1];
  if (*start == *end)
    return;
  for (guint i = 1; i < CHARACTER_MAX; i++)
    *start -= is_inside (k, *start);
  for (guint i = 1; i < CHARACTER_MAX; i++)
    *end += is_inside (k, *end);
}

static char *
text_of (const MharTokenKinds *k, gsize start, gsize end)
{
  return mhar_text_repair (k->bytes->str + start, end - start);
}

static gboolean
is_letter (gunichar c)
{
  return g_unichar_isalpha (c) || g_unichar_ismark (c);
}

static gboolean
is_number (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);
  return type == G_UNICODE_DECIMAL_NUMBER || type == G_UNICODE_LETTER_NUMBER || type == G_UNICODE_OTHER_NUMBER;
}

static MharTokenClass
class_of (const char *text, const char *first)
{
  gunichar c = g_utf8_get_char (first);

  if (*first == '\0')
    return *text != '\0' ? MHAR_CLASS_SPACE : MHAR_CLASS_OTHER;
  if (is_letter (c))
    return MHAR_CLASS_LETTER;
  if (is_number (c))
    return MHAR_CLASS_DIGIT;
  return c != 0xfffd && g_unichar_ispunct (c) ? MHAR_CLASS_PUNCTUATION : MHAR_CLASS_OTHER;
}

/* Whether the last whole character before a byte is a letter. */
static gboolean
follows_letter (const MharTokenKinds *k, gsize start)
{
  gsize at = start;

  for (guint i = 1; i < CHARACTER_MAX && at > 0 && is_inside (k, at - 1); i++)
    at--;
  if (at == 0)
    return FALSE;
  const char *p = k->bytes->str + at - 1;
  gunichar c = g_utf8_get_char_validated (p, (gssize) (start - at + 1));
  return c != (gunichar) -1 && c != (gunichar) -2 && g_utf8_next_char (p) == k->bytes->str + start &&
         is_letter (c);
}

static gboolean
is_end (const MharTokenKinds *k, gint32 id)
{
  for (guint i = 0; i < k->ends->len; i++)
    if (g_array_index (k->ends, gint32, i) == id)
      return TRUE;
  return FALSE;
}

static void
classify (MharTokenKinds *k, gsize token)
{
  gsize start, end;

  find_span (k, token, &start, &end);
  g_autofree char *text = text_of (k, start, end);
  const char *first = text;
  while (*first != '\0' && g_unichar_isspace (g_utf8_get_char (first)))
    first = g_utf8_next_char (first);
  MharTokenClass class = is_end (k, k->ids[token]) ? MHAR_CLASS_OTHER : class_of (text, first);
  gboolean follows = token > 0 && !is_end (k, k->ids[token - 1]) && follows_letter (k, start);
  k->classes[token] = (guint8) class;
  k->pieces[token] = (guint8) (class != MHAR_CLASS_LETTER                                  ? MHAR_PIECE_NONE
                               : first == text && (start < k->at[token] || follows) ? MHAR_PIECE_CONTINUED
                                                                                   : MHAR_PIECE_FIRST);
}

static void
write_text (MharTokenKinds *k, const MharTokenizer *tokenizer)
{
  k->bytes = g_string_new (NULL);
  k->at = g_new (gsize, k->n + 1);
  for (gsize i = 0; i < k->n; i++) {
    gsize length = strlen (REPLACEMENT);
    const char *token = mhar_tokenizer_bytes (tokenizer, k->ids[i], &length);
    k->at[i] = k->bytes->len;
    g_string_append_len (k->bytes, token != NULL ? token : REPLACEMENT, (gssize) length);
  }
  k->at[k->n] = k->bytes->len;
}

/* ---- documents ---- */

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  gint32 x = *(const gint32 *) a, y = *(const gint32 *) b;
  return (x > y) - (x < y);
}

static void
add_end (MharTokenKinds *k, gint64 id)
{
  gint32 value = (gint32) id;

  if (id >= 0 && id <= G_MAXINT32 && !is_end (k, value))
    g_array_append_val (k->ends, value);
}

static void
find_ends (MharTokenKinds *k, const MharCheckpoint *checkpoint, const MharTokenizer *tokenizer)
{
  g_autoptr (GArray) listed = mhar_config_integers (mhar_checkpoint_config (checkpoint), "eos_token_id");

  k->ends = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (guint i = 0; i < listed->len; i++)
    add_end (k, g_array_index (listed, gint64, i));
  for (guint i = 0; tokenizer != NULL && i < mhar_tokenizer_size (tokenizer); i++) {
    gsize length = 0;
    const char *token = mhar_tokenizer_bytes (tokenizer, (gint32) i, &length);
    if (token != NULL && length == strlen (END_OF_TEXT) && memcmp (token, END_OF_TEXT, length) == 0)
      add_end (k, i);
  }
  g_array_sort (k->ends, compare_ids);
}

static void
count_documents (MharTokenKinds *k)
{
  guint32 since = 0;

  k->document = g_new (guint32, MAX (k->n, 1));
  for (gsize i = 0; i < k->n; i++) {
    k->document[i] = since;
    since = is_end (k, k->ids[i]) ? 0 : since + 1;
  }
}

MharTokenKinds *
mhar_token_kinds_new (const MharCheckpoint *checkpoint, const gint32 *ids, gsize n)
{
  MharTokenKinds *k = g_new0 (MharTokenKinds, 1);
  g_autofree char *path = g_build_filename (mhar_checkpoint_folder (checkpoint), "tokenizer.json", NULL);
  g_autoptr (MharTokenizer) tokenizer = NULL;
  g_autoptr (GError) error = NULL;

  k->ids = ids;
  k->n = n;
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    tokenizer = mhar_tokenizer_load (path, &error);
  k->problem = error != NULL ? g_strdup (error->message) : NULL;
  find_ends (k, checkpoint, tokenizer);
  count_documents (k);
  if (tokenizer == NULL)
    return k;
  write_text (k, tokenizer);
  k->classes = g_new (guint8, MAX (n, 1));
  k->pieces = g_new (guint8, MAX (n, 1));
  for (gsize i = 0; i < n; i++)
    classify (k, i);
  return k;
}

void
mhar_token_kinds_free (MharTokenKinds *k)
{
  if (k == NULL)
    return;
  if (k->bytes != NULL)
    g_string_free (k->bytes, TRUE);
  g_array_unref (k->ends);
  g_free (k->problem);
  g_free (k->document);
  g_free (k->at);
  g_free (k->classes);
  g_free (k->pieces);
  g_free (k);
}

gboolean
mhar_token_kinds_has_text (const MharTokenKinds *k)
{
  return k->bytes != NULL;
}

const char *
mhar_token_kinds_problem (const MharTokenKinds *k)
{
  return k->problem;
}

const GArray *
mhar_token_kinds_ends (const MharTokenKinds *k)
{
  return k->ends;
}

MharTokenClass
mhar_token_kinds_class (const MharTokenKinds *k, gsize token)
{
  return (MharTokenClass) k->classes[token];
}

MharTokenPiece
mhar_token_kinds_piece (const MharTokenKinds *k, gsize token)
{
  return (MharTokenPiece) k->pieces[token];
}

guint32
mhar_token_kinds_document (const MharTokenKinds *k, gsize token)
{
  return k->document[token];
}

void
mhar_token_kinds_around (const MharTokenKinds *k, gsize token, char **before, char **text, char **after)
{
  gsize start, end, first = token > AROUND ? token - AROUND : 0, last = MIN (k->n, token + AROUND + 1);

  find_span (k, token, &start, &end);
  gsize from = MIN (k->at[first], start), to = MAX (k->at[last], end);
  for (guint i = 1; i < CHARACTER_MAX; i++) {
    from += from < start && is_inside (k, from);
    to -= to > end && is_inside (k, to);
  }
  *before = text_of (k, from, start);
  *text = text_of (k, start, end);
  *after = text_of (k, end, to);
}

gboolean
mhar_text_runs_leftward (const char *text)
{
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if ((c >= 0x590 && c <= 0x8ff) || (c >= 0xfb1d && c <= 0xfdff) || (c >= 0xfe70 && c <= 0xfeff) ||
        (c >= 0x10800 && c <= 0x10fff) || (c >= 0x1e800 && c <= 0x1efff))
      return TRUE;
  }
  return FALSE;
}
