/* SPDX-License-Identifier: MIT */
/* --verify: our numbers against a saved reference (app/cli/reference.h), tensor by tensor in the order in which a
 * forward pass makes them: the routing weights of each read, then the logits. */
#include "app/cli/jobs.h"

#include "app/cli/base-names.h"
#include "app/cli/path-names.h"
#include "app/cli/option-effect.h"
#include "app/cli/reference.h"
#include "core/error.h"
#include "core/file-guard.h"
#include "core/forward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* |ours − reference|², |reference|² and the largest difference. */
typedef struct {
  double difference, norm, largest;
} Error;

/* One tensor of the reference. */
typedef struct {
  const MharTensor *tensor;
  const MharSite *site; /* NULL: of the logits */
  Error error;
  gboolean departs; /* some token is beyond the tolerance; the first: */
  guint window, token;
} Entry;

typedef struct {
  const MharCliOptions *options;
  const MharReference *reference;
  const MharPlan *plan;
  MharDevice *device;
  MharForward *forward;
  GArray *entries; /* Entry, in the order of a forward pass */
} Verify;

static double
relative (const Error *e)
{
  return sqrt (e->difference) / sqrt (e->norm > 0 ? e->norm : 1);
}

static void
accumulate (Error *e, const float *ours, const double *want, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    double d = (double)ours[i] - want[i];
    e->difference += d * d;
    e->norm += want[i] * want[i];
    e->largest = isnan (d) || isnan (e->largest) ? NAN : fmax (e->largest, fabs (d));
  }
}

/* Adds what a token has to its tensor. */
static void
take_token (const Verify *v, Entry *entry, guint window, guint token, const Error *e)
{
  gboolean good = sqrt (e->difference) <= v->options->tolerance * sqrt (e->norm); /* not where it is NaN */

  entry->error.difference += e->difference;
  entry->error.norm += e->norm;
  entry->error.largest
      = isnan (e->largest) || isnan (entry->error.largest) ? NAN : fmax (entry->error.largest, e->largest);
  if (good || (entry->departs && (entry->window < window || (entry->window == window && entry->token <= token))))
    return;
  entry->departs = TRUE;
  entry->window = window;
  entry->token = token;
}

static gboolean
compare_logits (const Verify *v, Entry *entry, guint window, GCancellable *cancellable, GError **error)
{
  const MharReference *r = v->reference;
  gsize vocab = entry->tensor->shape[entry->tensor->n_dims - 1];
  g_autofree float *ours = g_new (float, vocab);

  for (guint i = 0; i < r->n_positions; i++) {
    g_autofree double *want
        = mhar_reference_values (entry->tensor, ((gsize)window * r->n_positions + i) * vocab, vocab);
    Error e = { 0, 0, 0 };
    if (g_cancellable_set_error_if_cancelled (cancellable, error)
        || !mhar_forward_logits (v->forward, r->positions[i], 1, ours, error))
      return FALSE;
    accumulate (&e, ours, want, vocab);
    take_token (v, entry, window, r->positions[i], &e);
  }
  return TRUE;
}

/* The weights [H, N] of a token, from either layout. */
static void
gather (const double *window, const MharReferenceWeights *w, const MharSite *site, guint length, guint token,
        double *to)
{
  gsize H = (gsize)site->heads, N = (gsize)site->n_sources;

  for (gsize h = 0; h < H; h++)
    for (gsize n = 0; n < N; n++)
      to[h * N + n] = window[w->sources_last ? (token * H + h) * N + n : (n * length + token) * H + h];
}

static gboolean
compare_weights (const Verify *v, Entry *entry, guint s, guint window, GError **error)
{
  const MharReference *r = v->reference;
  gsize size = (gsize)entry->site->heads * entry->site->n_sources, whole = r->length * size;
  g_autofree double *want = mhar_reference_values (entry->tensor, window * whole, whole), *token = g_new (double, size);
  g_autofree float *ours = g_new (float, whole);
  int status = mhar_device_ops (v->device)->route_weights (mhar_device_context (v->device),
                                                           mhar_forward_route (v->forward), (int)s, 0, r->length, ours);

  if (!mhar_device_check (v->device, status, "fetching the routing weights", error))
    return FALSE;
  for (guint t = 0; t < r->length; t++) {
    Error e = { 0, 0, 0 };
    gather (want, &r->weights[s], entry->site, r->length, t, token);
    accumulate (&e, ours + t * size, token, size);
    take_token (v, entry, window, t, &e);
  }
  return TRUE;
}

static void
list_entries (Verify *v)
{
  for (guint s = 0; s < v->plan->sites->len; s++) {
    Entry entry = { .tensor = v->reference->weights[s].tensor, .site = mhar_plan_site (v->plan, s) };
    if (entry.tensor != NULL)
      g_array_append_val (v->entries, entry);
  }
  Entry logits = { .tensor = v->reference->logits };
  if (logits.tensor != NULL)
    g_array_append_val (v->entries, logits);
}

static gboolean
compare_window (Verify *v, guint window, GCancellable *cancellable, GError **error)
{
  const MharReference *r = v->reference;
  guint at = 0;

  if (!mhar_forward_run (v->forward, r->ids + (gsize)window * r->length, 1, r->length, cancellable, error))
    return FALSE;
  for (guint s = 0; s < v->plan->sites->len; s++)
    if (g_cancellable_set_error_if_cancelled (cancellable, error)
        || (r->weights[s].tensor != NULL
            && !compare_weights (v, &g_array_index (v->entries, Entry, at++), s, window, error)))
      return FALSE;
  return r->logits == NULL || compare_logits (v, &g_array_index (v->entries, Entry, at), window, cancellable, error);
}

static gboolean
compare (Verify *v, const MharCheckpoint *checkpoint, GCancellable *cancellable, GError **error)
{
  MharForwardSize size = { 1, v->reference->length, v->options->probe.plain, 0 };
  g_autoptr (MharModel) model = mhar_model_new (v->device, checkpoint, v->plan, error);
  g_autoptr (MharForward) forward = model != NULL ? mhar_forward_new (model, &size, error) : NULL;

  if (forward == NULL)
    return FALSE;
  v->forward = forward;
  list_entries (v);
  for (guint w = 0; w < v->reference->windows; w++)
    if (!compare_window (v, w, cancellable, error))
      return FALSE;
  return TRUE;
}

static gboolean
agrees (const Verify *v, const Entry *entry)
{
  return relative (&entry->error) <= v->options->tolerance; /* not where it is NaN */
}

/* The first that does not agree; NULL: all do. */
static const Entry *
first_beyond (const Verify *v)
{
  for (guint i = 0; i < v->entries->len; i++)
    if (!agrees (v, &g_array_index (v->entries, Entry, i)))
      return &g_array_index (v->entries, Entry, i);
  return NULL;
}

/* "at token 12", "at token 12 of window 1" */
static char *
place_of (const Verify *v, const Entry *entry)
{
  return v->reference->windows > 1 ? g_strdup_printf ("at token %u of window %u", entry->token, entry->window)
                                   : g_strdup_printf ("at token %u", entry->token);
}

static char *
format_text (const Verify *v)
{
  GString *out = g_string_new (NULL);
  const Entry *first = first_beyond (v);
  int width = 14;

  for (guint i = 0; i < v->entries->len; i++)
    width = MAX (width, (int)strlen (g_array_index (v->entries, Entry, i).tensor->name));
  for (guint i = 0; i < v->entries->len; i++) {
    const Entry *entry = &g_array_index (v->entries, Entry, i);
    g_autofree char *place = place_of (v, entry);
    char number[G_ASCII_DTOSTR_BUF_SIZE], most[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (number, sizeof number, "%.2e", relative (&entry->error));
    g_ascii_formatd (most, sizeof most, "%.2e", entry->error.largest);
    g_string_append_printf (out, "%-*s relative norm error %s, largest %s  ", width, entry->tensor->name, number, most);
    if (agrees (v, entry))
      g_string_append (out, "ok\n");
    else
      g_string_append_printf (out, "DIFFERS, first %s\n", place);
  }
  if (first == NULL) {
    g_string_append_printf (out, v->entries->len == 1 ? "%u tensor agrees\n" : "%u tensors agree\n", v->entries->len);
    return g_string_free (out, FALSE);
  }
  g_autofree char *place = place_of (v, first);
  g_string_append_printf (out, "first tensor beyond the tolerance: %s", first->tensor->name);
  if (first->site != NULL)
    g_string_append_printf (out, ", the read of %s", first->site->label);
  g_string_append_printf (out, ", first %s\n", place);
  return g_string_free (out, FALSE);
}

static json_t *
real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

/* Which tensor, and where it departs first, where it does. */
static json_t *
entry_as_json (const Verify *v, const Entry *entry, gboolean numbers)
{
  json_t *object = json_pack ("{s:s}", "name", entry->tensor->name);

  if (entry->site != NULL) {
    json_object_set_new (object, "site", json_integer (entry->site->number));
    json_object_set_new (object, "label", json_string (entry->site->label));
  }
  if (numbers) {
    json_object_set_new (object, "relative_error", real (relative (&entry->error)));
    json_object_set_new (object, "largest", real (entry->error.largest));
    json_object_set_new (object, "agrees", json_boolean (agrees (v, entry)));
  }
  if (!agrees (v, entry)) {
    json_object_set_new (object, "window", json_integer (entry->window));
    json_object_set_new (object, "token", json_integer (entry->token));
  }
  return object;
}

static char *
format_json (const Verify *v)
{
  const Entry *first = first_beyond (v);
  g_auto (GStrv) names = mhar_base_names_shown (v->options);
  g_autofree char *path = g_filename_display_name (names[0]);
  g_autofree char *file = v->options->base_names ? mhar_path_base (v->reference->path) : g_strdup (v->reference->path);
  json_t *list = json_array ();

  for (guint i = 0; i < v->entries->len; i++)
    json_array_append_new (list, entry_as_json (v, &g_array_index (v->entries, Entry, i), TRUE));
  json_t *object
      = json_pack ("{s:i, s:s, s:s, s:s, s:s, s:s, s:f, s:b, s:o, s:o}", "schema", 1, "command", v->options->command,
                   "checkpoint", path, "reference", file, "device", mhar_device_spec (v->device), "precision",
                   mhar_device_precision_name (v->device), "tolerance", v->options->tolerance, "agrees", first == NULL,
                   "first", first != NULL ? entry_as_json (v, first, FALSE) : json_null (), "tensors", list);
  char *text = json_dumps (object, JSON_INDENT (1) | JSON_REAL_PRECISION (17)), *line = g_strconcat (text, "\n", NULL);
  free (text);
  json_decref (object);
  return line;
}

int
mhar_job_verify (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  g_autoptr (MharCheckpoint) checkpoint = NULL;
  g_autoptr (MharPlan) plan = NULL;
  MharEffects effects = { 0 };

  if (!mhar_open_checkpoint (options, options->checkpoints[0], &checkpoint, &plan, error))
    return -1;
  int vocab = mhar_config_body (mhar_checkpoint_config (checkpoint))->vocab;
  g_autoptr (MharReference) reference = mhar_reference_open (options->verify, plan, vocab, error);
  if (reference == NULL)
    return -1;
  g_autoptr (MharDevice) device = mhar_device_open (options->device, options->precision,
                                                    strcmp (mhar_checkpoint_dtype (checkpoint), "BF16") == 0, error);
  mhar_effects_add (&effects, plan);
  if (device == NULL || !mhar_effects_check (&effects, options, error))
    return -1;
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  Verify v = { .options = options, .reference = reference, .plan = plan, .device = device, .entries = entries };
  if (!compare (&v, checkpoint, cancellable, error) || !mhar_guard_check (error))
    return -1;
  g_autofree char *text = options->json ? format_json (&v) : format_text (&v);
  return !mhar_print (text, error) ? -1 : first_beyond (&v) != NULL ? 1 : 0;
}
