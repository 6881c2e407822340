/* SPDX-License-Identifier: MIT */
#include "core/model.h"

#include "core/body.h"

#include <string.h>

struct _MharModel {
  MharDevice *device;
  const MharBody *body;
  const MharPlan *plan;
  MharLayer *layers;
  GPtrArray *biases; /* float *, of the layers' biases */
  MharWeight *embed, *norm, *head;
  MharWeight **tensors; /* [plan->tensors] */
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

/* Up to three vectors in a row, as floats that the model keeps. NULL tensors leave *weight NULL. */
static gboolean
put_bias (MharModel *model, MharWeight **weight, guint n, const MharTensor *const *tensors, GError **error)
{
  g_autoptr (GArray) joined = g_array_new (FALSE, FALSE, sizeof (float));

  if (tensors[0] == NULL)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    g_autofree double *values = mhar_tensor_values (tensors[i]);
    guint64 length = tensors[i]->shape[tensors[i]->n_dims - 1];
    for (guint64 j = 0; j < length; j++) {
      float value = (float) values[j];
      g_array_append_val (joined, value);
    }
  }
  gsize cols = joined->len;
  float *kept = (float *) g_array_free (g_steal_pointer (&joined), FALSE);
  g_ptr_array_add (model->biases, kept);
  const MharStored part = { kept, MHAR_F32, 1 };
  MharContext *c = mhar_device_context (model->device);
  int status = mhar_device_ops (model->device)->weight_new (c, &part, 1, cols, weight);
  return mhar_device_check (model->device, status, "loading the weights", error);
}

static gboolean
put_biases (MharModel *model, MharLayer *layer, const MharLayerTensors *t, GError **error)
{
  return put_bias (model, &layer->qkv_bias, 3, (const MharTensor *const[]){ t->q_bias, t->k_bias, t->v_bias }, error) &&
         put_bias (model, &layer->o_bias, 1, &t->o_bias, error) &&
         put_bias (model, &layer->gate_up_bias, 2, (const MharTensor *const[]){ t->gate_bias, t->up_bias }, error) &&
         put_bias (model, &layer->down_bias, 1, &t->down_bias, error);
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
         put (model, &layer->down, 1, &t.down, error) && put_biases (model, layer, &t, error);
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

/* Gates and constant sources: what the plan names. */
static gboolean
put_tensors (MharModel *model, const MharCheckpoint *checkpoint, GError **error)
{
  const GPtrArray *names = model->plan->tensors;

  model->tensors = g_new0 (MharWeight *, names->len + 1);
  for (guint i = 0; i < names->len; i++) {
    const MharTensor *tensor = mhar_checkpoint_find (checkpoint, g_ptr_array_index (names, i));
    g_return_val_if_fail (tensor != NULL, FALSE); /* the dialect checked */
    if (!put (model, &model->tensors[i], 1, &tensor, error))
      return FALSE;
  }
  return TRUE;
}

MharModel *
mhar_model_new (MharDevice *device, const MharCheckpoint *checkpoint, const MharPlan *plan, GError **error)
{
  g_autoptr (MharModel) model = g_new0 (MharModel, 1);

  model->device = device;
  model->body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  model->plan = plan;
  model->biases = g_ptr_array_new_with_free_func (g_free);
  model->layers = g_new0 (MharLayer, (gsize) model->body->layers);
  if (!put_outer (model, checkpoint, error) || !put_tensors (model, checkpoint, error))
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
    MharWeight *all[] = { layer->pre,    layer->post,    layer->qkv,  layer->o,        layer->q_gain, layer->k_gain,
                          layer->gate_up, layer->down,   layer->qkv_bias, layer->o_bias, layer->gate_up_bias,
                          layer->down_bias };
    for (guint i = 0; i < G_N_ELEMENTS (all); i++)
      ops->weight_free (c, all[i]);
  }
  if (model->head != model->embed)
    ops->weight_free (c, model->head);
  for (guint i = 0; model->tensors != NULL && i < model->plan->tensors->len; i++)
    ops->weight_free (c, model->tensors[i]);
  ops->weight_free (c, model->embed);
  ops->weight_free (c, model->norm);
  g_free (model->tensors);
  g_ptr_array_unref (model->biases);
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

const MharWeight *
mhar_model_tensor (const MharModel *model, int i)
{
  return model->tensors[i];
}
