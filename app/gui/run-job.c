/* SPDX-License-Identifier: MIT */
#include "app/gui/run-job.h"

#include "app/gui/run-command.h"
#include "app/gui/run-progress.h"
#include "app/gui/run-reads.h"
#include "core/error.h"
#include "core/provenance.h"
#include "probes/conclude.h"
#include "probes/null-queries.h"

#include <string.h>
#include <sys/resource.h>

/* Sums are kept in memory for a file that may be asked for later; a run with more goes without. */
#define SUMS_BYTES (512u << 20)
/* Tokens that the CPU takes at once: few, so that maps fill in as one looks. The numbers depend on it by rounding only. */
#define CPU_BATCH_TOKENS 256
/* The window stays quick while all processors compute. */
#define NICENESS 10

typedef struct {
  MharRunRequest *request;
  MharRunPost *post;
  GCancellable *cancellable;
  MharRunResult *result;
  GPtrArray *devices;
  guint index;          /* of the checkpoint that runs */
  gint64 began;         /* µs */
  gsize sums_bytes;     /* kept so far */
  gsize captured, room; /* tokens */
} Job;

MharRunRequest *
mhar_run_request_new (void)
{
  MharRunRequest *request = g_new0 (MharRunRequest, 1);
  mhar_probe_options_init (&request->options);
  return request;
}

void
mhar_run_request_free (MharRunRequest *request)
{
  if (request == NULL)
    return;
  mhar_opened_unref (request->opened);
  mhar_opened_unref (request->other);
  mhar_run_result_unref (request->previous);
  g_clear_pointer (&request->text, g_bytes_unref);
  g_free (request->text_name);
  g_free (request->device);
  g_free (request);
}

MharRunResult *
mhar_run_result_ref (MharRunResult *result)
{
  g_atomic_ref_count_inc (&result->refs);
  return result;
}

void
mhar_run_result_unref (MharRunResult *result)
{
  if (result == NULL || !g_atomic_ref_count_dec (&result->refs))
    return;
  g_clear_pointer (&result->sets, g_ptr_array_unref);
  g_clear_pointer (&result->sums, g_ptr_array_unref);
  g_clear_pointer (&result->tokens, g_array_unref);
  g_clear_pointer (&result->text, g_bytes_unref);
  mhar_dataset_unref (result->root);
  mhar_dataset_unref (result->capture);
  g_free (result->device);
  g_free (result->fallback);
  g_free (result);
}

static void
job_free (gpointer data)
{
  Job *job = data;

  mhar_run_request_free (job->request);
  mhar_run_post_unref (job->post);
  mhar_run_result_unref (job->result);
  g_clear_pointer (&job->devices, g_ptr_array_unref);
  g_clear_object (&job->cancellable);
  g_free (job);
}

static void
on_progress (guint64 done, guint64 total, gpointer user)
{
  Job *job = user;
  double seconds = (double) (g_get_monotonic_time () - job->began) / G_USEC_PER_SEC;

  mhar_run_post_progress (job->post, job->index, done, total, seconds > 0 ? (double) done / seconds : 0);
}

static void
on_partial (MharDataset *so_far, gpointer user)
{
  Job *job = user;
  mhar_run_post_partial (job->post, so_far);
}

static gsize
bytes_of (const MharDataset *set)
{
  gsize bytes = 0;

  for (guint i = 0; i < mhar_dataset_n_fields (set); i++)
    bytes += mhar_field_length (mhar_dataset_field (set, i)) * sizeof (double);
  for (guint i = 0; i < mhar_dataset_n_children (set); i++)
    bytes += bytes_of (mhar_dataset_child (set, i));
  return bytes;
}

static void
keep_sums (Job *job, const MharDataset *slab)
{
  GPtrArray *sums
      = job->result->sums->len > 0 ? g_ptr_array_index (job->result->sums, job->result->sums->len - 1) : NULL;

  if (sums == NULL)
    return;
  job->sums_bytes += bytes_of (slab);
  if (job->sums_bytes > SUMS_BYTES) {
    g_ptr_array_unref (sums);
    g_ptr_array_index (job->result->sums, job->result->sums->len - 1) = NULL;
    return;
  }
  g_ptr_array_add (sums, mhar_dataset_ref ((MharDataset *) slab));
}

/* Appends the window's weights to the capture, which has room for all that will be kept. */
static void
keep_capture (Job *job, const MharDataset *slab)
{
  const MharField *weight = mhar_dataset_get (slab, "weight"), *token = mhar_dataset_get (slab, "token");
  gsize cells = weight->shape[1] * weight->shape[2] * weight->shape[3],
        n = MIN (weight->shape[0], job->room - job->captured);

  if (job->result->capture == NULL) {
    gsize shape[] = { job->room, weight->shape[1], weight->shape[2], weight->shape[3] };
    const char *dims[] = { "token", "site", "head", "source" };
    job->result->capture = mhar_dataset_new ("capture");
    mhar_dataset_add (job->result->capture,
                      mhar_field_new ("token", token->long_name, "1", MHAR_FIELD_I32, 1, dims, shape));
    mhar_dataset_add (job->result->capture,
                      mhar_field_new ("weight", weight->long_name, "1", MHAR_FIELD_F32, 4, dims, shape));
  }
  MharField *to = mhar_dataset_get (job->result->capture, "weight"),
            *ids = mhar_dataset_get (job->result->capture, "token");
  memcpy (to->data.f32 + job->captured * cells, weight->data.f32, n * cells * sizeof (float));
  memcpy (ids->data.i32 + job->captured, token->data.i32, n * sizeof (gint32));
  job->captured += n;
}

static gboolean
on_slab (const char *group, const MharDataset *slab, gpointer user, GError **error G_GNUC_UNUSED)
{
  if (g_str_equal (group, "sums"))
    keep_sums (user, slab);
  else
    keep_capture (user, slab);
  return TRUE;
}

static GArray *
encode (const Job *job, MharOpened *opened, GError **error)
{
  gsize length = 0;
  const char *text = g_bytes_get_data (job->request->text, &length);
  const MharTokenizer *tokenizer = mhar_opened_tokenizer (opened, error);
  g_autoptr (GError) local = NULL;
  GArray *tokens = tokenizer != NULL ? mhar_tokenizer_encode (tokenizer, text, length, job->cancellable, &local) : NULL;

  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_propagate_error (error, g_steal_pointer (&local));
  else if (local != NULL)
    mhar_bad_input (error, "%s: %s", job->request->text_name, local->message);
  return tokens;
}

/* Tokens whose weights are kept: of the text, of what the bounds let in. */
static gsize
capture_room (const MharPlan *plan, gsize n_tokens)
{
  gsize heads = 1, sources = 1;

  for (guint s = 0; s < plan->sites->len; s++) {
    heads = MAX (heads, (gsize) mhar_plan_site (plan, s)->heads);
    sources = MAX (sources, (gsize) mhar_plan_site (plan, s)->n_sources);
  }
  gsize bytes = sizeof (float) * heads * sources * MAX (plan->sites->len, 1);
  return MIN (n_tokens, CLAMP (MHAR_CAPTURE_BYTES / bytes, 1, MHAR_CAPTURE_TOKENS));
}

/* What the window can say better than the probes, which speak of the command line's options. */
static gboolean
check_request (const MharPlan *plan, gsize n, const MharProbeOptions *options, GError **error)
{
  const MharSite *lonely = options->null_kind == MHAR_NULL_SWAPPED && options->null_draws > 0 ? mhar_null_lonely_site (plan) : NULL;

  if (n < 2)
    return mhar_bad_input (error, "too few tokens (%zu): the model needs two to read anything; give it more text", n);
  if (lonely != NULL)
    return mhar_bad_input (error, "no other read has a query like that of %s to swap it with; choose another null",
                           lonely->label);
  return TRUE;
}

static MharDataset *
run_ids (Job *job, MharOpened *opened, const GArray *tokens, GError **error)
{
  const MharPlan *plan = mhar_opened_plan (opened);
  g_autofree gint32 *ids = g_new (gint32, tokens->len + 1);
  gint64 most = job->request->options.max_tokens;
  gsize n = most > 0 ? MIN ((gsize) most, tokens->len) : tokens->len;

  for (gsize i = 0; i < n; i++)
    ids[i] = g_array_index (tokens, MharToken, i).id;
  MharProbeOptions options = job->request->options;
  mhar_run_limit_reads (&options, plan);
  if (!check_request (plan, n, &options, error))
    return NULL;
  job->room = capture_room (plan, n);
  job->began = g_get_monotonic_time ();
  MharRunHooks hooks = { on_progress, on_slab, job->index == 0 && !options.ablation_map, job, on_partial, TRUE, job->room };
  return mhar_probe_run (job->devices, mhar_opened_checkpoint (opened), plan, ids, n, &options, &hooks,
                         job->cancellable, error);
}

/* What the file's account of the run needs to know, with the first checkpoint's results as its source. */
static void
make_root (Job *job, const MharDataset *set)
{
  g_autofree char *command = mhar_run_command (job->request);
  g_autofree char *digest = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, job->request->text);
  MharProvenance provenance = { .command = command,
                                .text_name = job->request->text_name,
                                .text_digest = digest,
                                .text_tokens = job->result->tokens->len,
                                .seed = job->request->options.seed,
                                .context = (guint) mhar_dataset_integer (set, "context", 0) };

  job->result->root = mhar_provenance_root (job->devices, &provenance);
}

static void
take_set (Job *job, MharOpened *opened, MharDataset *set)
{
  g_autofree char *name = g_strdup_printf ("checkpoint_%u", job->index);
  g_autofree char *digest = mhar_checkpoint_digest (
      mhar_opened_checkpoint (opened), (const char *const *) mhar_opened_plan (opened)->routing->pdata, FALSE, NULL, NULL);

  mhar_dataset_set_name (set, name);
  mhar_dataset_set_string (set, "sha256_routing", digest);
  g_ptr_array_add (job->result->sets, set);
  if (job->index == 0)
    make_root (job, set);
  mhar_dataset_add_child (job->result->root, mhar_dataset_ref (set));
}

static void
trim_capture (Job *job)
{
  MharDataset *capture = job->result->capture;

  if (capture != NULL)
    mhar_dataset_get (capture, "weight")->shape[0] = mhar_dataset_get (capture, "token")->shape[0] = job->captured;
}

static void
sums_free (gpointer sums)
{
  if (sums != NULL)
    g_ptr_array_unref (sums);
}

static gboolean
run_one (Job *job, MharOpened *opened, GError **error)
{
  g_autoptr (GArray) tokens = encode (job, opened, error);

  if (tokens == NULL)
    return FALSE;
  g_ptr_array_add (job->result->sums, g_ptr_array_new_with_free_func ((GDestroyNotify) mhar_dataset_unref));
  MharDataset *set = run_ids (job, opened, tokens, error);
  if (set == NULL) {
    g_ptr_array_remove_index (job->result->sums, job->result->sums->len - 1);
    if (error != NULL && g_error_matches (*error, MHAR_ERROR, MHAR_ERROR_INPUT))
      g_prefix_error (error, "%s with %s: ", job->request->text_name, mhar_opened_name (opened));
    return FALSE;
  }
  if (job->index == 0) {
    job->result->tokens = g_array_ref (tokens);
    trim_capture (job);
  }
  take_set (job, opened, set);
  return TRUE;
}

/* A run's last digits may depend on its batches, so they are part of what was asked, and of the command that repeats it. */
static void
choose_batch (Job *job)
{
  MharProbeOptions *options = &job->request->options;

  if (options->batch == 0 && g_str_equal (mhar_device_spec (g_ptr_array_index (job->devices, 0)), "cpu"))
    options->batch = MAX (1, CPU_BATCH_TOKENS / MAX (options->context, 1));
}

static gboolean
open_devices (Job *job, GError **error)
{
  gboolean bf16 = g_str_equal (mhar_checkpoint_dtype (mhar_opened_checkpoint (job->request->opened)), "BF16");
  MharDeviceInfo info;

  job->devices = mhar_devices_open (job->request->device, MHAR_PRECISION_DEFAULT, bf16, error);
  if (job->devices == NULL)
    return FALSE;
  const MharDevice *device = g_ptr_array_index (job->devices, 0);
  mhar_device_describe (device, &info);
  job->result->device = g_strdup (info.name);
  job->result->fallback = g_strdup (mhar_device_fallback (device));
  return TRUE;
}

/* Checkpoint `i` out of the previous run's sums; FALSE where they do not hold what is asked. */
static gboolean
narrow_one (Job *job, guint i, MharOpened *opened)
{
  MharRunResult *previous = job->request->previous;
  const GPtrArray *sums = g_ptr_array_index (previous->sums, i);
  g_autoptr (GPtrArray) narrowed = g_ptr_array_new_with_free_func ((GDestroyNotify) mhar_dataset_unref);

  if (sums == NULL)
    return FALSE;
  MharDataset *set
      = mhar_probe_narrow (mhar_opened_checkpoint (opened), mhar_opened_plan (opened), sums,
                           g_ptr_array_index (previous->sets, i), &previous->options, &job->request->options, narrowed);
  if (set == NULL)
    return FALSE;
  job->index = i;
  take_set (job, opened, set);
  g_ptr_array_add (job->result->sums, g_steal_pointer (&narrowed));
  return TRUE;
}

/* Nothing is run where the previous run's sums hold all that is asked. */
static gboolean
narrow_all (Job *job)
{
  const MharRunRequest *request = job->request;
  MharRunResult *previous = request->previous;

  if (previous == NULL || previous->stopped || previous->sets->len != (request->other != NULL ? 2u : 1u))
    return FALSE;
  job->result->tokens = g_array_ref (previous->tokens);
  if (!narrow_one (job, 0, request->opened) || (request->other != NULL && !narrow_one (job, 1, request->other)))
    return FALSE;
  job->result->capture = previous->capture != NULL ? mhar_dataset_ref (previous->capture) : NULL;
  job->result->again = TRUE;
  return TRUE;
}

/* Forgets what an attempt left behind. */
static void
clear_result (MharRunResult *result)
{
  g_ptr_array_set_size (result->sets, 0);
  g_ptr_array_set_size (result->sums, 0);
  g_clear_pointer (&result->tokens, g_array_unref);
  g_clear_pointer (&result->root, mhar_dataset_unref);
}

/* The second checkpoint's failure by cancelling leaves the first one's results. */
static gboolean
run_all (Job *job, GError **error)
{
  MharRunRequest *request = job->request;
  g_autoptr (GError) local = NULL;

  if (!open_devices (job, error))
    return FALSE;
  choose_batch (job);
  job->result->options = request->options;
  if (narrow_all (job))
    return TRUE;
  clear_result (job->result);
  job->index = 0;
  if (!run_one (job, request->opened, error))
    return FALSE;
  job->index = 1;
  if (request->other == NULL || g_cancellable_is_cancelled (job->cancellable) || run_one (job, request->other, &local))
    return TRUE;
  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gpointer
work (gpointer data)
{
  g_autoptr (GTask) task = data;
  Job *job = g_task_get_task_data (task);
  GError *error = NULL;
  gint64 began = g_get_monotonic_time ();

  setpriority (PRIO_PROCESS, 0, NICENESS); /* of this thread, and of those it starts */
  job->cancellable = g_task_get_cancellable (task) != NULL ? g_object_ref (g_task_get_cancellable (task)) : NULL;
  job->result = g_new0 (MharRunResult, 1);
  g_atomic_ref_count_init (&job->result->refs);
  job->result->text = g_bytes_ref (job->request->text);
  job->result->sets = g_ptr_array_new_with_free_func ((GDestroyNotify) mhar_dataset_unref);
  job->result->sums = g_ptr_array_new_with_free_func (sums_free);
  gboolean good = run_all (job, &error);
  mhar_run_post_close (job->post);
  g_clear_pointer (&job->devices, g_ptr_array_unref);
  job->result->stopped = g_cancellable_is_cancelled (job->cancellable);
  job->result->seconds = (double) (g_get_monotonic_time () - began) / G_USEC_PER_SEC;
  if (good)
    g_task_return_pointer (task, g_steal_pointer (&job->result), (GDestroyNotify) mhar_run_result_unref);
  else
    g_task_return_error (task, error);
  return NULL;
}

void
mhar_run_async (MharRunRequest *request, GCancellable *cancellable, MharRunProgressFunc progress,
                GAsyncReadyCallback callback, gpointer user)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user);
  Job *job = g_new0 (Job, 1);

  job->request = request;
  job->post = mhar_run_post_new (progress, user);
  g_task_set_source_tag (task, mhar_run_async);
  g_task_set_task_data (task, job, job_free);
  g_task_set_check_cancellable (task, FALSE); /* what is done is kept */
  g_thread_unref (g_thread_new ("run", work, task));
}

MharRunResult *
mhar_run_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
