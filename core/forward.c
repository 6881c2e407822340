/* SPDX-License-Identifier: MIT */
#include "core/forward.h"

#include "core/error.h"
#include "core/rope.h"

#include <math.h>

struct _MharForward {
  const MharModel *model;
  MharForwardSize size;
  MharRoute *route;
  MharBuffer *ids, *cos_sin;
  MharBuffer *x, *qkv, *heads, *gate_up, *gated, *out, *stream, *chunk;
  MharRows latest; /* where the last sublayer left its output */
  gboolean uses_stream;
  guint W, t;
};

/* Tokens whose logits are asked for at once: bounds the [chunk, V] buffer of mhar_forward_logits. */
#define LOGIT_CHUNK 64

static MharContext *
context_of (const MharForward *f)
{
  return mhar_device_context (mhar_model_device (f->model));
}

static const MharOps *
ops_of (const MharForward *f)
{
  return mhar_device_ops (mhar_model_device (f->model));
}

static MharRows
rows (MharBuffer *buffer)
{
  return (MharRows){ buffer, 0 };
}

static gboolean
plan_uses_stream (const MharPlan *plan)
{
  for (guint i = 0; i < plan->steps->len; i++) {
    const MharStep *step = &g_array_index (plan->steps, MharStep, i);
    if ((step->kind == MHAR_STEP_READ && step->index < 0) || step->kind == MHAR_STEP_STREAM_ADD ||
        (step->kind == MHAR_STEP_STORE && step->value == MHAR_VALUE_STREAM))
      return TRUE;
  }
  return FALSE;
}

gsize
mhar_forward_bytes_per_token (const MharPlan *plan, const MharBody *b, const MharDevice *device)
{
  gsize element = mhar_device_precision (device) == MHAR_PRECISION_BF16 ? 2 : 4;
  gsize activations = (gsize) b->width * 4 + (gsize) (2 * b->heads + 2 * b->kv_heads) * b->head_dim + 3 * (gsize) b->ffn;
  gsize logits = 0;

  for (guint s = 0; s < plan->sites->len; s++)
    logits += (gsize) mhar_plan_site (plan, s)->heads * mhar_plan_site (plan, s)->n_sources;
  return (activations + (gsize) plan->rows->len * b->width) * element + logits * 8;
}

/* The sites of the plan in the boundary's terms; the queries stay with the caller's array until route_new copied them. */
static int
make_route (MharForward *f)
{
  const MharPlan *plan = mhar_model_plan (f->model);
  const MharBody *body = mhar_model_body (f->model);
  g_autofree MharRouteSite *sites = g_new0 (MharRouteSite, plan->sites->len + 1);
  g_autoptr (GPtrArray) queries = g_ptr_array_new_with_free_func (g_free);

  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    double *query = mhar_site_scored_query (site, NULL, plan->width);
    g_ptr_array_add (queries, query);
    sites[s] = (MharRouteSite){ site->n_sources, site->sources, site->heads, site->whole, query, site->bias };
  }
  MharRouteTable table = {
    .max_tokens = (gsize) f->size.windows * f->size.length,
    .width = (gsize) plan->width,
    .eps = body->eps,
    .n_rows = (int) plan->rows->len,
    .n_sites = (int) plan->sites->len,
    .sites = sites,
    .plain = f->size.plain,
    .block = (int) f->size.block,
  };
  return ops_of (f)->route_new (context_of (f), &table, &f->route);
}

static int
make_buffers (MharForward *f)
{
  const MharOps *ops = ops_of (f);
  MharContext *c = context_of (f);
  const MharBody *b = mhar_model_body (f->model);
  gsize T = (gsize) f->size.windows * f->size.length;
  gsize element = mhar_device_precision (mhar_model_device (f->model)) == MHAR_PRECISION_BF16 ? 2 : 4;
  gsize d = (gsize) b->width, e = (gsize) b->head_dim, heads = (gsize) b->heads, kv = (gsize) b->kv_heads;
  const struct {
    MharBuffer **buffer;
    gsize elements;
  } wanted[] = {
    { &f->x, T * d },           { &f->qkv, T * (heads + 2 * kv) * e }, { &f->heads, T * heads * e },
    { &f->gate_up, T * 2 * (gsize) b->ffn }, { &f->gated, T * (gsize) b->ffn }, { &f->out, T * d },
    { &f->stream, f->uses_stream ? T * d : 0 }, { &f->chunk, LOGIT_CHUNK * (gsize) b->vocab },
  };
  int status = ops->buffer_new (c, T * sizeof (gint32), &f->ids);

  for (guint i = 0; i < G_N_ELEMENTS (wanted) && status == MHAR_OK; i++)
    if (wanted[i].elements > 0)
      status = ops->buffer_new (c, wanted[i].elements * element, wanted[i].buffer);
  return status;
}

static int
upload_rope (MharForward *f)
{
  const MharBody *b = mhar_model_body (f->model);
  gsize bytes = (gsize) f->size.length * b->head_dim * sizeof (float);
  g_autofree float *table = mhar_rope_table (b, f->size.length);
  int status = ops_of (f)->buffer_new (context_of (f), bytes, &f->cos_sin);

  return status == MHAR_OK ? ops_of (f)->upload (context_of (f), f->cos_sin, 0, table, bytes) : status;
}

MharForward *
mhar_forward_new (const MharModel *model, const MharForwardSize *size, GError **error)
{
  g_autoptr (MharForward) f = g_new0 (MharForward, 1);

  f->model = model;
  f->size = *size;
  f->uses_stream = plan_uses_stream (mhar_model_plan (model));
  int status = make_buffers (f);
  if (status == MHAR_OK)
    status = upload_rope (f);
  if (status == MHAR_OK)
    status = make_route (f);
  if (!mhar_device_check (mhar_model_device (model), status, "making room for a batch", error))
    return NULL;
  return g_steal_pointer (&f);
}

void
mhar_forward_free (MharForward *f)
{
  if (f == NULL)
    return;
  MharBuffer *all[] = { f->ids, f->cos_sin, f->x, f->qkv, f->heads, f->gate_up, f->gated, f->out, f->stream, f->chunk };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    ops_of (f)->buffer_free (context_of (f), all[i]);
  if (f->route != NULL)
    ops_of (f)->route_free (context_of (f), f->route);
  g_free (f);
}

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

/* x = RMSNorm (h): only the norm of a read is ever needed, so the read leaves nothing else. */
static int
run_read (MharForward *f, guint i, int site)
{
  const MharBody *b = mhar_model_body (f->model);
  const MharWeight *gain = gain_after (f, i);

  if (site < 0)
    return ops_of (f)->rms_norm (context_of (f), rows (f->stream), gain, b->eps, (gsize) f->W * f->t, (gsize) b->width,
                                 rows (f->x));
  MharReadOut out = { .normed = rows (f->x), .gain = gain, .eps = b->eps };
  return ops_of (f)->route_read (context_of (f), f->route, site, &out);
}

/* Where a sublayer's output goes: straight into its row of the history when the next step stores it. */
static MharRows
destination (MharForward *f, guint i)
{
  const GArray *steps = mhar_model_plan (f->model)->steps;

  if (i + 1 < steps->len) {
    const MharStep *next = &g_array_index (steps, MharStep, i + 1);
    if (next->kind == MHAR_STEP_STORE && next->value == MHAR_VALUE_OUT)
      return ops_of (f)->route_row (f->route, next->index);
  }
  return rows (f->out);
}

static int
run_attention (MharForward *f, int l, MharRows out)
{
  const MharOps *ops = ops_of (f);
  MharContext *c = context_of (f);
  const MharBody *b = mhar_model_body (f->model);
  const MharLayer *layer = mhar_model_layer (f->model, l);
  gsize T = (gsize) f->W * f->t, d = (gsize) b->width, e = (gsize) b->head_dim;
  gsize heads = (gsize) b->heads, kv = (gsize) b->kv_heads, wide = (heads + 2 * kv) * e;
  int status = ops->matmul (c, rows (f->x), d, layer->qkv, 0, wide, NULL, T, rows (f->qkv), wide);

  if (status == MHAR_OK)
    status = ops->rope (c, rows (f->qkv), layer->q_gain, layer->k_gain, b->eps, f->cos_sin, f->W, f->t, heads, kv, e);
  if (status == MHAR_OK)
    status = ops->attention (c, rows (f->qkv), 1.0 / sqrt ((double) e), 0, f->W, f->t, heads, kv, e, rows (f->heads));
  if (status == MHAR_OK)
    status = ops->matmul (c, rows (f->heads), heads * e, layer->o, 0, d, NULL, T, out, d);
  return status;
}

static int
run_mlp (MharForward *f, int l, MharRows out)
{
  const MharOps *ops = ops_of (f);
  MharContext *c = context_of (f);
  const MharBody *b = mhar_model_body (f->model);
  const MharLayer *layer = mhar_model_layer (f->model, l);
  gsize T = (gsize) f->W * f->t, d = (gsize) b->width, ffn = (gsize) b->ffn;
  int status = ops->matmul (c, rows (f->x), d, layer->gate_up, 0, 2 * ffn, NULL, T, rows (f->gate_up), 2 * ffn);

  if (status == MHAR_OK)
    status = ops->swiglu (c, rows (f->gate_up), T, ffn, rows (f->gated));
  if (status == MHAR_OK)
    status = ops->matmul (c, rows (f->gated), ffn, layer->down, 0, d, NULL, T, out, d);
  return status;
}

static int
run_store (MharForward *f, const MharStep *step)
{
  const MharOps *ops = ops_of (f);
  MharContext *c = context_of (f);
  MharRows row = ops->route_row (f->route, step->index);
  gsize T = (gsize) f->W * f->t, count = T * (gsize) mhar_model_body (f->model)->width;
  int status = MHAR_OK;

  if (step->value == MHAR_VALUE_EMBED)
    status = ops->embed (c, mhar_model_embedding (f->model), f->ids, T, row);
  else if (step->value == MHAR_VALUE_STREAM)
    status = ops->combine (c, 1, rows (f->stream), 0, rows (f->stream), count, row);
  else if (f->latest.buffer != row.buffer || f->latest.offset != row.offset)
    status = ops->combine (c, 1, f->latest, 0, f->latest, count, row);
  return status == MHAR_OK ? ops->route_stored (c, f->route, step->index) : status;
}

static int
run_step (MharForward *f, guint i)
{
  const MharStep *step = &g_array_index (mhar_model_plan (f->model)->steps, MharStep, i);
  gsize count = (gsize) f->W * f->t * (gsize) mhar_model_body (f->model)->width;

  switch (step->kind) {
  case MHAR_STEP_READ:
    return run_read (f, i, step->index);
  case MHAR_STEP_ATTN:
    f->latest = destination (f, i);
    return run_attention (f, step->index, f->latest);
  case MHAR_STEP_MLP:
    f->latest = destination (f, i);
    return run_mlp (f, step->index, f->latest);
  case MHAR_STEP_STORE:
    return run_store (f, step);
  case MHAR_STEP_STREAM_ADD:
    return ops_of (f)->combine (context_of (f), 1, rows (f->stream), 1, f->latest, count, rows (f->stream));
  default:
    g_assert_not_reached ();
  }
}

gboolean
mhar_forward_run (MharForward *f, const gint32 *ids, guint W, guint t, GCancellable *cancellable, GError **error)
{
  const MharOps *ops = ops_of (f);
  MharContext *c = context_of (f);
  const MharPlan *plan = mhar_model_plan (f->model);
  gsize T = (gsize) W * t;

  g_return_val_if_fail (W > 0 && t > 0 && t <= f->size.length && T <= (gsize) f->size.windows * f->size.length, FALSE);
  f->W = W;
  f->t = t;
  int status = ops->upload (c, f->ids, 0, ids, T * sizeof *ids);
  if (status == MHAR_OK)
    status = ops->route_begin (c, f->route, W, t);
  if (status == MHAR_OK && f->uses_stream)
    status = ops->embed (c, mhar_model_embedding (f->model), f->ids, T, rows (f->stream));
  for (guint i = 0; i < plan->steps->len && status == MHAR_OK; i++) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    status = run_step (f, i);
  }
  return mhar_device_check (mhar_model_device (f->model), status, "running the model", error);
}

gboolean
mhar_forward_loss (MharForward *f, double *sum, GError **error)
{
  const MharBody *b = mhar_model_body (f->model);
  int status = ops_of (f)->cross_entropy (context_of (f), rows (f->x), mhar_model_head (f->model), f->ids, f->W, f->t,
                                          (gsize) b->width, sum);
  return mhar_device_check (mhar_model_device (f->model), status, "computing the loss", error);
}

gboolean
mhar_forward_logits (MharForward *f, guint first, guint count, float *to, GError **error)
{
  const MharBody *b = mhar_model_body (f->model);
  gsize d = (gsize) b->width, v = (gsize) b->vocab;
  int status = MHAR_OK;

  g_return_val_if_fail ((gsize) first + count <= (gsize) f->W * f->t, FALSE);
  for (guint at = 0; at < count && status == MHAR_OK; at += LOGIT_CHUNK) {
    gsize n = MIN (LOGIT_CHUNK, count - at);
    MharRows x = { f->x, (first + at) * d };
    status = ops_of (f)->matmul (context_of (f), x, d, mhar_model_head (f->model), 0, v, NULL, n, rows (f->chunk), v);
    if (status == MHAR_OK)
      status = ops_of (f)->rows_get (context_of (f), rows (f->chunk), n * v, to + at * v);
  }
  return mhar_device_check (mhar_model_device (f->model), status, "computing logits", error);
}

gboolean
mhar_forward_last_logits (MharForward *f, float *to, GError **error)
{
  const MharBody *b = mhar_model_body (f->model);
  gsize d = (gsize) b->width, v = (gsize) b->vocab;
  MharRows last = { f->x, (f->t - 1) * d };

  g_return_val_if_fail (f->W <= LOGIT_CHUNK, FALSE);
  int status = ops_of (f)->matmul (context_of (f), last, f->t * d, mhar_model_head (f->model), 0, v, NULL, f->W,
                                   rows (f->chunk), v);
  if (status == MHAR_OK)
    status = ops_of (f)->rows_get (context_of (f), rows (f->chunk), f->W * v, to);
  return mhar_device_check (mhar_model_device (f->model), status, "computing logits", error);
}

MharRoute *
mhar_forward_route (const MharForward *f)
{
  return f->route;
}

const MharModel *
mhar_forward_model (const MharForward *f)
{
  return f->model;
}
