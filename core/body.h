/* SPDX-License-Identifier: MIT */
/* The tensors of a Qwen3 or Llama body by name (Hugging Face's, or flash-linear-attention's), with the shapes that the config asks
 * for. */
#pragma once

#include "core/checkpoint.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* A E = heads·head_dim, K E = kv_heads·head_dim, F = ffn, D = width. */
typedef struct {
  const MharTensor *pre, *post;       /* [D] the norms before attention and before the MLP */
  const MharTensor *q, *k, *v, *o;    /* [A E, D], [K E, D], [K E, D], [D, A E] */
  const MharTensor *q_norm, *k_norm;  /* [head_dim]; both NULL in a Llama body */
  const MharTensor *gate, *up, *down; /* [F, D], [F, D], [D, F] */
  const MharTensor *q_bias, *k_bias, *v_bias, *o_bias; /* [A E], [K E], [K E], [D]; NULL without attention_bias */
  const MharTensor *gate_bias, *up_bias, *down_bias;   /* [F], [F], [D]; NULL without mlp_bias */
} MharLayerTensors;

typedef struct {
  const MharTensor *embed; /* [V, D] */
  const MharTensor *norm;  /* [D] */
  const MharTensor *head;  /* [V, D]; is `embed` where no head is stored */
} MharOuterTensors;

/* MHAR_ERROR_INPUT naming the file, the tensor and both shapes where one is absent or of another shape. */
gboolean mhar_body_layer (const MharCheckpoint *checkpoint, int layer, MharLayerTensors *tensors, GError **error);
gboolean mhar_body_outer (const MharCheckpoint *checkpoint, MharOuterTensors *tensors, GError **error);

/* All of the above for every layer, before anything runs; adds the tensors to the set `used`, and warns on the plan
 * where the tie flag and the stored head differ. */
gboolean mhar_body_check (const MharCheckpoint *checkpoint, MharPlan *plan, GHashTable *used, GError **error);

G_END_DECLS
