/* SPDX-License-Identifier: MIT */
/* How far the routing of two checkpoints, A and B, lies apart on one text: head by head, the heads of B put in the
 * order in which they are most like those of A, and held against what the text alone does.
 *
 * p_h [N] is the distribution over sources that head h of a read has in the mean over all counted tokens (the token
 * mean of its weights, over its own sum), q_g that of head g of B. The distance of two heads is the Jensen–Shannon
 * divergence JS = ½ KL (p ‖ m) + ½ KL (q ‖ m), m = ½ (p + q), nats, 0 … ln 2: of the means, so it says nothing of
 * differences between tokens that cancel. At a read,
 *
 *   js_identity    mean over heads of JS (p_h, q_h)
 *   js_matched     mean over heads of JS (p_h, q_match(h)); `match` is the permutation with the least sum over heads
 *                  and reads together (probes/assignment.h), one for all reads with as many heads; heads that mix
 *                  whole rows have their own
 *   js_random      mean over all pairs: heads paired at random
 *   js_consensus   JS of the means over heads
 *   null_js        the same heads on one half of the windows and on the other: mean over heads, over MHAR_SPLITS
 *                  random splits (mhar_resampler_split) and over A (null_js_a) and B (null_js_b)
 *   null_js_consensus                           that of the means over heads
 *   js_ratio, js_ratio_consensus                js_matched / null_js, js_consensus / null_js_consensus
 *   p_value, p_value_consensus                  (1 + splits whose null is at least the distance) / (1 + splits)
 *   max_difference, max_difference_consensus    largest |q_match(h),n − p_h,n|, and of the means over heads
 *
 * and of the checkpoints: the mean over the reads with two sources or more, each once (of the largest the largest; a
 * ratio is that of the means). A half of the text has half the tokens, and others than the other half, where A and B
 * share all of them: a null is rather too large than too small. tests/oracle/compare.py is the executable form. */
#pragma once

#include "core/field.h"
#include "core/plan.h"

G_BEGIN_DECLS

#define MHAR_SPLITS 200
/* Fewer windows can be split in too few ways for a p-value. */
#define MHAR_LEAST_SPLIT_ENTRIES 8

typedef struct _MharComparison MharComparison;

/* Whether A and B have the same reads of the same sources; MHAR_ERROR_INPUT naming the first difference, the
 * checkpoints by their paths. Numbers of heads may differ: then only the consensus is compared. */
gboolean mhar_comparison_possible (const MharPlan *a, const char *path_a, const MharPlan *b, const char *path_b,
                                   GError **error);

/* The plans are borrowed. */
MharComparison *mhar_comparison_new (const MharPlan *a, const MharPlan *b);
void mhar_comparison_free (MharComparison *comparison);

/* Takes the sums by window "weight" [window, site, head, source] of a slab of A (which = 0) or B (1), in the order of
 * the windows. */
void mhar_comparison_add (MharComparison *comparison, guint which, const MharDataset *slab);

/* The dataset "compare", of data/hdf5-schema.md: scalars as attributes, fields by read, what `site` … `source_label`
 * are. Intervals (…_low, …_high; 95 %) are over the resamples of probes/resample.h, of nulls over their splits. Without
 * intervals, nulls and ratios where there is one window. */
MharDataset *mhar_comparison_finish (const MharComparison *comparison, guint64 seed);

/* The permutation in a dataset "compare", [*heads] B's head for each of A's, borrowed: of the reads with several heads
 * that share rows, or with `whole` of those whose heads mix whole ones. NULL where there is none. */
const gint32 *mhar_comparison_matching (const MharDataset *compare, gboolean whole, gsize *heads);

/* What maps of checkpoint B need, its heads in the order of A's that they are matched to, and MHAR_MATCHED_HEAD [head]:
 * which of B's stands there (absent where no reads have several heads that share rows). */
#define MHAR_MATCHED_HEAD "matched_head"
MharDataset *mhar_comparison_matched (const MharDataset *compare, const MharDataset *b);

/* Whether a saved "compare" has the schema's types and shapes, so that it may be printed and drawn. MHAR_ERROR_INPUT
 * naming file and field. */
gboolean mhar_comparison_check (const MharDataset *compare, const char *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharComparison, mhar_comparison_free)

G_END_DECLS
