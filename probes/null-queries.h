/* SPDX-License-Identifier: MIT */
/* Queries packed for the boundary: the trained one, or every draw of the null, at each of a list of sites. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

typedef struct {
  GArray *sites;      /* MharNullSite, for null_new */
  GArray *indices;    /* guint: index in the plan of each */
  GPtrArray *storage; /* what they point to */
} MharNullQueries;

MharNullQueries *mhar_null_queries_new (void);
void mhar_null_queries_free (MharNullQueries *queries);

/* Adds a site with its trained query, or with `draws` random ones (draws > 0), for a slice KL (`sliced`) or for the weights of
 * its heads. `take` [n_take] restricts the sources; it is copied. */
void mhar_null_queries_add (MharNullQueries *queries, const MharProbeSetup *setup, guint site, guint draws, gboolean sliced,
                            const gint32 *take, guint n_take);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharNullQueries, mhar_null_queries_free)

G_END_DECLS
