/* SPDX-License-Identifier: MIT */
#include "core/body.h"

#include "core/error.h"

#include <string.h>

/* flash-linear-attention's names, where they differ from Hugging Face's. */
static const char *const other_names[][2] = {
  { "input_layernorm", "attn_norm" },
  { "post_attention_layernorm", "mlp_norm" },
  { "self_attn.q_proj", "attn.q_proj" },
  { "self_attn.k_proj", "attn.k_proj" },
  { "self_attn.v_proj", "attn.v_proj" },
  { "self_attn.o_proj", "attn.o_proj" },
  { "self_attn.q_norm", "attn.q_norm" },
  { "self_attn.k_norm", "attn.k_norm" },
  { "model.embed_tokens", "model.embeddings" },
};

typedef struct {
  const char *name;
  guint n_dims;
  guint64 shape[2];
  gboolean optional;
  const MharTensor **tensor;
} Wanted;

/* The tensor's name in this checkpoint, without ".weight". */
static const char *
name_here (const MharCheckpoint *checkpoint, const char *name)
{
  if (mhar_checkpoint_find (checkpoint, "model.embeddings.weight") == NULL)
    return name;
  for (guint i = 0; i < G_N_ELEMENTS (other_names); i++)
    if (strcmp (name, other_names[i][0]) == 0)
      return other_names[i][1];
  return name;
}

static gboolean
find_all (const MharCheckpoint *checkpoint, const char *prefix, const char *suffix, const Wanted *wanted, guint n,
          GError **error)
{
  for (guint i = 0; i < n; i++) {
    const Wanted *w = &wanted[i];
    g_autofree char *name = g_strconcat (prefix, name_here (checkpoint, w->name), suffix, NULL);
    if (w->optional) {
      if (!mhar_checkpoint_want (checkpoint, name, w->n_dims, w->shape, w->tensor, error))
        return FALSE;
      continue;
    }
    *w->tensor = mhar_checkpoint_need (checkpoint, name, w->n_dims, w->shape, error);
    if (*w->tensor == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
find_biases (const MharCheckpoint *checkpoint, const char *prefix, MharLayerTensors *t, GError **error)
{
  const MharBody *b = mhar_config_body (mhar_checkpoint_config (checkpoint));
  guint64 d = (guint64) b->width, f = (guint64) b->ffn, e = (guint64) b->head_dim;
  guint64 ae = (guint64) b->heads * e, ke = (guint64) b->kv_heads * e;
  const Wanted attention[] = {
    { "self_attn.q_proj", 1, { ae }, FALSE, &t->q_bias },
    { "self_attn.k_proj", 1, { ke }, FALSE, &t->k_bias },
    { "self_attn.v_proj", 1, { ke }, FALSE, &t->v_bias },
  };
  const Wanted output[] = { { "self_attn.o_proj", 1, { d }, FALSE, &t->o_bias } };
  const Wanted mlp[] = {
    { "mlp.gate_proj", 1, { f }, FALSE, &t->gate_bias },
    { "mlp.up_proj", 1, { f }, FALSE, &t->up_bias },
    { "mlp.down_proj", 1, { d }, FALSE, &t->down_bias },
  };

  t->q_bias = t->k_bias = t->v_bias = t->o_bias = t->gate_bias = t->up_bias = t->down_bias = NULL;
  if (b->attention_bias && !find_all (checkpoint, prefix, ".bias", attention, G_N_ELEMENTS (attention), error))
    return FALSE;
  if (b->output_bias && !find_all (checkpoint, prefix, ".bias", output, G_N_ELEMENTS (output), error))
    return FALSE;
  return !b->mlp_bias || find_all (checkpoint, prefix, ".bias", mlp, G_N_ELEMENTS (mlp), error);
}

gboolean
mhar_body_layer (const MharCheckpoint *checkpoint, int layer, MharLayerTensors *t, GError **error)
{
  const MharBody *b = mhar_config_body (mhar_checkpoint_config (checkpoint));
  guint64 d = (guint64) b->width, f = (guint64) b->ffn, e = (guint64) b->head_dim;
  guint64 ae = (guint64) b->heads * e, ke = (guint64) b->kv_heads * e;
  const Wanted wanted[] = {
    { "input_layernorm", 1, { d }, FALSE, &t->pre },
    { "post_attention_layernorm", 1, { d }, FALSE, &t->post },
    { "self_attn.q_proj", 2, { ae, d }, FALSE, &t->q },
    { "self_attn.k_proj", 2, { ke, d }, FALSE, &t->k },
    { "self_attn.v_proj", 2, { ke, d }, FALSE, &t->v },
    { "self_attn.o_proj", 2, { d, ae }, FALSE, &t->o },
    { "self_attn.q_norm", 1, { e }, TRUE, &t->q_norm },
    { "self_attn.k_norm", 1, { e }, TRUE, &t->k_norm },
    { "mlp.gate_proj", 2, { f, d }, FALSE, &t->gate },
    { "mlp.up_proj", 2, { f, d }, FALSE, &t->up },
    { "mlp.down_proj", 2, { d, f }, FALSE, &t->down },
  };
  g_autofree char *prefix = g_strdup_printf ("model.layers.%d.", layer);

  if (!find_all (checkpoint, prefix, ".weight", wanted, G_N_ELEMENTS (wanted), error) ||
      !find_biases (checkpoint, prefix, t, error))
    return FALSE;
  if ((t->q_norm == NULL) != (t->k_norm == NULL))
    return mhar_bad_input (error, "%s: layer %d has a norm for only one of queries and keys; the file is incomplete",
                           mhar_checkpoint_path (checkpoint), layer);
  if ((b->qk_norm == MHAR_QK_NORM_STORED && t->q_norm == NULL) || (b->qk_norm == MHAR_QK_NORM_NONE && t->q_norm != NULL))
    return mhar_bad_input (error,
                           "%s: layer %d has %s for queries and keys but 'qk_norm' is %s; give the config.json that was "
                           "saved with the tensors",
                           mhar_checkpoint_path (checkpoint), layer, t->q_norm != NULL ? "norms" : "no norms",
                           t->q_norm != NULL ? "not set" : "true");
  return TRUE;
}

gboolean
mhar_body_outer (const MharCheckpoint *checkpoint, MharOuterTensors *t, GError **error)
{
  const MharBody *b = mhar_config_body (mhar_checkpoint_config (checkpoint));
  guint64 d = (guint64) b->width, v = (guint64) b->vocab;
  const Wanted wanted[] = {
    { "model.embed_tokens", 2, { v, d }, FALSE, &t->embed },
    { "model.norm", 1, { d }, FALSE, &t->norm },
    { "lm_head", 2, { v, d }, TRUE, &t->head },
  };

  if (!find_all (checkpoint, "", ".weight", wanted, G_N_ELEMENTS (wanted), error))
    return FALSE;
  if (t->head == NULL)
    t->head = t->embed;
  return TRUE;
}

static gboolean
same_values (const MharTensor *a, const MharTensor *b)
{
  return a->bytes == b->bytes && strcmp (a->dtype, b->dtype) == 0 && memcmp (a->data, b->data, a->bytes) == 0;
}

/* Adds what a struct of nothing but tensors holds. */
static void
note (GHashTable *used, const void *tensors, gsize size)
{
  const MharTensor *const *all = tensors;

  for (gsize i = 0; i < size / sizeof *all; i++)
    if (all[i] != NULL)
      g_hash_table_add (used, (gpointer)all[i]);
}

gboolean
mhar_body_check (const MharCheckpoint *checkpoint, MharPlan *plan, GHashTable *used, GError **error)
{
  const MharBody *body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  MharOuterTensors outer;
  MharLayerTensors layer;

  if (!mhar_body_outer (checkpoint, &outer, error))
    return FALSE;
  note (used, &outer, sizeof outer);
  for (int l = 0; l < body->layers; l++) {
    if (!mhar_body_layer (checkpoint, l, &layer, error))
      return FALSE;
    note (used, &layer, sizeof layer);
  }
  if (body->tied && outer.head != outer.embed && !same_values (outer.head, outer.embed))
    mhar_plan_warn (plan, "tie_word_embeddings is true but a different lm_head.weight is stored: the stored head is used");
  if (!body->tied && outer.head == outer.embed)
    mhar_plan_warn (plan, "tie_word_embeddings is not set and no lm_head.weight is stored: the embedding is used as the head");
  return TRUE;
}
