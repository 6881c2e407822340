/* SPDX-License-Identifier: MIT */
/* A plain Transformer: one residual stream, no reads. Only its sublayer outputs can be probed (collinearity). */
#include "core/dialect.h"

#include <string.h>

static gboolean
recognise (const MharCheckpoint *checkpoint)
{
  const MharConfig *config = mhar_checkpoint_config (checkpoint);
  const char *mode = mhar_config_string (config, "attnres_mode", "baseline", NULL);

  /* The authors' script writes routing tensors in every mode; in theirs called `baseline` nothing reads them. Elsewhere
   * they, or a block size in the config (docs: D5), say that the model routes. */
  if (mhar_config_has (config, "attnres_mode"))
    return mode != NULL && strcmp (mode, "baseline") == 0;
  return mhar_checkpoint_first_routing (checkpoint) == NULL && !mhar_config_has (config, "attn_res_block_size");
}

static MharPlan *
build (const MharCheckpoint *checkpoint, const MharDialectOptions *options G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
  const MharBody *body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  g_autofree char *name = g_strdup_printf ("plain Transformer, %s body", mhar_body_family (body));
  MharPlan *plan = mhar_plan_new (name, "baseline", body->layers, body->width, 1);

  mhar_plan_store_embedding (plan);
  for (int l = 0; l < body->layers; l++)
    for (int k = MHAR_SITE_ATTN; k <= MHAR_SITE_MLP; k++) {
      mhar_plan_add_step (plan, MHAR_STEP_READ, -1, MHAR_VALUE_STREAM);
      mhar_plan_run_sublayer (plan, (MharSiteKind) k, l);
      mhar_plan_add_step (plan, MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT);
    }
  mhar_plan_add_step (plan, MHAR_STEP_READ, -1, MHAR_VALUE_STREAM);
  return plan;
}

const MharDialect mhar_dialect_plain = { "plain", recognise, build };
