/* SPDX-License-Identifier: MIT */
/* What the files that read config.json share. */
#pragma once

#include "core/config.h"

#include <jansson.h>

G_BEGIN_DECLS

#define CONFIG_CONTEXT_MAX (16 << 20) /* positions */
#define CONFIG_THETA_MAX 1e15

struct _MharConfig {
  char *path;
  char *shown; /* path, as messages show it */
  char *text;
  gsize length;
  json_t *root;
  guint8 *slides; /* [layers], which the body points to */
  MharBody body;
};

/* The value of a key, NULL where absent or null (Hugging Face writes null for "not set") or where there is no object. */
json_t *mhar_config_get (const json_t *object, const char *key);
/* What stands in the file, for messages: a scalar as written, else its kind; g_free. */
char *mhar_config_describe (const json_t *value);
/* MHAR_ERROR_INPUT: the body cannot be run because of this value; `instead` says what can be. FALSE. */
gboolean mhar_config_unsupported (const MharConfig *config, const char *key, const json_t *value, const char *instead,
                                  GError **error);
/* A number in (0, high], into *number; left as it is where `found` is NULL. `key` is for the message. */
gboolean mhar_config_real (const MharConfig *config, const char *key, const json_t *found, double high, double *number,
                           GError **error);

/* The layers that slide. Needs the number of layers and the model type. */
gboolean mhar_config_read_layers (MharConfig *config, GError **error);
/* The rotary embedding of each kind of layer. Needs all the rest of the body. */
gboolean mhar_config_read_rope (MharConfig *config, GError **error);

/* flash-linear-attention's words for the same; the sizes have been read, `ffn_max` is the largest MLP. */
gboolean mhar_config_complete_fla (MharConfig *config, int ffn_max, GError **error);
gboolean mhar_config_read_fla_layers (MharConfig *config, GError **error);

static inline gboolean
mhar_config_fla (const MharConfig *config)
{
  return g_str_equal (config->body.model_type, "transformer");
}

static inline gboolean
mhar_config_llama (const MharConfig *config)
{
  return g_str_has_prefix (config->body.model_type, "llama");
}

G_END_DECLS
