/* SPDX-License-Identifier: MIT */
/* core/checkpoint: folders, shards and their index, shapes asked for, digests, and the numbers in the bytes. */
#include "core/checkpoint.h"

#include "tests/unit/scratch.h"
#include "tests/unit/zip-writer.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG                                                                                                         \
  "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"hidden_size\":4,\"num_attention_heads\":2,\"vocab_size\":8,"    \
  "\"intermediate_size\":6}\n"
#define ONE "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}}"
#define TWO                                                                                                            \
  "{\"b\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"                                                  \
  "\"c\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[12,16]}}"
#define INDEX_NAME "model.safetensors.index.json"
#define SHARD_1 "model-00001-of-00002.safetensors"
#define SHARD_2 "model-00002-of-00002.safetensors"
#define INDEX(map) "{\"metadata\":{\"total_size\":24},\"weight_map\":" map "}"
#define GOOD_INDEX INDEX ("{\"c\":\"" SHARD_2 "\",\"a\":\"" SHARD_1 "\",\"b\":\"" SHARD_2 "\"}")

static void
put (const char *folder, const char *name, const char *text)
{
  g_free (scratch_write (folder, name, text, strlen (text)));
}

static void
put_tensors (const char *folder, const char *name, const char *header, gsize length)
{
  g_free (scratch_write_tensors (folder, name, header, length));
}

/* A folder with a config and two shards, and the index given. */
static char *
sharded (const char *index)
{
  char *folder = scratch_new ();
  put (folder, "config.json", CONFIG);
  put_tensors (folder, SHARD_1, ONE, 8);
  put_tensors (folder, SHARD_2, TWO, 16);
  put (folder, INDEX_NAME, index);
  return folder;
}

static char *
single (const char *header, gsize length)
{
  char *folder = scratch_new ();
  put (folder, "config.json", CONFIG);
  put_tensors (folder, "model.safetensors", header, length);
  return folder;
}

static MharCheckpoint *
open_good (const char *folder)
{
  GError *error = NULL;
  MharCheckpoint *checkpoint = mhar_checkpoint_open (folder, &error);
  g_assert_no_error (error);
  g_assert_nonnull (checkpoint);
  return checkpoint;
}

static void
refuse (const char *path, const char *words)
{
  GError *error = NULL;
  g_assert_null (mhar_checkpoint_open (path, &error));
  g_test_message ("%s", error->message);
  scratch_assert_refused (&error, words);
}

static void
test_single (void)
{
  char *folder = single (TWO, 16);
  g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
  g_assert_cmpstr (mhar_checkpoint_path (checkpoint), ==, folder);
  g_assert_cmpint (mhar_config_body (mhar_checkpoint_config (checkpoint))->width, ==, 4);
  g_assert_cmpuint (mhar_checkpoint_n_files (checkpoint), ==, 1);
  g_assert_cmpstr (mhar_checkpoint_file (checkpoint, 0), ==, "model.safetensors");
  g_assert_cmpuint (mhar_checkpoint_n_tensors (checkpoint), ==, 2);
  g_assert_cmpuint (mhar_checkpoint_bytes (checkpoint), ==, 16);
  g_assert_cmpstr (mhar_checkpoint_dtype (checkpoint), ==, "F32");
  g_assert_cmpstr (mhar_checkpoint_tensor (checkpoint, 1)->name, ==, "c");
  g_assert_null (mhar_checkpoint_find (checkpoint, "a"));
  scratch_remove (folder);
}

static void
test_shards (void)
{
  char *folder = sharded (GOOD_INDEX);
  put_tensors (folder, "model.safetensors", "{}", 0); /* the index goes first */
  g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
  g_assert_cmpuint (mhar_checkpoint_n_files (checkpoint), ==, 2);
  g_assert_cmpstr (mhar_checkpoint_file (checkpoint, 0), ==, SHARD_1);
  g_assert_cmpstr (mhar_checkpoint_file (checkpoint, 1), ==, SHARD_2);
  g_assert_cmpuint (mhar_checkpoint_n_tensors (checkpoint), ==, 3);
  g_assert_cmpuint (mhar_checkpoint_bytes (checkpoint), ==, 24);
  static const char *const names[] = { "a", "b", "c" };
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpstr (mhar_checkpoint_tensor (checkpoint, i)->name, ==, names[i]);
    g_assert_true (mhar_checkpoint_find (checkpoint, names[i]) == mhar_checkpoint_tensor (checkpoint, i));
  }
  scratch_remove (folder);
}

static void
test_dtype (void)
{
  static const struct {
    const char *first, *second, *dtype;
  } cases[] = { { "BF16", "BF16", "BF16" },
                { "BF16", "I16", "BF16" },
                { "I16", "F16", "F16" },
                { "BF16", "F16", "mixed" },
                { "I16", "U16", "none" } };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *header = g_strdup_printf ("{\"x\":{\"dtype\":\"%s\",\"shape\":[],\"data_offsets\":[0,2]},"
                                               "\"y\":{\"dtype\":\"%s\",\"shape\":[],\"data_offsets\":[2,4]}}",
                                               cases[i].first, cases[i].second);
    char *folder = single (header, 4);
    g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
    g_assert_cmpstr (mhar_checkpoint_dtype (checkpoint), ==, cases[i].dtype);
    scratch_remove (folder);
  }
}

static void
test_paths (void)
{
  char *folder = scratch_new ();
  g_autofree char *absent = g_build_filename (folder, "absent", NULL), *fifo = g_build_filename (folder, "fifo", NULL);
  g_autofree char *file = scratch_write (folder, "model.safetensors", "", 0),
                  *other = scratch_write (folder, "notes", "", 0);
  g_autofree char *config = g_build_filename (folder, "config.json", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  refuse (absent, "absent: |no such folder");
  refuse (file, "model.safetensors: |give the folder that holds it");
  refuse (other, "notes: |is empty");
  put (folder, "notes", "notes");
  refuse (other, "notes: |not a folder|no archive of torch.save");
  refuse (fifo, "fifo: |not a folder");
  refuse (folder, "has no config.json");
  g_assert_cmpint (mkfifo (config, 0600), ==, 0);
  refuse (folder, "config.json: |not a regular file");
  g_assert_cmpint (g_remove (config), ==, 0);
  put (folder, "config.json", "{\"model_type\":\"mamba\"}");
  refuse (folder, "config.json: |\"mamba\"|not supported");
  put (folder, "config.json", CONFIG);
  refuse (folder, "model.safetensors: |is empty");
  g_assert_cmpint (g_remove (file), ==, 0);
  refuse (folder, "neither model.safetensors nor " INDEX_NAME);
  g_assert_cmpint (mkfifo (file, 0600), ==, 0);
  refuse (folder, "model.safetensors: |not a regular file");
  scratch_remove (folder);
}

/* An index over the two good shards and what the refusal must say. */
static const struct {
  const char *index, *words;
} indexes[] = {
  { "", INDEX_NAME ": |is empty" },
  { "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", INDEX_NAME ": |git-lfs pointer" },
  { "{", INDEX_NAME ": |not valid JSON" },
  { "[]", INDEX_NAME ": |not an object" },
  { "{}", INDEX_NAME ": |'weight_map'" },
  { INDEX ("[]"), "'weight_map'" },
  { INDEX ("{}"), "'weight_map'" },
  { INDEX ("{\"a\":1}"), INDEX_NAME ": |tensor 'a'|not the name of a file" },
  { INDEX ("{\"a\":\"\"}"), "tensor 'a'|not the name of a file" },
  { INDEX ("{\"a\":\".\"}"), "tensor 'a'|'.'|not the name of a file" },
  { INDEX ("{\"a\":\"..\"}"), "tensor 'a'|'..'|not the name of a file" },
  { INDEX ("{\"a\":\"../x.safetensors\"}"), "tensor 'a'|'../x.safetensors'|not the name of a file in the same folder" },
  { INDEX ("{\"a\":\"/etc/passwd\"}"), "tensor 'a'|'/etc/passwd'|not the name of a file" },
  { INDEX ("{\"a\":\"sub/" SHARD_1 "\"}"), "not the name of a file" },
  { INDEX ("{\"a\":\"..\\\\x\"}"), "not the name of a file" },
  { INDEX ("{\"a\":\"config.json\"}"), "config.json: |limit" },
  { INDEX ("{\"a\":\"" SHARD_1 "\",\"b\":\"model-00003.safetensors\"}"),
    INDEX_NAME ": |'model-00003.safetensors'|not in the folder" },
  { INDEX ("{\"a\":\"" SHARD_1 "\",\"a\":\"" SHARD_2 "\"}"),
    INDEX_NAME ": |duplicate|\"a\"" }, /* listed in two shards */
  { INDEX ("{\"a\":\"" SHARD_2 "\"}"), INDEX_NAME ": |tensor 'a'|'" SHARD_2 "'|does not hold it" },
  { INDEX ("{\"a\":\"" SHARD_1 "\",\"z\":\"" SHARD_2 "\"}"),
    INDEX_NAME ": |tensor 'z'|does not hold it" }, /* in none */
};

static void
test_indexes (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (indexes); i++) {
    char *folder = sharded (indexes[i].index);
    refuse (folder, indexes[i].words);
    scratch_remove (folder);
  }
  char *folder = sharded (GOOD_INDEX);
  put_tensors (folder, SHARD_2, "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8);
  refuse (folder, "tensor 'a'|two shards|'" SHARD_1 "'|'" SHARD_2 "'");
  put_tensors (folder, SHARD_2, TWO, 15);
  refuse (folder, SHARD_2 ": |tensor 'c'|bytes 12–16|ends at 15|cut short");
  put (folder, SHARD_2, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 16\n");
  refuse (folder, SHARD_2 ": |git-lfs pointer");
  scratch_remove (folder);
}

#define T(name, dtype, shape, start, end)                                                                              \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #start "," #end "]}"

/* Tensors of the folder below, the shape asked for, and whether it passes (NULL) or the words of the refusal. */
static const struct {
  const char *name;
  guint n_dims;
  guint64 shape[4];
  const char *words;
} shapes[] = {
  { "m", 2, { 2, 3 }, NULL },
  { "m", 2, { 3, 2 }, "model.safetensors: |tensor 'm'|[2, 3]|[3, 2]" },
  { "m", 1, { 6 }, "[2, 3]|[6]" },
  { "m", 3, { 1, 2, 3 }, "[2, 3]|[1, 2, 3]" },
  { "v", 1, { 4 }, NULL },
  { "v", 2, { 1, 4 }, NULL },
  { "v", 2, { 4, 1 }, "[4]|[4, 1]" },
  { "v", 1, { 5 }, "[4]|[5]" },
  { "v", 0, { 0 }, "[4]|[]" },
  { "row", 1, { 5 }, NULL },
  { "row", 2, { 1, 5 }, NULL },
  { "row", 2, { 5, 1 }, "[1, 5]|[5, 1]" },
  { "row", 3, { 1, 1, 5 }, "[1, 5]|[1, 1, 5]" },
  { "s", 0, { 0 }, NULL },
  { "s", 1, { 1 }, NULL },
  { "s", 2, { 1, 1 }, NULL },
  { "s", 1, { 2 }, "[]|[2]" },
  { "one", 0, { 0 }, NULL },
  { "half", 1, { 1 }, NULL },
  { "long", 1, { 1 }, "model.safetensors: |tensor 'long'|I64|BF16, F16 or F32" },
  { "f8", 1, { 2 }, "tensor 'f8'|F8_E4M3|BF16, F16 or F32" },
};

static void
test_need (void)
{
  char *folder = single ("{" T ("m", "BF16", "[2,3]", 0, 12) "," T ("v", "BF16", "[4]", 12, 20) "," T (
                             "row", "BF16", "[1,5]", 20,
                             30) "," T ("s", "BF16", "[]", 30,
                                        32) "," T ("one", "F32", "[1]", 32,
                                                   36) "," T ("half", "F16", "[1]", 36,
                                                              38) "," T ("long", "I64", "[1]", 38,
                                                                         46) "," T ("f8", "F8_E4M3", "[2]", 46, 48) "}",
                         48);
  g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
  GError *error = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const MharTensor *wanted = NULL;
    const MharTensor *needed
        = mhar_checkpoint_need (checkpoint, shapes[i].name, shapes[i].n_dims, shapes[i].shape, &error);
    if (shapes[i].words == NULL) {
      g_assert_no_error (error);
      g_assert_true (needed == mhar_checkpoint_find (checkpoint, shapes[i].name));
      g_assert_true (
          mhar_checkpoint_want (checkpoint, shapes[i].name, shapes[i].n_dims, shapes[i].shape, &wanted, &error));
      g_assert_true (wanted == needed);
      continue;
    }
    g_assert_null (needed);
    scratch_assert_refused (&error, shapes[i].words);
    g_assert_false (
        mhar_checkpoint_want (checkpoint, shapes[i].name, shapes[i].n_dims, shapes[i].shape, &wanted, &error));
    g_assert_null (wanted);
    scratch_assert_refused (&error, shapes[i].words);
  }
  const guint64 shape[] = { 7, 9 };
  const MharTensor *absent = mhar_checkpoint_tensor (checkpoint, 0);
  g_assert_true (mhar_checkpoint_want (checkpoint, "absent", 2, shape, &absent, &error));
  g_assert_null (absent);
  g_assert_null (mhar_checkpoint_need (checkpoint, "absent", 2, shape, &error));
  scratch_assert_refused (&error, "model.safetensors: |tensor 'absent'|[7, 9]|missing");
  scratch_remove (folder);
}

/* `header` then 3 bytes of padding tensor so that what follows is not aligned: the one tensor "x" of `n` bytes. */
static double *
values_of (const char *dtype, const void *data, gsize size, gsize n)
{
  char *folder = scratch_new ();
  g_autofree char *header
      = g_strdup_printf ("{\"pad\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},\"x\":{\"dtype\":\"%s\","
                         "\"shape\":[%" G_GSIZE_FORMAT "],\"data_offsets\":[3,%" G_GSIZE_FORMAT "]}}",
                         dtype, n, 3 + n * size);
  g_autoptr (GString) padded = g_string_new (header);
  while (padded->len % 8 != 0)
    g_string_append_c (padded, ' ');
  g_autofree guint8 *all = g_malloc0 (3 + n * size);
  memcpy (all + 3, data, n * size);
  g_autoptr (GByteArray) bytes = scratch_tensors (padded->str, padded->len, all, 3 + n * size);
  put (folder, "config.json", CONFIG);
  g_free (scratch_write (folder, "model.safetensors", bytes->data, bytes->len));
  g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
  const MharTensor *tensor = mhar_checkpoint_find (checkpoint, "x");
  g_assert_cmpuint ((guintptr)tensor->data % 2, ==, 1);
  double *values = mhar_tensor_values (tensor);
  scratch_remove (folder);
  return values;
}

/* Sign × fraction × 2^exponent, by the definition of a small float. */
static double
by_definition (guint32 bits, int exponent_bits, int fraction_bits)
{
  int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  double fraction = bits & ((1u << fraction_bits) - 1), one = 1u << fraction_bits;
  double sign = bits >> (exponent_bits + fraction_bits) ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? ldexp (fraction / one, 1 - bias) : ldexp (1 + fraction / one, exponent - bias));
}

static void
assert_same (double a, double b)
{
  g_assert_true (isnan (a) ? isnan (b) : a == b && !signbit (a) == !signbit (b));
}

/* All 65,536 patterns of both 16-bit types. */
static void
test_words (void)
{
  g_autofree guint16 *words = g_new (guint16, 65536);
  for (guint i = 0; i < 65536; i++)
    words[i] = GUINT16_TO_LE ((guint16)i);
  g_autofree double *half = values_of ("F16", words, 2, 65536), *brain = values_of ("BF16", words, 2, 65536);
  for (guint i = 0; i < 65536; i++) {
    assert_same (by_definition (i, 5, 10), half[i]);
    assert_same (by_definition (i, 8, 7), brain[i]);
  }
  g_assert_cmpfloat (half[0x0001], ==, 0x1p-24);
  g_assert_cmpfloat (half[0x7bff], ==, 65504);
  g_assert_cmpfloat (brain[0x0001], ==, 0x1p-133);
  g_assert_cmpfloat (brain[0x3f80], ==, 1);
}

static void
test_singles (void)
{
  static const guint32 bits[] = { 0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000, 0x3eaaaaab,
                                  0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0xc2f6e979 };
  guint32 stored[G_N_ELEMENTS (bits)];
  for (gsize i = 0; i < G_N_ELEMENTS (bits); i++)
    stored[i] = GUINT32_TO_LE (bits[i]);
  g_autofree double *values = values_of ("F32", stored, 4, G_N_ELEMENTS (bits));
  for (gsize i = 0; i < G_N_ELEMENTS (bits); i++)
    assert_same (by_definition (bits[i], 8, 23), values[i]);
  g_autofree double *none = values_of ("F32", "", 4, 0);
  g_assert_nonnull (none);
}

static char *
sha256 (const char *const *parts, const gsize *lengths, guint n)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  for (guint i = 0; i < n; i++)
    g_byte_array_append (all, (const guint8 *)parts[i], (guint)lengths[i]);
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, all->data, all->len);
}

/* folder/name: an archive of torch.save with the float tensor `tensor` [2] = 1, 2. */
static void
put_archive (const char *folder, const char *name, const char *tensor)
{
  static const float numbers[] = { 1, 2 };
  g_autoptr (GString) pickle = g_string_append_c (pickle_new (), '}');
  pickle_text (pickle, tensor);
  pickle_tensor (pickle, "FloatStorage", "0", 2, 0, 1, (const gint32[]){ 2 }, (const gint32[]){ 1 });
  pickle_end (g_string_append_c (pickle, 's'));
  const ZipPart parts[] = { { "x/data.pkl", pickle->str, pickle->len }, { "x/data/0", numbers, sizeof numbers } };
  g_autoptr (GByteArray) zip = zip_write (parts, 2, &(ZipStyle){ .streamed = TRUE });
  g_free (scratch_write (folder, name, zip->data, zip->len));
}

static void
test_archive (void)
{
  char *folder = scratch_new ();
  g_autofree char *path = g_build_filename (folder, "step-7.pt", NULL), *named = g_build_filename (folder, "c", NULL);
  const guint64 shape[] = { 2, 3 };
  GError *error = NULL;
  put_archive (folder, "step-7.pt", "module.a");
  refuse (path, "step-7.pt: |has no config.json beside it|--config");
  put (folder, "c", CONFIG);
  const MharCheckpointOptions options = { .config = named };
  g_autoptr (MharCheckpoint) one = mhar_checkpoint_open_with (path, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (mhar_config_path (mhar_checkpoint_config (one)), ==, named);
  put (folder, "config.json", CONFIG);
  g_autoptr (MharCheckpoint) checkpoint = open_good (path);
  g_assert_cmpstr (mhar_checkpoint_path (checkpoint), ==, path);
  g_assert_cmpstr (mhar_checkpoint_folder (checkpoint), ==, folder);
  g_assert_cmpstr (mhar_checkpoint_file (checkpoint, 0), ==, "step-7.pt");
  const MharTensor *a = mhar_checkpoint_find (checkpoint, "a");
  g_autofree double *values = mhar_tensor_values (a);
  g_assert_true (values[0] == 1 && values[1] == 2);
  g_assert_null (mhar_checkpoint_need (checkpoint, "a", 2, shape, &error));
  scratch_assert_refused (&error, "step-7.pt: tensor 'a'|[2]|[2, 3]");
  g_assert_null (mhar_checkpoint_need (checkpoint, "b", 2, shape, &error));
  scratch_assert_refused (&error, "step-7.pt: tensor 'b'|is missing");
  scratch_remove (folder);
}

static void
test_torch_folder (void)
{
  char *folder = scratch_new ();
  put (folder, "config.json", CONFIG);
  put_archive (folder, "pytorch_model.bin", "a");
  g_autoptr (MharCheckpoint) single = open_good (folder);
  g_assert_nonnull (mhar_checkpoint_find (single, "a"));
  put_archive (folder, "pytorch_model-1.bin", "b");
  put_archive (folder, "pytorch_model-2.bin", "c");
  put (folder, "pytorch_model.bin.index.json", INDEX ("{\"b\":\"pytorch_model-1.bin\",\"c\":\"pytorch_model-2.bin\"}"));
  g_autoptr (MharCheckpoint) shards = open_good (folder);
  g_assert_cmpuint (mhar_checkpoint_n_files (shards), ==, 2);
  g_assert_nonnull (mhar_checkpoint_find (shards, "c"));
  put_archive (folder, "pytorch_model-2.bin", "b");
  refuse (folder, "tensor 'b'|two shards|'pytorch_model-1.bin'|'pytorch_model-2.bin'");
  put_tensors (folder, "model.safetensors", TWO, 16); /* goes first */
  g_autoptr (MharCheckpoint) plain = open_good (folder);
  g_assert_cmpstr (mhar_checkpoint_file (plain, 0), ==, "model.safetensors");
  scratch_remove (folder);
}

static gboolean
is_a (const char *name, gpointer user G_GNUC_UNUSED)
{
  return strcmp (name, "a") == 0;
}

/* Only what is wanted has to be there; the config is not looked into, and may be absent. */
static void
test_tensors_only (void)
{
  char *folder = sharded (GOOD_INDEX);
  const MharCheckpointOptions options = { .tensors_only = TRUE, .wanted = is_a };
  g_autofree char *second = g_build_filename (folder, SHARD_2, NULL),
                  *config = g_build_filename (folder, "config.json", NULL);
  GError *error = NULL;
  gsize length;
  g_assert_cmpint (g_remove (second), ==, 0);
  put (folder, "config.json", "{\"model_type\":\"kimi\"}");
  g_autoptr (MharCheckpoint) some = mhar_checkpoint_open_with (folder, &options, &error);
  g_assert_no_error (error);
  g_assert_null (mhar_checkpoint_config (some));
  g_assert_cmpuint (mhar_checkpoint_n_files (some), ==, 1);
  g_assert_true (g_str_has_prefix (mhar_checkpoint_config_text (some, &length, NULL), "{\"model_type\":\"kimi\"}"));
  g_assert_cmpint (g_remove (config), ==, 0);
  g_autoptr (MharCheckpoint) bare = mhar_checkpoint_open_with (folder, &options, &error);
  g_assert_no_error (error);
  g_assert_null (mhar_checkpoint_config_text (bare, &length, NULL));
  g_assert_cmpuint (length, ==, 0);
  g_autofree char *digest = mhar_checkpoint_digest (bare, NULL, FALSE, NULL, NULL);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (GError) interrupted = NULL;
  g_cancellable_cancel (cancelled);
  g_assert_null (mhar_checkpoint_digest (bare, NULL, TRUE, cancelled, &interrupted));
  g_assert_error (interrupted, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (strlen (digest), ==, 64);
  scratch_remove (folder);
}

static void
test_alias (void)
{
  char *folder = single (TWO, 16);
  g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
  g_assert_true (mhar_checkpoint_alias (checkpoint, "other", "b"));
  g_assert_true (mhar_checkpoint_find (checkpoint, "other") == mhar_checkpoint_find (checkpoint, "b"));
  g_assert_true (mhar_checkpoint_alias (checkpoint, "b", "b"));
  g_assert_false (mhar_checkpoint_alias (checkpoint, "b", "c"));
  g_assert_false (mhar_checkpoint_alias (checkpoint, "x", "absent"));
  g_assert_cmpuint (mhar_checkpoint_n_tensors (checkpoint), ==, 2);
  scratch_remove (folder);
}

static void
test_digest (void)
{
  char *folder = sharded (GOOD_INDEX),
       *paths[] = { g_build_filename (folder, SHARD_1, NULL), g_build_filename (folder, SHARD_2, NULL) };
  static const char *const names[] = { "b", "absent", "a", NULL };
  g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
  const char *a = (const char *)mhar_checkpoint_find (checkpoint, "a")->data;
  const char *b = (const char *)mhar_checkpoint_find (checkpoint, "b")->data;
  const char *parts[] = { CONFIG, ONE, TWO, b, a };
  const gsize lengths[] = { strlen (CONFIG), strlen (ONE), strlen (TWO), 12, 8 };
  g_autofree char *expected = sha256 (parts, lengths, 5), *digest = mhar_checkpoint_digest (checkpoint, names, FALSE, NULL, NULL);
  g_assert_cmpstr (digest, ==, expected);
  g_autofree char *headers = sha256 (parts, lengths, 3), *plain = mhar_checkpoint_digest (checkpoint, NULL, FALSE, NULL, NULL);
  g_assert_cmpstr (plain, ==, headers);
  char *files[2];
  gsize sizes[2];
  for (guint i = 0; i < 2; i++)
    g_assert_true (g_file_get_contents (paths[i], &files[i], &sizes[i], NULL));
  const char *wholes[] = { CONFIG, files[0], files[1] };
  const gsize whole_lengths[] = { strlen (CONFIG), sizes[0], sizes[1] };
  g_autofree char *all = sha256 (wholes, whole_lengths, 3), *whole = mhar_checkpoint_digest (checkpoint, names, TRUE, NULL, NULL);
  g_assert_cmpstr (whole, ==, all);
  for (guint i = 0; i < 2; i++) {
    g_free (files[i]);
    g_free (paths[i]);
  }
  scratch_remove (folder);
}

/* Sizes over 4 GiB in one piece are where a 32-bit count would go wrong. Takes a minute, so only with -m slow. */
static void
test_large_digest (void)
{
  if (!g_test_slow ()) {
    g_test_skip ("hashes 9 GiB; run with -m slow");
    return;
  }
  const guint64 size = G_GUINT64_CONSTANT (9) << 30;
  g_autofree char *header = g_strdup_printf ("{\"x\":{\"dtype\":\"U8\",\"shape\":[%" G_GUINT64_FORMAT
                                             "],\"data_offsets\":[0,%" G_GUINT64_FORMAT "]}}",
                                             size, size);
  char *folder = single (header, 0);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_assert_cmpint (truncate (path, (off_t)(8 + strlen (header) + size)), ==, 0);
  g_autoptr (MharCheckpoint) checkpoint = open_good (folder);
  static const char *const names[] = { "x", NULL };
  g_autofree char *digest = mhar_checkpoint_digest (checkpoint, names, FALSE, NULL, NULL);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guint8 *zeros = g_malloc0 (1 << 20);
  g_checksum_update (sum, (const guint8 *)CONFIG, (gssize)strlen (CONFIG));
  g_checksum_update (sum, (const guint8 *)header, (gssize)strlen (header));
  for (guint64 i = 0; i < size >> 20; i++)
    g_checksum_update (sum, zeros, 1 << 20);
  g_assert_cmpstr (digest, ==, g_checksum_get_string (sum));
  scratch_remove (folder);
}

/* TRUE where the folder opened, and then everything in it can be read. */
static gboolean
try_open (const char *folder)
{
  GError *error = NULL;
  g_autoptr (MharCheckpoint) checkpoint = mhar_checkpoint_open (folder, &error);
  if (checkpoint == NULL) {
    scratch_assert_refused (&error, folder);
    return FALSE;
  }
  for (guint i = 0; i < mhar_checkpoint_n_tensors (checkpoint); i++) {
    const MharTensor *tensor = mhar_checkpoint_tensor (checkpoint, i), *found;
    g_assert_true (mhar_checkpoint_want (checkpoint, tensor->name, tensor->n_dims, tensor->shape, &found, &error));
    g_autofree double *values = mhar_tensor_values (found);
    g_assert_nonnull (values);
    g_assert_cmpuint (found->bytes, <=, 16);
  }
  g_autofree char *digest = mhar_checkpoint_digest (checkpoint, NULL, TRUE, NULL, NULL);
  g_assert_cmpuint (strlen (digest), ==, 64);
  return TRUE;
}

static void
test_damage (void)
{
  char *folder = sharded (GOOD_INDEX);
  GRand *rand = g_rand_new_with_seed (20260731);
  guint opened = 0, n = 20000;
  g_assert_true (try_open (folder));
  for (gsize i = 0; i < strlen (GOOD_INDEX); i++) {
    g_free (scratch_write (folder, INDEX_NAME, GOOD_INDEX, i));
    g_assert_false (try_open (folder));
  }
  for (guint i = 0; i < n; i++) {
    GString *changed = scratch_mutate (rand, GOOD_INDEX, strlen (GOOD_INDEX));
    g_free (scratch_write (folder, INDEX_NAME, changed->str, changed->len));
    opened += try_open (folder);
    g_string_free (changed, TRUE);
  }
  g_test_message ("%u of %u damaged indexes still open", opened, n);
  g_assert_cmpuint (opened, >, n / 100); /* total_size is not ours to judge */
  g_assert_cmpuint (opened, <, n / 2);
  g_rand_free (rand);
  scratch_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/checkpoint/archive", test_archive);
  g_test_add_func ("/checkpoint/torch-folder", test_torch_folder);
  g_test_add_func ("/checkpoint/tensors-only", test_tensors_only);
  g_test_add_func ("/checkpoint/alias", test_alias);
  g_test_add_func ("/checkpoint/single", test_single);
  g_test_add_func ("/checkpoint/shards", test_shards);
  g_test_add_func ("/checkpoint/dtype", test_dtype);
  g_test_add_func ("/checkpoint/paths", test_paths);
  g_test_add_func ("/checkpoint/indexes", test_indexes);
  g_test_add_func ("/checkpoint/need", test_need);
  g_test_add_func ("/checkpoint/words", test_words);
  g_test_add_func ("/checkpoint/singles", test_singles);
  g_test_add_func ("/checkpoint/digest", test_digest);
  g_test_add_func ("/checkpoint/large-digest", test_large_digest);
  g_test_add_func ("/checkpoint/damage", test_damage);
  return g_test_run ();
}
