/* SPDX-License-Identifier: MIT */
/* The shape that results must have before anything prints or draws them: a saved file is not trusted. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

/* Whether every checkpoint of a saved run has the fields, types, dimensions and counts of data/hdf5-schema.md; fields that are
 * absent are fine where the schema lets them be. MHAR_ERROR_INPUT naming file, checkpoint and field. */
gboolean mhar_results_check (const MharDataset *root, const char *path, GError **error);

/* Whether a site has a number of its own of "slice_kl", "matched_kl", "head_js" or "max_deviation", finite or not:
 * those of two sources or more (as many as were matched) with one head, or of the last two with several. */
gboolean mhar_results_site_counts (const MharDataset *set, const char *measure, gsize site);

/* The checkpoints of a run's root dataset, in order: borrowed MharDataset *. g_ptr_array_unref. */
GPtrArray *mhar_results_checkpoints (const MharDataset *root);

G_END_DECLS
