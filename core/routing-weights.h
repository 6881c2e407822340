/* SPDX-License-Identifier: MIT */
/* The routing queries of a checkpoint, read by their names alone: without a plan, and so of models that cannot be run.
 */
#pragma once

#include "core/checkpoint.h"
#include "core/name-map.h"

G_BEGIN_DECLS

/* One query row. */
typedef struct {
  char *label;    /* "L3.mlp", "final"; with several rows "L3.attn q1"; "router 5" */
  int number;     /* of its site: 2l attention, 2l+1 MLP, 2L final; a router's own */
  double *query;  /* [width] as stored; NULL where the file has only the product */
  double *scored; /* [width] q ⊙ g: what scores */
} MharRoutingQuery;

typedef struct {
  const char *dialect; /* whose names they are */
  int layers, width;   /* layers: one more than the highest that has a query */
  GPtrArray *queries;  /* MharRoutingQuery *, by site, then by row */
  GPtrArray *names;    /* of the tensors read (char *), NULL-ended */
  GPtrArray *warnings; /* sentences (char *) */
} MharRoutingWeights;

/* Whether the name is that of a query, a key gain or their product in any dialect known, or by the map (`map`: a
 * MharNameMap, or NULL). A MharNameFilter. */
gboolean mhar_routing_is_key (const char *name, gpointer map);

/* Reads them; nothing else of the checkpoint is touched. MHAR_ERROR_INPUT naming file and tensor where there is none,
 * one has a dtype or shape that no query has, a gain has no query, widths differ, or two tensors claim one place. */
MharRoutingWeights *mhar_routing_weights_read (const MharCheckpoint *checkpoint, const MharNameMap *map,
                                               GError **error);
void mhar_routing_weights_free (MharRoutingWeights *weights);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharRoutingWeights, mhar_routing_weights_free)

G_END_DECLS
