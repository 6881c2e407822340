/* SPDX-License-Identifier: MIT */
/* Fields and datasets: shapes, missing values, replacement, order, ownership; from one process to another. */
#include "core/dataset-stream.h"
#include "core/field.h"

#include <math.h>
#include <string.h>

#define MOST 4096 /* bytes of arrays in a stream */

static const char *const dims[] = { "site", "head", "source" };

static void
test_new (void)
{
  const gsize shape[] = { 2, 3, 4 };
  g_autoptr (MharField) f32 = mhar_field_new ("weight", "routing weight", "1", MHAR_FIELD_F32, 3, dims, shape);
  g_autoptr (MharField) f64 = mhar_field_new ("sum", "sum", "1", MHAR_FIELD_F64, 2, dims, shape);
  g_autoptr (MharField) i32 = mhar_field_new ("n", "count", "1", MHAR_FIELD_I32, 1, dims, shape);
  g_autoptr (MharField) str = mhar_field_new ("label", "label", "", MHAR_FIELD_STRING, 1, dims, shape);
  g_assert_cmpuint (mhar_field_length (f32), ==, 24);
  g_assert_cmpuint (mhar_field_dim (f32, "source"), ==, 4);
  g_assert_cmpuint (mhar_field_dim (f32, "slice"), ==, 0);
  for (gsize i = 0; i < 24; i++)
    g_assert_true (isnan (mhar_field_value (f32, i)));
  for (gsize i = 0; i < 6; i++)
    g_assert_true (isnan (mhar_field_value (f64, i)));
  g_assert_cmpfloat (mhar_field_value (i32, 1), ==, 0);
  g_assert_true (isnan (mhar_field_value (str, 0)));
  g_assert_null (str->data.str[1]);
  f32->data.f32[23] = 0.5f;
  i32->data.i32[1] = -7;
  g_assert_cmpfloat (mhar_field_value (f32, 23), ==, 0.5);
  g_assert_cmpfloat (mhar_field_value (i32, 1), ==, -7);
}

static void
test_empty_and_scalar (void)
{
  const gsize shape[] = { 0, 3 };
  g_autoptr (MharField) empty = mhar_field_new ("weight", NULL, NULL, MHAR_FIELD_STRING, 2, dims, shape);
  g_autoptr (MharField) scalar = mhar_field_new ("loss", "loss", "nat", MHAR_FIELD_F64, 0, NULL, NULL);
  g_assert_cmpuint (mhar_field_length (empty), ==, 0);
  g_assert_nonnull (empty->data.any);
  g_assert_cmpstr (empty->units, ==, "");
  g_assert_cmpuint (mhar_field_length (scalar), ==, 1);
  g_assert_true (isnan (scalar->data.f64[0]));
}

static void
test_fields_of_a_dataset (void)
{
  const gsize shape[] = { 2 };
  g_autoptr (MharDataset) set = mhar_dataset_new ("checkpoint_0");
  MharField *first = mhar_dataset_add (set, mhar_field_new ("a", "", "", MHAR_FIELD_I32, 1, dims, shape));
  mhar_dataset_add (set, mhar_field_new ("b", "", "", MHAR_FIELD_I32, 1, dims, shape));
  g_assert_true (mhar_dataset_get (set, "a") == first);
  MharField *again = mhar_dataset_add (set, mhar_field_new ("a", "anew", "", MHAR_FIELD_F32, 1, dims, shape));
  g_assert_cmpuint (mhar_dataset_n_fields (set), ==, 2);
  g_assert_true (mhar_dataset_field (set, 0) == again); /* in the place of the old one */
  g_assert_cmpstr (mhar_dataset_field (set, 1)->name, ==, "b");
  g_assert_true (mhar_dataset_add (set, again) == again); /* once more does no harm */
  g_assert_cmpuint (mhar_dataset_n_fields (set), ==, 2);
  g_assert_null (mhar_dataset_get (set, "c"));
}

static void
test_attributes (void)
{
  const char *const warnings[] = { "one", "two", NULL };
  g_autoptr (MharDataset) set = mhar_dataset_new ("x");
  mhar_dataset_set_string (set, "path", "/a");
  mhar_dataset_set_integer (set, "layers", 12);
  mhar_dataset_set_real (set, "loss", 2.5);
  mhar_dataset_set_strings (set, "warnings", warnings);
  mhar_dataset_set_strings (set, "none", NULL);
  g_assert_cmpstr (mhar_dataset_string (set, "path"), ==, "/a");
  g_assert_cmpint (mhar_dataset_integer (set, "layers", 0), ==, 12);
  g_assert_cmpfloat (mhar_dataset_real (set, "layers", 0), ==, 12); /* an integer is a real too */
  g_assert_cmpfloat (mhar_dataset_real (set, "loss", 0), ==, 2.5);
  g_assert_cmpint (mhar_dataset_integer (set, "loss", -1), ==, -1); /* but not the other way round */
  g_assert_null (mhar_dataset_string (set, "layers"));
  g_assert_null (mhar_dataset_strings (set, "path"));
  g_assert_cmpstr (mhar_dataset_strings (set, "warnings")[1], ==, "two");
  g_assert_cmpuint (g_strv_length ((char **)mhar_dataset_strings (set, "none")), ==, 0);

  /* Another type in the old place; a value that is the old one. */
  mhar_dataset_set_real (set, "path", 1);
  g_assert_cmpstr (mhar_dataset_attribute (set, 0)->name, ==, "path");
  g_assert_null (mhar_dataset_string (set, "path"));
  mhar_dataset_set_strings (set, "warnings", mhar_dataset_strings (set, "warnings"));
  g_assert_cmpstr (mhar_dataset_strings (set, "warnings")[0], ==, "one");
  g_assert_cmpuint (mhar_dataset_n_attributes (set), ==, 5);
}

static void
test_children (void)
{
  MharDataset *root = mhar_dataset_new ("/");
  MharDataset *child = mhar_dataset_new ("checkpoint_0");
  mhar_dataset_add_child (root, mhar_dataset_ref (child));
  mhar_dataset_add_child (root, mhar_dataset_new ("provenance"));
  g_assert_cmpuint (mhar_dataset_n_children (root), ==, 2);
  g_assert_true (mhar_dataset_child (root, 0) == child);
  g_assert_cmpstr (mhar_dataset_name (mhar_dataset_find_child (root, "provenance")), ==, "provenance");
  g_assert_null (mhar_dataset_find_child (root, "checkpoint_1"));
  mhar_dataset_unref (root);
  g_assert_cmpstr (mhar_dataset_name (child), ==, "checkpoint_0"); /* our reference holds it */
  mhar_dataset_unref (child);
}

static void
test_lost (void)
{
  g_autoptr (MharDataset) set = mhar_dataset_new ("x");

  g_assert_false (mhar_dataset_is_lost (set, "weight"));
  mhar_dataset_note_lost (set, "weight");
  mhar_dataset_note_lost (set, "weight");
  g_assert_true (mhar_dataset_is_lost (set, "weight"));
  g_assert_false (mhar_dataset_is_lost (set, "entropy"));
}

/* ---- from one process to another ---- */

/* One of everything. */
static MharDataset *
full_dataset (void)
{
  const char *const warnings[] = { "one", "zweite: größer", NULL };
  const gsize shape[] = { 2, 3, 0 };
  MharDataset *root = mhar_dataset_new ("/"), *child = mhar_dataset_new ("checkpoint_0");
  mhar_dataset_set_string (root, "title", "");
  mhar_dataset_set_integer (root, "schema", -1);
  mhar_dataset_set_real (child, "loss", 2.5);
  mhar_dataset_set_strings (child, "warnings", warnings);
  mhar_dataset_add (child, mhar_field_new ("f", "float", "1", MHAR_FIELD_F32, 2, dims, shape));
  mhar_dataset_add (child, mhar_field_new ("d", "double", "nat", MHAR_FIELD_F64, 0, NULL, NULL));
  mhar_dataset_add (child, mhar_field_new ("none", "", "", MHAR_FIELD_F32, 3, dims, shape));
  MharField *number = mhar_dataset_add (child, mhar_field_new ("i", "int", "1", MHAR_FIELD_I32, 1, dims, shape));
  MharField *label = mhar_dataset_add (child, mhar_field_new ("s", "text", "", MHAR_FIELD_STRING, 1, dims, shape));
  number->data.i32[1] = -7;
  label->data.str[0] = g_strnfill (9000, 'x'); /* more than the first room */
  mhar_dataset_note_lost (child, "capture");
  mhar_dataset_add_child (root, child);
  return root;
}

static GByteArray *
sent (const MharDataset *set)
{
  char *bytes;
  size_t length;
  FILE *to = open_memstream (&bytes, &length);
  g_assert_true (mhar_dataset_send (to, set));
  g_assert_cmpint (fclose (to), ==, 0);
  return g_byte_array_new_take ((guint8 *)bytes, length);
}

static MharDataset *
received (const guint8 *bytes, gsize length)
{
  g_autofree guint8 *exact = g_memdup2 (bytes, length);
  FILE *from = fmemopen (exact, length, "r");
  MharDataset *set = mhar_dataset_receive (from, MOST);
  fclose (from);
  return set;
}

static void
test_sent (void)
{
  g_autoptr (MharDataset) set = full_dataset ();
  g_autoptr (GByteArray) bytes = sent (set);
  g_autoptr (MharDataset) copy = received (bytes->data, bytes->len);
  g_assert_nonnull (copy);
  const MharDataset *child = mhar_dataset_child (copy, 0);
  g_assert_cmpfloat (mhar_dataset_real (child, "loss", 0), ==, 2.5);
  g_assert_cmpint (mhar_dataset_get (child, "i")->data.i32[1], ==, -7);
  g_assert_cmpuint (strlen (mhar_dataset_get (child, "s")->data.str[0]), ==, 9000);
  g_assert_cmpstr (mhar_dataset_get (child, "s")->data.str[1], ==, ""); /* NULL is sent so */
  g_assert_true (mhar_dataset_is_lost (child, "capture"));
  g_autoptr (GByteArray) again = sent (copy);
  g_assert_cmpmem (bytes->data, bytes->len, again->data, again->len);
}

/* Cut anywhere it is none; with bytes changed it is none or another, and never more than was allowed. */
static void
test_sent_badly (void)
{
  g_autoptr (MharDataset) set = full_dataset ();
  g_autoptr (GByteArray) bytes = sent (set);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  for (gsize n = 1; n < bytes->len; n += n < 1000 ? 1 : 97)
    g_assert_null (received (bytes->data, n));
  for (int i = 0; i < 5000; i++) {
    g_autofree guint8 *bad = g_memdup2 (bytes->data, bytes->len);
    bad[g_rand_int_range (rand, 0, (gint32)MIN (bytes->len, 1000))] = (guint8)g_rand_int (rand);
    g_autoptr (MharDataset) other = received (bad, bytes->len);
    if (other != NULL)
      g_byte_array_unref (sent (other));
  }
  mhar_dataset_add (set, mhar_field_new ("big", "", "", MHAR_FIELD_F64, 1, dims, (const gsize[]){ MOST }));
  g_autoptr (GByteArray) large = sent (set);
  g_assert_null (received (large->data, large->len));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/field/new", test_new);
  g_test_add_func ("/field/empty-and-scalar", test_empty_and_scalar);
  g_test_add_func ("/dataset/fields", test_fields_of_a_dataset);
  g_test_add_func ("/dataset/attributes", test_attributes);
  g_test_add_func ("/dataset/children", test_children);
  g_test_add_func ("/dataset/lost", test_lost);
  g_test_add_func ("/dataset/sent", test_sent);
  g_test_add_func ("/dataset/sent-badly", test_sent_badly);
  return g_test_run ();
}
