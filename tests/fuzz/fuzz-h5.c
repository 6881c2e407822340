/* SPDX-License-Identifier: MIT */
/* A saved run. HDF5 itself is as the system has it, and not watched. */
#include "fuzz.h"

#include "core/h5file.h"

static void
touch_set (const MharDataset *set)
{
  for (guint i = 0; i < mhar_dataset_n_fields (set); i++) {
    const MharField *field = mhar_dataset_field (set, i);
    gsize n = mhar_field_length (field);
    if (field->type == MHAR_FIELD_F32)
      fuzz_touch (field->data.f32, n * sizeof (float));
    if (field->type == MHAR_FIELD_F64)
      fuzz_touch (field->data.f64, n * sizeof (double));
    if (field->type == MHAR_FIELD_I32)
      fuzz_touch (field->data.i32, n * sizeof (gint32));
    for (gsize k = 0; field->type == MHAR_FIELD_STRING && k < n; k++)
      g_assert_true (g_utf8_validate (field->data.str[k], -1, NULL));
  }
  for (guint i = 0; i < mhar_dataset_n_children (set); i++)
    touch_set (mhar_dataset_child (set, i));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const skip[] = { "sums", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (MharDataset) root = mhar_h5_read (fuzz_file ("run.h5", data, size), skip, &error);
  if (root != NULL)
    touch_set (root);
  fuzz_check (root != NULL, g_steal_pointer (&error));
  return 0;
}
