/* SPDX-License-Identifier: MIT */
#include "probes/rig.h"

#include "probes/null-queries.h"

#define MAX_PROBES 16

struct _MharRig {
  const MharProbeSetup *setup;
  MharDevice *device;
  MharForward *forward;
  gpointer states[MAX_PROBES];
  gboolean begun[MAX_PROBES];

  MharNullQueries *head_queries; /* random queries of the sites with several heads */
  MharNull *head_null;
  MharNullSums *head_null_sums; /* one a site of head_queries; NULL until a batch asked */
  MharRouteSums sums;           /* likewise; weight NULL until asked */
  gsize packed, packed_heads;   /* ΣHN, ΣH */
  MharSpan span;
  guint64 first_id;
};

static const MharOps *
ops_of (const MharRig *rig)
{
  return mhar_device_ops (rig->device);
}

static MharContext *
context_of (const MharRig *rig)
{
  return mhar_device_context (rig->device);
}

const MharProbeSetup *
mhar_rig_setup (const MharRig *rig)
{
  return rig->setup;
}

MharDevice *
mhar_rig_device (const MharRig *rig)
{
  return rig->device;
}

MharRoute *
mhar_rig_route (const MharRig *rig)
{
  return mhar_forward_route (rig->forward);
}

MharForward *
mhar_rig_forward (const MharRig *rig)
{
  return rig->forward;
}

/* Depth maps and head disagreement want the same random queries scored: once, here. */
static gboolean
begin_head_null (MharRig *rig, GError **error)
{
  const MharProbeSetup *setup = rig->setup;
  guint draws = setup->options->null_draws;
  MharNullRequest request = mhar_null_request (setup->options, draws, FALSE);

  if (draws == 0 || (setup->options->probes & (MHAR_PROBE_DEPTH_MAPS | MHAR_PROBE_KL)) == 0 ||
      mhar_plan_count_sites (setup->plan, TRUE) == 0)
    return TRUE;
  rig->head_queries = mhar_null_queries_new ();
  for (guint s = 0; s < setup->plan->sites->len; s++)
    if (mhar_site_counts (mhar_plan_site (setup->plan, s), TRUE))
      mhar_null_queries_add (rig->head_queries, setup, s, &request);
  int status = ops_of (rig)->null_new (context_of (rig), mhar_rig_route (rig),
                                       (const MharNullSite *) rig->head_queries->sites->data,
                                       rig->head_queries->sites->len, &rig->head_null);
  mhar_null_queries_release (rig->head_queries);
  return mhar_device_check (rig->device, status, "preparing the nulls", error);
}

static gboolean
begin_probes (MharRig *rig, GError **error)
{
  for (guint p = 0; mhar_probes[p] != NULL; p++) {
    const MharProbe *probe = mhar_probes[p];
    g_assert (p < MAX_PROBES);
    if ((rig->setup->options->probes & probe->flag) == 0)
      continue;
    if (probe->begin != NULL && !probe->begin (rig, &rig->states[p], error))
      return FALSE;
    rig->begun[p] = TRUE;
  }
  return TRUE;
}

MharRig *
mhar_rig_new (const MharModel *model, const MharProbeSetup *setup, guint windows, GError **error)
{
  MharForwardSize size = { windows, setup->options->context, setup->options->plain, 0, (setup->options->probes & MHAR_PROBE_INTERVENTIONS) != 0 };
  g_autoptr (MharRig) rig = g_new0 (MharRig, 1);

  rig->setup = setup;
  rig->device = mhar_model_device (model);
  for (guint s = 0; s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    rig->packed += (gsize) site->heads * site->n_sources;
    rig->packed_heads += (gsize) site->heads;
  }
  rig->forward = mhar_forward_new (model, &size, error);
  if (rig->forward == NULL || !begin_head_null (rig, error) || !begin_probes (rig, error))
    return NULL;
  return g_steal_pointer (&rig);
}

/* Forgets what the last batch computed for several probes. */
static void
clear_batch (MharRig *rig)
{
  g_clear_pointer (&rig->sums.weight, g_free);
  g_clear_pointer (&rig->sums.square, g_free);
  g_clear_pointer (&rig->sums.contribution, g_free);
  g_clear_pointer (&rig->sums.entropy, g_free);
  g_clear_pointer (&rig->sums.head_js, g_free);
  for (guint i = 0; rig->head_null_sums != NULL && i < rig->head_queries->sites->len; i++) {
    g_free (rig->head_null_sums[i].js);
    g_free (rig->head_null_sums[i].weight);
  }
  g_clear_pointer (&rig->head_null_sums, g_free);
}

void
mhar_rig_free (MharRig *rig)
{
  if (rig == NULL)
    return;
  clear_batch (rig);
  for (guint p = 0; mhar_probes[p] != NULL; p++)
    if (rig->begun[p] && mhar_probes[p]->end != NULL)
      mhar_probes[p]->end (rig, rig->states[p]);
  if (rig->head_null != NULL)
    ops_of (rig)->null_free (context_of (rig), rig->head_null);
  mhar_null_queries_free (rig->head_queries);
  mhar_forward_free (rig->forward);
  g_free (rig);
}

gboolean
mhar_batch_route_sums (MharBatch *batch, MharRouteSums *sums, GError **error)
{
  MharRig *rig = batch->rig;
  gsize windows = (gsize) batch->span.windows;

  if (rig->sums.weight == NULL) {
    rig->sums.weight = g_new0 (double, windows *rig->packed);
    rig->sums.square = g_new0 (double, windows * rig->packed);
    rig->sums.contribution = g_new0 (double, windows *rig->packed);
    rig->sums.entropy = g_new0 (double, windows *rig->packed_heads);
    rig->sums.head_js = g_new0 (double, windows *rig->setup->n_sites);
    int status = ops_of (rig)->route_sums (context_of (rig), mhar_rig_route (rig), batch->span, &rig->sums);
    if (!mhar_device_check (rig->device, status, "summing the routing weights", error))
      return FALSE;
  }
  *sums = rig->sums;
  return TRUE;
}

gboolean
mhar_batch_null_run (MharBatch *batch, MharNull *queries, gboolean drawn, const MharNullSums *sums, const char *what,
                     GError **error)
{
  MharRig *rig = batch->rig;

  if (g_cancellable_set_error_if_cancelled (batch->cancellable, error))
    return FALSE;
  int status = ops_of (rig)->null_run (context_of (rig), mhar_rig_route (rig), queries,
                                       drawn ? batch->null_span : batch->span, sums);
  return mhar_device_check (rig->device, status, what, error);
}

gboolean
mhar_batch_head_null (MharBatch *batch, const MharNullSums **sums, GError **error)
{
  MharRig *rig = batch->rig;
  gsize windows = (gsize) batch->span.windows;

  *sums = NULL;
  if (rig->head_null == NULL)
    return TRUE;
  if (rig->head_null_sums == NULL) {
    const GArray *sites = rig->head_queries->sites;
    rig->head_null_sums = g_new0 (MharNullSums, sites->len);
    for (guint i = 0; i < sites->len; i++) {
      const MharNullSite *entry = &g_array_index (sites, MharNullSite, i);
      const MharSite *site = mhar_plan_site (rig->setup->plan, (guint) entry->site);
      gsize draws = (gsize) entry->n_queries;
      rig->head_null_sums[i].js = g_new0 (double, windows *draws);
      rig->head_null_sums[i].weight = g_new0 (double, draws *site->heads *site->n_sources);
    }
    if (!mhar_batch_null_run (batch, rig->head_null, TRUE, rig->head_null_sums, "scoring the random queries", error))
      return FALSE;
  }
  *sums = rig->head_null_sums;
  return TRUE;
}

static double *
add_number (MharDataset *slab, const char *name, const char *long_name, const char *units, gsize windows)
{
  const char *dims[] = { "window" };
  return mhar_dataset_add (slab, mhar_field_new (name, long_name, units, MHAR_FIELD_F64, 1, dims, &windows))->data.f64;
}

/* What every slab says of its windows. */
static gboolean
add_counts (MharRig *rig, const MharBatch *batch, guint64 first_id, gboolean loss, MharDataset *slab, GError **error)
{
  gsize W = (gsize) batch->span.windows, t = (gsize) batch->span.length, counted = t - (gsize) batch->span.skip;
  gint64 left = batch->null_span.limit < 0 ? G_MAXINT64 : batch->null_span.limit;
  double *start = add_number (slab, "start", "index of the window's first token in the text", "1", W);
  double *count = add_number (slab, "count", "tokens of the window that the means count", "1", W);
  double *null_count = add_number (slab, "null_count", "tokens of the window that the nulls saw", "1", W);
  double *pairs = add_number (slab, "pairs", "tokens of the window that were predicted", "1", W);

  for (gsize w = 0; w < W; w++) {
    gint64 seen = MIN (left, (gint64) counted);
    start[w] = (double) (first_id + w * t);
    count[w] = (double) counted;
    null_count[w] = (double) seen;
    pairs[w] = (double) (t - 1);
    left -= seen;
  }
  if (!loss)
    return TRUE;
  double *sum = add_number (slab, "loss", "sum over predicted tokens of the cross-entropy", "nat", W);
  return mhar_forward_loss (rig->forward, sum, error);
}

MharDataset *
mhar_rig_batch (MharRig *rig, const gint32 *ids, guint W, guint t, guint64 first_id, gint64 null_left, gboolean loss,
                GCancellable *cancellable, GError **error)
{
  g_autoptr (MharDataset) slab = mhar_dataset_new ("sums");
  MharBatch batch = { .rig = rig, .span = { (gint32) W, (gint32) t, (gint32) rig->setup->options->skip_first, -1 },
                      .cancellable = cancellable };

  clear_batch (rig);
  batch.null_span = batch.span;
  batch.null_span.limit = null_left;
  rig->span = batch.span;
  rig->first_id = first_id;
  mhar_dataset_add_child (slab, mhar_dataset_new ("pooled"));
  if (!mhar_forward_run (rig->forward, ids, W, t, cancellable, error) ||
      !add_counts (rig, &batch, first_id, loss, slab, error))
    return NULL;
  for (guint p = 0; mhar_probes[p] != NULL; p++) {
    if (!rig->begun[p])
      continue;
    if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
        !mhar_probes[p]->batch (rig->states[p], &batch, slab, error))
      return NULL;
  }
  return g_steal_pointer (&slab);
}

/* The weights of one site, from the boundary's [count, heads, N] into the padded field. */
static void
place (const MharProbeSetup *setup, guint s, const float *weights, gsize count, float *to)
{
  const MharSite *site = mhar_plan_site (setup->plan, s);
  gsize cells = setup->n_sites * setup->max_heads * setup->max_sources, heads = (gsize) site->heads;
  gsize n = (gsize) site->n_sources;

  for (gsize i = 0; i < count; i++)
    for (gsize h = 0; h < heads; h++)
      for (gsize k = 0; k < n; k++)
        to[i * cells + (s * setup->max_heads + h) * setup->max_sources + k] = weights[(i * heads + h) * n + k];
}

MharDataset *
mhar_rig_capture (MharRig *rig, guint window, guint64 most, GError **error)
{
  const MharProbeSetup *setup = rig->setup;
  gsize t = (gsize) rig->span.length, skip = (gsize) rig->span.skip;
  gsize first = window * t + skip;
  guint64 at = rig->first_id + first;
  gsize counted = (gsize) MIN ((guint64) (t - skip), most - MIN (at, most));
  gsize shape[] = { counted, setup->n_sites, setup->max_heads, setup->max_sources };
  const char *dims[] = { "token", "site", "head", "source" };
  g_autoptr (MharDataset) slab = mhar_dataset_new ("capture");
  MharField *token = mhar_dataset_add (slab, mhar_field_new ("token", "index of the token in the text", "1", MHAR_FIELD_I32, 1,
                                                             dims, shape));
  MharField *weight = mhar_dataset_add (slab, mhar_field_new ("weight", "routing weight", "1", MHAR_FIELD_F32, 4, dims, shape));
  g_autofree float *one = g_new (float, counted *setup->max_heads *setup->max_sources);

  for (guint s = 0; s < setup->n_sites; s++) {
    int status = ops_of (rig)->route_weights (context_of (rig), mhar_rig_route (rig), (int) s, first, counted, one);
    if (!mhar_device_check (rig->device, status, "fetching the routing weights", error))
      return NULL;
    place (setup, s, one, counted, weight->data.f32);
  }
  for (gsize i = 0; i < counted; i++)
    token->data.i32[i] = (gint32) (rig->first_id + first + i);
  return g_steal_pointer (&slab);
}
