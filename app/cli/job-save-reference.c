/* SPDX-License-Identifier: MIT */
/* --save-reference: the ids, logits and routing weights of the first window as a file that --verify, here or elsewhere,
 * can be held against. */
#include "app/cli/jobs.h"

#include "app/cli/option-effect.h"
#include "app/cli/reference.h"
#include "app/cli/token-source.h"
#include "core/error.h"
#include "core/file-guard.h"
#include "core/forward.h"
#include "core/output-target.h"
#include "probes/run.h"

#include <stdlib.h>
#include <string.h>

/* A file is made in memory. */
#define MOST_BYTES G_MAXINT32

typedef struct {
  json_t *header;
  GByteArray *data;
} File;

/* Room for a tensor of `n` elements of `size` bytes at the end of the file, to be filled before the next. */
static guint8 *
add (File *file, const char *name, const char *dtype, json_t *shape, gsize n, gsize size)
{
  guint start = file->data->len;

  g_byte_array_set_size (file->data, (guint)(start + n * size));
  json_object_set_new (file->header, name,
                       json_pack ("{s:s, s:o, s:[I, I]}", "dtype", dtype, "shape", shape, "data_offsets",
                                  (json_int_t)start, (json_int_t)file->data->len));
  return file->data->data + start;
}

static gboolean
add_weights (File *file, MharForward *forward, const MharSite *site, int s, gsize T, GError **error)
{
  MharDevice *device = mhar_model_device (mhar_forward_model (forward));
  gsize H = (gsize)site->heads, N = (gsize)site->n_sources;
  g_autofree float *own = g_new (float, T *H *N);
  g_autofree char *name = g_strdup_printf ("weights.%d", site->number);
  int status = mhar_device_ops (device)->route_weights (mhar_device_context (device), mhar_forward_route (forward), s,
                                                        0, T, own);

  if (!mhar_device_check (device, status, "fetching the routing weights", error))
    return FALSE;
  guint8 *to = add (file, name, "F32", json_pack ("[I, I, I]", (json_int_t)N, (json_int_t)T, (json_int_t)H), T * H * N,
                    sizeof *own);
  for (gsize t = 0; t < T; t++)
    for (gsize h = 0; h < H; h++)
      for (gsize n = 0; n < N; n++)
        memcpy (to + ((n * T + t) * H + h) * sizeof *own, own + (t * H + h) * N + n, sizeof *own);
  return TRUE;
}

static gboolean
fill (File *file, MharForward *forward, const MharPlan *plan, const gint32 *ids, guint T, gsize vocab, GError **error)
{
  g_autofree float *row = g_new (float, vocab);
  guint8 *to = add (file, "ids", "I64", json_pack ("[i]", T), T, sizeof (gint64));

  for (guint t = 0; t < T; t++)
    memcpy (to + t * sizeof (gint64), &(gint64){ ids[t] }, sizeof (gint64));
  to = add (file, "logits", "F32", json_pack ("[i, I]", T, (json_int_t)vocab), T * vocab, sizeof *row);
  for (guint t = 0; t < T; t++) {
    if (!mhar_forward_logits (forward, t, 1, row, error))
      return FALSE;
    memcpy (to + t * vocab * sizeof *row, row, vocab * sizeof *row);
  }
  for (guint s = 0; s < plan->sites->len; s++)
    if (!add_weights (file, forward, mhar_plan_site (plan, s), (int)s, T, error))
      return FALSE;
  return TRUE;
}

/* Length of the header, header, data: whole, beside its name, and renamed. */
static gboolean
write_file (const File *file, const char *path, GError **error)
{
  char *text = json_dumps (file->header, JSON_COMPACT);
  g_autoptr (GString) whole = g_string_new (NULL);
  guint64 length = 0;

  g_string_append_len (whole, (const char *)&length, sizeof length);
  g_string_append (whole, text);
  free (text);
  while (whole->len % 8 != 0)
    g_string_append_c (whole, ' ');
  length = GUINT64_TO_LE (whole->len - sizeof length);
  memcpy (whole->str, &length, sizeof length);
  g_string_append_len (whole, (const char *)file->data->data, file->data->len);
  return mhar_output_write (path, whole->str, whole->len, error);
}

/* The first window's ids, checked. */
static gboolean
take_window (const MharCliOptions *o, const MharCheckpoint *checkpoint, const MharPlan *plan, GArray *ids,
             GError **error)
{
  gsize vocab = (gsize)mhar_config_body (mhar_checkpoint_config (checkpoint))->vocab,
        bytes = sizeof (gint64) + vocab * sizeof (float);
  guint T = MIN (ids->len, mhar_probe_context (&o->probe, checkpoint));

  if (o->probe.max_tokens > 0)
    T = (guint)MIN (T, o->probe.max_tokens);
  g_array_set_size (ids, T);
  for (guint t = 0; t < T; t++)
    if (g_array_index (ids, gint32, t) < 0 || (gsize)g_array_index (ids, gint32, t) >= vocab)
      return mhar_bad_input (
          error,
          "token %u has the id %d, but the checkpoint's vocabulary ends at %zu; was it made with another tokenizer?", t,
          g_array_index (ids, gint32, t), vocab - 1);
  for (guint s = 0; s < plan->sites->len; s++)
    bytes += sizeof (float) * (gsize)mhar_plan_site (plan, s)->heads * mhar_plan_site (plan, s)->n_sources;
  if (T > 0 && bytes <= MOST_BYTES / T)
    return TRUE;
  return mhar_bad_usage (error,
                         "a reference of %u tokens would have %zu bytes for each of them, and 2 GiB is the most; give "
                         "a lower --max-tokens",
                         T, bytes);
}

static gboolean
make (const MharCliOptions *o, const MharCheckpoint *checkpoint, const MharPlan *plan, const GArray *ids,
      GCancellable *cancellable, GError **error)
{
  gsize vocab = (gsize)mhar_config_body (mhar_checkpoint_config (checkpoint))->vocab;
  MharForwardSize size = { 1, ids->len, o->probe.plain, 0 };
  g_autoptr (MharDevice) device
      = mhar_device_open (o->device, o->precision, strcmp (mhar_checkpoint_dtype (checkpoint), "BF16") == 0, error);
  g_autoptr (MharModel) model = device != NULL ? mhar_model_new (device, checkpoint, plan, error) : NULL;
  g_autoptr (MharForward) forward = model != NULL ? mhar_forward_new (model, &size, error) : NULL;
  File file = { json_pack ("{s:{s:s}}", "__metadata__", MHAR_REFERENCE_ORDER, MHAR_REFERENCE_SOURCES_FIRST),
                g_byte_array_new () };
  const gint32 *first = (const gint32 *)ids->data;
  gboolean good = forward != NULL && mhar_forward_run (forward, first, 1, ids->len, cancellable, error)
                  && fill (&file, forward, plan, first, ids->len, vocab, error)
                  && !g_cancellable_set_error_if_cancelled (cancellable, error)
                  && mhar_guard_check (error) && write_file (&file, o->save_reference, error);

  json_decref (file.header);
  g_byte_array_unref (file.data);
  return good;
}

int
mhar_job_save_reference (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  g_autoptr (MharCheckpoint) checkpoint = NULL;
  g_autoptr (MharPlan) plan = NULL;
  MharEffects effects = { 0 };

  if (!mhar_open_checkpoint (options, options->checkpoints[0], &checkpoint, &plan, error))
    return -1;
  if (!mhar_output_check (options->save_reference, error))
    return -1;
  g_autoptr (MharTokenSource) source = mhar_token_source_open (options, cancellable, error);
  g_autoptr (GArray) all = source != NULL ? mhar_token_source_ids (source, checkpoint, cancellable, error) : NULL;
  if (all == NULL)
    return -1;
  g_autoptr (GArray) ids = g_array_copy (all);
  mhar_effects_add (&effects, plan);
  if (!take_window (options, checkpoint, plan, ids, error) || !mhar_effects_check (&effects, options, error)
      || !make (options, checkpoint, plan, ids, cancellable, error))
    return -1;
  return 0;
}
