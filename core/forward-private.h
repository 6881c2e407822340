/* SPDX-License-Identifier: MIT */
/* A forward pass between forward.c (buffers, what is asked afterwards), forward-steps.c (the steps of the plan) and
 * forward-edited.c (the same steps with other reads). */
#pragma once

#include "core/forward.h"

G_BEGIN_DECLS

/* What a plan takes beyond a history and a sublayer's own buffers. */
typedef struct {
  gsize columns; /* mixes of the widest read: 1, or KV groups */
  gsize streams; /* n of hyper-connections */
  gboolean stream, mixed, gate, zeros;
} MharNeeds;

struct _MharForward {
  const MharModel *model;
  MharForwardSize size;
  MharNeeds needs;
  MharRoute *route;
  MharBuffer *ids;
  MharBuffer *cos_sin[2]; /* of the body's two rotary embeddings; the second NULL where they are one */
  guint turned;           /* tokens of the windows that cos_sin is for */
  MharBuffer *zeros;      /* T ids 0: every token's row of a tensor [1, D] */
  MharBuffer *x, *qkv, *heads, *gate_up, *gated, *out, *chunk;
  MharBuffer *stream;
  MharBuffer *mixed;   /* [T, D] a read before its norm */
  MharBuffer *gate;    /* [T, D] the logits of a vector gate */
  MharBuffer *streams; /* [2, n, T, D]: those that are, and those being written */
  gsize half;          /* which of the two are */
  MharRows latest;     /* where the last sublayer left its output; at first the embedding's row */
  guint W, t;
  const MharPlanEdit *edit; /* of the run at hand; NULL: none */
  MharBuffer *aside; /* [2, T, D] stream and latest output while an edit runs; of size.again only */
};

static inline MharContext *
mhar_forward_context (const MharForward *f)
{
  return mhar_device_context (mhar_model_device (f->model));
}

static inline const MharOps *
mhar_forward_ops (const MharForward *f)
{
  return mhar_device_ops (mhar_model_device (f->model));
}

static inline MharRows
mhar_rows (MharBuffer *buffer)
{
  return (MharRows){ buffer, 0 };
}

/* The rotary table of a layer. */
static inline const MharBuffer *
mhar_forward_angles (const MharForward *f, int layer)
{
  gboolean own = f->cos_sin[1] != NULL && mhar_body_window (mhar_model_body (f->model), layer) > 0;
  return f->cos_sin[own];
}

/* The streams of the batch whose ids are uploaded become its embedding. */
int mhar_forward_start (MharForward *f);
/* Step i of the plan. */
int mhar_forward_step (MharForward *f, guint i);

G_END_DECLS
