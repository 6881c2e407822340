/* SPDX-License-Identifier: MIT */
#include "core/model.h"

#include "core/body.h"

#include <string.h>

struct _MharModel {
  MharDevice *device;
  const MharBody *body;
  const MharPlan *plan;
  MharLayer *layers;
  MharWeight *embed, *norm, *head;
};

static MharDtype
stored_type (const MharTensor *tensor)
{
  if (strcmp (tensor->dtype, "BF16") == 0)
    return MHAR_BF16;
  return strcmp (tensor->dtype, "F16") == 0 ? MHAR_F16 : MHAR_F32;
}

/* Up to three tensors stacked; a vector counts as one row. NULL tensors leave *weight NULL. */
static gboolean
put (MharModel *model, MharWeight **weight, guint n, const MharTensor *const *tensors, GError **error)
{
  const MharOps *ops = mhar_device_ops (model->device);
  MharStored parts[3];
  gsize cols = 0;

  if (tensors[0] == NULL)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    const MharTensor *t = tensors[i];
    gboolean vector = t->n_dims == 1 || t->shape[0] == 1;
    cols = (gsize) t->shape[t->n_dims - 1];
    parts[i] = (MharStored){ t->data, stored_type (t), vector ? 1 : (gsize) t->shape[0] };
  }
  int status = ops->weight_new (mhar_device_context (model->device), parts, n, cols, weight);
  return mhar_device_check (model->device, status, "loading the weights", error);
}

static gboolean
put_layer (MharModel *model, const MharCheckpoint *checkpoint, int l, GError **error)
{
  MharLayer *layer = &model->layers[l];
  MharLayerTensors t;

  if (!mhar_body_layer (checkpoint, l, &t, error))
    return FALSE;
  return put (model, &layer->pre, 1, &t.pre, error) && put (model, &layer->post, 1, &t.post, error) &&
         put (model, &layer->qkv, 3, (const MharTensor *const[]){ t.q, t.k, t.v }, error) &&
         put (model, &layer->o, 1, &t.o, error) && put (model, &layer->q_gain, 1, &t.q_norm, error) &&
         put (model, &layer->k_gain, 1, &t.k_norm, error) &&
         put (model, &layer->gate_up, 2, (const MharTensor *const[]){ t.gate, t.up }, error) &&
         put (model, &layer->down, 1, &t.down, error);
}

static gboolean
put_outer (MharModel *model, const MharCheckpoint *checkpoint, GError **error)
{
  MharOuterTensors t;

  if (!mhar_body_outer (checkpoint, &t, error) || !put (model, &model->embed, 1, &t.embed, error) ||
      !put (model, &model->norm, 1, &t.norm, error))
    return FALSE;
  if (t.head != t.embed)
    return put (model, &model->head, 1, &t.head, error);
  model->head = model->embed;
  return TRUE;
}

MharModel *
mhar_model_new (MharDevice *device, const MharCheckpoint *checkpoint, const MharPlan *plan, GError **error)
{
  g_autoptr (MharModel) model = g_new0 (MharModel, 1);

  model->device = device;
  model->body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  model->plan = plan;
  model->layers = g_new0 (MharLayer, (gsize) model->body->layers);
  if (!put_outer (model, checkpoint, error))
    return NULL;
  for (int l = 0; l < model->body->layers; l++)
    if (!put_layer (model, checkpoint, l, error))
      return NULL;
  return g_steal_pointer (&model);
}

void
mhar_model_free (MharModel *model)
{
  if (model == NULL)
    return;
  const MharOps *ops = mhar_device_ops (model->device);
  MharContext *c = mhar_device_context (model->device);
  for (int l = 0; l < model->body->layers; l++) {
    MharLayer *layer = &model->layers[l];
    MharWeight *all[] = { layer->pre,    layer->post,   layer->qkv,     layer->o,
                          layer->q_gain, layer->k_gain, layer->gate_up, layer->down };
    for (guint i = 0; i < G_N_ELEMENTS (all); i++)
      ops->weight_free (c, all[i]);
  }
  if (model->head != model->embed)
    ops->weight_free (c, model->head);
  ops->weight_free (c, model->embed);
  ops->weight_free (c, model->norm);
  g_free (model->layers);
  g_free (model);
}

MharDevice *
mhar_model_device (const MharModel *model)
{
  return model->device;
}

const MharBody *
mhar_model_body (const MharModel *model)
{
  return model->body;
}

const MharPlan *
mhar_model_plan (const MharModel *model)
{
  return model->plan;
}

const MharLayer *
mhar_model_layer (const MharModel *model, int layer)
{
  return &model->layers[layer];
}

const MharWeight *
mhar_model_embedding (const MharModel *model)
{
  return model->embed;
}

const MharWeight *
mhar_model_norm (const MharModel *model)
{
  return model->norm;
}

const MharWeight *
mhar_model_head (const MharModel *model)
{
  return model->head;
}
