/* SPDX-License-Identifier: MIT */
/* The arithmetic of a comparison: from sums of routing weights to divergences, read by read. */
#pragma once

#include "core/plan.h"
#include "probes/pool.h"

G_BEGIN_DECLS

/* Of A and B, as probes/compare.h defines them. */
typedef enum {
  MHAR_DISTANCE_IDENTITY,
  MHAR_DISTANCE_MATCHED,
  MHAR_DISTANCE_CONSENSUS,
  MHAR_DISTANCE_LARGEST,
  MHAR_DISTANCE_LARGEST_CONSENSUS,
  MHAR_N_DISTANCES
} MharDistance;

/* Of one half of the text and the other: of A, of B, their mean, and of the consensus. */
typedef enum { MHAR_HALVES_A, MHAR_HALVES_B, MHAR_HALVES, MHAR_HALVES_CONSENSUS, MHAR_N_HALVES } MharHalves;

/* What two checkpoints have in common, borrowed. */
typedef struct {
  const MharPlan *plan[2];
  gsize n_sites, max_heads[2], max_sources; /* of the sums "weight" [site, head, source] of either */
  gboolean paired;                          /* every read has as many heads in both */
  const guint *match; /* [n_sites, max_heads[0]] B's head for each of A's; of a paired comparison */
} MharCompared;

/* Jensen–Shannon divergence of p [n] and q [n], nats, 0 … ln 2. */
double mhar_js_divergence (const double *p, const double *q, gsize n);

/* The distributions [heads + 1, N] of read s, from sums "weight": each head's sums over their sum, and the mean of the
 * heads last. `which` is 0 of A, 1 of B. */
void mhar_compared_distributions (const MharCompared *c, guint which, const double *sums, gsize s, double *to);

/* Into `values` [MHAR_N_DISTANCES, n_sites + 1]: at every read, and last of all; NaN where there is none. */
void mhar_compared_distances (const MharCompared *c, const MharPool *a, const MharPool *b, double *values);
/* Into `values` [MHAR_N_HALVES, n_sites + 1] likewise, from pools whose two parities are the halves. */
void mhar_compared_halves (const MharCompared *c, const MharPool *a, const MharPool *b, double *values);

G_END_DECLS
