/* SPDX-License-Identifier: MIT */
/* core/torch-archive: good archives in every style; what is refused, by name; and files made to hurt. */
#include "core/torch-archive.h"

#include "tests/unit/scratch.h"
#include "tests/unit/zip-writer.h"

static const ZipStyle usual = { .streamed = TRUE };
static const float numbers[] = { 1, 2, 3, 4, 5, 6 };

/* An archive with the pickle, and a storage "0" of six floats. */
static GByteArray *
archive_of (const GString *pickle, const ZipStyle *style)
{
  const ZipPart parts[] = { { "x/data.pkl", pickle->str, pickle->len },
                            { "x/byteorder", "little", 6 },
                            { "x/data/0", numbers, sizeof numbers },
                            { "x/version", "3\n", 2 } };
  return zip_write (parts, G_N_ELEMENTS (parts), style);
}

/* {"module._orig_mod.a": [2, 3], "b": [2] from 4 on, "step": 7} */
static GString *
good_pickle (void)
{
  GString *pickle = pickle_new ();
  g_string_append (pickle, "}(");
  pickle_text (pickle, "module._orig_mod.a");
  pickle_tensor (pickle, "FloatStorage", "0", 6, 0, 2, (const gint32[]){ 2, 3 }, (const gint32[]){ 3, 1 });
  pickle_text (pickle, "b");
  pickle_tensor (pickle, "FloatStorage", "0", 6, 4, 1, (const gint32[]){ 2 }, (const gint32[]){ 1 });
  pickle_text (pickle, "step");
  pickle_integer (pickle, 7);
  g_string_append_c (pickle, 'u');
  return pickle_end (pickle);
}

static MharTorchArchive *
open_bytes (const void *data, gsize length, GError **error)
{
  char *folder = scratch_new ();
  g_autofree char *path = scratch_write (folder, "model.pt", data, length);
  MharTorchArchive *archive = mhar_torch_archive_open (path, error);
  scratch_remove (folder); /* what is mapped stays */
  return archive;
}

static void
refuse_bytes (const void *data, gsize length, const char *words)
{
  GError *error = NULL;
  g_assert_null (open_bytes (data, length, &error));
  scratch_assert_refused (&error, words);
}

static void
refuse_pickle (GString *pickle, const char *words)
{
  g_autoptr (GByteArray) zip = archive_of (pickle, &usual);
  refuse_bytes (zip->data, zip->len, words);
  g_string_free (pickle, TRUE);
}

static void
test_good (void)
{
  const ZipStyle styles[] = { { 0 }, usual, { .wide = TRUE }, { .wide = TRUE, .streamed = TRUE }, { .flags = 0x800 } };
  g_autoptr (GString) pickle = good_pickle ();
  for (guint i = 0; i < G_N_ELEMENTS (styles); i++) {
    GError *error = NULL;
    g_autoptr (GByteArray) zip = archive_of (pickle, &styles[i]);
    g_autoptr (MharTorchArchive) archive = open_bytes (zip->data, zip->len, &error);
    gsize length;
    g_assert_no_error (error);
    g_assert_cmpuint (mhar_torch_archive_n_tensors (archive), ==, 2);
    const MharTensor *a = mhar_torch_archive_find (archive, "a"), *b = mhar_torch_archive_find (archive, "b");
    g_assert_true (a == mhar_torch_archive_tensor (archive, 0) && b == mhar_torch_archive_tensor (archive, 1));
    g_assert_null (mhar_torch_archive_find (archive, "module._orig_mod.a"));
    g_assert_cmpstr (a->dtype, ==, "F32");
    g_assert_cmpuint (a->n_dims, ==, 2);
    g_assert_cmpuint (a->shape[0], ==, 2);
    g_assert_cmpuint (a->shape[1], ==, 3);
    g_assert_cmpmem (a->data, a->bytes, numbers, sizeof numbers);
    g_assert_cmpmem (b->data, b->bytes, numbers + 4, 2 * sizeof *numbers);
    mhar_torch_archive_header (archive, &length);
    g_assert_cmpuint (length, ==, pickle->len);
    mhar_torch_archive_contents (archive, &length);
    g_assert_cmpuint (length, ==, zip->len);
  }
}

static void
test_state_dicts (void)
{
  static const char *const places[] = { "model", "state_dict", "model_state", "model_state_dict" };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    for (guint twice = 0; twice < 2; twice++) {
      GError *error = NULL;
      g_autoptr (GString) pickle = pickle_new ();
      g_string_append (pickle, "}(");
      for (guint k = 0; k <= twice; k++) {
        pickle_text (pickle, places[(i + k) % 4]);
        g_string_append_c (pickle, '}');
        pickle_text (pickle, "a");
        pickle_tensor (pickle, "FloatStorage", "0", 6, 0, 1, (const gint32[]){ 6 }, (const gint32[]){ 1 });
        g_string_append_c (pickle, 's');
      }
      g_string_append_c (pickle, 'u');
      g_autoptr (GByteArray) zip = archive_of (pickle_end (pickle), &usual);
      g_autoptr (MharTorchArchive) archive = open_bytes (zip->data, zip->len, &error);
      if (twice) {
        scratch_assert_refused (&error, "model.pt: |state dict under|another under");
        continue;
      }
      g_assert_no_error (error);
      g_assert_nonnull (mhar_torch_archive_find (archive, "a"));
    }
  refuse_pickle (pickle_end (g_string_append (pickle_new (), "}")), "holds no state dict");
  refuse_pickle (pickle_end (g_string_append (pickle_new (), "N")), "holds no state dict");
  GString *same = pickle_new ();
  g_string_append (same, "}(");
  for (guint i = 0; i < 2; i++) {
    pickle_text (same, i == 0 ? "a" : "module.a");
    pickle_tensor (same, "FloatStorage", "0", 6, 0, 1, (const gint32[]){ 6 }, (const gint32[]){ 1 });
  }
  refuse_pickle (pickle_end (g_string_append_c (same, 'u')), "tensor 'a'|stands twice");
}

/* One tensor that the state dict would have as "t". */
static const struct {
  const char *storage, *key;
  gint32 elements, offset;
  guint n_dims;
  gint32 size[9], stride[9];
  const char *words; /* NULL: it is read */
} layouts[] = {
  { "FloatStorage", "0", 6, 0, 0, { 0 }, { 0 }, NULL },
  { "FloatStorage", "0", 6, 5, 0, { 0 }, { 0 }, NULL },
  { "FloatStorage", "0", 6, 6, 0, { 0 }, { 0 }, "tensor 't'|needs 1 elements from 6" },
  { "FloatStorage", "0", 6, 0, 2, { 1, 6 }, { 77, 1 }, NULL }, /* the stride of a length of 1 means nothing */
  { "FloatStorage", "0", 6, 0, 2, { 0, 6 }, { 6, 9 }, NULL },
  { "FloatStorage", "0", 6, 0, 2, { 3, 2 }, { 1, 3 }, "tensor 't'|transposed" },
  { "FloatStorage", "0", 6, 0, 2, { 2, 2 }, { 3, 1 }, "tensor 't'|with gaps" },
  { "FloatStorage", "0", 6, 0, 1, { 3 }, { 2 }, "tensor 't'|with gaps" },
  { "FloatStorage", "0", 6, 0, 1, { 3 }, { -1 }, "tensor 't'|with gaps" },
  { "FloatStorage", "0", 6, 0, 1, { 9 }, { 0 }, "tensor 't'|with gaps" },
  { "FloatStorage", "0", 6, 0, 1, { 7 }, { 1 }, "tensor 't'|needs 7 elements" },
  { "FloatStorage", "0", 6, 1, 1, { 6 }, { 1 }, "tensor 't'|needs 6 elements from 1" },
  { "FloatStorage", "0", 6, -1, 1, { 6 }, { 1 }, "tensor 't'|from -1" },
  { "FloatStorage", "0", 6, 0, 1, { -6 }, { 1 }, "tensor 't'|negative length -6" },
  { "FloatStorage", "0", 6, 0, 3, { G_MAXINT32, G_MAXINT32, G_MAXINT32 }, { 1, 1, 1 }, "tensor 't'|overflows" },
  { "FloatStorage", "0", 6, 0, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, "9 dimensions" },
  { "FloatStorage", "0", 7, 0, 1, { 6 }, { 1 }, "storage '0'|7 elements of F32|24 bytes" },
  { "FloatStorage", "0", -6, 0, 1, { 6 }, { 1 }, "storage '0'|-6 elements" },
  { "HalfStorage", "0", 12, 0, 1, { 12 }, { 1 }, NULL },
  { "BFloat16Storage", "0", 12, 0, 1, { 12 }, { 1 }, NULL },
  { "DoubleStorage", "0", 3, 0, 1, { 3 }, { 1 }, NULL },
  { "LongStorage", "0", 3, 0, 1, { 3 }, { 1 }, NULL },
  { "IntStorage", "0", 6, 0, 1, { 6 }, { 1 }, NULL },
  { "ShortStorage", "0", 12, 0, 1, { 12 }, { 1 }, NULL },
  { "CharStorage", "0", 24, 0, 1, { 24 }, { 1 }, NULL },
  { "ByteStorage", "0", 24, 0, 1, { 24 }, { 1 }, NULL },
  { "BoolStorage", "0", 24, 0, 1, { 24 }, { 1 }, NULL },
  { "QUInt8Storage", "0", 24, 0, 1, { 24 }, { 1 }, "torch.QUInt8Storage is not read" },
  { "FloatStorage", "1", 6, 0, 1, { 6 }, { 1 }, "storage '1'|does not hold" },
  { "FloatStorage", "../data.pkl", 6, 0, 1, { 6 }, { 1 }, "storage '../data.pkl'|does not hold" },
  { "FloatStorage", "/etc/passwd", 6, 0, 1, { 6 }, { 1 }, "does not hold" },
};

static void
test_layouts (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    GError *error = NULL;
    g_autoptr (GString) pickle = g_string_append_c (pickle_new (), '}');
    pickle_text (pickle, "t");
    pickle_tensor (pickle, layouts[i].storage, layouts[i].key, layouts[i].elements, layouts[i].offset,
                   layouts[i].n_dims, layouts[i].size, layouts[i].stride);
    g_autoptr (GByteArray) zip = archive_of (pickle_end (g_string_append_c (pickle, 's')), &usual);
    g_autoptr (MharTorchArchive) archive = open_bytes (zip->data, zip->len, &error);
    if (layouts[i].words != NULL) {
      scratch_assert_refused (&error, layouts[i].words);
      continue;
    }
    g_assert_no_error (error);
    g_assert_cmpuint (mhar_torch_archive_tensor (archive, 0)->n_dims, ==, layouts[i].n_dims);
  }
}

/* Names and opcodes beyond those of plain data; the pickle goes on after PROTO. */
static const struct {
  const char *pickle, *words;
  gsize length;
} others[] = {
#define P(text, words)                                                                                                 \
  {                                                                                                                    \
    text, words, sizeof text - 1                                                                                       \
  }
  P ("cnumpy.core.multiarray\nscalar\n.", "model.pt: data.pkl, byte 2: numpy.core.multiarray.scalar is not read"),
  P ("cos\nsystem\nX\2\0\0\0ls\x85R.", "os.system is not read"),
  P ("cposix\nsystem\n.", "posix.system is not read"),
  P ("cbuiltins\neval\n.", "builtins.eval is not read"),
  P ("\x8c\2os\x8c\6system\x93.", "os.system is not read"),
  P ("ctorch\nSize.__class__\n.", "torch.Size.__class__ is not read"),
  P ("ctorch\n\n.", "torch. is not read"),
  P ("c\n\n.", " is not read"),
  P ("ctorch\033[31m\nx\n.", "?[31m.x is not read"),
  P ("ctorch\nSize", "ends here, unfinished"),
  P ("ctorch\nFloatStorage\n)R.", "torch.FloatStorage is called with other arguments"),
  P ("ctorch\nSize\n)R.", "torch.Size is called with other arguments"),
  P ("ccollections\nOrderedDict\nN\x85R.", "collections.OrderedDict is called with other"),
  P ("ctorch._utils\n_rebuild_tensor_v2\n)R.", "_rebuild_tensor_v2 is called with other"),
  P ("ctorch._utils\n_rebuild_parameter\n(NNNtR.", "_rebuild_parameter is called with other"),
  P ("N)R.", "no known name is called"),
  P ("}}R.", "no known name is called"),
  P ("NQ.", "persistent id is not that of a storage"),
  P ("(K\1K\1K\1K\1K\1tQ.", "persistent id is not that of a storage"),
  P ("N}b.", "opcode 0x62 does not fit"),
  P ("}Nb.", "opcode 0x62 does not fit"),
  P ("ccollections\nOrderedDict\n)\x81.", "opcode 0x81 is not read"),
  P ("Pabc\n.", "opcode 0x50 is not read"),
  P ("I1\n.", "opcode 0x49 is not read"),
  P ("F1\n.", "opcode 0x46 is not read"),
  P ("S'a'\n.", "opcode 0x53 is not read"),
  P ("B\1\0\0\0a.", "opcode 0x42 is not read"),
  P ("C\1a.", "opcode 0x43 is not read"),
  P ("2.", "opcode 0x32 is not read"),
  P ("\x82\1.", "opcode 0x82 is not read"),
  P ("\x8f.", "opcode 0x8f is not read"),
  P ("\x97.", "opcode 0x97 is not read"),
  P (".", "does not end with one value"),
  P ("NN.", "does not end with one value"),
  P ("N(.", "does not end with one value"),
  P ("N.N", "does not end with one value"),
  P ("N", "ends here, unfinished"),
  P ("t.", "opcode 0x74 does not fit"),
  P ("N(\x85.", "opcode 0x85 does not fit"),
  P ("a.", "opcode 0x61 does not fit"),
  P ("]a.", "opcode 0x61 does not fit"),
  P ("}(Nu.", "opcode 0x75 does not fit"),
  P ("](Nu.", "opcode 0x75 does not fit"),
  P ("0.", "opcode 0x30 does not fit"),
  P ("1.", "opcode 0x31 does not fit"),
  P ("(0.", "opcode 0x30 does not fit"),
  P ("h\0.", "opcode 0x68 does not fit"),
  P ("j\xff\xff\xff\xff.", "opcode 0x6a does not fit"),
  P ("q\0.", "opcode 0x71 does not fit"),
  P ("\x94.", "opcode 0x94 does not fit"),
  P ("\x93.", "opcode 0x93 does not fit"),
  P ("X\xff\xff\xff\xff"
     "a.",
     "ends here, unfinished"),
  P ("X\xff\xff\xff\x7f"
     "a.",
     "ends here, unfinished"),
  P ("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
     "a.",
     "ends here, unfinished"),
  P ("\x95\xff\xff\xff\xff\xff\xff\xff\xff"
     "N.",
     "ends here, unfinished"),
  P ("\x8c\1\xff.", "not valid UTF-8"),
  P ("\x8a\x09"
     "aaaaaaaaa.",
     "a number of 9 bytes is not read"),
  P ("\x8b\xff\xff\xff\xff.", "a number of 4294967295 bytes is not read"),
#undef P
};

static void
test_others (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    refuse_pickle (g_string_append_len (pickle_new (), others[i].pickle, (gssize)others[i].length), others[i].words);
  static const guint8 protocols[] = { 0, 1, 6, 255 };
  for (guint i = 0; i < G_N_ELEMENTS (protocols); i++) {
    const char start[] = { '\x80', (char)protocols[i], 'N', '.' };
    refuse_pickle (g_string_new_len (start, 4), "protocol|is not read");
  }
  refuse_pickle (g_string_new ("(dp0\n."), "protocol 0 or 1");
  refuse_pickle (g_string_new (""), "ends here");
}

/* Plain data of every kind that is read, thrown away, under a state dict that is good. */
static void
test_plain_data (void)
{
  static const char data[] = "N0\x88"
                             "0\x89"
                             "0J\xff\xff\xff\xff"
                             "0K\xff"
                             "0M\xff\xff"
                             "0\x8a\0"
                             "0\x8a\1\xff"
                             "0\x8a\x08"
                             "abcdefgh0\x8b\1\0\0\0a0G\x3f\xf0\0\0\0\0\0\0"
                             "0\x8c\1a0X\0\0\0\0"
                             "0\x8d\1\0\0\0\0\0\0\0a0"
                             ")0(t0N\x85"
                             "0NN\x86"
                             "0NNN\x87"
                             "0]0](NNe0]Na0}0}(NNu0}NNs0(NN1]q\0h\0a0]r\1\0\0\0j\1\0\0\0a0]"
                             "\x94"
                             "0\x95\0\0\0\0\0\0\0\0ctorch\nSize\n(K\1K\2t\x85R0\x8c\5torch\x8c\4Size\x93"
                             "0"
                             "ccollections\nOrderedDict\n)R}b0";
  GError *error = NULL;
  g_autoptr (GString) good = good_pickle (), pickle = g_string_new_len ("\x80\x05", 2);
  g_string_append_len (pickle, data, sizeof data - 1);
  g_string_append_len (pickle, good->str + 2, (gssize)good->len - 2);
  g_autoptr (GByteArray) zip = archive_of (pickle, &usual);
  g_autoptr (MharTorchArchive) archive = open_bytes (zip->data, zip->len, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mhar_torch_archive_n_tensors (archive), ==, 2);
}

static GString *
repeated (const char *start, const char *part, gsize length, gsize times)
{
  GString *pickle = g_string_append (pickle_new (), start);
  for (gsize i = 0; i < times; i++)
    g_string_append_len (pickle, part, (gssize)length);
  return pickle;
}

/* Few bytes that ask for much: values, marks, places of the stack, items; and what would break a reader that recurses.
 */
static void
test_bombs (void)
{
  refuse_pickle (repeated ("", "]0", 2, 4200000), "values; that is no checkpoint");
  refuse_pickle (repeated ("N", "\x85", 1, 4200000), "values; that is no checkpoint");
  refuse_pickle (repeated ("", "(", 1, 1100000), "marks; that is no checkpoint");
  refuse_pickle (repeated ("Nq", "\0h", 2, 1100000), "at once; that is no checkpoint");
  refuse_pickle (repeated ("]\x94", "h\0a", 3, 9000000), "items in its containers");
  GString *huge = repeated ("", "N0", 2, (32 << 20) + 1);
  refuse_pickle (huge, "is too large");
  /* a list nested a million deep, and one that holds itself, beside the state dict: read, and let go */
  GError *error = NULL;
  g_autoptr (GString) good = good_pickle (), deep = repeated ("]\x94", "h\0a0N", 5, 1);
  for (guint i = 0; i < 1000000; i++)
    g_string_append_c (deep, '\x85');
  g_string_append_c (deep, '0');
  g_string_append_len (deep, good->str + 2, (gssize)good->len - 2);
  g_autoptr (GByteArray) zip = archive_of (deep, &usual);
  g_autoptr (MharTorchArchive) archive = open_bytes (zip->data, zip->len, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (mhar_torch_archive_n_tensors (archive), ==, 2);
}

static void
test_zip_refusals (void)
{
  g_autoptr (GString) pickle = good_pickle ();
  const ZipPart twice[] = { { "x/data.pkl", pickle->str, pickle->len }, { "x/data.pkl", "N", 1 } };
  const ZipPart two[] = { { "x/data.pkl", pickle->str, pickle->len }, { "y/data.pkl", "N", 1 } };
  const ZipPart big[] = { { "x/data.pkl", pickle->str, pickle->len }, { "x/byteorder", "big", 3 } };
  const ZipPart none[] = { { "x/readme", "hello", 5 } };
  const struct {
    const ZipPart *parts;
    guint n;
    ZipStyle style;
    const char *words;
  } cases[] = { { twice, 2, usual, "entry 'x/data.pkl'|stands twice" },
                { two, 2, usual, "two pickles|x/data.pkl|y/data.pkl" },
                { big, 2, usual, "not little-endian" },
                { none, 1, usual, "no data.pkl" },
                { none, 1, { .method = 8 }, "entry 'x/readme'|compressed (method 8)" },
                { none, 1, { .flags = 1 }, "entry 'x/readme'|encrypted" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GByteArray) zip = zip_write (cases[i].parts, cases[i].n, &cases[i].style);
    refuse_bytes (zip->data, zip->len, cases[i].words);
  }
  static const char *const names[] = { "/etc/passwd", "../x", "x/../y", "x\\y", ".", "x/.", "\xff" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const ZipPart part = { names[i], "a", 1 };
    g_autoptr (GByteArray) zip = zip_write (&part, 1, &usual);
    refuse_bytes (zip->data, zip->len, "leads out of the archive");
  }
  refuse_bytes ("\x80\x02\x8a\x0a", 4, "model.pt: |old kind|torch before 1.6");
  refuse_bytes ("hello", 5, "no archive of torch.save");
  refuse_bytes ("", 0, "is empty");
  refuse_bytes ("version https://git-lfs.github.com/spec/v1\n", 44, "git-lfs pointer");
}

/* Fields of the directory set to what they must not be. */
static void
test_zip_fields (void)
{
  g_autoptr (GString) pickle = good_pickle ();
  g_autoptr (GByteArray) good = archive_of (pickle, &usual);
  const struct {
    gboolean end;
    guint at, bytes;
    guint32 value;
    const char *words;
  } cases[] = { { TRUE, 4, 2, 1, "one part of a zip archive" },
                { TRUE, 10, 2, 60000, "more than its zip directory can hold" },
                { TRUE, 12, 4, 0x7fffffff, "lies outside the file" },
                { TRUE, 16, 4, 0x7fffffff, "lies outside the file" },
                { TRUE, 16, 4, 0, "directory is damaged" },
                { TRUE, 20, 2, 5, "no end of one" },
                { FALSE, 0, 4, 0, "directory is damaged" },
                { FALSE, 20, 4, 5, "has two sizes" },
                { FALSE, 28, 2, 65535, "ends inside entry 0" },
                { FALSE, 30, 2, 65535, "ends inside entry 0" },
                { FALSE, 34, 2, 3, "has no size or place" },
                { FALSE, 42, 4, 0x7fffffff, "begins outside the file" },
                { FALSE, 42, 4, 1, "another local header" },
                { FALSE, 42, 4, 0xffffffff, "has no size or place" },
                { FALSE, 46, 1, 'y', "another local header" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GByteArray) bad = g_byte_array_append (g_byte_array_new (), good->data, good->len);
    gsize at = (cases[i].end ? zip_end_at (bad) : zip_record_at (bad, 0)) + cases[i].at;
    guint32 value = GUINT32_TO_LE (cases[i].value);
    memcpy (bad->data + at, &value, cases[i].bytes);
    refuse_bytes (bad->data, bad->len, cases[i].words);
  }
  /* both sizes grown alike: into the next entry, and beyond the data */
  for (guint grown = 0; grown < 2; grown++) {
    g_autoptr (GByteArray) bad = g_byte_array_append (g_byte_array_new (), good->data, good->len);
    guint32 size = GUINT32_TO_LE (grown ? 0x7fffffffu : (guint32)pickle->len + 100);
    memcpy (bad->data + zip_record_at (bad, 0) + 20, &size, 4);
    memcpy (bad->data + zip_record_at (bad, 0) + 24, &size, 4);
    refuse_bytes (bad->data, bad->len, grown ? "reach beyond the data" : "overlaps the entry before");
  }
}

/* Every proper beginning is refused, of the file and of the pickle alone. */
static void
test_truncation (void)
{
  g_autoptr (GString) pickle = good_pickle ();
  g_autoptr (GByteArray) zip = archive_of (pickle, &usual);
  for (gsize n = 0; n < zip->len; n++)
    refuse_bytes (zip->data, n, "model.pt: ");
  for (gsize n = 0; n < pickle->len; n++)
    refuse_pickle (g_string_new_len (pickle->str, (gssize)n), "data.pkl, byte");
}

/* Every opcode after a few that leave something behind: whatever comes of it, nothing breaks. */
static void
test_every_opcode (void)
{
  static const char *const before[]
      = { "", "N", "]", "}", "(", "(N", "]N", "}NN", "](NN", "}(NN", ")", "ctorch\nSize\n)" };
  static const char after[] = "\1\0\0\0\0\0\0\0\0\n\n.";
  for (guint b = 0; b < G_N_ELEMENTS (before); b++)
    for (guint opcode = 0; opcode < 256; opcode++) {
      GString *pickle = g_string_append (pickle_new (), before[b]);
      g_string_append_c (pickle, (char)opcode);
      g_string_append_len (pickle, after, sizeof after - 1);
      refuse_pickle (pickle, "model.pt: ");
    }
}

static void
test_mutations (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (GString) pickle = good_pickle ();
  const ZipStyle wide = { .wide = TRUE };
  guint good = 0, bad = 0;
  for (guint i = 0; i < 6000; i++) {
    GError *error = NULL;
    g_autoptr (GString) changed = i % 2 == 0 ? scratch_mutate (rand, pickle->str, pickle->len) : NULL;
    g_autoptr (GByteArray) zip = archive_of (changed != NULL ? changed : pickle, i % 3 == 0 ? &wide : &usual);
    g_autoptr (GString) file = changed != NULL ? g_string_new_len ((const char *)zip->data, (gssize)zip->len)
                                               : scratch_mutate (rand, (const char *)zip->data, zip->len);
    g_autoptr (MharTorchArchive) archive = open_bytes (file->str, file->len, &error);
    for (guint t = 0; archive != NULL && t < mhar_torch_archive_n_tensors (archive); t++) {
      const MharTensor *tensor = mhar_torch_archive_tensor (archive, t);
      guint8 sum = 0;
      for (gsize k = 0; k < tensor->bytes; k++)
        sum ^= tensor->data[k]; /* every byte can be read */
      g_assert_cmpuint (sum | 255u, ==, 255);
    }
    good += archive != NULL;
    bad += archive == NULL;
    if (archive == NULL)
      scratch_assert_refused (&error, "model.pt: ");
  }
  g_test_message ("%u opened, %u refused", good, bad);
  g_assert_cmpuint (bad, >, 1000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/torch-archive/good", test_good);
  g_test_add_func ("/torch-archive/state-dicts", test_state_dicts);
  g_test_add_func ("/torch-archive/layouts", test_layouts);
  g_test_add_func ("/torch-archive/plain-data", test_plain_data);
  g_test_add_func ("/torch-archive/others", test_others);
  g_test_add_func ("/torch-archive/bombs", test_bombs);
  g_test_add_func ("/torch-archive/zip-refusals", test_zip_refusals);
  g_test_add_func ("/torch-archive/zip-fields", test_zip_fields);
  g_test_add_func ("/torch-archive/truncation", test_truncation);
  g_test_add_func ("/torch-archive/every-opcode", test_every_opcode);
  g_test_add_func ("/torch-archive/mutations", test_mutations);
  return g_test_run ();
}
