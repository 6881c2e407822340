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

/* What queries of a site, and how they are scored. */
typedef struct {
  guint draws;       /* 0: the trained query */
  MharNullKind kind; /* of the draws */
  gboolean norm_slice; /* they keep the norm of each slice, not of the query */
  guint slices;      /* S of the score and of --null-norm slice */
  gboolean interleaved;
  gboolean sliced;    /* a slice KL; else the weights of the heads */
  const gint32 *take; /* [n_take] restricts the sources; copied */
  guint n_take;
} MharNullRequest;

/* As the options have it, for a slice KL or not. */
MharNullRequest mhar_null_request (const MharProbeOptions *options, guint draws, gboolean sliced);

/* Adds a site. Where draws swap queries, another site has to be like it: mhar_null_lonely_site. */
void mhar_null_queries_add (MharNullQueries *queries, const MharProbeSetup *setup, guint site,
                            const MharNullRequest *request);

/* Frees the queries themselves once a device has its copy; what sites they are of stays. */
void mhar_null_queries_release (MharNullQueries *queries);

/* The first site that takes part but has no other of its shape to swap queries with; NULL where there is none. */
const MharSite *mhar_null_lonely_site (const MharPlan *plan);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharNullQueries, mhar_null_queries_free)

G_END_DECLS
