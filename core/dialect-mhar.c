/* SPDX-License-Identifier: MIT */
/* The checkpoints of the MHAR authors, on a Qwen3 or a Llama body (arXiv 2607.27230; docs call them D1 and D2): which
 * mode it is.
 *
 * H cannot be seen in a tensor (it is a reshape), and the training script writes attnres_num_heads in every mode: only
 * the modes of several heads obey it. */
#include "core/dialect-mhar-private.h"

#include "core/error.h"

#include <string.h>

static const struct {
  const char *name;
  gboolean many; /* of several heads */
  gboolean (*build) (MharBuilder *builder, GError **error);
} modes[] = {
  { "full", FALSE, mhar_build_full },
  { "full_mh", TRUE, mhar_build_full },
  { "full_hw", TRUE, mhar_build_full },
  { "block", FALSE, mhar_build_block },
  { "block_mh", TRUE, mhar_build_block },
  { "delta", FALSE, mhar_build_delta },
  { "delta_block", FALSE, mhar_build_delta },
  { "delta_mh", TRUE, mhar_build_delta },
  { "hyper_connection", FALSE, mhar_build_hyper },
};

#define SUPPORTED "full, full_mh, full_hw, block, block_mh, delta, delta_block, delta_mh, hyper_connection and baseline"

/* Named in the authors' code or in later work, in no checkpoint that a number could be checked against. */
static const char *const untrained[]
    = { "delta_block_v", "full_split", "first_layer", "pre_gated",     "depth_attn",
        "delta_v",       "full_v",     "block_v",     "delta_replace", "full_additive" };

static gboolean
recognise (const MharCheckpoint *checkpoint)
{
  const MharConfig *config = mhar_checkpoint_config (checkpoint);
  const char *mode = mhar_config_string (config, "attnres_mode", NULL, NULL);

  if (mode != NULL && strcmp (mode, "baseline") == 0)
    return FALSE;
  return mhar_config_has (config, "attnres_mode") || mhar_checkpoint_has_suffix (checkpoint, ".attn_res_proj.weight");
}

static void
refuse_mode (const char *path, const char *mode, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (untrained); i++)
    if (g_str_has_prefix (mode, untrained[i])) {
      mhar_bad_input (
          error,
          "%s: attnres_mode \"%s\" is not supported: no checkpoint trained in it is known to check it against; "
          "this version runs %s",
          path, mode, SUPPORTED);
      return;
    }
  mhar_bad_input (error, "%s: attnres_mode \"%s\" is not supported; this version runs %s", path, mode, SUPPORTED);
}

/* The index in `modes`; −1 on error. */
static int
find_mode (const MharConfig *config, GError **error)
{
  const char *path = mhar_config_path (config);
  g_autoptr (GError) local = NULL;
  const char *mode = mhar_config_string (config, "attnres_mode", NULL, &local);

  if (local != NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  else if (mode == NULL)
    mhar_bad_input (error, "%s: routing tensors are there but attnres_mode is not; add the mode it was trained in",
                    path);
  for (guint i = 0; mode != NULL && i < G_N_ELEMENTS (modes); i++)
    if (strcmp (mode, modes[i].name) == 0)
      return (int) i;
  if (mode != NULL)
    refuse_mode (path, mode, error);
  return -1;
}

static MharPlan *
build (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error)
{
  MharBuilder b = { .checkpoint = checkpoint, .options = options };
  const MharConfig *config = mhar_checkpoint_config (checkpoint);
  gboolean llama = g_str_has_prefix (mhar_config_body (config)->model_type, "llama");
  int i = find_mode (config, error);

  if (i < 0)
    return NULL;
  g_autoptr (MharPlan) plan
      = mhar_builder_begin (&b, llama ? "D2: MHAR" : "D1: MHAR", modes[i].name, modes[i].many, error);
  if (plan == NULL || !modes[i].build (&b, error))
    return NULL;
  return g_steal_pointer (&plan);
}

const MharDialect mhar_dialect_mhar = { "mhar", recognise, build };
