/* SPDX-License-Identifier: MIT */
/* A file of token ids; its first byte says under which ending. */
#include "fuzz.h"

#include "core/npy.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const names[] = { "ids.npy", "ids.u16", "ids.u32", "ids.txt" };
  if (size == 0)
    return 0;
  /* NumPy's own files begin with 0x93: they go in as they are. */
  gboolean own = data[0] == 0x93;
  g_autoptr (GBytes) bytes = g_bytes_new (data + !own, size - !own);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) ids = mhar_ids_parse (bytes, own ? names[0] : names[data[0] % G_N_ELEMENTS (names)], &error);
  for (guint i = 0; ids != NULL && i < ids->len; i++)
    g_assert_cmpint (g_array_index (ids, gint32, i), >=, 0);
  fuzz_check (ids != NULL, g_steal_pointer (&error));
  return 0;
}
