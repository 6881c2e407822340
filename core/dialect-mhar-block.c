/* SPDX-License-Identifier: MIT */
/* Modes block and block_mh: finished blocks of layers and the running sum of the current one; a block begins at the
 * attention of every layers_per_block-th layer. Qwen3-bodied block_mh files were written without the final route. */
#include "core/dialect-mhar-private.h"

#include <string.h>

#define FINAL "model.final_res"

gboolean
mhar_build_block (MharBuilder *b, GError **error)
{
  gboolean optional = strcmp (b->plan->mode, "block_mh") == 0 && !g_str_has_prefix (b->body->model_type, "llama");
  gboolean absent = mhar_checkpoint_find (b->checkpoint, FINAL "_proj.weight") == NULL;

  return mhar_builder_blocks (b, 2 * b->layers_per_block, FALSE, optional && absent ? NULL : FINAL, error);
}
