/* SPDX-License-Identifier: MIT */
/* --verify: our numbers against a saved reference, tensor by tensor: ids [T], logits [T, V] and, where there, the
 * routing weights weights.<site> [N, T, H]. */
#include "app/cli/jobs.h"

#include "core/error.h"
#include "core/forward.h"
#include "core/npy.h"
#include "core/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  const MharCliOptions *options;
  const char *path;
  const MharSafetensors *reference;
  const MharPlan *plan;
  MharForward *forward;
  gint32 *ids;
  guint n;
  const MharTensor *logits;
  guint compared;
  char *first_bad; /* name of the first tensor over the tolerance */
} Verify;

static const MharTensor *
need (const Verify *v, const char *name, const char *dtype, guint n_dims, const guint64 *shape, GError **error)
{
  const MharTensor *t = mhar_safetensors_find (v->reference, name);

  if (t == NULL) {
    mhar_bad_input (error, "%s: there is no tensor “%s”; a reference holds ids and logits", v->path, name);
    return NULL;
  }
  gboolean good = strcmp (t->dtype, dtype) == 0 && t->n_dims == n_dims;
  for (guint d = 0; good && d < n_dims; d++)
    good = shape[d] == 0 || t->shape[d] == shape[d];
  if (!good) {
    mhar_bad_input (error, "%s: tensor “%s” is not %s of the shape that this checkpoint gives", v->path, name, dtype);
    return NULL;
  }
  return t;
}

static gboolean
read_ids (Verify *v, int vocab, GError **error)
{
  guint64 any = 0;
  const MharTensor *t = need (v, "ids", "I64", 1, &any, error);

  if (t == NULL)
    return FALSE;
  if (t->shape[0] == 0 || t->shape[0] > 1 << 20)
    return mhar_bad_input (error, "%s: ids must hold from 1 to %d token ids", v->path, 1 << 20);
  v->n = (guint) t->shape[0];
  v->ids = g_new (gint32, v->n);
  for (guint i = 0; i < v->n; i++) {
    gint64 id;
    memcpy (&id, t->data + i * sizeof id, sizeof id);
    if (id < 0 || id >= vocab)
      return mhar_bad_input (error, "%s: id %" G_GINT64_FORMAT " is beyond the checkpoint's vocabulary of %d", v->path,
                             id, vocab);
    v->ids[i] = (gint32) id;
  }
  return TRUE;
}

/* Adds |ours − reference|², |reference|² and the largest difference over n values. */
typedef struct {
  double difference, norm, largest;
} Error;

static void
accumulate (Error *e, const float *ours, const guint8 *reference, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    float want;
    memcpy (&want, reference + i * sizeof want, sizeof want);
    double d = (double) ours[i] - (double) want;
    e->difference += d * d;
    e->norm += (double) want * (double) want;
    e->largest = isnan (d) || isnan (e->largest) ? NAN : fmax (e->largest, fabs (d));
  }
}

static void
judge (Verify *v, GString *out, const char *name, const Error *e)
{
  double relative = sqrt (e->difference) / sqrt (e->norm > 0 ? e->norm : 1);
  gboolean good = relative <= v->options->tolerance; /* not where it is NaN */
  char number[G_ASCII_DTOSTR_BUF_SIZE], most[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%.2e", relative);
  g_ascii_formatd (most, sizeof most, "%.2e", e->largest);
  g_string_append_printf (out, "%-14s relative norm error %s, largest %s  %s\n", name, number, most,
                          good ? "ok" : "DIFFERS");
  v->compared++;
  if (!good && v->first_bad == NULL)
    v->first_bad = g_strdup (name);
}

static gboolean
compare_logits (Verify *v, gsize vocab, GCancellable *cancellable, GString *out, GError **error)
{
  g_autofree float *ours = g_new (float, vocab);
  Error e = { 0, 0, 0 };

  for (guint i = 0; i < v->n; i++) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
        !mhar_forward_logits (v->forward, i, 1, ours, error))
      return FALSE;
    accumulate (&e, ours, v->logits->data + i * vocab * sizeof (float), vocab);
  }
  judge (v, out, "logits", &e);
  return TRUE;
}

/* The reference has [N, T, H], the boundary gives [T, H, N]. */
static gboolean
compare_weights (Verify *v, guint s, GString *out, GError **error)
{
  const MharSite *site = mhar_plan_site (v->plan, s);
  MharDevice *device = mhar_model_device (mhar_forward_model (v->forward));
  gsize heads = (gsize) site->heads, n = (gsize) site->n_sources, T = v->n;
  guint64 shape[] = { n, T, heads };
  g_autofree char *name = g_strdup_printf ("weights.%d", site->number);
  g_autofree float *ours = NULL, *turned = NULL;
  Error e = { 0, 0, 0 };

  if (mhar_safetensors_find (v->reference, name) == NULL)
    return TRUE;
  const MharTensor *t = need (v, name, "F32", 3, shape, error);
  if (t == NULL)
    return FALSE;
  ours = g_new (float, T *heads *n);
  turned = g_new (float, T *heads *n);
  int status = mhar_device_ops (device)->route_weights (mhar_device_context (device), mhar_forward_route (v->forward),
                                                        (int) s, 0, T, ours);
  if (!mhar_device_check (device, status, "fetching the routing weights", error))
    return FALSE;
  for (gsize i = 0; i < T; i++)
    for (gsize h = 0; h < heads; h++)
      for (gsize k = 0; k < n; k++)
        turned[(k * T + i) * heads + h] = ours[(i * heads + h) * n + k];
  accumulate (&e, turned, t->data, T * heads * n);
  judge (v, out, name, &e);
  return TRUE;
}

static gboolean
compare (Verify *v, MharDevice *device, const MharCheckpoint *checkpoint, GCancellable *cancellable, GString *out,
         GError **error)
{
  const MharBody *body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  g_autoptr (MharModel) model = NULL;
  g_autoptr (MharForward) forward = NULL;

  if (!read_ids (v, body->vocab, error))
    return FALSE;
  /* Before the run: a file that holds so many logits is a file that means it. */
  guint64 shape[] = { v->n, (guint64) body->vocab };
  v->logits = need (v, "logits", "F32", 2, shape, error);
  if (v->logits == NULL)
    return FALSE;
  MharForwardSize size = { 1, v->n, v->options->probe.plain, 0 };
  model = mhar_model_new (device, checkpoint, v->plan, error);
  forward = model != NULL ? mhar_forward_new (model, &size, error) : NULL;
  v->forward = forward;
  if (forward == NULL || !mhar_forward_run (forward, v->ids, 1, v->n, cancellable, error) ||
      !compare_logits (v, (gsize) body->vocab, cancellable, out, error))
    return FALSE;
  for (guint s = 0; s < v->plan->sites->len; s++)
    if (g_cancellable_set_error_if_cancelled (cancellable, error) || !compare_weights (v, s, out, error))
      return FALSE;
  return TRUE;
}

int
mhar_job_verify (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  g_autoptr (MharCheckpoint) checkpoint = NULL;
  g_autoptr (MharPlan) plan = NULL;
  g_autoptr (MharSafetensors) reference = NULL;
  g_autoptr (MharDevice) device = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  int status = -1;

  if (!mhar_open_checkpoint (options, options->checkpoints[0], &checkpoint, &plan, error))
    return -1;
  reference = mhar_safetensors_open (options->verify, error);
  if (reference == NULL)
    return -1;
  device = mhar_device_open (options->device, options->precision,
                             strcmp (mhar_checkpoint_dtype (checkpoint), "BF16") == 0, error);
  if (device == NULL)
    return -1;
  Verify v = { .options = options, .path = options->verify, .reference = reference, .plan = plan };
  if (compare (&v, device, checkpoint, cancellable, out, error)) {
    if (v.first_bad != NULL)
      g_string_append_printf (out, "first tensor beyond the tolerance: %s\n", v.first_bad);
    else
      g_string_append_printf (out, v.compared == 1 ? "%u tensor agrees\n" : "%u tensors agree\n", v.compared);
    status = !mhar_print (out->str, error) ? -1 : v.first_bad != NULL ? 1 : 0;
  }
  g_free (v.ids);
  g_free (v.first_bad);
  return status;
}
