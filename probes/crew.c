/* SPDX-License-Identifier: MIT */
#include "probes/crew.h"

#include "probes/rig.h"

/* Batches a worker may be ahead of the caller: bounds what waits in memory. */
#define AHEAD 2

typedef struct {
  MharCrew *crew;
  MharDevice *device;
  MharModel *model;
  GThread *thread;
} Worker;

typedef struct {
  MharCrewBatch batch;
  GError *error;
} Result;

struct _MharCrew {
  MharCrewTask task;
  GPtrArray *workers; /* Worker */
  GMutex lock;
  GCond changed;
  GHashTable *results; /* batch number → Result */
  guint64 first_window;
  guint batch;
  guint64 n_batches, next_to_run, next_to_take;
  gboolean stopping;
};

static void
result_free (gpointer data)
{
  Result *result = data;
  mhar_dataset_unref (result->batch.slab);
  g_clear_pointer (&result->batch.captures, g_ptr_array_unref);
  g_clear_error (&result->error);
  g_free (result);
}

static void
worker_free (gpointer data)
{
  Worker *worker = data;
  mhar_model_free (worker->model);
  g_free (worker);
}

MharCrew *
mhar_crew_new (const MharCrewTask *task, const GPtrArray *devices)
{
  MharCrew *crew = g_new0 (MharCrew, 1);

  crew->task = *task;
  crew->workers = g_ptr_array_new_with_free_func (worker_free);
  crew->results = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, result_free);
  g_mutex_init (&crew->lock);
  g_cond_init (&crew->changed);
  for (guint i = 0; i < devices->len; i++) {
    Worker *worker = g_new0 (Worker, 1);
    worker->crew = crew;
    worker->device = g_ptr_array_index ((GPtrArray *) devices, i);
    g_ptr_array_add (crew->workers, worker);
  }
  return crew;
}

/* The windows of batch `number`: full ones, then the shorter last one by itself. */
static void
windows_of (const MharCrew *crew, guint64 number, MharCrewBatch *batch)
{
  guint64 full = crew->task.windows.full, first = crew->first_window + number * crew->batch;

  batch->first_window = MIN (first, full);
  batch->windows = first < full ? (guint) MIN (crew->batch, full - first) : 1;
  batch->length = first < full ? crew->task.setup->options->context : (guint) crew->task.windows.rest;
}

/* What is left of the nulls' bound when the batch begins; negative: no bound. */
static gint64
null_left (const MharCrew *crew, guint64 first_window)
{
  const MharProbeOptions *o = crew->task.setup->options;
  gint64 seen = (gint64) first_window * (o->context - o->skip_first);

  return o->null_tokens > 0 ? MAX (0, o->null_tokens - seen) : -1;
}

static Result *
run_batch (const MharCrew *crew, MharRig *rig, guint64 number)
{
  const MharCrewTask *task = &crew->task;
  Result *result = g_new0 (Result, 1);
  MharCrewBatch *b = &result->batch;

  windows_of (crew, number, b);
  guint64 first_id = b->first_window * task->setup->options->context;
  b->slab = mhar_rig_batch (rig, task->ids + first_id, b->windows, b->length, first_id, null_left (crew, b->first_window),
                            TRUE, task->cancellable, &result->error);
  if (b->slab == NULL || !task->capture || task->setup->n_sites == 0)
    return result;
  b->captures = g_ptr_array_new_with_free_func ((GDestroyNotify) mhar_dataset_unref);
  guint64 most = task->capture_first > 0 ? task->capture_first : G_MAXUINT64;
  for (guint w = 0; w < b->windows && first_id + (guint64) w * b->length < most; w++) {
    MharDataset *weights = mhar_rig_capture (rig, w, most, &result->error);
    if (weights == NULL) {
      g_clear_pointer (&b->slab, mhar_dataset_unref);
      break;
    }
    g_ptr_array_add (b->captures, weights);
  }
  return result;
}

/* Waits until there is a batch to run that is not too far ahead; FALSE where there is none. */
static gboolean
take_number (MharCrew *crew, guint64 *number)
{
  gboolean some;

  g_mutex_lock (&crew->lock);
  while (!crew->stopping && crew->next_to_run < crew->n_batches &&
         crew->next_to_run >= crew->next_to_take + AHEAD * crew->workers->len)
    g_cond_wait (&crew->changed, &crew->lock);
  some = !crew->stopping && crew->next_to_run < crew->n_batches;
  *number = crew->next_to_run;
  crew->next_to_run += some;
  g_mutex_unlock (&crew->lock);
  return some;
}

static void
give_result (MharCrew *crew, guint64 number, Result *result)
{
  gint64 *key = g_new (gint64, 1);

  *key = (gint64) number;
  g_mutex_lock (&crew->lock);
  if (result->error != NULL)
    crew->n_batches = MIN (crew->n_batches, number + 1); /* nothing after a failure is worth running */
  g_hash_table_insert (crew->results, key, result);
  g_cond_broadcast (&crew->changed);
  g_mutex_unlock (&crew->lock);
}

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  MharCrew *crew = worker->crew;
  g_autoptr (GError) error = NULL;
  g_autoptr (MharRig) rig = NULL;
  guint64 number;

  if (worker->model == NULL)
    worker->model = mhar_model_new (worker->device, crew->task.checkpoint, crew->task.setup->plan, &error);
  if (worker->model != NULL)
    rig = mhar_rig_new (worker->model, crew->task.setup, crew->batch, &error);
  while (take_number (crew, &number)) {
    Result *result;
    if (rig != NULL) {
      result = run_batch (crew, rig, number);
    } else {
      result = g_new0 (Result, 1);
      result->error = g_error_copy (error);
    }
    give_result (crew, number, result);
  }
  return NULL;
}

void
mhar_crew_start (MharCrew *crew, guint64 first_window, guint batch)
{
  guint64 left = crew->task.windows.full - MIN (first_window, crew->task.windows.full);

  crew->first_window = first_window;
  crew->batch = batch;
  crew->n_batches = (left + batch - 1) / batch + (crew->task.windows.rest > 0);
  crew->next_to_run = crew->next_to_take = 0;
  crew->stopping = FALSE;
  for (guint i = 0; i < crew->workers->len; i++) {
    Worker *worker = g_ptr_array_index (crew->workers, i);
    worker->thread = g_thread_new ("device", work, worker);
  }
}

gboolean
mhar_crew_next (MharCrew *crew, MharCrewBatch *batch, GError **error)
{
  Result *result = NULL;
  gint64 key;

  *batch = (MharCrewBatch){ 0 };
  g_mutex_lock (&crew->lock);
  key = (gint64) crew->next_to_take;
  while (crew->next_to_take < crew->n_batches && (result = g_hash_table_lookup (crew->results, &key)) == NULL)
    g_cond_wait (&crew->changed, &crew->lock);
  if (result != NULL) {
    *batch = result->batch;
    result->batch = (MharCrewBatch){ 0 };
    if (result->error != NULL)
      g_propagate_error (error, g_steal_pointer (&result->error));
    g_hash_table_remove (crew->results, &key);
    crew->next_to_take++;
    g_cond_broadcast (&crew->changed);
  }
  g_mutex_unlock (&crew->lock);
  return batch->slab != NULL;
}

void
mhar_crew_stop (MharCrew *crew)
{
  g_mutex_lock (&crew->lock);
  crew->stopping = TRUE;
  g_cond_broadcast (&crew->changed);
  g_mutex_unlock (&crew->lock);
  for (guint i = 0; i < crew->workers->len; i++) {
    Worker *worker = g_ptr_array_index (crew->workers, i);
    if (worker->thread != NULL)
      g_thread_join (g_steal_pointer (&worker->thread));
  }
  g_hash_table_remove_all (crew->results);
}

void
mhar_crew_free (MharCrew *crew)
{
  if (crew == NULL)
    return;
  mhar_crew_stop (crew);
  g_ptr_array_unref (crew->workers);
  g_hash_table_unref (crew->results);
  g_mutex_clear (&crew->lock);
  g_cond_clear (&crew->changed);
  g_free (crew);
}
