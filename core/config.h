/* SPDX-License-Identifier: MIT */
/* config.json of a Hugging Face checkpoint: the body's numbers, checked, and typed access to everything else. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MharConfig MharConfig;

typedef enum { MHAR_ROPE_PLAIN, MHAR_ROPE_LINEAR, MHAR_ROPE_DYNAMIC, MHAR_ROPE_YARN, MHAR_ROPE_LLAMA3 } MharRopeKind;

/* A rotary embedding, as transformers (4.57 and 5) reads it from rope_scaling or rope_parameters. core/rope.h has the
 * formulas. */
typedef struct {
  MharRopeKind kind;
  double theta;      /* rope_theta: 10000 where absent */
  double factor;     /* of all kinds but PLAIN */
  double original;   /* of YARN and LLAMA3: positions trained on; of DYNAMIC: max_position_embeddings */
  double attention;  /* of YARN: what cosines and sines are multiplied by; else 1 */
  double fast, slow; /* of YARN: beta_fast, beta_slow, rotations within `original` */
  gboolean truncate; /* of YARN: the ramp starts and ends at whole pairs */
  double low, high;  /* of LLAMA3: low_freq_factor, high_freq_factor */
} MharRope;

/* Whether attention norms queries and keys (RMSNorm over head_dim). */
typedef enum {
  MHAR_QK_NORM_AS_STORED, /* where there are tensors for it: Qwen3 has them, Llama has not */
  MHAR_QK_NORM_STORED,    /* the config says so: without tensors the file is incomplete */
  MHAR_QK_NORM_NONE
} MharQkNorm;

/* The plain Transformer under the routing. */
typedef struct {
  const char *model_type; /* "qwen3_attnres", "llama" … */
  int layers, width, heads, kv_heads, head_dim, ffn, vocab;
  int context;             /* max_position_embeddings; 0 where absent */
  double eps;              /* rms_norm_eps, 1e-6 where absent */
  double qk_eps;           /* of the norms of queries and keys */
  MharQkNorm qk_norm;
  double rope_theta;       /* of the layers that see every position */
  gboolean tied;           /* tie_word_embeddings; FALSE where absent */
  gboolean attention_bias; /* of the query, key and value projections */
  gboolean output_bias;    /* of the output projection of the attention */
  gboolean mlp_bias;       /* of the gate, up and down projections */
  int window;              /* sliding_window; 0 where no layer slides */
  const guint8 *slides;    /* [layers] 1: a sliding layer; the config owns it */
  MharRope rope[2];        /* of layers that see every position, of sliding layers */
} MharBody;

/* "Qwen3", "Llama" or "flash-linear-attention": whose body it is, as printed. */
const char *mhar_body_family (const MharBody *body);

/* How many of the newest positions, its own included, a position of the layer sees; 0: all. */
static inline int
mhar_body_window (const MharBody *body, int layer)
{
  return body->slides[layer] ? body->window : 0;
}

/* Reads and checks `path`. MHAR_ERROR_INPUT naming the file and the key where it is missing, not JSON (depth, size and
 * number limits), or a number is absent, not whole, out of range (head_dim 0, heads not a multiple of kv_heads, odd
 * head_dim, …), or a feature is not supported by name (experts, latent attention, hidden_act other than silu, a partial
 * rotary embedding, …). dtype and torch_dtype are not looked at: the tensors say what they are. */
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
/* The whole number, or each of the list of them, that stands under a key: gint64 (g_array_unref); empty where there is
 * none, and what is no whole number is left out. */
GArray *mhar_config_integers (const MharConfig *config, const char *key);
gboolean mhar_config_boolean (const MharConfig *config, const char *key, gboolean otherwise, gboolean *value,
                              GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharConfig, mhar_config_free)

G_END_DECLS
