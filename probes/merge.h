/* SPDX-License-Identifier: MIT */
/* Runs of one checkpoint over several texts put together: the sums that their files carry, window after window, concluded as
 * those of one run over all of the texts are. No mean is averaged. What is larger than sums by window (what heads read, the
 * weights of single tokens) is not put together. */
#pragma once

#include "probes/compare.h"
#include "probes/probe.h"

G_BEGIN_DECLS

typedef struct _MharMerge MharMerge;

/* Of the saved results of a checkpoint (checked, mhar_results_check), which is borrowed, as `path` has it. MHAR_ERROR_INPUT
 * where they are of no run, or of a program that did not yet save what this needs. */
MharMerge *mhar_merge_new (const MharDataset *set, const char *path, GError **error);
void mhar_merge_free (MharMerge *merge);

/* Whether results of another file are of the same checkpoint, tokenizer, options and sums; MHAR_ERROR_INPUT naming both
 * files and what differs. */
gboolean mhar_merge_fits (const MharMerge *merge, const MharDataset *set, const char *path, GError **error);

/* Appends the windows of `slab`, which has the group "sums" of that file and nothing else, and its group "pooled" (NULL:
 * there is none). MHAR_ERROR_INPUT where they are not what the run makes. */
gboolean mhar_merge_add (MharMerge *merge, const MharDataset *slab, const MharDataset *pooled, const char *path, GError **error);

/* The results, as a run has them; sentences of `warnings` (char *, borrowed) come after those of the runs. */
MharDataset *mhar_merge_finish (const MharMerge *merge, const GPtrArray *warnings);

/* What the checkpoint's reads are, enough to compare two. Borrowed. */
const MharPlan *mhar_merge_plan (const MharMerge *merge);
guint64 mhar_merge_seed (const MharMerge *merge);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharMerge, mhar_merge_free)

G_END_DECLS
