/* SPDX-License-Identifier: MIT */
/* config.json, and the rotary tables that follow from it. */
#include "fuzz.h"

#include "core/config.h"
#include "core/rope.h"

static void
check_body (const MharConfig *config)
{
  const MharBody *body = mhar_config_body (config);
  g_assert_cmpint (body->layers, >, 0);
  g_assert_cmpint (body->heads % body->kv_heads, ==, 0);
  for (int i = 0; i < body->layers; i++)
    g_assert_cmpint (mhar_body_window (body, i), >=, 0);
  for (guint k = 0; k < 2 && body->head_dim <= 512; k++) {
    g_autofree float *table = mhar_rope_table (&body->rope[k], body->head_dim, 8, 8);
    fuzz_touch (table, sizeof *table * 8 * (gsize)body->head_dim);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MharConfig) config = mhar_config_parse ((const char *)data, size, "config.json", &error);
  if (config != NULL)
    check_body (config);
  fuzz_check (config != NULL, g_steal_pointer (&error));
  return 0;
}
