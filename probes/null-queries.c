/* SPDX-License-Identifier: MIT */
#include "probes/null-queries.h"

#include "probes/random-query.h"

#include <string.h>

MharNullQueries *
mhar_null_queries_new (void)
{
  MharNullQueries *queries = g_new0 (MharNullQueries, 1);
  queries->sites = g_array_new (FALSE, FALSE, sizeof (MharNullSite));
  queries->indices = g_array_new (FALSE, FALSE, sizeof (guint));
  queries->storage = g_ptr_array_new_with_free_func (g_free);
  return queries;
}

void
mhar_null_queries_free (MharNullQueries *queries)
{
  if (queries == NULL)
    return;
  g_array_unref (queries->sites);
  g_array_unref (queries->indices);
  g_ptr_array_unref (queries->storage);
  g_free (queries);
}

const char *
mhar_null_kind_name (MharNullKind kind)
{
  static const char *const names[] = { "random", "shuffled", "swapped" };
  return names[kind];
}

MharNullRequest
mhar_null_request (const MharProbeOptions *o, guint draws, gboolean sliced)
{
  return (MharNullRequest){
    .draws = draws, .kind = o->null_kind, .norm_slice = o->null_norm_slice, .slices = o->slices,
    .interleaved = o->interleaved, .sliced = sliced
  };
}

static gboolean
alike (const MharSite *a, const MharSite *b)
{
  return b->n_sources > 1 && a->heads == b->heads && mhar_site_n_queries (a) == mhar_site_n_queries (b);
}

/* Sites (MharSite *) that may swap queries with this one, itself among them, by number. */
static GPtrArray *
swap_partners (const MharPlan *plan, const MharSite *site)
{
  GPtrArray *sites = g_ptr_array_new ();

  for (guint s = 0; s < plan->sites->len; s++)
    if (alike (site, mhar_plan_site (plan, s)))
      g_ptr_array_add (sites, (gpointer)mhar_plan_site (plan, s));
  return sites;
}

const MharSite *
mhar_null_lonely_site (const MharPlan *plan)
{
  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    g_autoptr (GPtrArray) partners = swap_partners (plan, site);
    if (site->n_sources > 1 && partners->len < 2)
      return site;
  }
  return NULL;
}

/* The trained query of the site that this draw swaps `site` with, rescaled. */
static void
swapped_query (guint64 seed, const GPtrArray *partners, const MharSite *site, guint draw, gsize width,
               const MharNullNorm *norm, double *z)
{
  gsize rows = (gsize)mhar_site_n_queries (site);
  const MharSite *first = g_ptr_array_index ((GPtrArray *)partners, 0);
  g_autofree guint *to = g_new (guint, partners->len);
  guint own = 0;

  g_ptr_array_find ((GPtrArray *)partners, site, &own);
  mhar_swapped_order (seed, (guint32)first->number, draw, partners->len, to);
  const MharSite *other = g_ptr_array_index ((GPtrArray *)partners, to[own]);
  memcpy (z, other->query, rows * width * sizeof *z);
  mhar_rescale_query (site->query, rows, width, norm, z);
}

/* [draws, n_queries, width], each rescaled to the trained query's norm and then multiplied by the gain. */
static double *
null_queries (const MharProbeSetup *setup, const MharSite *site, const MharNullRequest *request)
{
  guint64 seed = setup->options->seed;
  gsize width = (gsize) setup->plan->width, rows = (gsize) mhar_site_n_queries (site), n = rows * width;
  MharNullNorm norm = { request->norm_slice ? request->slices : 0, request->interleaved };
  guint32 number = (guint32)site->number;
  g_autoptr (GPtrArray) partners = swap_partners (setup->plan, site);
  double *all = g_new (double, request->draws *n);

#pragma omp parallel for schedule(static)
  for (guint j = 0; j < request->draws; j++) {
    double *z = all + j * n;
    if (request->kind == MHAR_NULL_RANDOM)
      mhar_random_query (seed, number, j, site->query, rows, width, &norm, z);
    else if (request->kind == MHAR_NULL_SHUFFLED)
      mhar_shuffled_query (seed, number, j, site->query, rows, width, &norm, z);
    else
      swapped_query (seed, partners, site, j, width, &norm, z);
    for (gsize i = 0; i < n; i++)
      z[i] *= site->gain[i % width];
  }
  return all;
}

void
mhar_null_queries_add (MharNullQueries *queries, const MharProbeSetup *setup, guint index,
                       const MharNullRequest *request)
{
  const MharSite *site = mhar_plan_site (setup->plan, index);
  double *q = request->draws > 0 ? null_queries (setup, site, request)
                                 : mhar_site_scored_query (site, NULL, setup->plan->width);
  gint32 *taken = request->n_take > 0 ? g_memdup2 (request->take, request->n_take * sizeof *taken) : NULL;
  MharNullSite entry = {
    .site = (gint32)index,
    .n_queries = request->draws > 0 ? (gint32)request->draws : 1,
    .queries = q,
    .slices = request->sliced ? (gint32)request->slices : 0,
    .interleaved = request->interleaved,
    .n_take = (gint32)request->n_take,
    .take = taken,
  };

  g_ptr_array_add (queries->storage, q);
  if (taken != NULL)
    g_ptr_array_add (queries->storage, taken);
  g_array_append_val (queries->sites, entry);
  g_array_append_val (queries->indices, index);
}

void
mhar_null_queries_release (MharNullQueries *queries)
{
  for (guint i = 0; i < queries->sites->len; i++) {
    MharNullSite *entry = &g_array_index (queries->sites, MharNullSite, i);
    entry->queries = NULL;
    entry->take = NULL;
  }
  g_ptr_array_set_size (queries->storage, 0);
}
