/* SPDX-License-Identifier: MIT */
/* Controls: the disagreement again with other numbers of slices, other slicings and other nulls, over the same forward
 * pass, so that a result can be told from an artefact of how it was cut or of what it was held against. */
#pragma once

#include "probes/probe.h"

G_BEGIN_DECLS

typedef struct {
  gboolean heads; /* head disagreement, which has no slices; else slice disagreement */
  guint slices;
  gboolean interleaved;
  MharNullKind kind;
  gboolean norm_slice; /* as null_norm_slice of the options */
} MharControl;

/* What the options cross, MharControl in the order null, slices, slicing; those of sites with one head first, then,
 * where several nulls are asked for, those of sites with several heads. The first of either is the main disagreement.
 * Empty where no list has two entries, and without what the plan has no sites for. */
GArray *mhar_controls_list (const MharPlan *plan, const MharProbeOptions *options);

/* The dataset "controls" that the probe makes, one number a control: slices, slice_width (0 for heads), slicing,
 * measure
 * ("slice_kl", "head_js"), null_kind, null_norm ("query", "slice"), trained, median, null, null_sd, excess, p_value, null_draw_low, null_draw_high.
 */

G_END_DECLS
