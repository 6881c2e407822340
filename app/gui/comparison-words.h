/* SPDX-License-Identifier: MIT */
/* What mhar-probe --compare found, in a few sentences. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

/* Which heads stand beside which, how far apart the two checkpoints read, and how that compares with one text's two halves, of a
 * dataset "compare" (probes/compare.h). g_free. */
char *mhar_comparison_words (const MharDataset *compare);

/* Why two runs cannot be compared by their deviations at that head (−1: the mean over heads); NULL where they can. */
const char *mhar_comparison_no_deviation (const MharDataset *a, const MharDataset *b, int head);

/* That the two are of different texts, or of different lengths of one, from the root datasets of their files and their own;
 * NULL where they are not, or where a file does not say. g_free. */
char *mhar_comparison_text_words (const MharDataset *root_a, const MharDataset *a, const MharDataset *root_b,
                                  const MharDataset *b);

G_END_DECLS
