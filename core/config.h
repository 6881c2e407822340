/* SPDX-License-Identifier: MIT */
/* config.json of a Hugging Face checkpoint: the body's numbers, checked, and typed access to everything else. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MharConfig MharConfig;

/* The plain Transformer under the routing. */
typedef struct {
  const char *model_type; /* "qwen3_attnres", "llama" … */
  int layers, width, heads, kv_heads, head_dim, ffn, vocab;
  int context;       /* max_position_embeddings; 0 where absent */
  double eps;        /* rms_norm_eps, 1e-6 where absent */
  double rope_theta; /* rope_theta, else rope_parameters.rope_theta, else 10000 */
  gboolean tied;     /* tie_word_embeddings; FALSE where absent */
} MharBody;

/* Reads and checks `path`. MHAR_ERROR_INPUT naming the file and the key where it is missing, not JSON (depth, size and
 * number limits), or a number is absent, not whole, out of range (head_dim 0, heads not a multiple of kv_heads, odd
 * head_dim, …), or a feature is not supported by name (rope_scaling, hidden_act other than silu, attention_bias, a used
 * sliding window, …). */
MharConfig *mhar_config_load (const char *path, GError **error);
MharConfig *mhar_config_parse (const char *text, gsize length, const char *path, GError **error);
void mhar_config_free (MharConfig *config);

const MharBody *mhar_config_body (const MharConfig *config);
const char *mhar_config_path (const MharConfig *config);
const char *mhar_config_text (const MharConfig *config, gsize *length);

gboolean mhar_config_has (const MharConfig *config, const char *key); /* present and not null */
/* A top-level string; `otherwise` where absent or null; MHAR_ERROR_INPUT and NULL where it is something else. */
const char *mhar_config_string (const MharConfig *config, const char *key, const char *otherwise, GError **error);
/* A whole number in [low, high] (an integer written as 8.0 counts); `otherwise` where absent or null. */
gboolean mhar_config_integer (const MharConfig *config, const char *key, int low, int high, int otherwise, int *value,
                              GError **error);
gboolean mhar_config_boolean (const MharConfig *config, const char *key, gboolean otherwise, gboolean *value,
                              GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharConfig, mhar_config_free)

G_END_DECLS
