/* SPDX-License-Identifier: MIT */
#include "core/forward-private.h"

#include "core/error.h"
#include "core/rope.h"

/* Tokens whose logits are asked for at once: bounds the [chunk, V] buffer of mhar_forward_logits. */
#define LOGIT_CHUNK 64

static MharNeeds
find_needs (const MharPlan *plan)
{
  MharNeeds needs = { .columns = 1, .streams = (gsize) plan->streams };

  for (guint i = 0; i < plan->steps->len; i++) {
    const MharStep *step = &g_array_index (plan->steps, MharStep, i);
    gboolean store = step->kind == MHAR_STEP_STORE;
    needs.stream |= (step->kind == MHAR_STEP_READ && step->index < 0) || step->kind == MHAR_STEP_STREAM_ADD ||
                    step->kind == MHAR_STEP_STREAM_SET ||
                    (store && (step->value == MHAR_VALUE_STREAM || step->value == MHAR_VALUE_STREAM_LESS));
    needs.zeros |= store && step->value == MHAR_VALUE_TENSOR;
    needs.mixed |= step->kind == MHAR_STEP_MIX;
  }
  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    gboolean plain = site->mode == MHAR_READ_REPLACE && site->gate.kind == MHAR_GATE_NONE;
    needs.columns = MAX (needs.columns, (gsize) mhar_site_n_queries (site));
    needs.stream |= !plain && site->base == MHAR_VALUE_STREAM;
    needs.mixed |= !plain;
    needs.gate |= site->gate.kind == MHAR_GATE_VECTOR;
  }
  return needs;
}

gsize
mhar_forward_bytes_per_token (const MharPlan *plan, const MharBody *b, const MharDevice *device)
{
  gsize element = mhar_device_precision (device) == MHAR_PRECISION_BF16 ? 2 : 4;
  gsize activations = (gsize) b->width * 4 + (gsize) (2 * b->heads + 2 * b->kv_heads) * b->head_dim + 3 * (gsize) b->ffn;
  gsize logits = 0;
  MharNeeds needs = find_needs (plan);

  activations += (needs.columns - 1 + needs.mixed + needs.gate + 2 * needs.streams) * (gsize) b->width;
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
    .eps = plan->eps > 0 ? plan->eps : body->eps,
    .n_rows = (int) plan->rows->len,
    .n_sites = (int) plan->sites->len,
    .sites = sites,
    .plain = f->size.plain,
    .block = (int) f->size.block,
    .again = f->size.again,
  };
  return mhar_forward_ops (f)->route_new (mhar_forward_context (f), &table, &f->route);
}

static int
make_buffers (MharForward *f)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  const MharBody *b = mhar_model_body (f->model);
  gsize T = (gsize) f->size.windows * f->size.length;
  gsize element = mhar_device_precision (mhar_model_device (f->model)) == MHAR_PRECISION_BF16 ? 2 : 4;
  gsize d = (gsize) b->width, e = (gsize) b->head_dim, heads = (gsize) b->heads, kv = (gsize) b->kv_heads;
  const struct {
    MharBuffer **buffer;
    gsize elements;
  } wanted[] = {
    { &f->x, T * d * f->needs.columns }, { &f->qkv, T * (heads + 2 * kv) * e }, { &f->heads, T * heads * e },
    { &f->gate_up, T * 2 * (gsize) b->ffn }, { &f->gated, T * (gsize) b->ffn }, { &f->out, T * d },
    { &f->stream, f->needs.stream ? T * d : 0 }, { &f->mixed, f->needs.mixed ? T * d : 0 },
    { &f->gate, f->needs.gate ? T * d : 0 },    { &f->streams, 2 * f->needs.streams * T * d },
    { &f->chunk, LOGIT_CHUNK * (gsize) b->vocab }, { &f->aside, f->size.again ? 2 * T * d : 0 },
  };
  int status = ops->buffer_new (c, T * sizeof (gint32), &f->ids);

  if (status == MHAR_OK && f->needs.zeros)
    status = ops->buffer_new (c, T * sizeof (gint32), &f->zeros);
  if (status == MHAR_OK && f->needs.zeros)
    status = ops->zero (c, f->zeros, 0, T * sizeof (gint32));
  for (guint i = 0; i < G_N_ELEMENTS (wanted) && status == MHAR_OK; i++)
    if (wanted[i].elements > 0)
      status = ops->buffer_new (c, wanted[i].elements * element, wanted[i].buffer);
  return status;
}

/* The tables of every position there may be, as windows of `window` tokens have them. */
static int
upload_rope (MharForward *f, guint window)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  const MharBody *b = mhar_model_body (f->model);
  gsize bytes = (gsize) f->size.length * b->head_dim * sizeof (float);
  guint n = b->window > 0 && !mhar_rope_equal (&b->rope[0], &b->rope[1]) ? 2 : 1;
  int status = MHAR_OK;

  for (guint k = 0; k < n && status == MHAR_OK; k++) {
    g_autofree float *table = mhar_rope_table (&b->rope[k], b->head_dim, f->size.length, window);
    if (f->cos_sin[k] == NULL)
      status = ops->buffer_new (c, bytes, &f->cos_sin[k]);
    if (status == MHAR_OK)
      status = ops->upload (c, f->cos_sin[k], 0, table, bytes);
  }
  f->turned = window;
  return status;
}

/* Where the frequencies depend on the length of the windows, those of `t` tokens. */
static int
turn (MharForward *f, guint t)
{
  const MharRope *rope = mhar_model_body (f->model)->rope;

  return mhar_rope_same (&rope[0], f->turned, t) && mhar_rope_same (&rope[1], f->turned, t) ? MHAR_OK
                                                                                            : upload_rope (f, t);
}

MharForward *
mhar_forward_new (const MharModel *model, const MharForwardSize *size, GError **error)
{
  g_autoptr (MharForward) f = g_new0 (MharForward, 1);

  f->model = model;
  f->size = *size;
  f->needs = find_needs (mhar_model_plan (model));
  int status = make_buffers (f);
  if (status == MHAR_OK)
    status = upload_rope (f, size->length);
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
  MharBuffer *all[] = { f->ids,   f->cos_sin[0], f->cos_sin[1], f->zeros, f->x,      f->qkv,   f->heads, f->gate_up,
                        f->gated, f->out,     f->mixed, f->stream, f->gate, f->streams, f->chunk,
                        f->aside };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    mhar_forward_ops (f)->buffer_free (mhar_forward_context (f), all[i]);
  if (f->route != NULL)
    mhar_forward_ops (f)->route_free (mhar_forward_context (f), f->route);
  g_free (f);
}

gboolean
mhar_forward_run (MharForward *f, const gint32 *ids, guint W, guint t, GCancellable *cancellable, GError **error)
{
  const MharOps *ops = mhar_forward_ops (f);
  MharContext *c = mhar_forward_context (f);
  const MharPlan *plan = mhar_model_plan (f->model);
  gsize T = (gsize) W * t;

  g_return_val_if_fail (W > 0 && t > 0 && t <= f->size.length && T <= (gsize) f->size.windows * f->size.length, FALSE);
  f->W = W;
  f->t = t;
  int status = ops->upload (c, f->ids, 0, ids, T * sizeof *ids);
  if (status == MHAR_OK)
    status = turn (f, t);
  if (status == MHAR_OK)
    status = ops->route_begin (c, f->route, W, t);
  if (status == MHAR_OK)
    status = mhar_forward_start (f);
  for (guint i = 0; i < plan->steps->len && status == MHAR_OK; i++) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    status = mhar_forward_step (f, i);
  }
  return mhar_device_check (mhar_model_device (f->model), status, "running the model", error);
}

gboolean
mhar_forward_loss (MharForward *f, double *sum, GError **error)
{
  const MharBody *b = mhar_model_body (f->model);
  int status = mhar_forward_ops (f)->cross_entropy (mhar_forward_context (f), mhar_rows (f->x), mhar_model_head (f->model), f->ids, f->W, f->t,
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
    status = mhar_forward_ops (f)->matmul (mhar_forward_context (f), x, d, mhar_model_head (f->model), 0, v, NULL, n, mhar_rows (f->chunk), v);
    if (status == MHAR_OK)
      status = mhar_forward_ops (f)->rows_get (mhar_forward_context (f), mhar_rows (f->chunk), n * v, to + at * v);
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
  int status = mhar_forward_ops (f)->matmul (mhar_forward_context (f), last, f->t * d, mhar_model_head (f->model), 0, v, NULL, f->W,
                                   mhar_rows (f->chunk), v);
  if (status == MHAR_OK)
    status = mhar_forward_ops (f)->rows_get (mhar_forward_context (f), mhar_rows (f->chunk), f->W * v, to);
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
