/* SPDX-License-Identifier: MIT */
/* core/tokenizer: ids as Hugging Face's tokenizers give them, spans, decoding, long and hostile input, refused files.
 */
#include "core/tokenizer.h"

#include "tests/unit/scratch.h"

#include <jansson.h>

static char *folder; /* for written files */
static json_t *demo; /* the demo's tokenizer.json */

static char *
data_path (const char *name)
{
  const char *data = g_getenv ("MHAR_TEST_DATA");
  g_autofree char *here = g_test_build_filename (G_TEST_DIST, "..", NULL);
  return g_build_filename (data != NULL ? data : here, name, NULL);
}

static json_t *
read_json (const char *name)
{
  g_autofree char *path = data_path (name);
  json_error_t error;
  json_t *root = json_load_file (path, JSON_ALLOW_NUL, &error);
  if (root == NULL)
    g_error ("%s: %s", path, error.text);
  return root;
}

/* Writes the JSON and loads it as a tokenizer. */
static MharTokenizer *
load_json (const json_t *root, GError **error)
{
  char *text = json_dumps (root, JSON_COMPACT);
  g_autofree char *path = scratch_write (folder, "tokenizer.json", text, strlen (text));
  free (text);
  return mhar_tokenizer_load (path, error);
}

static MharTokenizer *
load_demo (void)
{
  GError *error = NULL;
  MharTokenizer *tokenizer = load_json (demo, &error);
  g_assert_no_error (error);
  return tokenizer;
}

/* The demo's file with another pattern. */
static MharTokenizer *
load_pattern (const char *pattern, GError **error)
{
  json_auto_t *root = json_deep_copy (demo);
  json_t *steps = json_object_get (json_object_get (root, "pre_tokenizer"), "pretokenizers");
  json_t *place = json_object_get (json_array_get (steps, 0), "pattern");
  g_assert_cmpint (json_object_set_new (place, "Regex", json_string (pattern)), ==, 0);
  return load_json (root, error);
}

static GArray *
encode (const MharTokenizer *tokenizer, const char *text, gsize length)
{
  GError *error = NULL;
  GArray *tokens = mhar_tokenizer_encode (tokenizer, text, length, NULL, &error);
  g_assert_no_error (error);
  return tokens;
}

/* Spans are of whole characters, in order, and leave out nothing. */
static void
assert_spans (const GArray *tokens, const char *text, gsize length)
{
  gsize covered = 0, last = 0;
  for (guint i = 0; i < tokens->len; i++) {
    const MharToken *token = &g_array_index (tokens, MharToken, i);
    g_assert_cmpuint (token->start, <, token->end);
    g_assert_cmpuint (token->end, <=, length);
    g_assert_cmpuint (token->start, >=, last);
    g_assert_cmpuint (token->start, <=, covered);
    g_assert_cmpuint (token->end, >=, covered);
    g_assert_cmpint ((guint8)text[token->start] & 0xc0, !=, 0x80);
    g_assert_true (token->end == length || ((guint8)text[token->end] & 0xc0) != 0x80);
    last = token->start;
    covered = token->end;
  }
  g_assert_cmpuint (covered, ==, length);
}

/* `file` of the group with the members of `set`, as make_tokenizer_cases.py does it. */
static json_t *
make_variant (const json_t *file, const json_t *set)
{
  json_t *root = json_deep_copy (file), *value, *model = json_object_get (root, "model");
  json_t *vocab = json_object_get (model, "vocab");
  json_int_t next = (json_int_t)json_object_size (vocab);
  const char *key;
  json_object_foreach ((json_t *)set, key, value) if (strcmp (key, "added") != 0 && strcmp (key, "model") != 0)
      json_object_set (root, key, value);
  json_t *entry, *merges = json_object_get (model, "merges");
  gsize i;
  json_array_foreach (json_object_get (set, "added"), i, entry)
  {
    json_t *known = json_object_get (vocab, json_string_value (json_object_get (entry, "content")));
    json_object_set_new (entry, "id", known != NULL ? json_deep_copy (known) : json_integer (next++));
    json_array_append (json_object_get (root, "added_tokens"), entry);
  }
  value = json_object_get (json_object_get (set, "model"), "merges");
  if (json_is_true (json_object_get (json_object_get (set, "model"), "ignore_merges")))
    json_object_set_new (model, "ignore_merges", json_true ());
  while (json_is_integer (value) && (json_int_t)json_array_size (merges) > json_integer_value (value))
    json_array_remove (merges, json_array_size (merges) - 1);
  for (i = 0; json_is_string (value) && i < json_array_size (merges); i++)
    json_array_set_new (merges, i,
                        json_sprintf ("%s %s", json_string_value (json_array_get (json_array_get (merges, i), 0)),
                                      json_string_value (json_array_get (json_array_get (merges, i), 1))));
  return root;
}

static void
check_case (const MharTokenizer *tokenizer, const char *group, const json_t *row)
{
  const json_t *text = json_array_get (row, 0), *ids = json_array_get (row, 1);
  gsize length = json_string_length (text);
  g_autoptr (GArray) tokens = encode (tokenizer, json_string_value (text), length);
  gboolean same = tokens->len == json_array_size (ids);
  for (guint i = 0; same && i < tokens->len; i++)
    same = g_array_index (tokens, MharToken, i).id == json_integer_value (json_array_get (ids, i));
  if (!same) {
    g_autofree char *shown = g_strescape (json_string_value (text), NULL);
    g_error ("%s: other ids for \"%s\"", group, shown);
  }
  assert_spans (tokens, json_string_value (text), length);
}

static void
check_groups (const json_t *cases, const json_t *file)
{
  const json_t *group, *row;
  gsize i, j, checked = 0;
  json_array_foreach (json_object_get (cases, "groups"), i, group)
  {
    const char *name = json_string_value (json_object_get (group, "group"));
    json_auto_t *root = make_variant (file, json_object_get (group, "set"));
    GError *error = NULL;
    g_autoptr (MharTokenizer) tokenizer = load_json (root, &error);
    g_assert_no_error (error);
    json_array_foreach (json_object_get (group, "cases"), j, row)
    {
      check_case (tokenizer, name, row);
      checked++;
    }
  }
  g_assert_cmpuint (checked, >, 0);
  g_test_message ("%" G_GSIZE_FORMAT " texts", checked);
}

static void
test_cases (void)
{
  json_auto_t *cases = read_json ("fixtures/tokenizer-cases.json");
  check_groups (cases, demo);
}

/* The real Qwen3 file is not ours to store: run where MHAR_SHARED names a folder that has it. */
static void
test_qwen3 (void)
{
  const char *shared = g_getenv ("MHAR_SHARED");
  g_autofree char *path
      = g_build_filename (shared != NULL ? shared : "", "fixtures/qwen3-tokenizer/tokenizer.json.xz", NULL);
  g_autofree char *program = g_find_program_in_path ("xz");
  if (shared == NULL || program == NULL || !g_file_test (path, G_FILE_TEST_EXISTS)) {
    g_test_skip ("MHAR_SHARED names no folder with fixtures/qwen3-tokenizer, or xz is not installed");
    return;
  }
  const char *arguments[] = { program, "-dc", path, NULL };
  g_autofree char *text = NULL;
  GError *error = NULL;
  int status;
  g_assert_true (g_spawn_sync (NULL, (char **)arguments, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &text, NULL,
                               &status, &error));
  g_assert_no_error (error);
  g_assert_true (g_spawn_check_wait_status (status, NULL));
  json_auto_t *file = json_loads (text, 0, NULL), *cases = read_json ("fixtures/tokenizer-qwen3-cases.json");
  g_assert_nonnull (file);
  g_autofree char *plain = scratch_write (folder, "qwen3.json", text, strlen (text));
  gint64 start = g_get_monotonic_time ();
  g_autoptr (MharTokenizer) tokenizer = mhar_tokenizer_load (plain, &error);
  g_assert_no_error (error);
  g_test_message ("loaded in %.2f s", (double)(g_get_monotonic_time () - start) / G_USEC_PER_SEC);
  g_assert_cmpuint (mhar_tokenizer_size (tokenizer), ==, 151669);
  check_groups (cases, file);
}

static gpointer
encode_in_thread (gpointer data)
{
  gpointer *work = data;
  const GString *text = work[1];
  return encode (work[0], text->str, text->len);
}

/* The bundled text: its stored ids, from several threads at once, and back. */
static void
test_text (void)
{
  g_autofree char *path = data_path ("../data/demo/text.txt"), *ids_path = data_path ("fixtures/public-domain.u16");
  g_autofree char *text = NULL, *ids = NULL;
  gsize length = 0, ids_length = 0;
  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  g_assert_true (g_file_get_contents (ids_path, &ids, &ids_length, NULL));
  g_autoptr (MharTokenizer) tokenizer = load_demo ();
  g_autoptr (GString) string = g_string_new_len (text, (gssize)length);
  gpointer work[] = { tokenizer, string };
  GThread *threads[3];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, encode_in_thread, work);
  for (guint t = 0; t < G_N_ELEMENTS (threads); t++) {
    g_autoptr (GArray) tokens = g_thread_join (threads[t]);
    g_autofree gint32 *back = g_new (gint32, tokens->len);
    g_assert_cmpuint (tokens->len, ==, ids_length / 2);
    for (guint i = 0; i < tokens->len; i++) {
      back[i] = g_array_index (tokens, MharToken, i).id;
      g_assert_cmpint (back[i], ==, (guint8)ids[2 * i] | (guint8)ids[2 * i + 1] << 8);
    }
    assert_spans (tokens, text, length);
    g_autofree char *decoded = mhar_tokenizer_decode (tokenizer, back, tokens->len);
    g_assert_cmpstr (decoded, ==, text);
  }
}

/* Spans of `text` as "start-end start-end …". */
static void
assert_span_list (const MharTokenizer *tokenizer, const char *text, const char *expected)
{
  g_autoptr (GArray) tokens = encode (tokenizer, text, strlen (text));
  g_autoptr (GString) got = g_string_new (NULL);
  for (guint i = 0; i < tokens->len; i++) {
    const MharToken *token = &g_array_index (tokens, MharToken, i);
    g_string_append_printf (got, "%s%" G_GSIZE_FORMAT "-%" G_GSIZE_FORMAT, i > 0 ? " " : "", token->start, token->end);
  }
  g_assert_cmpstr (got->str, ==, expected);
}

static void
test_spans (void)
{
  g_autoptr (MharTokenizer) tokenizer = load_demo ();
  assert_span_list (tokenizer, "the the", "0-3 3-7");
  assert_span_list (tokenizer, "", "");
  /* A character of four bytes without a token of its own. */
  assert_span_list (tokenizer, "a\360\220\215\210<|endoftext|>", "0-1 1-5 1-5 1-5 1-5 5-18");
  /* e + acute becomes one character of two bytes; what follows is moved back. */
  assert_span_list (tokenizer, "1e\314\2011", "0-1 1-4 4-5");
  /* The marks are put in another order, together. */
  g_autoptr (GArray) marks = encode (tokenizer, "xq\314\207\314\243y", 7);
  for (guint i = 1; i + 1 < marks->len; i++)
    g_assert_cmpuint (g_array_index (marks, MharToken, i).start, >=, 1);
  assert_spans (marks, "xq\314\207\314\243y", 7);
  /* Behind an added token spans count from the beginning of the text still. */
  assert_span_list (tokenizer, "<|endoftext|>e\314\2012", "0-13 13-16 16-17");
}

static void
test_decode (void)
{
  g_autoptr (MharTokenizer) tokenizer = load_demo ();
  gsize length = 0;
  guint size = mhar_tokenizer_size (tokenizer);
  g_assert_cmpuint (size, ==, 4096);
  g_assert_null (mhar_tokenizer_bytes (tokenizer, -1, &length));
  g_assert_null (mhar_tokenizer_bytes (tokenizer, (gint32)size, &length));
  g_assert_cmpstr (mhar_tokenizer_bytes (tokenizer, 0, &length), ==, "<|endoftext|>");
  g_assert_cmpuint (length, ==, 13);

  /* Each byte's own token, from a text that no merge touches; a first byte alone, two of a beginning, an id unknown. */
  g_autoptr (GArray) tokens = encode (tokenizer, "\360\220\215\210", 4);
  g_assert_cmpuint (tokens->len, ==, 4);
  gint32 ids[] = { g_array_index (tokens, MharToken, 0).id,
                   0,
                   g_array_index (tokens, MharToken, 0).id,
                   g_array_index (tokens, MharToken, 1).id,
                   (gint32)size,
                   g_array_index (tokens, MharToken, 3).id };
  g_assert_cmpint ((guint8)*mhar_tokenizer_bytes (tokenizer, ids[2], &length), ==, 0xf0);
  g_autofree char *broken = mhar_tokenizer_decode (tokenizer, ids, G_N_ELEMENTS (ids));
  g_assert_cmpstr (broken, ==, "\357\277\275<|endoftext|>\357\277\275\357\277\275\357\277\275");
  g_autofree char *none = mhar_tokenizer_decode (tokenizer, NULL, 0);
  g_assert_cmpstr (none, ==, "");

  g_autoptr (GArray) nul = encode (tokenizer, "\0", 1);
  g_autofree char *shown = mhar_tokenizer_decode (tokenizer, &g_array_index (nul, MharToken, 0).id, 1);
  g_assert_cmpstr (shown, ==, "\357\277\275");
}

static void
test_not_utf8 (void)
{
  static const struct {
    const char *text;
    gsize length;
    const char *words;
  } bad[] = {
    { "\377", 1, "byte 0;" },
    { "abc\302", 4, "byte 3;" },
    { "a\0b\200", 4, "byte 3;" },
    { "\355\240\200", 3, "byte 0;" },
    { "\300\200", 2, "byte 0;" },
    { "ab\364\220\200\200", 6, "byte 2;" },
    { "\0\0\0\360\237\230", 6, "byte 3;" },
  };
  g_autoptr (MharTokenizer) tokenizer = load_demo ();
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    GError *error = NULL;
    g_assert_null (mhar_tokenizer_encode (tokenizer, bad[i].text, bad[i].length, NULL, &error));
    scratch_assert_refused (&error, bad[i].words);
  }
}

/* `unit` over and over, `length` bytes of it. */
static char *
repeat (const char *unit, gsize length)
{
  char *text = g_malloc (length + 1);
  for (gsize i = 0; i < length; i++)
    text[i] = unit[i % strlen (unit)];
  text[length] = '\0';
  return text;
}

/* Words and stretches without a break: time in proportion to their length, here by eight times as much text taking no
 * more than forty times as long (quadratic: 64). */
static void
test_long (void)
{
  static const char *const units[] = { "a",
                                       " ",
                                       "\n",
                                       "-",
                                       "the",
                                       "7",
                                       "\314\201\314\247",
                                       "e\314\201",
                                       "\346\227\245",
                                       "<|endoftext|",
                                       "\341\204\222\341\205\241\341\206\253",
                                       "   x",
                                       "\r\n " };
  const gsize n = 1 << 15;
  g_autoptr (MharTokenizer) tokenizer = load_demo ();
  for (gsize i = 0; i < G_N_ELEMENTS (units); i++) {
    gsize least = n / strlen (units[i]) * strlen (units[i]);
    g_autofree char *text = repeat (units[i], 8 * least);
    gint64 start = g_get_monotonic_time ();
    g_autoptr (GArray) some = encode (tokenizer, text, least);
    gint64 middle = g_get_monotonic_time ();
    g_autoptr (GArray) all = encode (tokenizer, text, 8 * least);
    gint64 end = g_get_monotonic_time ();
    assert_spans (all, text, 8 * least);
    g_assert_cmpuint (all->len, >=, 7 * (gsize)some->len);
    g_test_message ("unit %d: %.1f and %.1f ms, %.0f %% of what is allowed", (int)i, (double)(middle - start) / 1e3,
                    (double)(end - middle) / 1e3,
                    (double)(end - middle) / (double)(40 * (middle - start) + 400000) * 100);
    g_assert_cmpint (end - middle, <=, 40 * (middle - start) + 400000);
  }
}

/* A long word is merged with a heap, a short one by looking through it: both give the same, whatever the length. */
static void
test_word_lengths (void)
{
  g_autoptr (MharTokenizer) tokenizer = load_demo ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint n = 55; n < 75; n++) {
    g_autofree char *text = g_malloc0 (2 * n + 1);
    for (guint i = 0; i < n; i++)
      text[i] = "etaoinshr"[g_rand_int_range (rand, 0, 9)];
    /* No merge reaches over a capital that begins nothing, so the halves of a word of twice the length are alike. */
    text[n - 1] = 'Q';
    memcpy (text + n, text, n);
    g_autoptr (GArray) one = encode (tokenizer, text, n), two = encode (tokenizer, text, 2 * n);
    g_assert_cmpuint (two->len, ==, 2 * one->len);
    for (guint i = 0; i < one->len; i++) {
      g_assert_cmpint (g_array_index (two, MharToken, i).id, ==, g_array_index (one, MharToken, i).id);
      g_assert_cmpint (g_array_index (two, MharToken, one->len + i).id, ==, g_array_index (one, MharToken, i).id);
    }
  }
}

/* Patterns that would take for ever: refused when read, or within seconds when used. */
static void
test_evil_patterns (void)
{
  static const char *const patterns[] = {
    "(?:a+)+$",
    "(?:a|aa)+$",
    "(?:a*)*b",
    "(?=(?:a|b)*$)a",
    "(?:(?=a*+)a)*c",
    "a*a*a*a*b",
    "(?=[\\s\\S]*z)a",
    "a(?=[\\s\\S]*)",
    ".*b|a",
    "[\\s\\S]*?z|[\\s\\S]",
    "(?:(?:a{1,1000}){1,1000}){1,1000}",
    "(?:(?:(?:a?){50}){50}){50}b",
    "a*[\\s\\S]*+b",
    "(?:a?){1000}b",
  };
  g_autofree char *text = repeat ("a", 200000);
  for (gsize i = 0; i < G_N_ELEMENTS (patterns); i++) {
    GError *error = NULL;
    gint64 start = g_get_monotonic_time ();
    g_autoptr (MharTokenizer) tokenizer = load_pattern (patterns[i], &error);
    if (tokenizer != NULL)
      g_assert_null (mhar_tokenizer_encode (tokenizer, text, 200000, NULL, &error));
    scratch_assert_refused (&error, "tokenizer.json|the pattern");
    double seconds = (double)(g_get_monotonic_time () - start) / G_USEC_PER_SEC;
    g_test_message ("%s: %.2f s, %.0f %% of what is allowed", patterns[i], seconds, seconds / 60 * 100);
    g_assert_cmpfloat (seconds, <, 60);
  }
}

/* Where the limit struck is told in bytes of the text given. */
static void
test_limit_offset (void)
{
  GError *error = NULL;
  g_autofree char *run = repeat ("a", 20000);
  g_autofree char *text = g_strconcat ("e\314\201e\314\201<|endoftext|>\342\204\253 x", run, NULL);
  g_autoptr (MharTokenizer) tokenizer = load_pattern ("x(?:a|b)+(?:a|b)+c|[^x]", &error);
  g_assert_no_error (error);
  g_assert_null (mhar_tokenizer_encode (tokenizer, text, strlen (text), NULL, &error));
  scratch_assert_refused (&error, "byte 23 |match limits");
}

/* A text long enough to be looked at half-way is given up, one of words and one of added tokens alike; a short one is
 * over before anybody looks. */
static void
test_cancelled (void)
{
  g_autoptr (MharTokenizer) tokenizer = load_demo ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autofree char *words = repeat ("the river ", 200000), *added = repeat ("<|endoftext|>", 200005);
  const char *const texts[] = { words, added };
  g_cancellable_cancel (cancellable);
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (mhar_tokenizer_encode (tokenizer, texts[i], strlen (texts[i]), cancellable, &error));
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  }
  g_autoptr (GArray) few = mhar_tokenizer_encode (tokenizer, "the river", 9, cancellable, NULL);
  g_assert_nonnull (few);
}

static const struct {
  const char *pattern, *words;
} bad_patterns[] = {
  { "(a)\\1", "byte 4|\\1" },
  { "(?R)", "kind of group" },
  { "(?<n>a)", "kind of group" },
  { "(*COMMIT)a", "repeat" },
  { "(?i)a", "kind of group" },
  { "[a[b]]", "class inside" },
  { "[a&&b]", "intersection" },
  { "[[:alpha:]]", "class inside" },
  { "\\bx", "\\b" },
  { "\\h", "\\h" },
  { "\\R", "\\R" },
  { "a**", "repeat" },
  { "*a", "repeat" },
  { "{2}", "repeat" },
  { "a{5,2}", "repeat" },
  { "a{2}?", "lazy" },
  { "a{70000}", "repeat" },
  { "(a", "unclosed (" },
  { "a)", "without its (" },
  { "[a", "unclosed [" },
  { "[b-a]", "wrong order" },
  { "[a-\\d]", "\\d" },
  { "[\\s-a]", "begins with" },
  { "[a-c-e]", "behind a range" },
  { "\\", "backslash" },
  { "\\x4", "hexadecimal" },
  { "\\xe9", "hexadecimal" },
  { "\\x{110000}", "hexadecimal" },
  { "\\ud800", "hexadecimal" },
  { "\\pL", "braces" },
  { "\\p{L", "property" },
  { "\\p{Xy}", "unknown property" },
  { "\\p{Klingon}", "PCRE2" },
  { "(?<=a+)b", "PCRE2" },
  { "(?i:ss)", "fold" },
  { "(?i:ﬁ)", "ASCII" },
  { "(?i:\\p{Lu})", "property" },
  { "(?i:s{2})", "fold" },
  { "(?i:[é])", "ASCII" },
  { "(?=a)*", "repeat" },
};

static void
test_refused_patterns (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_patterns); i++) {
    GError *error = NULL;
    g_autoptr (MharTokenizer) tokenizer = load_pattern (bad_patterns[i].pattern, &error);
    if (tokenizer != NULL)
      g_error ("%s was taken", bad_patterns[i].pattern);
    scratch_assert_refused (&error, bad_patterns[i].words);
  }
  GError *error = NULL;
  g_autofree char *lengthy = repeat ("ab|", 5000), *deep = repeat ("(", 200);
  g_assert_null (load_pattern (lengthy, &error));
  scratch_assert_refused (&error, "longer than");
  g_assert_null (load_pattern (deep, &error));
  scratch_assert_refused (&error, "too many groups");
}

/* A file of one vocabulary of single bytes and whatever else is given; `more` overrides. */
static json_t *
small_file (const char *more)
{
  json_t *root = json_deep_copy (demo);
  json_error_t failure;
  json_auto_t *set = json_loads (more, 0, &failure);
  if (set == NULL)
    g_error ("%s: %s", more, failure.text);
  json_t *model = json_object_get (set, "model");
  if (json_is_object (model))
    json_object_update (json_object_get (root, "model"), model);
  if (json_is_object (model))
    json_object_del (set, "model");
  json_object_update (root, set);
  return root;
}

#define ADDED(rest) "{\"added_tokens\": [{\"id\": 0, \"content\": \"<|endoftext|>\"}, " rest "]}"
#define STEPS(split, level) "{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [" split ", " level "]}}"
#define SPLIT "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"a\"}, \"behavior\": \"Isolated\", \"invert\": false}"
#define LEVEL "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}"

static const struct {
  const char *set, *words;
} bad_files[] = {
  { "{\"model\": null}", "no model" },
  { "{\"model\": []}", "no model" },
  { "{\"model\": {\"type\": \"Unigram\"}}", "Unigram" },
  { "{\"model\": {\"dropout\": 0.1}}", "dropout" },
  { "{\"model\": {\"continuing_subword_prefix\": \"##\"}}", "continuing_subword_prefix" },
  { "{\"model\": {\"end_of_word_suffix\": \"</w>\"}}", "end_of_word_suffix" },
  { "{\"model\": {\"vocab\": {}}}", "model.vocab" },
  { "{\"model\": {\"vocab\": [1]}}", "model.vocab" },
  { "{\"model\": {\"vocab\": {\"a\": -1}}}", "the id of a" },
  { "{\"model\": {\"vocab\": {\"a\": 1.5}}}", "the id of a" },
  { "{\"model\": {\"vocab\": {\"a\": 4294967296}}}", "the id of a" },
  { "{\"model\": {\"vocab\": {\"a\": 4194303}}}", "the id of a is not a whole number from 0 to" }, /* a file of far fewer bytes */
  { "{\"model\": {\"vocab\": {\"a\": \"1\"}}}", "the id of a" },
  { "{\"model\": {\"vocab\": {\"a\": 1, \"b\": 1}}, \"added_tokens\": []}", "two tokens have the id 1" },
  { "{\"model\": {\"vocab\": {\"a\": 0, \"b\": 1}, \"merges\": []}}", "<|endoftext|>|id 0" },
  { "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [], \"unk_token\": \"a\"}, \"added_tokens\": []}",
    "unk_token|byte 0x" },
  { "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [], \"byte_fallback\": true}, \"added_tokens\": []}",
    "byte_fallback" },
  { "{\"model\": {\"merges\": null}}", "model.merges" },
  { "{\"model\": {\"merges\": {}}}", "model.merges" },
  { "{\"model\": {\"merges\": [[\"h\", \"e\"], [\"a\"]]}}", "merge 1" },
  { "{\"model\": {\"merges\": [[\"h\", 1]]}}", "merge 0" },
  { "{\"model\": {\"merges\": [7]}}", "merge 0" },
  { "{\"model\": {\"merges\": [\"he\"]}}", "merge 0|space" },
  { "{\"model\": {\"merges\": [\"h e e\"]}}", "merge 0|space" },
  { "{\"model\": {\"merges\": [[\"h\", \"no such\"]]}}", "merge 0|no such" },
  { "{\"model\": {\"merges\": [[\"Q\", \"Q\"]]}}", "merge 0|QQ" },
  { "{\"normalizer\": {\"type\": \"NFKC\"}}", "NFKC" },
  { "{\"normalizer\": {\"type\": \"Lowercase\"}}", "Lowercase" },
  { "{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {\"type\": \"Strip\"}]}}",
    "Strip" },
  { "{\"normalizer\": 3}", "normalizer" },
  { "{\"pre_tokenizer\": null}", "pre_tokenizer" },
  { "{\"pre_tokenizer\": {\"type\": \"Metaspace\"}}", "Metaspace" },
  { "{\"pre_tokenizer\": " SPLIT "}", "Split without ByteLevel" },
  { "{\"pre_tokenizer\": " LEVEL "}", "use_regex" },
  { "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true}}", "add_prefix_space" },
  { "{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": []}}", "0 steps" },
  { STEPS (SPLIT, SPLIT "," LEVEL), "3 steps" },
  { STEPS ("{\"type\": \"Digits\"}", LEVEL), "Digits" },
  { STEPS (SPLIT, "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}"), "use_regex behind a Split" },
  { STEPS (SPLIT, "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"use_regex\": false}"), "add_prefix_space" },
  { STEPS ("{\"type\": \"Split\", \"pattern\": {\"String\": \" \"}, \"behavior\": \"Isolated\"}", LEVEL), "Regex" },
  { STEPS ("{\"type\": \"Split\", \"pattern\": {\"Regex\": \"a\"}, \"behavior\": \"Removed\"}", LEVEL), "behavior" },
  { STEPS ("{\"type\": \"Split\", \"pattern\": {\"Regex\": \"a\"}, \"behavior\": \"Isolated\", \"invert\": true}",
           LEVEL),
    "invert" },
  { "{\"added_tokens\": {}}", "added_tokens" },
  { ADDED ("7"), "the id of an added token" },
  { ADDED ("{\"id\": 4096}"), "no content" },
  { ADDED ("{\"id\": 4096, \"content\": \"\"}"), "no content" },
  { ADDED ("{\"id\": -3, \"content\": \"x y\"}"), "the id of an added token" },
  { ADDED ("{\"id\": 4097, \"content\": \"x y\"}"), "x y|4097|4096" },
  { ADDED ("{\"id\": 77, \"content\": \"x y\"}"), "x y|77|4096" },
  { ADDED ("{\"id\": 4096, \"content\": \"the\"}"), "the|4096" },
  { ADDED ("{\"id\": 4096, \"content\": \"x y\"}, {\"id\": 4097, \"content\": \"x y\"}"), "x y|twice" },
  { ADDED ("{\"id\": 4096, \"content\": \"x y\", \"lstrip\": true}"), "lstrip|x y" },
  { ADDED ("{\"id\": 4096, \"content\": \"x y\", \"rstrip\": true}"), "rstrip|x y" },
  { ADDED ("{\"id\": 4096, \"content\": \"x y\", \"single_word\": true}"), "single_word|x y" },
};

static void
test_refused_files (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_files); i++) {
    json_auto_t *root = small_file (bad_files[i].set);
    GError *error = NULL;
    g_autoptr (MharTokenizer) tokenizer = load_json (root, &error);
    if (tokenizer != NULL)
      g_error ("%s was taken", bad_files[i].set);
    g_autofree char *words = g_strconcat ("tokenizer.json|", bad_files[i].words, NULL);
    scratch_assert_refused (&error, words);
  }
}

/* Byte tokens may be missing where no text needs them; a text that does is refused, not shortened. */
static void
test_missing_byte (void)
{
  json_auto_t *root = small_file ("{\"model\": {\"vocab\": {\"a\": 0, \"b\": 5, \"ab\": 2}, \"merges\": [\"a b\"]}, "
                                  "\"added_tokens\": []}");
  GError *error = NULL;
  g_autoptr (MharTokenizer) tokenizer = load_json (root, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mhar_tokenizer_size (tokenizer), ==, 6);
  g_assert_null (mhar_tokenizer_bytes (tokenizer, 1, NULL));
  g_autoptr (GArray) tokens = encode (tokenizer, "bab", 3);
  g_assert_cmpuint (tokens->len, ==, 2);
  g_assert_cmpint (g_array_index (tokens, MharToken, 1).id, ==, 2);
  g_assert_null (mhar_tokenizer_encode (tokenizer, "abc", 3, NULL, &error));
  scratch_assert_refused (&error, "tokenizer.json|0x63");
}

static void
test_not_a_tokenizer (void)
{
  static const char *const bad[]
      = { "{", "[]", "{}", "null", "\"x\"", "{\"model\": {\"vocab\": {\"a\": 1, \"a\": 2}}}", "\377" };
  GError *error = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *path = scratch_write (folder, "tokenizer.json", bad[i], strlen (bad[i]));
    g_assert_null (mhar_tokenizer_load (path, &error));
    scratch_assert_refused (&error, "tokenizer.json");
  }
  g_assert_null (mhar_tokenizer_load (folder, &error));
  scratch_assert_refused (&error, "regular file");
  g_assert_null (mhar_tokenizer_load ("/no/such/tokenizer.json", &error));
  scratch_assert_refused (&error, "/no/such/tokenizer.json");
}

/* Random edits of a small file: it loads or is refused in one line, and what loads encodes or says why not. */
static void
test_mutations (void)
{
  json_auto_t *root = json_deep_copy (demo);
  json_t *vocab = json_object ();
  static const char *const tokens[] = { "t", "h", "e", "Ġ", "th", "the", "Ġthe", "<|endoftext|>" };
  for (gsize i = 0; i < G_N_ELEMENTS (tokens); i++)
    json_object_set_new (vocab, tokens[i], json_integer ((json_int_t)(7 - i)));
  json_t *model = json_object_get (root, "model");
  json_object_set_new (model, "vocab", vocab);
  json_object_set_new (model, "merges", json_pack ("[[ss], s, [ss]]", "t", "h", "th e", "Ġ", "the"));
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  char *good = json_dumps (root, 0);
  guint loaded = 0, n = g_test_slow () ? 100000 : 10000;
  for (guint i = 0; i < n; i++) {
    g_autoptr (GString) text = scratch_mutate (rand, good, strlen (good));
    g_autofree char *path = scratch_write (folder, "tokenizer.json", text->str, text->len);
    g_autoptr (GError) error = NULL;
    g_autoptr (MharTokenizer) tokenizer = mhar_tokenizer_load (path, &error);
    g_autoptr (GArray) got
        = tokenizer != NULL ? mhar_tokenizer_encode (tokenizer, "the het<|endoftext|> th", 23, NULL, &error) : NULL;
    loaded += tokenizer != NULL;
    g_assert_true ((got == NULL) == (error != NULL));
    if (error != NULL)
      scratch_assert_refused (&error, "tokenizer.json");
  }
  free (good);
  g_test_message ("%u of %u loaded", loaded, n);
  g_assert_cmpuint (loaded, >, n / 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = scratch_new ();
  demo = read_json ("../data/demo/single/tokenizer.json");
  g_test_add_func ("/tokenizer/cases", test_cases);
  g_test_add_func ("/tokenizer/cancelled", test_cancelled);
  g_test_add_func ("/tokenizer/qwen3", test_qwen3);
  g_test_add_func ("/tokenizer/text", test_text);
  g_test_add_func ("/tokenizer/spans", test_spans);
  g_test_add_func ("/tokenizer/decode", test_decode);
  g_test_add_func ("/tokenizer/not-utf8", test_not_utf8);
  g_test_add_func ("/tokenizer/long", test_long);
  g_test_add_func ("/tokenizer/word-lengths", test_word_lengths);
  g_test_add_func ("/tokenizer/evil-patterns", test_evil_patterns);
  g_test_add_func ("/tokenizer/limit-offset", test_limit_offset);
  g_test_add_func ("/tokenizer/refused-patterns", test_refused_patterns);
  g_test_add_func ("/tokenizer/refused-files", test_refused_files);
  g_test_add_func ("/tokenizer/missing-byte", test_missing_byte);
  g_test_add_func ("/tokenizer/not-a-tokenizer", test_not_a_tokenizer);
  g_test_add_func ("/tokenizer/mutations", test_mutations);
  int status = g_test_run ();
  json_decref (demo);
  scratch_remove (folder);
  return status;
}
