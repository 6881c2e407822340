/* SPDX-License-Identifier: MIT */
/* What a p-value says, in words that table, figures and window share. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

#define MHAR_VERDICT_LEVEL 0.05

typedef enum {
  MHAR_VERDICT_NONE, /* no null */
  MHAR_VERDICT_ABOVE,
  MHAR_VERDICT_ALIKE, /* what the null may well give */
  MHAR_VERDICT_BELOW,
  MHAR_VERDICT_TOO_FEW /* so few draws that nothing could have been above */
} MharVerdict;

/* Of p = (1 + draws at least as large) / (1 + draws): above its null at p ≤ 0.05, below where as few draws are smaller,
 * else not distinguishable from it. NaN, or no draws: none. `excess`, of the trained number over the mean of its null, tells
 * draws that are larger from draws that are the same, as those of queries of zeros are; NaN where it is not known, or only
 * "above" is asked for. */
MharVerdict mhar_verdict (double p_value, gint64 draws, double excess);

/* The verdict of a run's attribute "NAME_p_value", with those of the trained number and its null beside it. */
MharVerdict mhar_verdict_of (const MharDataset *set, const char *p_name);

/* Of a field of p-values, [site] or [site, head], the sites that have one (`all`), and returned those of them that have one
 * that says above. */
guint mhar_verdict_sites_above (const MharDataset *set, const char *name, guint *all);

/* "above its null", "not distinguishable from its null" …; "" for none. */
const char *mhar_verdict_words (MharVerdict verdict);

G_END_DECLS
