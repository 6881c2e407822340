/* SPDX-License-Identifier: MIT */
/* Fields and datasets: shapes, missing values, replacement, order, ownership. */
#include "core/field.h"

#include <math.h>

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
  return g_test_run ();
}
