/* SPDX-License-Identifier: MIT */
/* flash-linear-attention's attention residuals on its Transformer (docs: D4).
 *
 * The body is that library's own (core/config-fla.c), or a Qwen3 or Llama one. The block rule is the MHAR authors', but
 * the config counts blocks in sublayers (attnres_block_size: 1, where every output is a source of its own, or an even
 * number), the final route is model.res_*, and the very first read, of one source, is left out. */
#include "core/dialect-mhar-private.h"

#include "core/error.h"

static gboolean
recognise (const MharCheckpoint *checkpoint)
{
  const MharConfig *config = mhar_checkpoint_config (checkpoint);

  /* By the config alone: without the tensors it promises the file is incomplete, not plain. */
  return mhar_config_has (config, "attnres_block_size") && !mhar_config_has (config, "attnres_mode");
}

static MharPlan *
build (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error)
{
  MharBuilder b = { .checkpoint = checkpoint, .options = options };
  const MharConfig *config = mhar_checkpoint_config (checkpoint);
  int period;

  if (!mhar_config_integer (config, "attnres_block_size", 1, 65536, 1, &period, error))
    return NULL;
  if (period > 1 && period % 2 != 0) {
    mhar_bad_input (error, "%s: attnres_block_size is %d; it counts sublayers and is 1 or even",
                    mhar_config_path (config), period);
    return NULL;
  }
  g_autoptr (MharPlan) plan
      = mhar_builder_begin (&b, "D4: flash-linear-attention", period == 1 ? "full" : "block", FALSE, error);
  if (plan == NULL || !mhar_builder_blocks (&b, period, TRUE, "model.res", error))
    return NULL;
  return g_steal_pointer (&plan);
}

const MharDialect mhar_dialect_fla = { "fla", recognise, build };
