/* SPDX-License-Identifier: MIT */
/* core/safetensors: good files read as written; every kind of damage is refused by name and never crashes. */
#include "core/safetensors.h"

#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Three tensors in another order than their data, a scalar, one without elements, an unaligned one, metadata. */
#define GOOD                                                                                                           \
  "{\"__metadata__\":{\"format\":\"pt\"},"                                                                             \
  "\"w\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[5,17]},"                                                \
  "\"flag\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[4,5]},"                                                 \
  "\"none\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[5,5]},"                                               \
  "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}  "
#define GOOD_DATA 17

static void
test_good (void)
{
  char *folder = scratch_new ();
  g_autofree char *path = scratch_write_tensors (folder, "good.safetensors", GOOD, GOOD_DATA);
  GError *error = NULL;
  MharSafetensors *file = mhar_safetensors_open (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mhar_safetensors_n_tensors (file), ==, 4);
  static const char *const order[] = { "a", "flag", "none", "w" };
  for (guint i = 0; i < 4; i++)
    g_assert_cmpstr (mhar_safetensors_tensor (file, i)->name, ==, order[i]);
  const MharTensor *w = mhar_safetensors_find (file, "w");
  g_assert_true (w == mhar_safetensors_tensor (file, 3));
  g_assert_cmpstr (w->dtype, ==, "BF16");
  g_assert_cmpuint (w->n_dims, ==, 2);
  g_assert_cmpuint (w->shape[0], ==, 2);
  g_assert_cmpuint (w->shape[1], ==, 3);
  g_assert_cmpuint (w->bytes, ==, 12);
  for (guint i = 0; i < 12; i++)
    g_assert_cmpuint (w->data[i], ==, 5 + i);
  g_assert_cmpuint (mhar_safetensors_find (file, "flag")->n_dims, ==, 0);
  g_assert_cmpuint (mhar_safetensors_find (file, "none")->bytes, ==, 0);
  g_assert_null (mhar_safetensors_find (file, "__metadata__"));
  g_assert_cmpstr (mhar_safetensors_metadata (file, "format"), ==, "pt");
  g_assert_null (mhar_safetensors_metadata (file, "w"));
  gsize length;
  const guint8 *header = mhar_safetensors_header (file, &length);
  g_assert_cmpmem (header, length, GOOD, strlen (GOOD));
  const guint8 *contents = mhar_safetensors_contents (file, &length);
  g_assert_cmpuint (length, ==, 8 + strlen (GOOD) + GOOD_DATA);
  g_assert_true (contents + 8 == header);
  mhar_safetensors_free (file);
  scratch_remove (folder);
}

static void
test_dtypes (void)
{
  static const struct {
    const char *name;
    int bytes; /* of 8 elements */
  } dtypes[] = { { "BOOL", 8 },        { "F4", 4 },      { "F6_E2M3", 6 }, { "F6_E3M2", 6 }, { "U8", 8 },
                 { "I8", 8 },          { "F8_E5M2", 8 }, { "F8_E4M3", 8 }, { "F8_E8M0", 8 }, { "F8_E4M3FNUZ", 8 },
                 { "F8_E5M2FNUZ", 8 }, { "I16", 16 },    { "U16", 16 },    { "F16", 16 },    { "BF16", 16 },
                 { "I32", 32 },        { "U32", 32 },    { "F32", 32 },    { "C64", 64 },    { "F64", 64 },
                 { "I64", 64 },        { "U64", 64 } };
  char *folder = scratch_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (dtypes); i++) {
    g_autofree char *header = g_strdup_printf ("{\"x\":{\"dtype\":\"%s\",\"shape\":[8],\"data_offsets\":[0,%d]}}",
                                               dtypes[i].name, dtypes[i].bytes);
    g_autofree char *path = scratch_write_tensors (folder, "x", header, (gsize)dtypes[i].bytes);
    GError *error = NULL;
    g_autoptr (MharSafetensors) file = mhar_safetensors_open (path, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (mhar_safetensors_tensor (file, 0)->dtype, ==, dtypes[i].name);
  }
  scratch_remove (folder);
}

#define X(dtype, shape, offsets) "\"x\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define Y(dtype, shape, offsets) "\"y\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define META(text) "{\"__metadata__\":" text "," X ("U8", "[4]", "[0,4]") "}"

/* A header, the bytes after it, and the words the refusal must hold; no words: it must open. */
static const struct {
  const char *header;
  gsize data;
  const char *words;
} headers[] = {
  { "{}", 0, NULL },
  { "{}  \n\t", 0, NULL },
  { META ("null"), 4, NULL },
  { META ("{}"), 4, NULL },
  { "{" X ("U8", "[4]", "[0,4]") "," Y ("U8", "[0]", "[4,4]") "}", 4, NULL },
  { "{" X ("U8", "[1,1,1,1,1,1,1,4]", "[0,4]") "}", 4, NULL },
  { "", 0, "the header|not valid JSON" },
  { "[]", 0, "the header|not an object" },
  { "{} x", 0, "the header|not valid JSON" },
  { "{\"x\":1}", 0, "tensor 'x'|object" },
  { "{\"x\":[]}", 0, "tensor 'x'|object" },
  { "{\"x\":{}}", 0, "tensor 'x'|no dtype" },
  { "{\"x\":{\"dtype\":5}}", 0, "tensor 'x'|no dtype" },
  { "{\"x\":{\"dtype\":\"U8\"}}", 0, "tensor 'x'|no shape" },
  { "{\"x\":{\"dtype\":\"U8\",\"shape\":[4]}}", 4, "tensor 'x'|data_offsets" },
  { "{" X ("Q4", "[4]", "[0,4]") "}", 4, "tensor 'x'|'Q4'|BF16" },
  { "{" X ("f32", "[1]", "[0,4]") "}", 4, "tensor 'x'|'f32'" },
  { "{" X ("U8", "4", "[0,4]") "}", 4, "tensor 'x'|no shape" },
  { "{" X ("U8", "[-4]", "[0,4]") "}", 4, "tensor 'x'|negative length -4" },
  { "{" X ("U8", "[-2,-2]", "[0,4]") "}", 4, "tensor 'x'|negative length -2" },
  { "{" X ("U8", "[4.0]", "[0,4]") "}", 4, "tensor 'x'|whole numbers" },
  { "{" X ("U8", "[\"4\"]", "[0,4]") "}", 4, "tensor 'x'|whole numbers" },
  { "{" X ("U8", "[true]", "[0,1]") "}", 1, "tensor 'x'|whole numbers" },
  { "{" X ("U8", "[1,1,1,1,1,1,1,1,4]", "[0,4]") "}", 4, "tensor 'x'|9 dimensions" },
  { "{" X ("U8", "[18446744073709551616]", "[0,4]") "}", 4, "the header|too big integer" },
  { "{" X ("F32", "[4611686018427387904]", "[0,0]") "}", 0, "tensor 'x'|overflows" }, /* 2^62 × 4 bytes = 0 mod 2^64 */
  { "{" X ("U8", "[4294967296,4294967296]", "[0,0]") "}", 0, "tensor 'x'|overflows" },
  { "{" X ("U8", "[4294967296,4294967296,0]", "[0,0]") "}", 0, "tensor 'x'|overflows" },
  { "{" X ("F32", "[2]", "[0,4]") "}", 4, "tensor 'x'|needs 8 bytes|F32|has 4" },
  { "{" X ("F4", "[3]", "[0,1]") "}", 1, "tensor 'x'|inside a byte" },
  { "{" X ("U8", "[4]", "[0]") "}", 4, "tensor 'x'|data_offsets" },
  { "{" X ("U8", "[4]", "[0,4,8]") "}", 4, "tensor 'x'|data_offsets" },
  { "{" X ("U8", "[4]", "[0,4.0]") "}", 4, "tensor 'x'|data_offsets" },
  { "{" X ("U8", "[4]", "{\"0\":0}") "}", 4, "tensor 'x'|data_offsets" },
  { "{" X ("U8", "[4]", "[4,0]") "}", 4, "tensor 'x'|4–0|no range" },
  { "{" X ("U8", "[4]", "[-4,0]") "}", 4, "tensor 'x'|-4–0|no range" },
  { "{" X ("U8", "[9223372036854775807]", "[0,9223372036854775807]") "}", 4, "tensor 'x'|overflows" },
  { "{" X ("U8", "[1152921504606846975]", "[0,1152921504606846975]") "}", 4,
    "tensor 'x'|0–1152921504606846975|ends at 4" },
  { "{" X ("U8", "[100]", "[0,100]") "}", 60, "tensor 'x'|bytes 0–100|ends at 60|cut short|fetch it again" },
  { "{" X ("U8", "[4]", "[0,4]") "," Y ("U8", "[4]", "[2,6]") "}", 6, "tensor 'y'|2–6|overlap" },
  { "{" X ("U8", "[4]", "[0,4]") "," Y ("U8", "[4]", "[0,4]") "}", 4, "tensor 'y'|0–4|overlap" },
  { "{" X ("U8", "[4]", "[0,4]") "," Y ("U8", "[0]", "[2,2]") "}", 4, "tensor 'y'|2–2|overlap" },
  { "{" X ("U8", "[4]", "[0,4]") "," Y ("U8", "[4]", "[6,10]") "}", 10, "tensor 'y'|byte 6|hole from 4" },
  { "{" X ("U8", "[4]", "[1,5]") "}", 5, "tensor 'x'|byte 1|hole from 0" },
  { "{" X ("U8", "[4]", "[0,4]") "}", 5, "last tensor ends at byte 4|data at 5" },
  { "{}", 3, "last tensor ends at byte 0|data at 3" },
  { "{" X ("U8", "[4]", "[0,4]") "," X ("U8", "[4]", "[0,4]") "}", 4, "duplicate" },
  { META ("{\"a\":1}"), 4, "__metadata__|strings" },
  { META ("[\"a\"]"), 4, "__metadata__|strings" },
  { META ("\"a\""), 4, "__metadata__|strings" },
  { "{\"\\u001b[31m\\n\\u202e\":1}", 0, "tensor '?[31m?\?'" },
  { "{\"\xff\":1}", 0, "the header|not valid JSON" },
};

static void
test_headers (void)
{
  char *folder = scratch_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (headers); i++) {
    g_autofree char *path = scratch_write_tensors (folder, "x.safetensors", headers[i].header, headers[i].data);
    GError *error = NULL;
    g_autoptr (MharSafetensors) file = mhar_safetensors_open (path, &error);
    if (headers[i].words == NULL) {
      g_assert_no_error (error);
      g_assert_nonnull (file);
      continue;
    }
    g_test_message ("%s", error != NULL ? error->message : headers[i].header);
    g_assert_null (file);
    g_assert_nonnull (strstr (error->message, "x.safetensors: "));
    scratch_assert_refused (&error, headers[i].words);
  }
  scratch_remove (folder);
}

static void
test_depth (void)
{
  char *folder = scratch_new ();
  GString *header = g_string_new ("{\"x\":");
  for (int i = 0; i < 1000000; i++)
    g_string_append_c (header, '[');
  g_autofree char *path = scratch_write_tensors (folder, "deep", header->str, 0);
  GError *error = NULL;
  g_assert_null (mhar_safetensors_open (path, &error));
  scratch_assert_refused (&error, "deep: |64 deep");
  g_string_free (header, TRUE);
  scratch_remove (folder);
}

/* The 8 bytes of length alone, before and without a good header. */
static void
test_lengths (void)
{
  static const struct {
    guint64 length;
    const char *words;
  } cases[] = {
    { 0, "the header" },
    { 1, "the header" },
    { 100000000, "100000000|ends after|cut short" },
    { 100000001, "100000001|limit" },
    { G_GUINT64_CONSTANT (1) << 63, "9223372036854775808|limit" },
    { G_MAXUINT64, "18446744073709551615|limit" },
    { G_MAXUINT64 - 7, "limit" },
  };
  char *folder = scratch_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GByteArray) bytes = scratch_tensors (GOOD, strlen (GOOD), "", 0);
    guint64 length = GUINT64_TO_LE (cases[i].length);
    memcpy (bytes->data, &length, sizeof length);
    g_autofree char *path = scratch_write (folder, "x", bytes->data, bytes->len);
    GError *error = NULL;
    g_assert_null (mhar_safetensors_open (path, &error));
    scratch_assert_refused (&error, cases[i].words);
  }
  scratch_remove (folder);
}

static void
refuse_path (const char *path, const char *words)
{
  GError *error = NULL;
  g_assert_null (mhar_safetensors_open (path, &error));
  g_test_message ("%s", error->message);
  scratch_assert_refused (&error, words);
}

static void
test_kinds (void)
{
  static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 988097824\n";
  char *folder = scratch_new ();
  g_autofree char *absent = g_build_filename (folder, "absent", NULL), *fifo = g_build_filename (folder, "fifo", NULL);
  g_autofree char *empty = scratch_write (folder, "empty", "", 0),
                  *short_ = scratch_write (folder, "short", "1234567", 7);
  g_autofree char *lfs = scratch_write (folder, "lfs", pointer, strlen (pointer));
  g_autofree char *below = g_build_filename (empty, "x", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  refuse_path (absent, "absent: |no such file");
  refuse_path (below, "empty/x: |no such file");
  refuse_path (fifo, "fifo: |not a regular file"); /* would wait for ever where it is opened plainly */
  refuse_path (folder, "not a regular file");
  refuse_path ("/dev/zero", "/dev/zero: |not a regular file");
  refuse_path (empty, "empty: |is empty|0 bytes");
  refuse_path (short_, "short: |7 bytes|too few");
  refuse_path (lfs, "lfs: |git-lfs pointer|git lfs pull");
  scratch_remove (folder);
}

/* Reads every byte that a file which opened says it has. */
static guint
touch (const MharSafetensors *file)
{
  guint sum = 0;
  for (guint i = 0; i < mhar_safetensors_n_tensors (file); i++) {
    const MharTensor *tensor = mhar_safetensors_tensor (file, i);
    g_assert_true (mhar_safetensors_find (file, tensor->name) == tensor);
    for (gsize j = 0; j < tensor->bytes; j++)
      sum += tensor->data[j];
  }
  return sum;
}

/* Opens bytes as a file; TRUE where it opened, else it must have been refused properly. */
static gboolean
try_bytes (const char *folder, const GByteArray *bytes)
{
  g_autofree char *path = scratch_write (folder, "try", bytes->data, bytes->len);
  GError *error = NULL;
  g_autoptr (MharSafetensors) file = mhar_safetensors_open (path, &error);
  if (file == NULL)
    scratch_assert_refused (&error, "try: ");
  else
    g_assert_cmpuint (touch (file), <=, 255 * bytes->len);
  return file != NULL;
}

static void
test_truncations (void)
{
  char *folder = scratch_new ();
  guint8 data[GOOD_DATA] = { 0 };
  g_autoptr (GByteArray) bytes = scratch_tensors (GOOD, strlen (GOOD), data, sizeof data);
  g_assert_true (try_bytes (folder, bytes));
  while (bytes->len > 0) {
    g_byte_array_set_size (bytes, bytes->len - 1);
    g_assert_false (try_bytes (folder, bytes));
  }
  scratch_remove (folder);
}

static void
test_mutations (void)
{
  char *folder = scratch_new ();
  GRand *rand = g_rand_new_with_seed (20260731);
  guint8 data[GOOD_DATA] = { 0 };
  guint opened = 0, n = 20000;
  for (guint i = 0; i < n; i++) {
    GString *header = scratch_mutate (rand, GOOD, strlen (GOOD));
    g_autoptr (GByteArray) bytes = scratch_tensors (header->str, header->len, data, sizeof data);
    if (i % 8 == 0) /* the length too: a byte, or what it was before the edit */
      bytes->data[g_rand_int_range (rand, 0, 8)] = (guint8)g_rand_int_range (rand, 0, 256);
    else if (i % 8 == 1)
      bytes->data[0] = (guint8)(strlen (GOOD) & 255);
    opened += try_bytes (folder, bytes);
    g_string_free (header, TRUE);
  }
  g_test_message ("%u of %u damaged files still open", opened, n);
  g_assert_cmpuint (opened, >, n / 200); /* a changed name or dtype of the same size is no damage */
  g_assert_cmpuint (opened, <, n / 2);
  g_rand_free (rand);
  scratch_remove (folder);
}

/* 16 GiB of data that were never written: opening must not look at them. */
static void
test_large (void)
{
  const guint64 size = G_GUINT64_CONSTANT (1) << 34;
  char *folder = scratch_new ();
  g_autofree char *header = g_strdup_printf ("{\"x\":{\"dtype\":\"U8\",\"shape\":[%" G_GUINT64_FORMAT
                                             "],\"data_offsets\":[0,%" G_GUINT64_FORMAT "]}}",
                                             size, size);
  g_autofree char *path = scratch_write_tensors (folder, "large", header, 0);
  if (truncate (path, (off_t)(8 + strlen (header) + size)) != 0) {
    g_test_skip ("this file system has no file of 16 GiB");
    scratch_remove (folder);
    return;
  }
  GError *error = NULL;
  gint64 start = g_get_monotonic_time ();
  MharSafetensors *file = mhar_safetensors_open (path, &error);
  gint64 spent = g_get_monotonic_time () - start;
  g_assert_no_error (error);
  const MharTensor *tensor = mhar_safetensors_tensor (file, 0);
  g_assert_cmpuint (tensor->bytes, ==, size);
  g_assert_cmpuint (tensor->data[size - 1], ==, 0);
  g_test_message ("16 GiB open in %.2f ms, %.2f %% of the 300 allowed", spent / 1e3, spent / 3e3);
  g_assert_cmpint (spent, <, 300000);
  mhar_safetensors_free (file);
  scratch_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/safetensors/good", test_good);
  g_test_add_func ("/safetensors/dtypes", test_dtypes);
  g_test_add_func ("/safetensors/headers", test_headers);
  g_test_add_func ("/safetensors/depth", test_depth);
  g_test_add_func ("/safetensors/lengths", test_lengths);
  g_test_add_func ("/safetensors/kinds", test_kinds);
  g_test_add_func ("/safetensors/truncations", test_truncations);
  g_test_add_func ("/safetensors/mutations", test_mutations);
  g_test_add_func ("/safetensors/large", test_large);
  return g_test_run ();
}
