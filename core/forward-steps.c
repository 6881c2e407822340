/* SPDX-License-Identifier: MIT */
/* The steps of a plan, each a few operations of the device. */
#include "core/forward-private.h"

#include <math.h>

/* The gain of the norm that takes the h of step `i`: the next sublayer's, or the model's last. */
static const MharWeight *
gain_after (const MharForward *f, guint i)
{
  const GArray *steps = mhar_model_plan (f->model)->steps;

  if (i + 1 == steps->len)
    return mhar_model_norm (f->model);
  const MharStep *next = &g_array_index (steps, MharStep, i + 1);
  const MharLayer *layer = mhar_model_layer (f->model, next->index);
  return next->kind == MHAR_STEP_MLP ? layer->post : layer->pre;
}

static gsize
count_of (const MharForward *f)
{
  return (gsize) f->W * f->t * (gsize) mhar_model_body (f->model)->width;
}

/* x = RMSNorm (h), h of one stream. */
static int
run_norm (MharForward *f, guint i, MharRows h)
{
  const MharBody *b = mhar_model_body (f->model);
  return mhar_forward_ops (f)->rms_norm (mhar_forward_context (f), h, gain_after (f, i), b->eps, (gsize) f->W * f->t,
                                         (gsize) b->width, mhar_rows (f->x));
}

/* mixed = p + a (r − p) where a = sigmoid (proj p + bias) is a vector. */
static int
run_vector_gate (MharForward *f, const MharSite *site, MharRows p)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  const MharWeight *proj = mhar_model_tensor (f->model, site->gate.proj);
  const MharWeight *bias = mhar_model_tensor (f->model, site->gate.bias);
  gsize d = (gsize) mhar_model_body (f->model)->width;
  MharRows mixed = mhar_rows (f->mixed), gate = mhar_rows (f->gate);
  int status = MHAR_OK;

  if (site->mode == MHAR_READ_ADD)
    status = ops->combine (c, 1, p, 1, mixed, count_of (f), mixed);
  if (status == MHAR_OK)
    status = ops->matmul (c, p, d, proj, 0, d, bias, (gsize) f->W * f->t, gate, d);
  return status == MHAR_OK ? ops->blend (c, p, gate, mixed, count_of (f), mixed) : status;
}

/* What a site that adds or is gated makes of its mix m: (1 − a) p + a r, with r = m, or p + m. */
static int
run_gate (MharForward *f, const MharSite *site)
{
  MharRows p = site->base == MHAR_VALUE_STREAM ? mhar_rows (f->stream) : f->latest, mixed = mhar_rows (f->mixed);

  if (site->gate.kind == MHAR_GATE_VECTOR)
    return run_vector_gate (f, site, p);
  double a = site->gate.kind == MHAR_GATE_NONE ? 1 : site->gate.value;
  double keep = site->mode == MHAR_READ_ADD ? 1 : 1 - a;
  return mhar_forward_ops (f)->combine (mhar_forward_context (f), a, mixed, keep, p, count_of (f), mixed);
}

/* The read of a site, or what stands in its place. */
static int
read_site (MharForward *f, int index, const MharReadOut *out)
{
  const MharOps *ops = mhar_forward_ops (f);
  const MharSiteEdit *edit = mhar_plan_edit_find (f->edit, (guint) index);

  if (edit == NULL)
    return ops->route_read (mhar_forward_context (f), f->route, index, out);
  MharRouteEdit other = mhar_site_edit_boundary (edit);
  return ops->route_read_edited (mhar_forward_context (f), f->route, &other, out);
}

/* Only the norm of a read is ever needed: a plain read leaves nothing else. */
static int
run_read (MharForward *f, guint i, int index)
{
  const MharBody *b = mhar_model_body (f->model);

  if (index < 0)
    return run_norm (f, i, mhar_rows (f->stream));
  const MharSite *site = mhar_plan_site (mhar_model_plan (f->model), (guint) index);
  if (site->mode == MHAR_READ_REPLACE && site->gate.kind == MHAR_GATE_NONE) {
    MharReadOut out = { .normed = mhar_rows (f->x), .gain = gain_after (f, i), .eps = b->eps };
    return read_site (f, index, &out);
  }
  MharReadOut out = { .mix = mhar_rows (f->mixed), .eps = b->eps };
  int status = read_site (f, index, &out);
  if (status == MHAR_OK)
    status = run_gate (f, site);
  return status == MHAR_OK ? run_norm (f, i, out.mix) : status;
}

/* Stream r: of those that are (`fresh` 0), or of those being written. */
static MharRows
stream_at (MharForward *f, gsize r, gsize fresh)
{
  return (MharRows){ f->streams, (((f->half + fresh) % 2) * f->needs.streams + r) * count_of (f) };
}

/* to = Σ_r weight_r stream_r. */
static int
sum_streams (MharForward *f, const double *weight, MharRows to)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  MharRows first = stream_at (f, 0, 0);
  gsize n = f->needs.streams, two = MIN (n, 2);
  int status
      = ops->combine (c, weight[0], first, two == 2 ? weight[1] : 0, stream_at (f, two - 1, 0), count_of (f), to);

  for (gsize r = 2; r < n && status == MHAR_OK; r++)
    status = ops->combine (c, 1, to, weight[r], stream_at (f, r, 0), count_of (f), to);
  return status;
}

static int
run_mix (MharForward *f, guint i, int index)
{
  const MharConnection *connection = g_ptr_array_index (mhar_model_plan (f->model)->connections, index);
  int status = sum_streams (f, connection->read, mhar_rows (f->mixed));

  return status == MHAR_OK ? run_norm (f, i, mhar_rows (f->mixed)) : status;
}

static int
run_spread (MharForward *f, int index)
{
  const MharConnection *connection = g_ptr_array_index (mhar_model_plan (f->model)->connections, index);
  gsize n = f->needs.streams;
  int status = MHAR_OK;

  for (gsize j = 0; j < n && status == MHAR_OK; j++) {
    MharRows to = stream_at (f, j, 1);
    status = sum_streams (f, connection->carry + j * n, to);
    if (status == MHAR_OK)
      status = mhar_forward_ops (f)->combine (mhar_forward_context (f), 1, to, connection->write[j], f->latest,
                                              count_of (f), to);
  }
  f->half = 1 - f->half;
  return status;
}

/* Where a sublayer's output goes: straight into its row of the history when the next step stores it. */
static MharRows
destination (MharForward *f, guint i)
{
  const GArray *steps = mhar_model_plan (f->model)->steps;

  if (i + 1 < steps->len) {
    const MharStep *next = &g_array_index (steps, MharStep, i + 1);
    if (next->kind == MHAR_STEP_STORE && next->value == MHAR_VALUE_OUT)
      return mhar_forward_ops (f)->route_row (f->route, next->index);
  }
  return mhar_rows (f->out);
}

/* qkv = x Wᵀ, where each KV group g may have an x of its own, [T, G, D]: the rows of its queries, its key and its value
 * are those columns of qkv too. */
static int
project (MharForward *f, const MharLayer *layer, gsize groups)
{
  const MharBody *b = mhar_model_body (f->model);
  gsize T = (gsize) f->W * f->t, d = (gsize) b->width, e = (gsize) b->head_dim;
  gsize heads = (gsize) b->heads, kv = (gsize) b->kv_heads, wide = (heads + 2 * kv) * e, rep = heads / kv;
  int status = MHAR_OK;

  if (groups == 1)
    return mhar_forward_ops (f)->matmul (mhar_forward_context (f), mhar_rows (f->x), d, layer->qkv, 0, wide,
                                         layer->qkv_bias, T, mhar_rows (f->qkv), wide);
  for (gsize g = 0; g < groups; g++) {
    const gsize part[][2] = { { g * rep * e, rep * e }, { (heads + g) * e, e }, { (heads + kv + g) * e, e } };
    for (guint p = 0; p < G_N_ELEMENTS (part) && status == MHAR_OK; p++)
      status = mhar_forward_ops (f)->matmul (mhar_forward_context (f), (MharRows){ f->x, g * d }, groups * d,
                                             layer->qkv, part[p][0], part[p][1], layer->qkv_bias, T,
                                             (MharRows){ f->qkv, part[p][0] }, wide);
  }
  return status;
}

/* Mixes that the read before step i left. */
static gsize
columns_before (const MharForward *f, guint i)
{
  const MharPlan *plan = mhar_model_plan (f->model);
  const MharStep *step = &g_array_index (plan->steps, MharStep, i - 1);
  gboolean site = step->kind == MHAR_STEP_READ && step->index >= 0;

  return site ? (gsize) mhar_site_n_queries (mhar_plan_site (plan, (guint) step->index)) : 1;
}

static int
run_attention (MharForward *f, guint i, int l, MharRows out)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  const MharBody *b = mhar_model_body (f->model);
  const MharLayer *layer = mhar_model_layer (f->model, l);
  gsize T = (gsize) f->W * f->t, d = (gsize) b->width, e = (gsize) b->head_dim;
  gsize heads = (gsize) b->heads, kv = (gsize) b->kv_heads;
  int status = project (f, layer, columns_before (f, i));

  if (status == MHAR_OK)
    status = ops->rope (c, mhar_rows (f->qkv), layer->q_gain, layer->k_gain, b->qk_eps, mhar_forward_angles (f, l), f->W,
                        f->t, heads, kv, e);
  if (status == MHAR_OK)
    status = ops->attention (c, mhar_rows (f->qkv), 1.0 / sqrt ((double) e), (gsize) mhar_body_window (b, l), f->W, f->t,
                             heads, kv, e, mhar_rows (f->heads));
  if (status == MHAR_OK)
    status = ops->matmul (c, mhar_rows (f->heads), heads * e, layer->o, 0, d, layer->o_bias, T, out, d);
  return status;
}

static int
run_mlp (MharForward *f, int l, MharRows out)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  const MharBody *b = mhar_model_body (f->model);
  const MharLayer *layer = mhar_model_layer (f->model, l);
  gsize T = (gsize) f->W * f->t, d = (gsize) b->width, ffn = (gsize) b->ffn;
  int status = ops->matmul (c, mhar_rows (f->x), d, layer->gate_up, 0, 2 * ffn, layer->gate_up_bias, T,
                            mhar_rows (f->gate_up), 2 * ffn);

  if (status == MHAR_OK)
    status = ops->swiglu (c, mhar_rows (f->gate_up), T, ffn, mhar_rows (f->gated));
  if (status == MHAR_OK)
    status = ops->matmul (c, mhar_rows (f->gated), ffn, layer->down, 0, d, layer->down_bias, T, out, d);
  return status;
}

static int
run_store (MharForward *f, const MharStep *step)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  MharRows row = ops->route_row (f->route, step->index);
  MharRows stream = mhar_rows (f->stream);
  gsize T = (gsize) f->W * f->t;
  int status = MHAR_OK;

  if (step->value == MHAR_VALUE_EMBED) {
    status = ops->embed (c, mhar_model_embedding (f->model), f->ids, T, row);
    f->latest = row;
  } else if (step->value == MHAR_VALUE_TENSOR)
    status = ops->embed (c, mhar_model_tensor (f->model, step->other), f->zeros, T, row);
  else if (step->value == MHAR_VALUE_STREAM)
    status = ops->combine (c, 1, stream, 0, stream, count_of (f), row);
  else if (step->value == MHAR_VALUE_STREAM_LESS)
    status = ops->combine (c, 1, stream, -1, ops->route_row (f->route, step->other), count_of (f), row);
  else if (f->latest.buffer != row.buffer || f->latest.offset != row.offset)
    status = ops->combine (c, 1, f->latest, 0, f->latest, count_of (f), row);
  return status == MHAR_OK ? ops->route_stored (c, f->route, step->index) : status;
}

int
mhar_forward_start (MharForward *f)
{
  const MharOps *ops = mhar_forward_ops (f);
  const MharWeight *table = mhar_model_embedding (f->model);
  gsize T = (gsize) f->W * f->t;
  int status = MHAR_OK;

  f->half = 0;
  if (f->needs.stream)
    status = ops->embed (mhar_forward_context (f), table, f->ids, T, mhar_rows (f->stream));
  for (gsize r = 0; r < f->needs.streams && status == MHAR_OK; r++)
    status = ops->embed (mhar_forward_context (f), table, f->ids, T, stream_at (f, r, 0));
  return status;
}

int
mhar_forward_step (MharForward *f, guint i)
{
  const MharStep *step = &g_array_index (mhar_model_plan (f->model)->steps, MharStep, i);
  const MharOps *ops = mhar_forward_ops (f);
  MharRows stream = mhar_rows (f->stream);

  switch (step->kind) {
  case MHAR_STEP_READ:
    return run_read (f, i, step->index);
  case MHAR_STEP_ATTN:
    f->latest = destination (f, i);
    return run_attention (f, i, step->index, f->latest);
  case MHAR_STEP_MLP:
    f->latest = destination (f, i);
    return run_mlp (f, step->index, f->latest);
  case MHAR_STEP_STORE:
    return run_store (f, step);
  case MHAR_STEP_STREAM_ADD:
    return ops->combine (mhar_forward_context (f), 1, stream, 1, f->latest, count_of (f), stream);
  case MHAR_STEP_STREAM_SET:
    return ops->combine (mhar_forward_context (f), 1, f->latest, 0, f->latest, count_of (f), stream);
  case MHAR_STEP_MIX:
    return run_mix (f, i, step->index);
  case MHAR_STEP_SPREAD:
    return run_spread (f, step->index);
  default:
    g_assert_not_reached ();
  }
}
