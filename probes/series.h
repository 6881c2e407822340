/* SPDX-License-Identifier: MIT */
/* One training run, step by step: the scalars of its checkpoints as curves. */
#pragma once

#include "core/field.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* Whether two checkpoints can be steps of one run: same mode, depth, width, heads and reads. MHAR_ERROR_INPUT naming
 * the first difference, the checkpoints by their paths. */
gboolean mhar_series_possible (const MharPlan *a, const char *path_a, const MharPlan *b, const char *path_b,
                               GError **error);

/* The dataset "series" of checkpoints' results (MharDataset *, n of them) in the order of their `steps` [n], which
 * ascend and fit 32 bits: `step` and `path` [step], and a field F64 [step] for every scalar that one of them has, NaN
 * where another has it not; the ends of intervals, X_low and X_high, are fields like any. */
MharDataset *mhar_series_new (const GPtrArray *sets, const gint32 *steps);

/* Whether a field of a series is one of its scalars, and not a coordinate, a label or the end of an interval. */
gboolean mhar_series_is_scalar (const MharField *field);

/* Whether a saved "series" has the schema's types and shapes. MHAR_ERROR_INPUT naming file and field. */
gboolean mhar_series_check (const MharDataset *series, const char *path, GError **error);

G_END_DECLS
