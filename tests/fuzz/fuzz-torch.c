/* SPDX-License-Identifier: MIT */
/* A whole torch archive: zip, pickle, storages. */
#include "fuzz.h"

#include "core/torch-archive.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  MharTorchArchive *archive = mhar_torch_archive_open (fuzz_file ("m.pt", data, size), &error);
  gsize length = 0;
  for (guint i = 0; archive != NULL && i < mhar_torch_archive_n_tensors (archive); i++) {
    const MharTensor *tensor = mhar_torch_archive_tensor (archive, i);
    fuzz_touch (tensor->data, tensor->bytes);
    g_assert_true (mhar_torch_archive_find (archive, tensor->name) == tensor);
  }
  const guint8 *header = archive != NULL ? mhar_torch_archive_header (archive, &length) : NULL;
  fuzz_touch (header, length);
  fuzz_check (archive != NULL, g_steal_pointer (&error));
  mhar_torch_archive_free (archive);
  return 0;
}
