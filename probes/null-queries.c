/* SPDX-License-Identifier: MIT */
#include "probes/null-queries.h"

#include "probes/random-query.h"

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

/* [draws, n_queries, width], each rescaled to the trained query's norm and then multiplied by the gain. */
static double *
random_queries (const MharProbeSetup *setup, const MharSite *site, guint draws)
{
  const MharProbeOptions *o = setup->options;
  gsize width = (gsize) setup->plan->width, rows = (gsize) mhar_site_n_queries (site), n = rows * width;
  MharNullNorm norm = { o->null_norm_slice ? o->slices : 0, o->interleaved };
  double *all = g_new (double, draws * n);

#pragma omp parallel for schedule(static)
  for (guint j = 0; j < draws; j++) {
    double *z = all + j * n;
    mhar_random_query (o->seed, (guint32) site->number, j, site->query, rows, width, &norm, z);
    for (gsize i = 0; i < n; i++)
      z[i] *= site->gain[i % width];
  }
  return all;
}

void
mhar_null_queries_add (MharNullQueries *queries, const MharProbeSetup *setup, guint index, guint draws, gboolean sliced,
                       const gint32 *take, guint n_take)
{
  const MharSite *site = mhar_plan_site (setup->plan, index);
  double *q = draws > 0 ? random_queries (setup, site, draws)
                        : mhar_site_scored_query (site, NULL, setup->plan->width);
  gint32 *taken = n_take > 0 ? g_memdup2 (take, n_take * sizeof *take) : NULL;
  MharNullSite entry = {
    .site = (gint32) index,
    .n_queries = draws > 0 ? (gint32) draws : 1,
    .queries = q,
    .slices = sliced ? (gint32) setup->options->slices : 0,
    .interleaved = setup->options->interleaved,
    .n_take = (gint32) n_take,
    .take = taken,
  };

  g_ptr_array_add (queries->storage, q);
  if (taken != NULL)
    g_ptr_array_add (queries->storage, taken);
  g_array_append_val (queries->sites, entry);
  g_array_append_val (queries->indices, index);
}
