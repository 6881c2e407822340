/* SPDX-License-Identifier: MIT */
/* Reads tokenizer.json. What it asks for and we do not do is refused by name: a tokenizer that is nearly right gives
 * numbers that are quietly wrong. */
#include "core/tokenizer-private.h"

#include "core/error.h"
#include "core/input.h"
#include "core/nfc.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (64 << 20) /* the largest in use are about half of it */
#define MAX_IDS (1 << 22)
#define MAX_ADDED_BYTES 256 /* of an added token: text is compared with it at every byte */
#define GPT2_PATTERN "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

typedef struct {
  const char *path;
  json_t *root, *vocab;
  MharTokenizer *made;
  gunichar letter[256]; /* the byte alphabet: the character that stands for each byte */
  gint16 byte[512];     /* and back; −1 for characters outside it */
  guint next_id;        /* of an added token not in the vocabulary */
  gsize max_ids;        /* a token takes more than a byte of the file, so an id beyond its bytes only asks for memory */
  GError **error;
} Loader;

G_GNUC_PRINTF (2, 3)
static gboolean
refuse (const Loader *loader, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return mhar_bad_input (loader->error, "%s: %s", loader->path, text);
}

/* The member; NULL also where it is null. */
static json_t *
get (const json_t *object, const char *key)
{
  json_t *value = json_object_get (object, key);
  return json_is_null (value) ? NULL : value;
}

/* "Split" of {"type": "Split", …}, for messages "?" where there is none. */
static const char *
type_of (const json_t *object)
{
  const char *type = json_string_value (get (object, "type"));
  return type != NULL ? type : "?";
}

static gboolean
has_type (const json_t *object, const char *type)
{
  return strcmp (type_of (object), type) == 0;
}

static gboolean
refuse_kind (const Loader *loader, const char *part, const json_t *object)
{
  g_autofree char *type = mhar_input_quote (type_of (object));
  return refuse (loader, "%s of type %s is not supported; it must be byte-level BPE", part, type);
}

/* Byte-level vocabularies write each byte as one printable character: itself, or one from U+0100 on. */
static void
init_alphabet (Loader *loader)
{
  gunichar next = 256;
  memset (loader->byte, -1, sizeof loader->byte);
  for (guint b = 0; b < 256; b++) {
    gboolean printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    loader->letter[b] = printable ? b : next++;
    loader->byte[loader->letter[b]] = (gint16)b;
  }
}

/* The bytes that the vocabulary's entry `text` stands for into `bytes`; FALSE where it is not in the byte alphabet. */
static gboolean
unmap (const Loader *loader, const char *text, GString *bytes)
{
  g_string_truncate (bytes, 0);
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);
    if (c >= G_N_ELEMENTS (loader->byte) || loader->byte[c] < 0)
      return FALSE;
    g_string_append_c (bytes, (char)loader->byte[c]);
  }
  return TRUE;
}

static gboolean
read_id (const Loader *loader, const json_t *value, const char *owner, guint32 *id)
{
  json_int_t number = json_is_integer (value) ? json_integer_value (value) : -1;
  if (number >= 0 && (guint64)number < loader->max_ids) {
    *id = (guint32)number;
    return TRUE;
  }
  g_autofree char *quoted = mhar_input_quote (owner);
  return refuse (loader, "the id of %s is not a whole number from 0 to %" G_GSIZE_FORMAT, quoted,
                 loader->max_ids - 1);
}

/* Gives token `id` its bytes, copied. An id has one owner. */
static gboolean
set_token (const Loader *loader, guint32 id, const char *bytes, gsize length, gboolean mapped)
{
  MharTokenText *token = &loader->made->token[id];
  if (token->bytes != NULL)
    return refuse (loader, "two tokens have the id %u", id);
  token->bytes = g_string_chunk_insert_len (loader->made->arena, bytes, (gssize)length);
  token->length = (guint)length;
  token->mapped = mapped;
  return TRUE;
}

/* Room for all ids of the vocabulary and of the added tokens. */
static gboolean
reserve_ids (Loader *loader, const json_t *added)
{
  const char *text;
  json_t *value;
  gsize i;
  guint32 id = 0, largest = 0;
  json_object_foreach (loader->vocab, text, value)
  {
    if (!read_id (loader, value, text, &id))
      return FALSE;
    largest = MAX (largest, id);
  }
  json_array_foreach (added, i, value)
  {
    if (!read_id (loader, get (value, "id"), "an added token", &id))
      return FALSE;
    largest = MAX (largest, id);
  }
  loader->made->n_ids = largest + 1;
  loader->made->token = g_new0 (MharTokenText, loader->made->n_ids);
  loader->made->arena = g_string_chunk_new (1 << 16);
  return TRUE;
}

static gboolean
load_vocab (Loader *loader)
{
  g_autoptr (GString) bytes = g_string_new (NULL);
  const char *text;
  json_t *value;
  json_object_foreach (loader->vocab, text, value)
  {
    guint32 id = (guint32)json_integer_value (value);
    gboolean mapped = unmap (loader, text, bytes);
    if (!set_token (loader, id, mapped ? bytes->str : text, mapped ? bytes->len : strlen (text), mapped))
      return FALSE;
  }
  return TRUE;
}

/* The token of each single byte; whether what is said of unknown characters matters, since some byte has none. */
static gboolean
load_byte_ids (const Loader *loader, const json_t *model, guint32 *byte_ids)
{
  int missing = -1;
  for (guint b = 0; b < 256; b++) {
    char letter[8] = { 0 };
    g_unichar_to_utf8 (loader->letter[b], letter);
    json_t *id = json_object_get (loader->vocab, letter);
    byte_ids[b] = id != NULL ? (guint32)json_integer_value (id) : G_MAXUINT32;
    if (id == NULL && b != 0xc0 && b != 0xc1 && b < 0xf5)
      missing = (int)b;
  }
  const char *wish = get (model, "unk_token") != NULL ? "unk_token" : "byte_fallback";
  if (missing >= 0 && (get (model, "unk_token") != NULL || json_is_true (get (model, "byte_fallback"))))
    return refuse (loader, "the vocabulary has no token for the byte 0x%02X, and model.%s is not supported",
                   (guint)missing, wish);
  return TRUE;
}

static gboolean
find_token (const Loader *loader, const char *text, gsize merge, guint32 *id)
{
  const json_t *value = json_object_get (loader->vocab, text);
  if (value != NULL) {
    *id = (guint32)json_integer_value (value);
    return TRUE;
  }
  g_autofree char *quoted = mhar_input_quote (text);
  return refuse (loader, "merge %" G_GSIZE_FORMAT " needs %s, which is not in the vocabulary", merge, quoted);
}

/* merges[i], ["a", "b"] or "a b", into `left` and `right`. */
static gboolean
read_merge (const Loader *loader, const json_t *merge, gsize i, GString *left, GString *right)
{
  const char *a = json_string_value (json_array_get (merge, 0)), *b = json_string_value (json_array_get (merge, 1));
  if (json_is_string (merge)) {
    a = json_string_value (merge);
    b = strchr (a, ' ');
    if (b == NULL || strchr (b + 1, ' ') != NULL)
      return refuse (loader, "merge %" G_GSIZE_FORMAT " is not two tokens with a space between", i);
    g_string_truncate (left, 0);
    g_string_append_len (left, a, b - a);
    g_string_assign (right, b + 1);
    return TRUE;
  }
  if (json_array_size (merge) != 2 || a == NULL || b == NULL)
    return refuse (loader, "merge %" G_GSIZE_FORMAT " is not two tokens", i);
  g_string_assign (left, a);
  g_string_assign (right, b);
  return TRUE;
}

static gboolean
load_merges (Loader *loader, const json_t *model)
{
  json_t *merges = get (model, "merges"), *merge;
  g_autoptr (GString) left = g_string_new (NULL), right = g_string_new (NULL);
  guint32 byte_ids[256];
  gsize i;
  if (!json_is_array (merges))
    return refuse (loader, "model.merges is not a list");
  if (!load_byte_ids (loader, model, byte_ids))
    return FALSE;
  g_autofree MharBpePair *pairs = g_new (MharBpePair, MAX (json_array_size (merges), 1));
  json_array_foreach (merges, i, merge)
  {
    if (!read_merge (loader, merge, i, left, right) || !find_token (loader, left->str, i, &pairs[i].left)
        || !find_token (loader, right->str, i, &pairs[i].right))
      return FALSE;
    g_string_append_len (left, right->str, (gssize)right->len);
    if (!find_token (loader, left->str, i, &pairs[i].id))
      return FALSE;
  }
  loader->made->bpe = mhar_bpe_new (byte_ids, pairs, json_array_size (merges), loader->made->n_ids);
  return TRUE;
}

static int
compare_by_text (gconstpointer a, gconstpointer b, gpointer data)
{
  const MharTokenText *token = data;
  const MharTokenText *x = &token[*(const guint32 *)a], *y = &token[*(const guint32 *)b];
  return mhar_token_text_compare (x->bytes, x->length, y->bytes, y->length);
}

/* For ignore_merges, before added tokens join: the vocabulary sorted by text. */
static void
sort_by_text (MharTokenizer *tokenizer)
{
  tokenizer->by_text = g_new (guint32, tokenizer->n_ids);
  for (guint id = 0; id < tokenizer->n_ids; id++)
    if (tokenizer->token[id].bytes != NULL && tokenizer->token[id].mapped)
      tokenizer->by_text[tokenizer->n_by_text++] = id;
  g_qsort_with_data (tokenizer->by_text, (int)tokenizer->n_by_text, sizeof (guint32), compare_by_text,
                     tokenizer->token);
}

static gboolean
check_model (const Loader *loader, const json_t *model)
{
  static const char *const affixes[] = { "continuing_subword_prefix", "end_of_word_suffix" };
  if (!json_is_object (model))
    return refuse (loader, "it has no model");
  if (get (model, "type") != NULL && !has_type (model, "BPE"))
    return refuse_kind (loader, "model", model);
  if (get (model, "dropout") != NULL && json_number_value (get (model, "dropout")) != 0)
    return refuse (loader, "model.dropout is not supported; set it to null");
  for (guint i = 0; i < G_N_ELEMENTS (affixes); i++) {
    const json_t *affix = get (model, affixes[i]);
    if (affix != NULL && (!json_is_string (affix) || json_string_length (affix) > 0))
      return refuse (loader, "model.%s is not supported; it must be empty", affixes[i]);
  }
  if (json_object_size (get (model, "vocab")) == 0)
    return refuse (loader, "model.vocab is not an object with tokens");
  return TRUE;
}

/* Form C alone, also as the only kind in a sequence. */
static gboolean
load_normaliser (Loader *loader)
{
  json_t *normaliser = get (loader->root, "normalizer"), *part;
  json_t *parts = has_type (normaliser, "Sequence") ? get (normaliser, "normalizers") : NULL;
  gsize i;
  json_array_foreach (parts, i, part)
  {
    if (!has_type (part, "NFC"))
      return refuse_kind (loader, "a normalizer", part);
    loader->made->nfc = TRUE;
  }
  if (normaliser == NULL || json_is_array (parts))
    return TRUE;
  if (!has_type (normaliser, "NFC"))
    return refuse_kind (loader, "a normalizer", normaliser);
  loader->made->nfc = TRUE;
  return TRUE;
}

/* A ByteLevel step: after a Split it only maps bytes, alone it also splits with GPT-2's pattern. */
static gboolean
check_byte_level (const Loader *loader, const json_t *step, gboolean after_split)
{
  const json_t *use_regex = get (step, "use_regex");
  if (!has_type (step, "ByteLevel"))
    return refuse_kind (loader, "a pre_tokenizer", step);
  if (!json_is_false (get (step, "add_prefix_space")))
    return refuse (loader, "ByteLevel's add_prefix_space is not supported; it must be false");
  if (after_split && !json_is_false (use_regex))
    return refuse (loader, "ByteLevel's use_regex behind a Split is not supported; it must be false");
  if (!after_split && json_is_false (use_regex))
    return refuse (loader, "ByteLevel without a Split before it and with use_regex false is not supported");
  return TRUE;
}

static const char *
check_split (const Loader *loader, const json_t *step)
{
  const char *behavior = json_string_value (get (step, "behavior"));
  const char *pattern = json_string_value (get (get (step, "pattern"), "Regex"));
  if (!has_type (step, "Split"))
    refuse_kind (loader, "a pre_tokenizer", step);
  else if (pattern == NULL)
    refuse (loader, "a Split whose pattern is not a Regex is not supported");
  else if (behavior == NULL || strcmp (behavior, "Isolated") != 0)
    refuse (loader, "a Split whose behavior is not Isolated is not supported");
  else if (get (step, "invert") != NULL && !json_is_false (get (step, "invert")))
    refuse (loader, "a Split with invert is not supported");
  else
    return pattern;
  return NULL;
}

static gboolean
load_pre_tokenizer (Loader *loader)
{
  json_t *steps = get (loader->root, "pre_tokenizer"), *first = steps;
  const char *pattern = GPT2_PATTERN;
  gsize n = 1;
  if (steps == NULL)
    return refuse (loader, "it has no pre_tokenizer; byte-level BPE needs Split and ByteLevel, or ByteLevel");
  if (has_type (steps, "Sequence")) {
    steps = get (steps, "pretokenizers");
    n = json_array_size (steps);
    first = json_array_get (steps, 0);
  }
  if (n != 1 && n != 2)
    return refuse (loader,
                   "a pre_tokenizer of %" G_GSIZE_FORMAT " steps is not supported; it must be Split and ByteLevel", n);
  if (n == 1 && has_type (first, "Split"))
    return refuse (loader, "a pre_tokenizer Split without ByteLevel is not supported; it must be byte-level BPE");
  if (n == 2 && (pattern = check_split (loader, first)) == NULL)
    return FALSE;
  if (!check_byte_level (loader, n == 2 ? json_array_get (steps, 1) : first, n == 2))
    return FALSE;
  loader->made->splitter = mhar_splitter_new (pattern, loader->error);
  if (loader->made->splitter == NULL)
    g_prefix_error (loader->error, "%s: ", loader->path);
  return loader->made->splitter != NULL;
}

static gboolean
check_added (const Loader *loader, const json_t *entry, const char *quoted)
{
  static const char *const flags[] = { "single_word", "lstrip", "rstrip" };
  const char *content = json_string_value (get (entry, "content"));
  if (content == NULL || *content == '\0')
    return refuse (loader, "an added token has no content");
  if (strlen (content) > MAX_ADDED_BYTES)
    return refuse (loader, "the added token %s is longer than %d bytes, which is not supported", quoted,
                   MAX_ADDED_BYTES);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    if (get (entry, flags[i]) != NULL && !json_is_false (get (entry, flags[i])))
      return refuse (loader, "%s of the added token %s is not supported; it must be false", flags[i], quoted);
  return TRUE;
}

/* Hugging Face's tokenizers do not take an added token's id from its entry: one in the vocabulary keeps the id it has
 * there, others are numbered on. A file that says otherwise would mean two things. */
static gboolean
check_added_id (Loader *loader, const char *content, guint32 id, const char *quoted)
{
  const json_t *known = json_object_get (loader->vocab, content);
  guint32 expected = known != NULL ? (guint32)json_integer_value (known) : loader->next_id;
  if (id != expected)
    return refuse (loader, "the added token %s has the id %u, but its place makes it %u", quoted, id, expected);
  loader->next_id = MAX (loader->next_id, id + 1);
  return known != NULL || set_token (loader, id, content, strlen (content), FALSE);
}

/* A `normalized` token is looked for in normalised text, so in its own normal form. */
static void
add_content (MharTokenizer *made, const char *content, guint32 id, gboolean normalized)
{
  g_auto (MharNfc) nfc;
  if (normalized && made->nfc)
    mhar_nfc_init (&nfc, content, strlen (content));
  else
    mhar_nfc_init_as_is (&nfc, content, strlen (content));
  mhar_added_tokens_add (normalized ? made->added_normalised : made->added, nfc.text, nfc.length, id);
}

static gboolean
load_added (Loader *loader, const json_t *added)
{
  MharTokenizer *made = loader->made;
  json_auto_t *seen = json_object (); /* a set; unlike GHashTable's, its hash is seeded */
  json_t *entry;
  gsize i;
  made->added = mhar_added_tokens_new ();
  made->added_normalised = mhar_added_tokens_new ();
  loader->next_id = (guint)json_object_size (loader->vocab);
  json_array_foreach (added, i, entry)
  {
    guint32 id = (guint32)json_integer_value (get (entry, "id"));
    const char *content = json_string_value (get (entry, "content"));
    g_autofree char *quoted = mhar_input_quote (content != NULL ? content : "");
    if (!check_added (loader, entry, quoted))
      return FALSE;
    if (json_object_get (seen, content) != NULL)
      return refuse (loader, "the added token %s is there twice", quoted);
    json_object_set_new (seen, content, json_true ());
    if (!check_added_id (loader, content, id, quoted))
      return FALSE;
    add_content (made, content, id, json_is_true (get (entry, "normalized")));
  }
  mhar_added_tokens_seal (made->added);
  mhar_added_tokens_seal (made->added_normalised);
  return TRUE;
}

static gboolean
load_all (Loader *loader)
{
  json_t *model = get (loader->root, "model"), *added = get (loader->root, "added_tokens");
  init_alphabet (loader);
  if (!check_model (loader, model) || !load_normaliser (loader) || !load_pre_tokenizer (loader))
    return FALSE;
  if (added != NULL && !json_is_array (added))
    return refuse (loader, "added_tokens is not a list");
  loader->vocab = get (model, "vocab");
  if (!reserve_ids (loader, added) || !load_vocab (loader) || !load_merges (loader, model))
    return FALSE;
  if (json_is_true (get (model, "ignore_merges")))
    sort_by_text (loader->made);
  return load_added (loader, added);
}

MharTokenizer *
mhar_tokenizer_load (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_autoptr (GMappedFile) file = mhar_input_map (path, MAX_FILE_BYTES, error);
  if (file == NULL)
    return NULL;
  g_autofree char *shown = g_filename_display_name (path);
  json_auto_t *root
      = mhar_input_json (g_mapped_file_get_contents (file), g_mapped_file_get_length (file), path, "the file", error);
  if (root == NULL)
    return NULL;
  g_autoptr (MharTokenizer) tokenizer = g_new0 (MharTokenizer, 1);
  tokenizer->path = g_strdup (shown);
  gsize max_ids = MIN (MAX_IDS, g_mapped_file_get_length (file));
  Loader loader = { .path = shown, .root = root, .made = tokenizer, .max_ids = max_ids, .error = error };
  return load_all (&loader) ? g_steal_pointer (&tokenizer) : NULL;
}
