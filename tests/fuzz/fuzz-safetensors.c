/* SPDX-License-Identifier: MIT */
/* A whole .safetensors file: header and data. */
#include "fuzz.h"

#include "core/safetensors.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MharSafetensors) file = mhar_safetensors_open (fuzz_file ("m.safetensors", data, size), &error);
  gsize length = 0;
  for (guint i = 0; file != NULL && i < mhar_safetensors_n_tensors (file); i++) {
    const MharTensor *tensor = mhar_safetensors_tensor (file, i);
    fuzz_touch (tensor->data, tensor->bytes);
    g_assert_true (mhar_safetensors_find (file, tensor->name) == tensor);
  }
  const guint8 *header = file != NULL ? mhar_safetensors_header (file, &length) : NULL;
  fuzz_touch (header, length);
  fuzz_check (file != NULL, g_steal_pointer (&error));
  return 0;
}
