/* SPDX-License-Identifier: MIT */
/* Which layers see only the newest positions: sliding_window, use_sliding_window, max_window_layers and layer_types, as
 * Qwen3 reads them. */
#include "core/config-private.h"

#include "core/error.h"

#include <string.h>

/* Of a Qwen3 config in which the key does not stand. */
#define WINDOW_DEFAULT 4096
#define WINDOW_LAYERS_DEFAULT 28

static const char *const only = "only full_attention and sliding_attention are";

/* The window that sliding layers have; 0 where the config sets none. */
static gboolean
read_window (const MharConfig *config, int *window, GError **error)
{
  gboolean used, set = json_object_get (config->root, "sliding_window") != NULL;
  if (!mhar_config_boolean (config, "use_sliding_window", FALSE, &used, error))
    return FALSE;
  *window = 0;
  return !used
         || mhar_config_integer (config, "sliding_window", 1, CONFIG_CONTEXT_MAX, set ? 0 : WINDOW_DEFAULT, window,
                                 error);
}

/* slides[i] of the layers that the list names; any: whether one of its entries slides, even past the layers. */
static gboolean
read_types (MharConfig *config, const json_t *types, gboolean *any, GError **error)
{
  if (!json_is_array (types))
    return mhar_config_unsupported (config, "layer_types", types, "only a list of layer types is", error);
  gsize i;
  json_t *type;
  json_array_foreach (types, i, type) {
    const char *text = json_string_value (type);
    gboolean slides = text != NULL && strcmp (text, "sliding_attention") == 0;
    if (!slides && (text == NULL || strcmp (text, "full_attention") != 0)) {
      g_autofree char *key = g_strdup_printf ("layer_types[%" G_GSIZE_FORMAT "]", i);
      return mhar_config_unsupported (config, key, type, only, error);
    }
    *any |= slides;
    if (i < (gsize)config->body.layers)
      config->slides[i] = slides;
  }
  return TRUE;
}

/* layer_types; else, where a window is set, the layers from max_window_layers on. */
static gboolean
read_slides (MharConfig *config, int window, gboolean *any, GError **error)
{
  json_t *types = mhar_config_get (config->root, "layer_types");
  int layers = config->body.layers, first;
  if (types != NULL) {
    if (!read_types (config, types, any, error))
      return FALSE;
    if (*any && json_array_size (types) != (gsize)layers)
      return mhar_bad_input (error,
                             "%s: 'layer_types' has %" G_GSIZE_FORMAT
                             " entries but 'num_hidden_layers' is %d; give the "
                             "config.json that was saved with the tensors",
                             config->shown, json_array_size (types), layers);
    return TRUE;
  }
  if (!mhar_config_integer (config, "max_window_layers", 0, G_MAXINT, WINDOW_LAYERS_DEFAULT, &first, error))
    return FALSE;
  for (int l = first; l < layers && window > 0; l++)
    *any = config->slides[l] = TRUE;
  return TRUE;
}

gboolean
mhar_config_read_layers (MharConfig *config, GError **error)
{
  int window;
  gboolean any = FALSE;
  config->slides = g_new0 (guint8, (gsize)config->body.layers);
  config->body.slides = config->slides;
  if (!read_window (config, &window, error) || !read_slides (config, window, &any, error))
    return FALSE;
  if (any && mhar_config_llama (config))
    return mhar_bad_input (error,
                           "%s: sliding attention in a Llama body is not supported, only in a Qwen3 body, "
                           "but --weights-only shows the queries",
                           config->shown);
  if (any && window == 0)
    return mhar_bad_input (error,
                           "%s: 'layer_types' names sliding_attention but no window is set; give 'sliding_window' and "
                           "'use_sliding_window' true",
                           config->shown);
  config->body.window = any ? window : 0;
  return TRUE;
}
