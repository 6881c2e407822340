/* SPDX-License-Identifier: MIT */
/* What the configs of flash-linear-attention's Transformer (model_type "transformer") say in other words than Hugging
 * Face's: the width of its MLP, the biases, the norms and the window of its attention. */
#include "core/config-private.h"

#include "core/error.h"

#define QK_EPS 1e-5 /* of its norms of queries and keys: what the module has, whatever norm_eps says */
#define RATIO_DEFAULT 4
#define FFN_STEP 256 /* a computed width is a multiple of this */

/* intermediate_size where it is null: two thirds of hidden_size hidden_ratio, rounded up to whole steps. */
static gboolean
complete_ffn (MharConfig *config, int most, GError **error)
{
  double ratio = RATIO_DEFAULT;

  if (config->body.ffn > 0)
    return TRUE;
  if (!mhar_config_real (config, "hidden_ratio", mhar_config_get (config->root, "hidden_ratio"), 1024, &ratio, error))
    return FALSE;
  double ffn = FFN_STEP * (double)(((gint64)(config->body.width * ratio * 2 / 3) + FFN_STEP - 1) / FFN_STEP);
  if (!(ffn >= 1 && ffn <= most))
    return mhar_bad_input (error,
                           "%s: 'hidden_ratio' %g and 'hidden_size' %d make an MLP of %.0f channels; give a number "
                           "from 1 to %d as 'intermediate_size'",
                           config->shown, ratio, config->body.width, ffn, most);
  config->body.ffn = (int)ffn;
  return TRUE;
}

gboolean
mhar_config_complete_fla (MharConfig *config, int ffn_max, GError **error)
{
  MharBody *body = &config->body;
  gboolean norms;

  if (!complete_ffn (config, ffn_max, error) || !mhar_config_boolean (config, "qk_norm", FALSE, &norms, error)
      || !mhar_config_boolean (config, "qkv_bias", FALSE, &body->attention_bias, error))
    return FALSE;
  body->output_bias = FALSE;
  body->qk_norm = norms ? MHAR_QK_NORM_STORED : MHAR_QK_NORM_NONE;
  body->qk_eps = QK_EPS;
  return TRUE;
}

/* window_size: every layer sees only so many positions. */
gboolean
mhar_config_read_fla_layers (MharConfig *config, GError **error)
{
  MharBody *body = &config->body;

  config->slides = g_new0 (guint8, (gsize)body->layers);
  body->slides = config->slides;
  if (!mhar_config_integer (config, "window_size", 1, CONFIG_CONTEXT_MAX, 0, &body->window, error))
    return FALSE;
  for (int l = 0; l < body->layers && body->window > 0; l++)
    config->slides[l] = TRUE;
  return TRUE;
}
