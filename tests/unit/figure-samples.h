/* SPDX-License-Identifier: MIT */
/* Made-up results of made-up checkpoints for the figure tests; the same numbers every time. */
#pragma once

#include "core/field.h"

/* A float field (F32) of up to three dimensions added to the set, all NaN. */
MharField *sample_field (MharDataset *set, const char *name, guint n_dims, const char *const *dims, const gsize *shape);
/* A number in [0, 1) that depends on its arguments only. */
double sample_value (guint a, guint b, guint c);

/* Everything a run gives for `sites` sites of `heads` heads, each reading all outputs before it: labels, weight,
 * deviation (heads > 1), slice_kl or head_js with 8 draws, cosine, coefficient, an ablation map,
 * reads, attributes. Sites 3, 7, 11 … lie in their null. */
MharDataset *sample_full (guint sites, guint heads);
/* The cosines of so many outputs, and nothing else. */
MharDataset *sample_outputs (guint outputs);
/* p-values and intervals of the disagreement: sites 3, 7, 11 … do not beat their null, nor do the means, nor the
 * largest deviation. */
void sample_add_certainty (MharDataset *set, guint sites, gboolean heads);
/* n_heads, entropy and contribution to a set of sample_full's, as a run gives them. */
void sample_add_sources (MharDataset *set, guint sites, guint heads);
/* Per-token weights of `tokens` tokens of such a model: weight [token, site, head, source], token [token]. */
MharDataset *sample_capture (guint tokens, guint sites, guint heads);
