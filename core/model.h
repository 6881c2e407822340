/* SPDX-License-Identifier: MIT */
/* A checkpoint's weights on a device. On the CPU they stay in the mapped file; a GPU takes each once. */
#pragma once

#include "core/checkpoint.h"
#include "core/device.h"
#include "core/plan.h"

G_BEGIN_DECLS

typedef struct {
  MharWeight *pre, *post;         /* [1, D] */
  MharWeight *qkv;                /* [(A + 2K) E, D]: q_proj, k_proj, v_proj stacked */
  MharWeight *o;                  /* [D, A E] */
  MharWeight *q_gain, *k_gain;    /* [1, E]; NULL in a Llama body */
  MharWeight *gate_up, *down;     /* [2F, D]: gate_proj, up_proj stacked; [D, F] */
  MharWeight *qkv_bias, *o_bias;        /* [1, (A + 2K) E], [1, D]; NULL where the model has none */
  MharWeight *gate_up_bias, *down_bias; /* [1, 2F], [1, D]; the same */
} MharLayer;

typedef struct _MharModel MharModel;

/* The model borrows device, checkpoint and plan, which must outlive it. MHAR_ERROR_RUN where the device has not the memory. */
MharModel *mhar_model_new (MharDevice *device, const MharCheckpoint *checkpoint, const MharPlan *plan, GError **error);
void mhar_model_free (MharModel *model);

MharDevice *mhar_model_device (const MharModel *model);
const MharBody *mhar_model_body (const MharModel *model);
const MharPlan *mhar_model_plan (const MharModel *model);
const MharLayer *mhar_model_layer (const MharModel *model, int layer);
const MharWeight *mhar_model_embedding (const MharModel *model); /* [V, D] */
const MharWeight *mhar_model_norm (const MharModel *model);      /* [1, D] */
const MharWeight *mhar_model_tensor (const MharModel *model, int i); /* plan->tensors[i] */
const MharWeight *mhar_model_head (const MharModel *model);      /* [V, D]; may be the embedding */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharModel, mhar_model_free)

G_END_DECLS
