/* SPDX-License-Identifier: MIT */
/* HDF5 files: written and read back, grown, refused, cut short by a full disk, damaged.
 * `test-h5file --write FILE` only writes the sample that tests/h5/test_readers.py looks at. */
#include "core/error.h"
#include "core/h5-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SITES = 7, HEADS = 3, SOURCES = 5, SLICES = 4, DRAWS = 6, OUTPUTS = 160, WINDOWS = 5, TOKENS = 700 };

static char *scratch; /* a folder of this run's own */

/* ---- the sample ---- */

static gsize
extent (const char *dim)
{
  static const struct {
    const char *dim;
    gsize length;
  } extents[] = { { "site", SITES }, { "head", HEADS },     { "source", SOURCES },   { "slice", SLICES },
                  { "draw", DRAWS }, { "output", OUTPUTS }, { "output_b", OUTPUTS }, { "none", 0 } };
  for (gsize i = 0; i < G_N_ELEMENTS (extents); i++)
    if (g_str_equal (extents[i].dim, dim))
      return extents[i].length;
  g_assert_not_reached ();
}

/* A field over dimensions listed as "site head"; `first` is the length of one that extent() does not know. */
static MharField *
field_new (const char *name, const char *units, MharFieldType type, const char *dims, gsize first)
{
  g_auto (GStrv) names = g_strsplit (dims, " ", -1);
  gsize shape[MHAR_FIELD_MAX_DIMS];
  guint n = g_strv_length (names);
  for (guint i = 0; i < n; i++)
    shape[i] = i == 0 && first > 0 ? first : extent (names[i]);
  g_autofree char *long_name = g_strdup_printf ("what %s is", name);
  return mhar_field_new (name, long_name, units, type, n, (const char *const *)names, shape);
}

/* Values that no two elements share and that a half cannot hold; sites see only their first sources. */
static MharField *
add (MharDataset *set, const char *name, const char *units, MharFieldType type, const char *dims)
{
  MharField *field = mhar_dataset_add (set, field_new (name, units, type, dims, 0));
  gsize length = mhar_field_length (field);
  for (gsize i = 0; i < length; i++) {
    gboolean missing = g_str_has_suffix (dims, " source") && i % SOURCES > i / (length / SITES);
    if (type == MHAR_FIELD_F32 && !missing)
      field->data.f32[i] = (float)(1.0 / (3.0 + (double)i));
    if (type == MHAR_FIELD_I32)
      field->data.i32[i] = (gint32)i;
    if (type == MHAR_FIELD_STRING && !missing)
      field->data.str[i] = g_strdup_printf ("%s·%" G_GSIZE_FORMAT, name, i);
  }
  return field;
}

static void
add_scales (MharDataset *set)
{
  static const char *const names[] = { "site", "head", "source", "slice", "draw", "output" };
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    add (set, names[i], "1", MHAR_FIELD_I32, names[i]); /* output_b is left to the writer */
}

static MharDataset *
sample_checkpoint (const char *name)
{
  const char *const warnings[] = { "first warning", "zweite Warnung: größer", NULL };
  MharDataset *set = mhar_dataset_new (name);
  mhar_dataset_set_string (set, "signal", "weight");
  mhar_dataset_set_string (set, "path", "/models/d\xc3\xa9pth");
  mhar_dataset_set_string (set, "empty", "");
  mhar_dataset_set_integer (set, "layers", 3);
  mhar_dataset_set_real (set, "loss", 2.3456789012345678);
  mhar_dataset_set_real (set, "absent", NAN);
  mhar_dataset_set_strings (set, "warnings", warnings);
  add_scales (set);
  add (set, "site_label", "", MHAR_FIELD_STRING, "site");
  add (set, "source_label", "", MHAR_FIELD_STRING, "site source");
  add (set, "output_label", "", MHAR_FIELD_STRING, "output");
  add (set, "n_sources", "1", MHAR_FIELD_I32, "site");
  add (set, "n_heads", "1", MHAR_FIELD_I32, "site");
  add (set, "weight", "1", MHAR_FIELD_F32, "site head source");
  add (set, "deviation", "1", MHAR_FIELD_F32, "site head source");
  add (set, "entropy", "nat", MHAR_FIELD_F32, "site head");
  add (set, "slice_kl", "nat", MHAR_FIELD_F32, "site slice");
  add (set, "slice_kl_null", "nat", MHAR_FIELD_F32, "site draw");
  add (set, "cosine", "1", MHAR_FIELD_F32, "output output_b"); /* 100 KiB: deflated */
  return set;
}

static MharDataset *
sample_root (void)
{
  MharDataset *root = mhar_dataset_new ("/");
  mhar_dataset_set_string (root, "title", "Depth routing of two checkpoints");
  mhar_dataset_set_string (root, "history", "2026-01-01T00:00:00Z mhar-probe --all");
  mhar_dataset_set_integer (root, "mhar_schema", 1);
  MharDataset *provenance = mhar_dataset_new ("provenance");
  mhar_dataset_set_string (provenance, "version", "0.1");
  mhar_dataset_set_integer (provenance, "seed", 0);
  mhar_dataset_set_strings (provenance, "nothing", NULL);
  mhar_dataset_add_child (root, provenance);
  mhar_dataset_add_child (root, sample_checkpoint ("checkpoint_0"));
  mhar_dataset_add_child (root, sample_checkpoint ("checkpoint_1"));
  return root;
}

/* Per-window sums: the window's number is given. */
static MharDataset *
sums_slab (gint32 window)
{
  MharDataset *slab = mhar_dataset_new ("sums");
  MharField *number = mhar_dataset_add (slab, field_new ("window", "1", MHAR_FIELD_I32, "window", 1));
  number->data.i32[0] = 10 * window;
  MharField *sum = mhar_dataset_add (slab, field_new ("weight_sum", "1", MHAR_FIELD_F64, "window site head source", 1));
  for (gsize i = 0; i < mhar_field_length (sum); i++)
    sum->data.f64[i] = window + (double)i / 7;
  return slab;
}

static float
captured (gsize token, gsize i)
{
  return (float)((double)(token * 31 + i * 7 + 1) / 70000.0);
}

/* `n` tokens from `start` on: the writer counts them. */
static MharDataset *
capture_slab (gsize start, gsize n)
{
  MharDataset *slab = mhar_dataset_new ("capture");
  MharField *weight
      = mhar_dataset_add (slab, field_new ("weight", "1", MHAR_FIELD_F32, "position site head source", n));
  MharField *token = mhar_dataset_add (slab, field_new ("token", "1", MHAR_FIELD_I32, "position", n));
  MharField *text = mhar_dataset_add (slab, field_new ("token_text", "", MHAR_FIELD_STRING, "position", n));
  gsize row = SITES * HEADS * SOURCES;
  for (gsize t = 0; t < n; t++) {
    for (gsize i = 0; i < row; i++)
      weight->data.f32[t * row + i] = captured (start + t, i);
    token->data.i32[t] = (gint32)(1000 + start + t);
    text->data.str[t] = t % 3 == 0 ? NULL : g_strdup_printf ("t%" G_GSIZE_FORMAT, start + t);
  }
  return slab;
}

static gboolean
write_sample (const char *path, GError **error)
{
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, error);
  if (writer == NULL)
    return FALSE;
  for (gint32 window = 0; window < WINDOWS; window++) {
    g_autoptr (MharDataset) slab = sums_slab (window);
    if (!mhar_h5_writer_append (writer, "checkpoint_0/sums", slab, FALSE, error))
      return FALSE;
  }
  for (gsize start = 0; start < TOKENS; start += 100) {
    g_autoptr (MharDataset) slab = capture_slab (start, 100);
    if (!mhar_h5_writer_append (writer, "checkpoint_0/capture", slab, TRUE, error))
      return FALSE;
  }
  g_autoptr (MharDataset) root = sample_root ();
  return mhar_h5_writer_write (writer, root, error) && mhar_h5_writer_commit (writer, error);
}

/* ---- helpers ---- */

static char *
scratch_path (const char *name)
{
  return g_build_filename (scratch, name, NULL);
}

static guint
count_entries (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;
  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
assert_same_field (const MharField *a, const MharField *b)
{
  g_assert_cmpstr (a->name, ==, b->name);
  g_assert_cmpstr (a->units, ==, b->units);
  g_assert_cmpstr (a->long_name, ==, b->long_name);
  g_assert_cmpint (a->type, ==, b->type);
  g_assert_cmpuint (a->n_dims, ==, b->n_dims);
  for (guint i = 0; i < a->n_dims; i++) {
    g_assert_cmpstr (a->dims[i], ==, b->dims[i]);
    g_assert_cmpuint (a->shape[i], ==, b->shape[i]);
  }
  gsize length = mhar_field_length (a);
  for (gsize i = 0; i < length; i++) {
    double x = mhar_field_value (a, i), y = mhar_field_value (b, i);
    if (a->type == MHAR_FIELD_STRING)
      g_assert_cmpstr (a->data.str[i] != NULL ? a->data.str[i] : "", ==, b->data.str[i]);
    else
      g_assert_true (x == y || (isnan (x) && isnan (y)));
  }
}

static void
assert_same_attribute (const MharAttribute *a, const MharDataset *set)
{
  switch (a->type) {
  case MHAR_ATTRIBUTE_STRING:
    g_assert_cmpstr (a->string, ==, mhar_dataset_string (set, a->name));
    break;
  case MHAR_ATTRIBUTE_STRINGS:
    g_assert_nonnull (mhar_dataset_strings (set, a->name));
    g_assert_true (g_strv_equal ((const char *const *)a->strings, mhar_dataset_strings (set, a->name)));
    break;
  case MHAR_ATTRIBUTE_INTEGER:
    g_assert_cmpint (a->integer, ==, mhar_dataset_integer (set, a->name, -99));
    break;
  case MHAR_ATTRIBUTE_REAL:
    if (isnan (a->real))
      g_assert_true (isnan (mhar_dataset_real (set, a->name, -99)));
    else
      g_assert_cmpfloat (a->real, ==, mhar_dataset_real (set, a->name, -99));
    break;
  }
}

static void
assert_same_dataset (const MharDataset *wrote, const MharDataset *read)
{
  for (guint i = 0; i < mhar_dataset_n_attributes (wrote); i++) {
    const MharAttribute *attribute = mhar_dataset_attribute (wrote, i);
    g_assert_cmpstr (attribute->name, ==, mhar_dataset_attribute (read, i)->name);
    assert_same_attribute (attribute, read);
  }
  for (guint i = 0; i < mhar_dataset_n_fields (wrote); i++) {
    const MharField *field = mhar_dataset_field (wrote, i);
    g_assert_nonnull (mhar_dataset_get (read, field->name));
    assert_same_field (field, mhar_dataset_get (read, field->name));
  }
  for (guint i = 0; i < mhar_dataset_n_children (wrote); i++) {
    const MharDataset *child = mhar_dataset_child (wrote, i);
    g_assert_nonnull (mhar_dataset_find_child (read, mhar_dataset_name (child)));
    assert_same_dataset (child, mhar_dataset_find_child (read, mhar_dataset_name (child)));
  }
}

/* ---- there and back ---- */

static void
test_round_trip (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = scratch_path ("sample.h5");
  const char *const skip[] = { "sums", "capture", NULL };
  g_assert_true (write_sample (path, &error));
  g_assert_no_error (error);
  g_autoptr (MharDataset) wrote = sample_root ();
  g_autoptr (MharDataset) read = mhar_h5_read (path, skip, &error);
  g_assert_no_error (error);
  assert_same_dataset (wrote, read);
  g_assert_cmpstr (mhar_dataset_string (read, "default"), ==, "checkpoint_0");

  MharDataset *first = mhar_dataset_find_child (read, "checkpoint_0");
  g_assert_cmpuint (mhar_dataset_n_children (first), ==, 0); /* skipped */
  const MharField *index = mhar_dataset_get (first, "output_b");
  g_assert_cmpstr (index->long_name, ==, "index along output_b");
  g_assert_cmpstr (index->units, ==, "1");
  g_assert_cmpint (index->data.i32[OUTPUTS - 1], ==, OUTPUTS - 1);

  /* What was read can be written, to the same bytes of meaning. */
  g_autofree char *again = scratch_path ("again.h5");
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (again, &error);
  g_assert_true (mhar_h5_writer_write (writer, read, &error) && mhar_h5_writer_commit (writer, &error));
  g_assert_no_error (error);
  g_autoptr (MharDataset) reread = mhar_h5_read (again, NULL, &error);
  g_assert_no_error (error);
  assert_same_dataset (read, reread);
}

static void
test_appended (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = scratch_path ("sample.h5");
  g_assert_true (write_sample (path, &error));
  g_autoptr (MharDataset) read = mhar_h5_read (path, NULL, &error);
  g_assert_no_error (error);
  MharDataset *checkpoint = mhar_dataset_find_child (read, "checkpoint_0");
  MharDataset *sums = mhar_dataset_find_child (checkpoint, "sums");
  const MharField *sum = mhar_dataset_get (sums, "weight_sum");
  gsize row = SITES * HEADS * SOURCES;
  g_assert_cmpuint (mhar_field_dim (sum, "window"), ==, WINDOWS);
  for (gsize i = 0; i < WINDOWS * row; i++)
    g_assert_cmpfloat (sum->data.f64[i], ==, (double)(i / row) + (double)(i % row) / 7);
  g_assert_cmpint (mhar_dataset_get (sums, "window")->data.i32[4], ==, 40);

  MharDataset *capture = mhar_dataset_find_child (checkpoint, "capture");
  const MharField *weight = mhar_dataset_get (capture, "weight");
  double worst = 0;
  g_assert_cmpint (weight->type, ==, MHAR_FIELD_F32);
  g_assert_cmpuint (mhar_field_length (weight), ==, TOKENS * row);
  for (gsize i = 0; i < TOKENS * row; i++) {
    double x = captured (i / row, i % row);
    worst = MAX (worst, fabs (weight->data.f32[i] - x) / (x * 0x1p-11 + 0x1p-25));
  }
  g_test_message ("half: max error = %.1f %% of half a unit in the last place", 100 * worst);
  g_assert_cmpfloat (worst, <=, 1);
  g_assert_cmpint (mhar_dataset_get (capture, "position")->data.i32[TOKENS - 1], ==, TOKENS - 1);
  g_assert_cmpint (mhar_dataset_get (capture, "site")->data.i32[SITES - 1], ==, SITES - 1);
  g_assert_cmpint (mhar_dataset_get (capture, "token")->data.i32[TOKENS - 1], ==, 1000 + TOKENS - 1);
  g_assert_cmpstr (mhar_dataset_get (capture, "token_text")->data.str[99], ==, "");
  g_assert_cmpstr (mhar_dataset_get (capture, "token_text")->data.str[TOKENS - 2], ==, "t698");
}

static void
test_empty (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = scratch_path ("empty.h5");
  g_autoptr (MharDataset) root = mhar_dataset_new ("/");
  MharDataset *set = mhar_dataset_new ("checkpoint_0");
  mhar_dataset_add (set, field_new ("nowhere", "1", MHAR_FIELD_F32, "none head", 0));
  mhar_dataset_add (set, field_new ("label", "", MHAR_FIELD_STRING, "none", 0));
  mhar_dataset_add (set, mhar_field_new ("loss", "loss", "nat", MHAR_FIELD_F64, 0, NULL, NULL))->data.f64[0] = 1.5;
  mhar_dataset_add_child (root, set);
  g_autoptr (MharDataset) slab = mhar_dataset_new ("sums");
  mhar_dataset_add (slab, field_new ("sum", "1", MHAR_FIELD_F64, "window none", 3));
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, &error);
  g_assert_true (mhar_h5_writer_append (writer, "checkpoint_0/sums", slab, FALSE, &error));
  g_assert_true (mhar_h5_writer_append (writer, "checkpoint_0/sums", slab, FALSE, &error));
  g_assert_true (mhar_h5_writer_write (writer, root, &error));
  g_assert_true (mhar_h5_writer_commit (writer, &error));
  g_assert_no_error (error);
  g_autoptr (MharDataset) read = mhar_h5_read (path, NULL, &error);
  g_assert_no_error (error);
  assert_same_dataset (root, read);
  MharDataset *sums = mhar_dataset_find_child (mhar_dataset_find_child (read, "checkpoint_0"), "sums");
  g_assert_cmpuint (mhar_dataset_get (sums, "sum")->shape[0], ==, 6);
  g_assert_cmpuint (mhar_dataset_get (sums, "sum")->shape[1], ==, 0);
}

/* More attributes, strings and bytes than HDF5 keeps in an object's head; text that is not UTF-8. */
static void
test_many_attributes (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = scratch_path ("many.h5");
  g_autoptr (MharDataset) root = mhar_dataset_new ("/");
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (int i = 0; i < 6000; i++) {
    g_autofree char *text = g_strdup_printf ("warning %d", i);
    g_strv_builder_add (builder, text);
  }
  g_auto (GStrv) texts = g_strv_builder_end (builder);
  g_autofree char *config = g_strnfill (300000, 'x');
  mhar_dataset_set_strings (root, "warnings", (const char *const *)texts);
  mhar_dataset_set_string (root, "config", config);
  for (int i = 0; i < 100; i++) {
    g_autofree char *name = g_strdup_printf ("scalar_%d", i);
    mhar_dataset_set_real (root, name, i / 3.0);
  }
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, &error);
  g_assert_true (mhar_h5_writer_write (writer, root, &error) && mhar_h5_writer_commit (writer, &error));
  g_autoptr (MharDataset) read = mhar_h5_read (path, NULL, &error);
  g_assert_no_error (error);
  assert_same_dataset (root, read);

  mhar_dataset_set_string (root, "latin", "caf\xe9");
  g_autoptr (MharH5Writer) second = mhar_h5_writer_new (path, &error);
  g_assert_true (mhar_h5_writer_write (second, root, &error) && mhar_h5_writer_commit (second, &error));
  g_autoptr (MharDataset) again = mhar_h5_read (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (mhar_dataset_string (again, "latin"), ==, "caf\xef\xbf\xbd");
}

/* Every half there is comes back from its float; floats between two of them go to the nearer, a tie to the even one. */
static double
half_value (guint16 half)
{
  int exponent = half >> 10 & 31;
  double mantissa = half & 1023;
  double size = exponent == 0 ? ldexp (mantissa, -24) : ldexp (1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -size : size;
}

static void
test_half (void)
{
  for (guint h = 0; h < 0x7c00; h++) {
    double low = half_value ((guint16)h), high = h + 1 < 0x7c00 ? half_value ((guint16)(h + 1)) : 65536;
    float tie = (float)((low + high) / 2);
    g_assert_cmpuint (mhar_h5_half ((float)low), ==, h);
    g_assert_cmpuint (mhar_h5_half (-(float)low), ==, h | 0x8000);
    g_assert_cmpuint (mhar_h5_half (nextafterf (tie, 0)), ==, h);
    g_assert_cmpuint (mhar_h5_half (tie), ==, h + (h & 1));
    g_assert_cmpuint (mhar_h5_half (nextafterf (tie, INFINITY)), ==, h + 1);
  }
  g_assert_cmpuint (mhar_h5_half (INFINITY), ==, 0x7c00);
  g_assert_cmpuint (mhar_h5_half (-INFINITY), ==, 0xfc00);
  g_assert_cmpuint (mhar_h5_half (1e30f), ==, 0x7c00);
  g_assert_cmpuint (mhar_h5_half (1e-40f), ==, 0);
  g_assert_cmpuint (mhar_h5_half (NAN) & 0x7fff, >, 0x7c00);
}

/* ---- what the file is made of ---- */

static void
test_layout (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = scratch_path ("layout.h5");
  g_assert_true (write_sample (path, &error));
  g_auto (MharH5Id) file = H5Fopen (path, H5F_ACC_RDONLY, H5P_DEFAULT);
  g_auto (MharH5Id) cosine = H5Dopen2 (file, "checkpoint_0/cosine", H5P_DEFAULT);
  g_auto (MharH5Id) list = H5Dget_create_plist (cosine);
  unsigned order, flags, values[8], config;
  size_t n_values = 8;
  float fill = 0;
  g_assert_cmpint (H5Pget_layout (list), ==, H5D_CHUNKED);
  g_assert_cmpint (H5Pget_nfilters (list), ==, 2);
  g_assert_cmpint (H5Pget_filter2 (list, 0, &flags, &n_values, values, 0, NULL, &config), ==, H5Z_FILTER_SHUFFLE);
  n_values = 8;
  g_assert_cmpint (H5Pget_filter2 (list, 1, &flags, &n_values, values, 0, NULL, &config), ==, H5Z_FILTER_DEFLATE);
  g_assert_cmpuint (values[0], ==, 4);
  g_assert_cmpint (H5Pget_fill_value (list, H5T_NATIVE_FLOAT, &fill), >=, 0);
  g_assert_true (isnan (fill));
  H5Pget_attr_creation_order (list, &order);
  g_assert_cmpuint (order, ==, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);

  g_auto (MharH5Id) weight = H5Dopen2 (file, "checkpoint_0/weight", H5P_DEFAULT);
  g_auto (MharH5Id) plain = H5Dget_create_plist (weight);
  g_assert_cmpint (H5Pget_layout (plain), ==, H5D_CONTIGUOUS); /* small */
  g_auto (MharH5Id) captured_weight = H5Dopen2 (file, "checkpoint_0/capture/weight", H5P_DEFAULT);
  g_auto (MharH5Id) type = H5Dget_type (captured_weight);
  g_assert_cmpuint (H5Tget_size (type), ==, 2);
  g_auto (MharH5Id) space = H5Dget_space (captured_weight);
  hsize_t shape[4], most[4];
  g_assert_cmpint (H5Sget_simple_extent_dims (space, shape, most), ==, 4);
  g_assert_true (most[0] == H5S_UNLIMITED && most[1] == SITES);

  g_auto (MharH5Id) group = H5Gopen2 (file, "checkpoint_0", H5P_DEFAULT);
  g_auto (MharH5Id) group_list = H5Gget_create_plist (group);
  H5Pget_link_creation_order (group_list, &order);
  g_assert_cmpuint (order, ==, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  g_auto (MharH5Id) top = H5Gopen2 (file, "/", H5P_DEFAULT);
  g_auto (MharH5Id) top_list = H5Gget_create_plist (top);
  H5Pget_link_creation_order (top_list, &order);
  g_assert_cmpuint (order, ==, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
}

/* ---- where the file goes ---- */

static void
test_replaces_whole (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = scratch_path ("replace");
  g_autofree char *path = g_build_filename (folder, "r.h5", NULL);
  struct stat status;
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  mode_t mask = umask (022);
  g_assert_true (write_sample (path, &error));
  g_assert_cmpint (g_stat (path, &status), ==, 0);
  g_assert_cmpuint (status.st_mode & 0777, ==, 0644); /* as any new file */
  umask (mask);

  /* Without a commit the old file stays and the new one goes. */
  g_assert_cmpint (g_chmod (path, 0600), ==, 0);
  g_assert_true (g_file_set_contents (path, "old", -1, NULL));
  g_assert_cmpint (g_chmod (path, 0600), ==, 0);
  MharH5Writer *writer = mhar_h5_writer_new (path, &error);
  g_autoptr (MharDataset) root = sample_root ();
  g_assert_true (mhar_h5_writer_write (writer, root, &error));
  g_assert_false (mhar_h5_writer_write (writer, root, NULL)); /* twice */
  g_assert_false (mhar_h5_writer_commit (writer, NULL));      /* after a failure */
  mhar_h5_writer_free (writer);
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "old");
  g_assert_cmpuint (count_entries (folder), ==, 1);

  /* With one it is replaced and keeps its permissions. */
  g_assert_true (write_sample (path, &error));
  g_assert_cmpint (g_stat (path, &status), ==, 0);
  g_assert_cmpuint (status.st_mode & 0777, ==, 0600);
  g_assert_cmpuint (count_entries (folder), ==, 1);
}

static void
test_symbolic_link (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *real = scratch_path ("real.h5");
  g_autofree char *link = scratch_path ("link.h5");
  g_autofree char *nowhere = scratch_path ("nowhere.h5");
  g_assert_true (g_file_set_contents (real, "old", -1, NULL));
  g_assert_cmpint (symlink ("real.h5", link), ==, 0);
  g_assert_true (write_sample (link, &error));
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_autoptr (MharDataset) read = mhar_h5_read (real, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (read);
  g_assert_cmpint (symlink ("gone.h5", nowhere), ==, 0);
  g_assert_false (write_sample (nowhere, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
}

static void
assert_refused (const char *path, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (mhar_h5_writer_new (path, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, part));
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_refused_targets (void)
{
  g_autofree char *fifo = scratch_path ("fifo");
  g_autofree char *missing = scratch_path ("no/such/folder.h5");
  g_autofree char *slash = scratch_path ("name/");
  g_autofree char *file = scratch_path ("file");
  g_autofree char *below = scratch_path ("file/x.h5");
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  g_assert_true (g_file_set_contents (file, "x", -1, NULL));
  assert_refused (fifo, "not a regular file");
  assert_refused ("/dev/null", "not a regular file");
  assert_refused (scratch, "folder");
  assert_refused (missing, "there is no folder");
  assert_refused (slash, "not the name of a file");
  assert_refused ("", "not the name of a file");
  assert_refused (below, "there is no folder");
}

static void
test_long_name (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strnfill (255, 'n');
  g_autofree char *path = scratch_path (name);
  g_assert_true (write_sample (path, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_unlink (path), ==, 0);
}

/* ---- wrong datasets ---- */

static void
assert_set_refused (MharDataset *set, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MharDataset) root = mhar_dataset_new ("/");
  g_autofree char *path = scratch_path ("refused.h5");
  mhar_dataset_add_child (root, set);
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, &error);
  g_assert_false (mhar_h5_writer_write (writer, root, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, part));
  g_assert_false (mhar_h5_writer_commit (writer, NULL));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static void
test_refused_datasets (void)
{
  MharDataset *set = mhar_dataset_new ("a");
  mhar_dataset_add (set, field_new ("x", "1", MHAR_FIELD_F32, "site", 3));
  mhar_dataset_add (set, field_new ("y", "1", MHAR_FIELD_F32, "site", 4));
  assert_set_refused (set, "y has 4 site");
  set = mhar_dataset_new ("a");
  mhar_dataset_add (set, field_new ("site", "", MHAR_FIELD_STRING, "site", 0));
  assert_set_refused (set, "site is named as a dimension");
  set = mhar_dataset_new ("a");
  mhar_dataset_add (set, field_new ("site", "1", MHAR_FIELD_F32, "site head", 0));
  assert_set_refused (set, "site is named as a dimension");
}

static void
assert_slab_refused (MharH5Writer **writer, const MharDataset *slab, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (mhar_h5_writer_append (*writer, "sums", slab, FALSE, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_RUN);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, part));
  g_clear_pointer (writer, mhar_h5_writer_free);
}

static void
test_refused_slabs (void)
{
  g_autofree char *path = scratch_path ("slabs.h5");
  g_autoptr (MharDataset) empty = mhar_dataset_new ("sums");
  g_autoptr (MharDataset) good = sums_slab (0);
  g_autoptr (MharDataset) mixed = sums_slab (0);
  g_autoptr (MharDataset) less = mhar_dataset_new ("sums");
  mhar_dataset_add (mixed, field_new ("x", "1", MHAR_FIELD_F32, "site head", 0));
  mhar_dataset_add (less, field_new ("other", "1", MHAR_FIELD_F32, "window", 1));
  MharH5Writer *writer = mhar_h5_writer_new (path, NULL);
  assert_slab_refused (&writer, empty, "no variable");
  writer = mhar_h5_writer_new (path, NULL);
  assert_slab_refused (&writer, mixed, "window first");
  writer = mhar_h5_writer_new (path, NULL);
  g_assert_true (mhar_h5_writer_append (writer, "sums", good, FALSE, NULL));
  assert_slab_refused (&writer, less, "weight_sum");
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* ---- full disks ---- */

/* Appends until the disk is full, or 512 MB; then does what a program does on an error. */
static gboolean
fill (const char *path, gboolean append, GError **error)
{
  g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, error);
  if (writer == NULL)
    return FALSE;
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  g_autoptr (MharDataset) root = sample_root ();
  MharDataset *big = mhar_dataset_find_child (root, append ? "provenance" : "checkpoint_1");
  MharField *field = field_new ("noise", "1", MHAR_FIELD_F32, "sample site", 40000);
  for (gsize i = 0; i < mhar_field_length (field); i++)
    field->data.f32[i] = (float)g_rand_double (random);
  if (!append) {
    mhar_dataset_add (big, field);
    return mhar_h5_writer_write (writer, root, error) && mhar_h5_writer_commit (writer, error);
  }
  g_autoptr (MharDataset) slab = mhar_dataset_new ("noise");
  mhar_dataset_add (slab, field);
  for (int i = 0; i < 512; i++)
    if (!mhar_h5_writer_append (writer, "noise", slab, FALSE, error))
      return FALSE;
  return mhar_h5_writer_write (writer, root, error) && mhar_h5_writer_commit (writer, error);
}

/* In a process of its own, whose exit shows that HDF5 leaves in peace. */
static void
assert_full (const char *folder, rlim_t limit, gboolean append)
{
  g_autofree char *path = g_build_filename (folder, "full.h5", NULL);
  guint before = count_entries (folder);
  pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0) {
    g_autoptr (GError) error = NULL;
    struct rlimit sizes = { limit, limit };
    if (limit > 0 && setrlimit (RLIMIT_FSIZE, &sizes) != 0)
      _exit (90);
    if (fill (path, append, &error))
      _exit (91);
    if (!g_error_matches (error, MHAR_ERROR, MHAR_ERROR_RUN) || strstr (error->message, "full.h5: ") == NULL
        || strstr (error->message, limit > 0 ? g_strerror (EFBIG) : g_strerror (ENOSPC)) == NULL)
      _exit (92);
    exit (H5close () < 0 ? 93 : 0);
  }
  int status = 0;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  g_assert_cmpuint (count_entries (folder), ==, before); /* neither the file nor its unfinished name */
}

static void
test_size_limit (void)
{
  g_autofree char *folder = scratch_path ("limited");
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  /* The head, the middle of the metadata, the values, the last flush. */
  const rlim_t limits[] = { 1, 512, 4096, 20000, 65536, 300000, 1000000 };
  for (gsize i = 0; i < G_N_ELEMENTS (limits); i++) {
    assert_full (folder, limits[i], FALSE);
    assert_full (folder, limits[i], TRUE);
  }
}

static void
test_full_disk (void)
{
  g_autofree char *folder = scratch_path ("full");
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  const char *const sizes[] = { "size=4k", "size=64k", "size=512k", "size=1m" };
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++) {
    if (mount ("none", folder, "tmpfs", 0, sizes[i]) != 0) {
      g_test_skip ("only root can mount a small disk");
      return;
    }
    assert_full (folder, 0, FALSE);
    assert_full (folder, 0, TRUE);
    g_assert_cmpint (umount (folder), ==, 0);
  }
}

/* ---- files that are not ours, or damaged ---- */

static void
assert_unreadable (const char *path, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (mhar_h5_read (path, NULL, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, part));
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_not_ours (void)
{
  g_autofree char *path = scratch_path ("other.h5");
  g_autofree char *fifo = scratch_path ("pipe");
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  assert_unreadable (fifo, "not a regular file");
  assert_unreadable ("/dev/zero", "not a regular file");
  assert_unreadable (scratch, "not a regular file");
  assert_unreadable ("/nonexistent/x.h5", "cannot open");
  g_assert_true (g_file_set_contents (path, "hello", -1, NULL));
  assert_unreadable (path, "not an HDF5 file");
  g_assert_true (g_file_set_contents (path, "\211HDF\r\n\032\n", 8, NULL));
  assert_unreadable (path, "not an HDF5 file");
  g_assert_true (g_file_set_contents (path, "\211HDF\r\n\032\n\002", 9, NULL));
  assert_unreadable (path, "damaged or cut off");
  g_auto (MharH5Id) access = H5Pcreate (H5P_FILE_ACCESS);
  g_auto (MharH5Id) file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Fflush (file, H5F_SCOPE_GLOBAL);
  H5Fclose (file);
  assert_unreadable (path, "of a newer format");
  H5Pset_libver_bounds (access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Fflush (file, H5F_SCOPE_GLOBAL);
  H5Fclose (file);
  file = H5I_INVALID_HID;
  assert_unreadable (path, "no attribute mhar_schema");
}

static void
test_schema (void)
{
  g_autofree char *path = scratch_path ("schema.h5");
  const gint64 schemas[] = { 2, 0 };
  for (gsize i = 0; i < 2; i++) {
    g_autoptr (MharDataset) root = mhar_dataset_new ("/");
    mhar_dataset_set_integer (root, "mhar_schema", schemas[i]);
    g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, NULL);
    g_assert_true (mhar_h5_writer_write (writer, root, NULL) && mhar_h5_writer_commit (writer, NULL));
    assert_unreadable (path, i == 0 ? "newer mhar-probe (schema 2); update" : "not a schema number");
  }
}

/* Adds to a file of ours what other programs might: it is left out and the rest is read. */
static void
test_extras (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = scratch_path ("extras.h5");
  g_assert_true (write_sample (path, &error));
  g_auto (MharH5Id) file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
  hsize_t shape[6] = { 2, 2, 2, 2, 2, 2 };
  g_auto (MharH5Id) six = H5Screate_simple (6, shape, NULL);
  g_auto (MharH5Id) none = H5Screate (H5S_NULL);
  g_auto (MharH5Id) compound = H5Tcreate (H5T_COMPOUND, 16);
  H5Tinsert (compound, "a", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert (compound, "b", 8, H5T_NATIVE_DOUBLE);
  g_auto (MharH5Id) a
      = H5Dcreate2 (file, "checkpoint_0/six", H5T_NATIVE_FLOAT, six, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  g_auto (MharH5Id) b = H5Dcreate2 (file, "checkpoint_0/pair", compound, six, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  g_auto (MharH5Id) c = H5Acreate2 (file, "pair", compound, six, H5P_DEFAULT, H5P_DEFAULT);
  g_auto (MharH5Id) d = H5Acreate2 (file, "null", H5T_NATIVE_INT, none, H5P_DEFAULT, H5P_DEFAULT);
  g_assert_true (a >= 0 && b >= 0 && c >= 0 && d >= 0);
  g_assert_cmpint (H5Lcreate_soft ("/nowhere", file, "soft", H5P_DEFAULT, H5P_DEFAULT), >=, 0);
  g_assert_cmpint (H5Lcreate_external ("/etc/passwd", "/", file, "external", H5P_DEFAULT, H5P_DEFAULT), >=, 0);
  H5Fflush (file, H5F_SCOPE_GLOBAL);
  const char *const skip[] = { "capture", NULL };
  g_autoptr (MharDataset) read = mhar_h5_read (path, skip, &error);
  g_assert_no_error (error);
  g_autoptr (MharDataset) wrote = sample_root ();
  assert_same_dataset (wrote, read);
  g_assert_null (mhar_dataset_get (mhar_dataset_find_child (read, "checkpoint_0"), "six"));
}

/* A group that holds itself must end. */
static void
test_cycle (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = scratch_path ("cycle.h5");
  g_assert_true (write_sample (path, &error));
  g_auto (MharH5Id) file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
  g_assert_cmpint (H5Lcreate_hard (file, "/", file, "checkpoint_0/up", H5P_DEFAULT, H5P_DEFAULT), >=, 0);
  g_assert_cmpint (H5Lcreate_hard (file, "/", file, "checkpoint_1/up", H5P_DEFAULT, H5P_DEFAULT), >=, 0);
  H5Fflush (file, H5F_SCOPE_GLOBAL);
  assert_unreadable (path, "");
}

static hid_t
huge_variable (hid_t file, const char *name, hsize_t length, hsize_t chunk)
{
  g_auto (MharH5Id) list = H5Pcreate (H5P_DATASET_CREATE);
  g_auto (MharH5Id) space = H5Screate_simple (1, &length, NULL);
  if (chunk > 0)
    H5Pset_chunk (list, 1, &chunk);
  return H5Dcreate2 (file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
}

/* Sizes that the file cannot hold are refused before memory is taken for them. */
static void
test_implausible (void)
{
  const hsize_t sizes[][2] = { { 1ull << 40, 0 }, { 1ull << 27, 0 }, { 1ull << 27, 1ull << 27 }, { 1ull << 27, 1 } };
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *path = scratch_path ("implausible.h5");
    g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (path, NULL);
    g_autoptr (MharDataset) root = mhar_dataset_new ("/");
    g_assert_true (mhar_h5_writer_write (writer, root, NULL) && mhar_h5_writer_commit (writer, NULL));
    g_auto (MharH5Id) file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
    g_auto (MharH5Id) variable = huge_variable (file, "big", sizes[i][0], sizes[i][1]);
    g_assert_cmpint (variable, >=, 0);
    H5Fflush (file, H5F_SCOPE_GLOBAL);
    assert_unreadable (path, "big");
  }
}

/* Both halves of reading in this process, which is quicker by far. */
static void
read_any (const char *path)
{
  g_autoptr (GError) error = NULL;
  int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  FILE *between = tmpfile ();
  g_assert_nonnull (between);
  g_assert_true (mhar_h5_serve (fd, path, NULL, between));
  rewind (between);
  g_autoptr (MharDataset) set = mhar_h5_accept (between, path, &error);
  fclose (between);
  g_assert_true ((set == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
}

/* Cut at many lengths: never read as whole. */
static void
test_cut (void)
{
  g_autofree char *path = scratch_path ("sample.h5");
  g_autofree char *cut = scratch_path ("cut.h5");
  g_autofree char *bytes = NULL;
  gsize length;
  g_assert_true (write_sample (path, NULL));
  g_assert_true (g_file_get_contents (path, &bytes, &length, NULL));
  for (gsize n = 0; n < length; n += 1 + n / 16) {
    g_autoptr (GError) error = NULL;
    g_assert_true (g_file_set_contents (cut, bytes, (gssize)n, NULL));
    g_assert_null (mhar_h5_read (cut, NULL, &error));
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
  }
}

/* The heap of texts has no checksum: each number in it is made wrong in turn. */
static void
test_damaged_heap (void)
{
  g_autofree char *path = scratch_path ("sample.h5");
  g_autofree char *hurt = scratch_path ("heap.h5");
  g_autofree char *bytes = NULL;
  gsize length;
  g_assert_true (write_sample (path, NULL));
  g_assert_true (g_file_get_contents (path, &bytes, &length, NULL));
  char *heap = memmem (bytes, length, "GCOL", 4);
  g_assert_nonnull (heap);
  /* Signature, version, high byte of the heap's size, of its first object's size: none can be right. */
  const gsize places[] = { 0, 4, 15, 31 };
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++) {
    char kept = heap[places[i]];
    heap[places[i]] = 0x7f;
    g_assert_true (g_file_set_contents (hurt, bytes, (gssize)length, NULL));
    assert_unreadable (hurt, "damaged");
    heap[places[i]] = kept;
  }
  /* Low bytes of the sizes and of the index, which may be. */
  const gsize maybe[] = { 8, 16, 24 };
  for (int value = 0; value < 256; value++)
    for (gsize i = 0; i < G_N_ELEMENTS (maybe); i++) {
      char kept = heap[maybe[i]];
      heap[maybe[i]] = (char)value;
      g_assert_true (g_file_set_contents (hurt, bytes, (gssize)length, NULL));
      read_any (hurt);
      heap[maybe[i]] = kept;
    }
}

/* Bytes changed at random, a round each: reading gives a dataset or a sentence. Never returns. */
static void
damage_rounds (const char *bytes, gsize length, const char *hurt, int n)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20240607);
  for (int round = 0; round < n; round++) {
    g_autofree char *copy = g_memdup2 (bytes, length);
    for (int i = g_rand_int_range (random, 1, 8); i > 0; i--)
      copy[g_rand_int_range (random, 0, (gint32)length)] = (char)g_rand_int_range (random, 0, 256);
    g_assert_true (g_file_set_contents (hurt, copy, (gssize)length, NULL));
    read_any (hurt);
  }
  _exit (0);
}

/* In a process of its own, because HDF5 loses memory of its own where a file is damaged, which is not for us to report.
 */
static void
test_damaged (void)
{
  g_autofree char *path = scratch_path ("sample.h5");
  g_autofree char *hurt = scratch_path ("hurt.h5");
  g_autofree char *bytes = NULL;
  gsize length;
  int status = 0;
  const char *rounds = g_getenv ("MHAR_TEST_DAMAGE_ROUNDS");
  g_assert_true (write_sample (path, NULL));
  g_assert_true (g_file_get_contents (path, &bytes, &length, NULL));
  pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    damage_rounds (bytes, length, hurt, rounds != NULL ? atoi (rounds) : 300);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

/* ---- running ---- */

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
      remove_folder (path);
    else
      g_unlink (path);
  }
  g_rmdir (folder);
}

static void
add_tests (void)
{
  g_test_add_func ("/h5file/round-trip", test_round_trip);
  g_test_add_func ("/h5file/appended", test_appended);
  g_test_add_func ("/h5file/empty", test_empty);
  g_test_add_func ("/h5file/many-attributes", test_many_attributes);
  g_test_add_func ("/h5file/half", test_half);
  g_test_add_func ("/h5file/layout", test_layout);
  g_test_add_func ("/h5file/target/replaces-whole", test_replaces_whole);
  g_test_add_func ("/h5file/target/symbolic-link", test_symbolic_link);
  g_test_add_func ("/h5file/target/refused", test_refused_targets);
  g_test_add_func ("/h5file/target/long-name", test_long_name);
  g_test_add_func ("/h5file/refused/datasets", test_refused_datasets);
  g_test_add_func ("/h5file/refused/slabs", test_refused_slabs);
  g_test_add_func ("/h5file/full/size-limit", test_size_limit);
  g_test_add_func ("/h5file/full/disk", test_full_disk);
  g_test_add_func ("/h5file/read/not-ours", test_not_ours);
  g_test_add_func ("/h5file/read/schema", test_schema);
  g_test_add_func ("/h5file/read/extras", test_extras);
  g_test_add_func ("/h5file/read/cycle", test_cycle);
  g_test_add_func ("/h5file/read/implausible", test_implausible);
  g_test_add_func ("/h5file/read/cut", test_cut);
  g_test_add_func ("/h5file/read/damaged-heap", test_damaged_heap);
  g_test_add_func ("/h5file/read/damaged", test_damaged);
}

int
main (int argc, char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "--write")) {
    g_autoptr (GError) error = NULL;
    if (write_sample (argv[2], &error))
      return 0;
    g_printerr ("%s\n", error->message);
    return 1;
  }
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("mhar-h5-XXXXXX", NULL);
  g_assert_nonnull (scratch);
  add_tests ();
  int status = g_test_run ();
  remove_folder (scratch);
  g_free (scratch);
  return status;
}
