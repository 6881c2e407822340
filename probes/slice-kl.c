/* SPDX-License-Identifier: MIT */
/* Slice disagreement (paper, Table 6): at a site with one head, split q into S slices; a_s = softmax_n (q_[s]·k_n[s]),
 * alpha the whole query's softmax; KL (a_s ‖ alpha), mean over slices and tokens. Beside it the same for random queries of
 * the trained norm, and for a matched number of sources. */
#include "probes/disagreement.h"
#include "probes/null-queries.h"
#include "probes/probe.h"
#include "probes/statistics.h"

#include <math.h>
#include <string.h>

/* The four groups of queries, any of which may be empty. */
enum { TRAINED, RANDOM, MATCHED, MATCHED_RANDOM, N_GROUPS };

typedef struct {
  MharNullQueries *queries[N_GROUPS];
  MharNull *nulls[N_GROUPS];
} State;

/* M of n positions, evenly spaced, first and last kept: rint (linspace (0, n − 1, M)), halves to even. */
static guint
matched_sources (guint n, guint count, gint32 *take)
{
  guint kept = 0;

  for (guint i = 0; i < count; i++) {
    gint32 at = count == 1 ? 0 : (gint32) rint ((double) i * ((double) (n - 1) / (double) (count - 1)));
    if (kept == 0 || take[kept - 1] != at)
      take[kept++] = at;
  }
  return kept;
}

static void
end (MharRig *rig, gpointer data)
{
  State *state = data;
  MharDevice *device = mhar_rig_device (rig);

  if (state == NULL)
    return;
  for (int g = 0; g < N_GROUPS; g++) {
    if (state->nulls[g] != NULL)
      mhar_device_ops (device)->null_free (mhar_device_context (device), state->nulls[g]);
    mhar_null_queries_free (state->queries[g]);
  }
  g_free (state);
}

static void
add_site (State *state, const MharProbeSetup *setup, guint s)
{
  const MharProbeOptions *o = setup->options;
  guint n = (guint)mhar_plan_site (setup->plan, s)->n_sources;
  MharNullRequest trained = mhar_null_request (o, 0, TRUE), draws = mhar_null_request (o, o->null_draws, TRUE);

  mhar_null_queries_add (state->queries[TRAINED], setup, s, &trained);
  if (o->null_draws > 0)
    mhar_null_queries_add (state->queries[RANDOM], setup, s, &draws);
  if (o->match_sources == 0 || n < o->match_sources)
    return;
  g_autofree gint32 *take = g_new (gint32, o->match_sources);
  trained.take = draws.take = take;
  trained.n_take = draws.n_take = matched_sources (n, o->match_sources, take);
  mhar_null_queries_add (state->queries[MATCHED], setup, s, &trained);
  if (o->null_draws > 0)
    mhar_null_queries_add (state->queries[MATCHED_RANDOM], setup, s, &draws);
}

static gboolean
begin (MharRig *rig, gpointer *data, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (rig);
  MharDevice *device = mhar_rig_device (rig);
  State *state = g_new0 (State, 1);
  int status = MHAR_OK;

  for (int g = 0; g < N_GROUPS; g++)
    state->queries[g] = mhar_null_queries_new ();
  for (guint s = 0; s < setup->plan->sites->len; s++)
    if (mhar_site_counts (mhar_plan_site (setup->plan, s), FALSE))
      add_site (state, setup, s);
  for (int g = 0; g < N_GROUPS && status == MHAR_OK; g++)
    if (state->queries[g]->sites->len > 0)
      status = mhar_device_ops (device)->null_new (mhar_device_context (device), mhar_rig_route (rig),
                                                   (const MharNullSite *) state->queries[g]->sites->data,
                                                   state->queries[g]->sites->len, &state->nulls[g]);
  if (!mhar_device_check (device, status, "preparing the slice disagreement", error)) {
    end (rig, state);
    return FALSE;
  }
  for (int g = 0; g < N_GROUPS; g++)
    mhar_null_queries_release (state->queries[g]);
  *data = state;
  return TRUE;
}

/* The group's KL sums, [site of the group][W, Q, S] each. */
static gboolean
run_group (State *state, int g, MharBatch *batch, GPtrArray **sums, GError **error)
{
  const GArray *sites = state->queries[g]->sites;
  g_autofree MharNullSums *where = g_new0 (MharNullSums, sites->len);
  gboolean drawn = g == RANDOM || g == MATCHED_RANDOM;

  *sums = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < sites->len; i++) {
    const MharNullSite *site = &g_array_index (sites, MharNullSite, i);
    where[i].kl = g_new0 (double, (gsize)batch->span.windows * site->n_queries * site->slices);
    g_ptr_array_add (*sums, where[i].kl);
  }
  return mhar_batch_null_run (batch, state->nulls[g], drawn, where, "computing the slice disagreement", error);
}

/* Per window the slices of the trained query [window, site, slice], or each draw's mean over slices [window, site, draw]. */
static void
fill (const State *state, int g, const GPtrArray *sums, gsize S, MharField *field)
{
  gboolean random = g == RANDOM || g == MATCHED_RANDOM;
  gsize windows = field->shape[0], n_sites = field->shape[1], last = field->shape[2];

  for (guint i = 0; i < sums->len; i++) {
    const double *kl = g_ptr_array_index (sums, i);
    guint s = g_array_index (state->queries[g]->indices, guint, i);
    for (gsize w = 0; w < windows; w++)
      for (gsize k = 0; k < last; k++) {
        double value = 0;
        for (gsize c = 0; random && c < S; c++)
          value += kl[(w * last + k) * S + c] / (double) S;
        field->data.f64[(w * n_sites + s) * last + k] = mhar_not_negative (random ? value : kl[w * S + k]);
      }
  }
}

static gboolean
batch (gpointer data, MharBatch *b, MharDataset *slab, GError **error)
{
  static const char *const names[N_GROUPS] = { "slice_kl", "slice_kl_null", "matched_kl", "matched_kl_null" };
  const MharProbeSetup *setup = mhar_rig_setup (b->rig);
  State *state = data;

  for (int g = 0; g < N_GROUPS; g++) {
    if (state->nulls[g] == NULL)
      continue;
    gboolean random = g == RANDOM || g == MATCHED_RANDOM;
    const char *dims[] = { "window", "site", random ? "draw" : "slice" };
    gsize shape[] = { (gsize) b->span.windows, setup->n_sites, random ? setup->options->null_draws : setup->options->slices };
    g_autoptr (GPtrArray) sums = NULL;
    if (!run_group (state, g, b, &sums, error))
      return FALSE;
    MharField *field = mhar_field_new (names[g], "sum over the window's tokens of the slice disagreement", "nat",
                                       MHAR_FIELD_F64, 3, dims, shape);
    fill (state, g, sums, setup->options->slices, mhar_dataset_add (slab, field));
  }
  return TRUE;
}

/* The pooled sums over tokens as a field [site, last] of means. */
static MharField *
means (const MharProbeSetup *setup, const double *sums, double tokens, const char *name, const char *long_name,
       const char *last_dim, gsize last)
{
  const char *dims[] = { "site", last_dim };
  gsize shape[] = { setup->n_sites, last };
  MharField *field = mhar_field_new (name, long_name, "nat", MHAR_FIELD_F32, 2, dims, shape);

  for (gsize i = 0; i < setup->n_sites * last; i++)
    field->data.f32[i] = (float) (sums[i] / tokens);
  return field;
}

/* A matched count leaves out sites that have fewer sources. */
static gboolean
read_sums (const MharProbeSetup *setup, const MharPool *pool, const char *name, MharDisagreement *d)
{
  gboolean there = mhar_disagreement_read (setup, pool, name, FALSE, setup->options->slices, d);

  d->least = strcmp (name, "matched_kl") == 0 ? (int)setup->options->match_sources : 0;
  return there;
}

static void
finish_group (const MharProbeSetup *setup, const MharPool *pool, const char *name, const char *what, MharDataset *out)
{
  g_autofree char *null_name = g_strconcat (name, "_null", NULL);
  g_autofree char *null_what = g_strdup_printf ("%s of null queries, mean over slices and tokens", what);
  g_autofree char *trained_what = g_strdup_printf ("%s, token mean", what);
  MharDisagreement d;

  if (!read_sums (setup, pool, name, &d))
    return;
  mhar_dataset_add (out, means (setup, d.trained, d.tokens, name, trained_what, "slice", d.columns));
  if (d.null != NULL)
    mhar_dataset_add (out, means (setup, d.null, d.null_tokens, null_name, null_what, "draw", d.draws));
  mhar_disagreement_p_values (&d, name, out);
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings G_GNUC_UNUSED)
{
  finish_group (setup, pool, "slice_kl", "slice disagreement KL(a_s || alpha)", out);
  finish_group (setup, pool, "matched_kl", "slice disagreement over a matched number of sources", out);
}

static void
scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  static const char *const names[] = { "slice_kl", "matched_kl" };
  MharDisagreement d;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (read_sums (setup, pool, names[i], &d))
      mhar_disagreement_scalars (&d, names[i], out);
}

static const char *const sums_by_window[] = { "slice_kl", "slice_kl_null", "matched_kl", "matched_kl_null", NULL };

const MharProbe mhar_probe_slice_kl = { "kl", MHAR_PROBE_KL, begin, batch, end, finish, scalars, sums_by_window };
