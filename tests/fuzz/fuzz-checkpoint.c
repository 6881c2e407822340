/* SPDX-License-Identifier: MIT */
/* A folder's config.json, up to the first zero byte, and model.safetensors behind it: which dialect it is, its plan and
 * its routing queries. Nothing is run. */
#include "fuzz.h"

#include "core/dialect.h"
#include "core/routing-weights.h"

#include <string.h>

static void
read_weights (const MharCheckpoint *checkpoint)
{
  g_autoptr (GError) error = NULL;
  MharRoutingWeights *weights = mhar_routing_weights_read (checkpoint, NULL, &error);
  fuzz_check (weights != NULL, g_steal_pointer (&error));
  if (weights != NULL)
    mhar_routing_weights_free (weights);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const uint8_t *zero = size > 0 ? memchr (data, '\0', size) : NULL;
  gsize length = zero != NULL ? (gsize)(zero - data) : size, left = zero != NULL ? size - length - 1 : 0;
  MharDialectOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  fuzz_file ("config.json", data, length);
  fuzz_file ("model.safetensors", zero != NULL ? zero + 1 : data, left);
  g_autoptr (MharCheckpoint) checkpoint = mhar_checkpoint_open (fuzz_folder (), &error);
  g_autoptr (MharPlan) plan = checkpoint != NULL ? mhar_plan_from_checkpoint (checkpoint, &options, &error) : NULL;
  if (checkpoint != NULL)
    read_weights (checkpoint);
  fuzz_check (plan != NULL, g_steal_pointer (&error));
  return 0;
}
