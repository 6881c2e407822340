/* SPDX-License-Identifier: MIT */
/* A saved run. HDF5 itself is as the system has it, and not watched. It breaks down on some: libFuzzer keeps it apart,
 * and replayed it is kept apart by the program's own means. */
#include "fuzz.h"

#include "core/h5file.h"
#include "h5-checksums.h"

#include <fcntl.h>
#include <glib/gstdio.h>

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

#ifdef FUZZ_HERE
/* What mhar_h5_read has a process of its own for, without one. */
static MharDataset *
read_run (const char *path, const char *const *skip, GError **error)
{
  FILE *between = tmpfile ();
  int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  g_assert_true (between != NULL && fd >= 0 && mhar_h5_serve (fd, "run.h5", skip, between));
  rewind (between);
  MharDataset *root = mhar_h5_accept (between, "run.h5", error);
  fclose (between);
  return root;
}
#else
#define read_run mhar_h5_read

void
fuzz_repair (uint8_t *data, size_t size)
{
  g_array_unref (fuzz_h5_seal (data, size));
}
#endif

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const skip[] = { "sums", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (MharDataset) root = read_run (fuzz_file ("run.h5", data, size), skip, &error);
  if (root != NULL)
    touch_set (root);
  fuzz_check (root != NULL, g_steal_pointer (&error));
  return 0;
}
