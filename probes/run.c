/* SPDX-License-Identifier: MIT */
#include "probes/run.h"

#include "core/error.h"
#include "probes/conclude.h"
#include "probes/crew.h"
#include "probes/intervention.h"
#include "probes/memory-need.h"
#include "probes/null-queries.h"
#include "probes/reads.h"
#include "probes/sums-check.h"

#define DEFAULT_CONTEXT 1024
/* Tokens a batch on the CPU: enough rows for the matrix products to be efficient, few enough to stay small. */
#define CPU_BATCH_TOKENS 2048
/* On a GPU no more than this many tokens gain anything. */
#define GPU_BATCH_TOKENS 16384
/* Partial results are for eyes, and no more often than they can follow. */
#define PARTIAL_INTERVAL 100000 /* µs */

typedef struct {
  MharProbeSetup setup;
  MharProbeOptions options;
  MharWindows windows;
  const MharRunHooks *hooks;
  MharPool *pool;
  MharResampler *resampler;
  const MharCheckpoint *checkpoint;
  guint asked_context;
  guint64 window, done; /* windows and ids behind us */
  guint64 saved;        /* windows that the last save had */
  guint batch;          /* windows a batch, now */
  gboolean stopped;     /* cancelled, and kept */
  gint64 shown;         /* when `partial` was last called, µs */
} Run;

void
mhar_probe_options_init (MharProbeOptions *options)
{
  *options = (MharProbeOptions){ .probes = MHAR_PROBE_ALL, .slices = 4, .null_draws = 32, .top_tokens = 10 };
}

guint
mhar_probe_context (const MharProbeOptions *options, const MharCheckpoint *checkpoint)
{
  int own = mhar_config_body (mhar_checkpoint_config (checkpoint))->context;

  if (options->context > 0)
    return options->context;
  return own > 0 ? (guint) MIN (DEFAULT_CONTEXT, own) : DEFAULT_CONTEXT;
}

static gboolean
check_slices (guint slices, const MharBody *body, GError **error)
{
  if (slices >= 2 && body->width % (int)slices == 0)
    return TRUE;
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "%u slices do not divide a width of %d; choose another --slices",
               slices, body->width);
  return FALSE;
}

/* Slices divide the width, and every site has another to swap its query with. */
static gboolean
check_queries (const Run *run, const MharBody *body, GError **error)
{
  const MharProbeOptions *o = &run->options;
  const MharPlan *plan = run->setup.plan;
  gboolean sliced = (o->probes & MHAR_PROBE_KL) && mhar_plan_count_sites (plan, FALSE) > 0, good = TRUE;
  gboolean swapped = o->null_kind == MHAR_NULL_SWAPPED;

  for (guint i = 0; i < o->n_all_nulls; i++)
    swapped = swapped || o->all_nulls[i] == MHAR_NULL_SWAPPED;
  const MharSite *lonely = swapped && o->null_draws > 0 ? mhar_null_lonely_site (plan) : NULL;
  if (lonely != NULL)
    return mhar_bad_input (
        error,
        "no other read has a query like that of %s, so there is nothing to swap it with; choose another --null-kind",
        lonely->label);
  if (sliced)
    good = check_slices (o->slices, body, error);
  for (guint i = 0; good && sliced && i < o->n_all_slices; i++)
    good = check_slices (o->all_slices[i], body, error);
  gboolean norm_slice = o->null_norm_slice || (o->n_all_norms > 1 && o->all_norms[1]);
  if (good && norm_slice && (o->slices == 0 || body->width % (int)o->slices != 0)) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "--null-norm slice needs --slices that divide a width of %d",
                 body->width);
    return FALSE;
  }
  return good;
}

static gboolean
check_request (const Run *run, const MharBody *body, const gint32 *ids, gsize n, GError **error)
{
  if (run->windows.total == 0 && run->options.skip_first >= run->options.context)
    return mhar_bad_input (error, "--skip-first %u leaves nothing of windows of %u tokens; give a lower one, or a longer --context",
                           run->options.skip_first, run->options.context);
  if (run->windows.total == 0)
    return mhar_bad_input (
        error,
        "too few tokens (%zu) for one window of two, with %u skipped in each; give more text or a lower --skip-first",
        n, run->options.skip_first);
  for (gsize i = 0; i < n; i++)
    if (ids[i] < 0 || ids[i] >= body->vocab)
      return mhar_bad_input (error, "token %zu has the id %d, but the checkpoint's vocabulary ends at %d; was it made with another tokenizer?",
                             i, ids[i], body->vocab - 1);
  return check_queries (run, body, error) && mhar_interventions_check (run->setup.plan, &run->options, error) &&
         mhar_reads_check (run->setup.plan, &run->options, error);
}

static guint64
count_windows (const Run *run)
{
  return run->windows.full + (run->windows.rest > 0);
}

/* Windows a batch, from what the smallest device has free. */
static guint
choose_batch (const Run *run, const GPtrArray *devices, const MharBody *body)
{
  gsize context = run->options.context, windows = MAX (run->windows.full, 1), tokens = GPU_BATCH_TOKENS;

  if (run->options.batch > 0)
    return (guint) MIN (run->options.batch, windows);
  for (guint i = 0; i < devices->len; i++) {
    const MharDevice *device = g_ptr_array_index ((GPtrArray *) devices, i);
    MharDeviceInfo info;
    mhar_device_describe (device, &info);
    gsize fit = info.memory_free == 0
                  ? CPU_BATCH_TOKENS
                  : (gsize) (info.memory_free / 2 / mhar_forward_bytes_per_token (run->setup.plan, body, device));
    tokens = MIN (tokens, fit);
  }
  windows = (windows + devices->len - 1) / devices->len; /* something for everyone */
  return (guint) CLAMP (tokens / context, 1, windows);
}

/* No more windows a batch than --max-memory has room for. */
static gboolean
bound_batch (const Run *run, const GPtrArray *devices, const MharBody *body, guint *batch, GError **error)
{
  MharMemoryRun need = { .setup = &run->setup,
                         .body = body,
                         .devices = devices,
                         .windows = count_windows (run),
                         .capture = run->hooks != NULL && run->hooks->capture,
                         .file = run->hooks != NULL && run->hooks->slab != NULL };

  if (run->options.max_memory > 0)
    *batch = mhar_memory_batch (&need, *batch, error);
  return *batch > 0;
}

static gboolean
emit (const Run *run, const MharCrewBatch *batch, GError **error)
{
  const MharRunHooks *hooks = run->hooks;

  if (hooks == NULL || hooks->slab == NULL)
    return TRUE;
  if (!hooks->slab ("sums", batch->slab, hooks->user, error))
    return FALSE;
  for (guint w = 0; batch->captures != NULL && w < batch->captures->len; w++)
    if (!hooks->slab ("capture", g_ptr_array_index (batch->captures, w), hooks->user, error))
      return FALSE;
  return TRUE;
}

static MharDataset *
conclude (const Run *run, gboolean partial)
{
  MharConclusion conclusion = { .setup = &run->setup,
                                .checkpoint = run->checkpoint,
                                .pool = run->pool,
                                .resampler = partial ? NULL : run->resampler,
                                .context = run->asked_context };

  if (run->stopped) {
    conclusion.stopped = run->window;
    conclusion.whole = count_windows (run);
  }
  return mhar_probe_conclude (&conclusion);
}

static void
show_partial (Run *run)
{
  gint64 now = g_get_monotonic_time ();

  if (run->hooks == NULL || run->hooks->partial == NULL || run->done == run->windows.total ||
      now - run->shown < PARTIAL_INTERVAL)
    return;
  g_autoptr (MharDataset) so_far = conclude (run, TRUE);
  run->hooks->partial (so_far, run->hooks->user);
  run->shown = g_get_monotonic_time ();
}

static gboolean
save (Run *run, GError **error)
{
  const MharRunHooks *hooks = run->hooks;
  guint64 since = run->window - run->saved;

  if (hooks == NULL || hooks->save == NULL || since == 0 || (run->window < count_windows (run) && !hooks->due (since, hooks->user)))
    return TRUE;
  g_autoptr (MharDataset) state = mhar_dataset_new ("state");
  mhar_dataset_set_integer (state, "window", (gint64) run->window);
  mhar_dataset_set_integer (state, "batch", run->batch);
  mhar_dataset_add_child (state, mhar_pool_pooled (run->pool));
  if (run->setup.reads != NULL)
    mhar_dataset_add_child (state, mhar_reads_state (run->setup.reads));
  run->saved = run->window;
  return hooks->save (state, hooks->user, error);
}

static gboolean
take (Run *run, const MharCrewBatch *batch, GError **error)
{
  mhar_pool_add (run->pool, batch->slab, batch->first_window);
  mhar_resampler_add (run->resampler, batch->slab, batch->first_window);
  for (guint p = 0; mhar_probes[p] != NULL; p++)
    if ((run->options.probes & mhar_probes[p]->flag) && mhar_probes[p]->take != NULL)
      mhar_probes[p]->take (&run->setup, batch->slab);
  if (!emit (run, batch, error))
    return FALSE;
  run->window = batch->first_window + batch->windows;
  run->done += (guint64) batch->windows * batch->length;
  if (run->hooks != NULL && run->hooks->progress != NULL)
    run->hooks->progress (run->done, run->windows.total, run->hooks->user);
  show_partial (run);
  return save (run, error);
}

/* Takes batches until the last or the first failure. */
static gboolean
take_all (Run *run, MharCrew *crew, GError **error)
{
  g_autoptr (GError) local = NULL;
  gboolean good = TRUE;
  MharCrewBatch batch;

  while (good && mhar_crew_next (crew, &batch, &local)) {
    good = take (run, &batch, &local);
    mhar_dataset_unref (batch.slab);
    g_clear_pointer (&batch.captures, g_ptr_array_unref);
  }
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/* Out of memory halves the batch and goes on from the first window not yet pooled, down to one window at a time. */
static gboolean
run_windows (Run *run, MharCrew *crew, guint batch, GError **error)
{
  for (; run->window < count_windows (run); batch /= 2) {
    g_autoptr (GError) local = NULL;
    run->batch = batch;
    mhar_crew_start (crew, run->window, batch);
    gboolean good = take_all (run, crew, &local);
    mhar_crew_stop (crew);
    if (good)
      return TRUE;
    if (batch == 1 || !g_error_matches (local, MHAR_ERROR, MHAR_ERROR_MEMORY)) {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  }
  return TRUE;
}

/* Whether a slab holds the windows that follow: each segment does alone, also when it is another's copy. */
static gboolean
follows (const Run *run, const MharDataset *slab)
{
  const MharField *start = mhar_dataset_get (slab, "start");

  for (gsize w = 0; w < start->shape[0]; w++)
    if (start->data.f64[w] != (double) ((run->window + w) * run->options.context))
      return FALSE;
  return TRUE;
}

/* The sums of the windows before, as a run that was not interrupted has them. */
static gboolean
replay (Run *run, GError **error)
{
  for (;;) {
    MharDataset *next = NULL;
    if (!run->hooks->replay (&next, run->hooks->user, error))
      return FALSE;
    if (next == NULL)
      return TRUE;
    g_autoptr (MharDataset) slab = next;
    if (!mhar_sums_check (&run->setup, slab, error))
      return FALSE;
    if (!follows (run, slab))
      return mhar_bad_input (error, "what was saved does not hold the windows in their order");
    mhar_pool_add (run->pool, slab, run->window);
    mhar_resampler_add (run->resampler, slab, run->window);
    run->window += mhar_dataset_get (slab, "start")->shape[0];
  }
}

/* Goes on from what was saved; *batch becomes what it was. */
static gboolean
resume (Run *run, guint *batch, GError **error)
{
  const MharDataset *state = run->hooks != NULL ? run->hooks->resume : NULL;
  gint64 saved_batch = state != NULL ? mhar_dataset_integer (state, "batch", 0) : 0;

  if (state == NULL)
    return TRUE;
  const MharDataset *pooled = mhar_dataset_find_child (state, "pooled"), *reads = mhar_dataset_find_child (state, "reads");
  if (!replay (run, error))
    return FALSE;
  if ((guint64) mhar_dataset_integer (state, "window", -1) != run->window || run->window > count_windows (run) ||
      saved_batch < 1 || saved_batch > G_MAXINT32 || pooled == NULL || (reads != NULL) != (run->setup.reads != NULL))
    return mhar_bad_input (error, "what was saved is not of this run");
  if (!mhar_pooled_check (&run->setup, pooled, TRUE, error) ||
      (reads != NULL && !mhar_reads_restore (run->setup.reads, reads, error)))
    return FALSE;
  mhar_pool_add_pooled (run->pool, pooled);
  run->saved = run->window;
  run->done = MIN (run->window, run->windows.full) * run->options.context;
  *batch = (guint) saved_batch;
  return TRUE;
}

/* Whether an ended run has results: it is whole, or it was cancelled and the caller wants what there is. */
static gboolean
settle (Run *run, gboolean whole, GError **error)
{
  const MharRunHooks *hooks = run->hooks;

  if (whole || hooks == NULL || !hooks->keep || run->window == 0 || !g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return whole;
  g_clear_error (error);
  run->stopped = TRUE;
  return TRUE;
}

static gboolean
begin_reads (Run *run, const gint32 *ids, gsize n, GError **error)
{
  if ((run->options.probes & MHAR_PROBE_READS) == 0)
    return TRUE;
  run->setup.reads = mhar_reads_new (&run->setup, run->checkpoint, ids, n, run->windows.total, error);
  return run->setup.reads != NULL;
}

MharDataset *
mhar_probe_run (const GPtrArray *devices, const MharCheckpoint *checkpoint, const MharPlan *plan, const gint32 *ids, gsize n,
                const MharProbeOptions *options, const MharRunHooks *hooks, GCancellable *cancellable, GError **error)
{
  const MharBody *body = mhar_config_body (mhar_checkpoint_config (checkpoint));
  Run run = { .options = *options, .hooks = hooks, .checkpoint = checkpoint };
  g_autoptr (GError) local = NULL;
  MharDataset *out = NULL;

  run.options.context = mhar_probe_context (options, checkpoint);
  if (options->max_tokens > 0)
    n = MIN (n, (gsize) options->max_tokens);
  run.asked_context = run.options.context;
  run.options.context = (guint) MIN (run.options.context, MAX (n, 2)); /* the same cut, smaller buffers */
  run.windows = mhar_windows_cut (n, run.options.context, options->skip_first);
  mhar_probe_setup_init (&run.setup, plan, &run.options);
  if (!check_request (&run, body, ids, n, error))
    return NULL;
  if (!begin_reads (&run, ids, n, error))
    return NULL;
  MharCrewTask task = { &run.setup, checkpoint, ids, run.windows, hooks != NULL && hooks->capture,
                        hooks != NULL ? hooks->capture_first : 0, cancellable };
  g_autoptr (MharCrew) crew = mhar_crew_new (&task, devices);
  run.pool = mhar_probe_pool (&run.options);
  run.resampler = mhar_probe_resampler (&run.options);
  guint batch = choose_batch (&run, devices, body);
  gboolean whole = bound_batch (&run, devices, body, &batch, &local) && resume (&run, &batch, &local) && run_windows (&run, crew, batch, &local);
  if (settle (&run, whole, &local))
    out = conclude (&run, FALSE);
  else
    g_propagate_error (error, g_steal_pointer (&local));
  mhar_reads_free (run.setup.reads);
  mhar_resampler_free (run.resampler);
  mhar_pool_free (run.pool);
  return out;
}
