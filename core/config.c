/* SPDX-License-Identifier: MIT */
#include "core/config-private.h"

#include "core/error.h"
#include "core/input.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG_MAX (16 << 20) /* bytes */

/* Far above any model; low enough that products of two stay in 64 bits with room to spare. */
#define LAYERS_MAX 1024
#define WIDTH_MAX 65536
#define HEADS_MAX 1024
#define FFN_MAX (1 << 20)
#define VOCAB_MAX (4 << 20)

json_t *
mhar_config_get (const json_t *object, const char *key)
{
  json_t *value = json_object_get (object, key);
  return json_is_null (value) ? NULL : value;
}

char *
mhar_config_describe (const json_t *value)
{
  if (json_is_array (value))
    return g_strdup ("a list");
  if (json_is_object (value))
    return g_strdup ("an object");
  char *text = json_dumps (value, JSON_ENCODE_ANY | JSON_REAL_PRECISION (15));
  char *quoted = mhar_input_quote (text != NULL ? text : "");
  free (text);
  return quoted;
}

gboolean
mhar_config_unsupported (const MharConfig *config, const char *key, const json_t *value, const char *instead,
                         GError **error)
{
  g_autofree char *quoted = mhar_input_quote (key);
  g_autofree char *found = mhar_config_describe (value);
  return mhar_bad_input (error, "%s: '%s' is %s, which is not supported; %s, but --weights-only shows the queries",
                         config->shown, quoted, found, instead);
}

static gboolean
whole (const json_t *value, int low, int high, int *n)
{
  if (json_is_integer (value)) {
    json_int_t x = json_integer_value (value);
    *n = x >= low && x <= high ? (int)x : low;
    return x >= low && x <= high;
  }
  if (!json_is_real (value))
    return FALSE;
  double x = json_real_value (value);
  *n = x >= low && x <= high ? (int)x : low;
  return x == *n;
}

gboolean
mhar_config_integer (const MharConfig *config, const char *key, int low, int high, int otherwise, int *value,
                     GError **error)
{
  const json_t *found = mhar_config_get (config->root, key);
  *value = otherwise;
  if (found == NULL || whole (found, low, high, value))
    return TRUE;
  *value = otherwise;
  g_autofree char *text = mhar_config_describe (found);
  return mhar_bad_input (error, "%s: '%s' is %s; give a whole number from %d to %d", config->shown, key, text, low,
                         high);
}

GArray *
mhar_config_integers (const MharConfig *config, const char *key)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (gint64));
  const json_t *found = mhar_config_get (config->root, key);
  gsize n = json_is_array (found) ? json_array_size (found) : 1;

  for (gsize i = 0; i < n; i++) {
    const json_t *one = json_is_array (found) ? json_array_get (found, i) : found;
    gint64 value = json_integer_value (one);
    if (json_is_integer (one))
      g_array_append_val (list, value);
  }
  return list;
}

gboolean
mhar_config_boolean (const MharConfig *config, const char *key, gboolean otherwise, gboolean *value, GError **error)
{
  const json_t *found = mhar_config_get (config->root, key);
  *value = otherwise;
  if (found == NULL)
    return TRUE;
  if (json_is_boolean (found)) {
    *value = json_is_true (found);
    return TRUE;
  }
  g_autofree char *text = mhar_config_describe (found);
  return mhar_bad_input (error, "%s: '%s' is %s; give true or false", config->shown, key, text);
}

const char *
mhar_config_string (const MharConfig *config, const char *key, const char *otherwise, GError **error)
{
  const json_t *found = mhar_config_get (config->root, key);
  if (found == NULL)
    return otherwise;
  if (json_is_string (found))
    return json_string_value (found);
  g_autofree char *text = mhar_config_describe (found);
  mhar_bad_input (error, "%s: '%s' is %s; give a string", config->shown, key, text);
  return NULL;
}

gboolean
mhar_config_has (const MharConfig *config, const char *key)
{
  return mhar_config_get (config->root, key) != NULL;
}

gboolean
mhar_config_real (const MharConfig *config, const char *key, const json_t *found, double high, double *number,
                  GError **error)
{
  if (found == NULL)
    return TRUE;
  double x = json_number_value (found);
  if (json_is_number (found) && x > 0 && x <= high) {
    *number = x;
    return TRUE;
  }
  g_autofree char *text = mhar_config_describe (found);
  return mhar_bad_input (error, "%s: '%s' is %s; give a number above 0 and up to %g", config->shown, key, text, high);
}

static gboolean
check_family (MharConfig *config, GError **error)
{
  g_autoptr (GError) failure = NULL;
  const char *type = mhar_config_string (config, "model_type", NULL, &failure);
  if (failure != NULL) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  if (type == NULL)
    return mhar_bad_input (error, "%s: 'model_type' is missing; give the config.json that was saved with the tensors",
                           config->shown);
  config->body.model_type = type;
  if (strcmp (type, "qwen3") == 0 || strcmp (type, "llama") == 0 || g_str_has_prefix (type, "qwen3_attnres")
      || g_str_has_prefix (type, "llama_attnres") || mhar_config_fla (config))
    return TRUE;
  return mhar_config_unsupported (config, "model_type", mhar_config_get (config->root, "model_type"),
                                  "only qwen3, llama, qwen3_attnres, llama_attnres and transformer are", error);
}

/* What makes the attention or the MLP of another kind: keys that name it, when they are set to anything. */
static gboolean
check_kinds (const MharConfig *config, GError **error)
{
  const char *key;
  json_t *value;
  json_object_foreach (config->root, key, value) {
    gboolean experts = strstr (key, "expert") != NULL || g_str_has_prefix (key, "moe_");
    gboolean latent = g_str_has_suffix (key, "_lora_rank") || strcmp (key, "qk_rope_head_dim") == 0;
    gboolean unused
        = json_is_null (value) || json_is_false (value) || (json_is_number (value) && json_number_value (value) == 0);
    if (experts && !unused)
      return mhar_config_unsupported (config, key, value, "only one MLP a layer is, no mixture of experts", error);
    if (latent && !unused)
      return mhar_config_unsupported (config, key, value,
                                      "only grouped-query attention is, no multi-head latent attention", error);
  }
  return TRUE;
}

static gboolean
check_features (MharConfig *config, GError **error)
{
  MharBody *body = &config->body;
  json_t *act = mhar_config_get (config->root, "hidden_act");
  const char *text = json_string_value (act);
  if (act != NULL && (text == NULL || (strcmp (text, "silu") != 0 && strcmp (text, "swish") != 0)))
    return mhar_config_unsupported (config, "hidden_act", act, "only silu (swish) is", error);
  if (!mhar_config_boolean (config, "attention_bias", FALSE, &body->attention_bias, error)
      || !mhar_config_boolean (config, "mlp_bias", FALSE, &body->mlp_bias, error))
    return FALSE;
  body->output_bias = body->attention_bias;
  if (body->mlp_bias && !mhar_config_llama (config))
    return mhar_config_unsupported (config, "mlp_bias", mhar_config_get (config->root, "mlp_bias"),
                                    "only a Llama body has it", error);
  return check_kinds (config, error);
}

/* The keys of Hugging Face, in flash-linear-attention's words where `fla`. */
static gboolean
read_sizes (MharConfig *config, gboolean fla, GError **error)
{
  MharBody *body = &config->body;
  const struct {
    const char *key;
    int high, *value;
    gboolean needed;
  } sizes[] = {
    { "num_hidden_layers", LAYERS_MAX, &body->layers, TRUE },
    { "hidden_size", WIDTH_MAX, &body->width, TRUE },
    { fla ? "num_heads" : "num_attention_heads", HEADS_MAX, &body->heads, TRUE },
    { fla ? "num_kv_heads" : "num_key_value_heads", HEADS_MAX, &body->kv_heads, FALSE },
    { "head_dim", WIDTH_MAX, &body->head_dim, FALSE },
    { "intermediate_size", FFN_MAX, &body->ffn, !fla },
    { "vocab_size", VOCAB_MAX, &body->vocab, TRUE },
    { "max_position_embeddings", CONFIG_CONTEXT_MAX, &body->context, FALSE },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++) {
    if (sizes[i].needed && !mhar_config_has (config, sizes[i].key))
      return mhar_bad_input (error, "%s: '%s' is missing; give the config.json that was saved with the tensors",
                             config->shown, sizes[i].key);
    if (!mhar_config_integer (config, sizes[i].key, 1, sizes[i].high, 0, sizes[i].value, error))
      return FALSE;
  }
  return TRUE;
}

/* Fills in what may be absent, and checks the heads. */
static gboolean
complete_heads (MharConfig *config, gboolean fla, GError **error)
{
  MharBody *body = &config->body;
  const char *heads = fla ? "num_heads" : "num_attention_heads";
  if (body->kv_heads == 0)
    body->kv_heads = body->heads;
  if (body->heads % body->kv_heads != 0)
    return mhar_bad_input (error,
                           "%s: '%s' is %d, not a multiple of '%s' %d; give the config.json that was saved with the "
                           "tensors",
                           config->shown, heads, body->heads, fla ? "num_kv_heads" : "num_key_value_heads",
                           body->kv_heads);
  if (body->head_dim == 0 && body->width % body->heads != 0)
    return mhar_bad_input (error, "%s: 'hidden_size' %d is not a multiple of '%s' %d; give 'head_dim'", config->shown,
                           body->width, heads, body->heads);
  if (body->head_dim == 0)
    body->head_dim = body->width / body->heads;
  return body->head_dim % 2 == 0
         || mhar_bad_input (error, "%s: 'head_dim' is %d; the rotary embedding needs an even number", config->shown,
                            body->head_dim);
}

/* The kind of model comes first: a number out of range is no news where the whole kind is not supported. */
static gboolean
read_body (MharConfig *config, GError **error)
{
  MharBody *body = &config->body;
  body->eps = 1e-6;
  if (!check_family (config, error) || !check_features (config, error))
    return FALSE;
  gboolean fla = mhar_config_fla (config);
  const char *eps = fla ? "norm_eps" : "rms_norm_eps";
  if (!read_sizes (config, fla, error) || !complete_heads (config, fla, error)
      || !(fla ? mhar_config_read_fla_layers (config, error) : mhar_config_read_layers (config, error))
      || !mhar_config_read_rope (config, error)
      || !mhar_config_real (config, eps, mhar_config_get (config->root, eps), 1, &body->eps, error))
    return FALSE;
  body->qk_eps = body->eps;
  return (!fla || mhar_config_complete_fla (config, FFN_MAX, error))
         && mhar_config_boolean (config, "tie_word_embeddings", FALSE, &body->tied, error);
}

MharConfig *
mhar_config_parse (const char *text, gsize length, const char *path, GError **error)
{
  g_autoptr (MharConfig) config = g_new0 (MharConfig, 1);
  config->path = g_strdup (path);
  config->shown = g_filename_display_name (path);
  if (length > CONFIG_MAX) {
    mhar_bad_input (error, "%s: has %" G_GSIZE_FORMAT " bytes, too many for a config.json", config->shown, length);
    return NULL;
  }
  config->text = g_malloc (length + 1);
  memcpy (config->text, text, length);
  config->text[length] = '\0';
  config->length = length;
  config->root = mhar_input_json (config->text, length, path, "the file", error);
  if (config->root == NULL || !read_body (config, error))
    return NULL;
  return g_steal_pointer (&config);
}

MharConfig *
mhar_config_load (const char *path, GError **error)
{
  g_autoptr (GMappedFile) map = mhar_input_map (path, CONFIG_MAX, error);
  if (map == NULL)
    return NULL;
  return mhar_config_parse (g_mapped_file_get_contents (map), g_mapped_file_get_length (map), path, error);
}

void
mhar_config_free (MharConfig *config)
{
  if (config == NULL)
    return;
  json_decref (config->root);
  g_free (config->slides);
  g_free (config->text);
  g_free (config->shown);
  g_free (config->path);
  g_free (config);
}

const char *
mhar_body_family (const MharBody *body)
{
  if (g_str_equal (body->model_type, "transformer"))
    return "flash-linear-attention";
  return g_str_has_prefix (body->model_type, "llama") ? "Llama" : "Qwen3";
}

const MharBody *
mhar_config_body (const MharConfig *config)
{
  return &config->body;
}

const char *
mhar_config_path (const MharConfig *config)
{
  return config->path;
}

const char *
mhar_config_text (const MharConfig *config, gsize *length)
{
  *length = config->length;
  return config->text;
}
