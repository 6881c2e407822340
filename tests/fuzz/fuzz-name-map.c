/* SPDX-License-Identifier: MIT */
/* A name map. */
#include "fuzz.h"

#include "core/name-map.h"

static void
check_pattern (const char *pattern)
{
  int layer;
  if (pattern == NULL)
    return;
  g_autofree char *name = mhar_name_fill (pattern, 7);
  g_assert_true (mhar_name_fits (pattern, name, &layer));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MharNameMap) map = mhar_name_map_parse ((const char *)data, size, "map.json", &error);
  if (map != NULL) {
    check_pattern (map->attn.query);
    check_pattern (map->mlp.product);
    check_pattern (map->final.query);
    for (guint i = 0; i < map->body->len; i++)
      check_pattern (g_array_index (map->body, MharMapPair, i).theirs);
  }
  fuzz_check (map != NULL, g_steal_pointer (&error));
  return 0;
}
