/* SPDX-License-Identifier: MIT */
/* What can be said of routing queries without running the model: how long they are and how alike.
 *
 * With q a site's query, g its key gain and u = q ⊙ g, which is what scores: ‖q‖, ‖u‖, the cosine between the u of
 * every two sites, between those two sites' slices of the same number, and between the slices of one u. Slices are the
 * routing heads where there are several, else those of --slices. A slice, or a query, of norm 0 has cosine NaN. */
#pragma once

#include "core/field.h"
#include "core/routing-weights.h"

G_BEGIN_DECLS

typedef struct {
  guint heads;          /* routing heads; 0: what the config says */
  guint slices;         /* of a query with one head */
  gboolean interleaved; /* the slice of coordinate i is i mod S, not i / (D/S); heads never are */
} MharWeightsOptions;

/* The results of one checkpoint: attributes path, dialect, mode, layers, width, heads, sites, slices, slicing, dtype,
 * warnings and the means, and the fields that data/hdf5-schema.md lists. The config's numbers are used as far as they
 * are there. MHAR_ERROR_INPUT where the config is not JSON, or the slices do not divide the width. */
MharDataset *mhar_weights_only (const MharCheckpoint *checkpoint, const MharRoutingWeights *weights,
                                const MharWeightsOptions *options, GError **error);

/* Whether a dataset holds such results, and whether these are of the schema's types and shapes: a saved file is not
 * trusted. MHAR_ERROR_INPUT naming file, checkpoint and field. */
gboolean mhar_weights_only_is (const MharDataset *set);
gboolean mhar_weights_only_check (const MharDataset *set, const char *path, GError **error);

G_END_DECLS
