/* SPDX-License-Identifier: MIT */
/* data.pkl alone, through the restricted unpickler. */
#include "fuzz.h"

#include "core/unpickle.h"

/* Values may be tied in knots, so only the first few levels. */
static void
walk (const MharPickleValue *value, guint depth)
{
  gboolean container = value->kind == MHAR_PICKLE_TUPLE || value->kind == MHAR_PICKLE_LIST
                       || value->kind == MHAR_PICKLE_DICT || value->kind == MHAR_PICKLE_STORAGE
                       || value->kind == MHAR_PICKLE_TENSOR;
  if (value->kind == MHAR_PICKLE_STRING)
    g_assert_true (g_utf8_validate_len (value->as.text, value->n, NULL) || value->n > 0);
  for (gsize i = 0; container && depth < 4 && i < MIN (value->n, 64); i++)
    walk (value->as.items[i], depth + 1);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MharPickle) pickle = mhar_pickle_read (data, size, "m.pt", &error);
  if (pickle != NULL)
    walk (mhar_pickle_root (pickle), 0);
  fuzz_check (pickle != NULL, g_steal_pointer (&error));
  return 0;
}
