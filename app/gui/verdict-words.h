/* SPDX-License-Identifier: MIT */
/* What the window says of a p-value: the words of tables and figures, in the window's language. */
#pragma once

#include "core/field.h"
#include "probes/verdict.h"

G_BEGIN_DECLS

/* "above its null", as mhar_verdict_words has it, translated; "" for none. */
const char *mhar_verdict_shown (MharVerdict verdict);
/* "not distinguishable from its null (p = 0.42)", of the run's draws; NULL where `p_value` is NaN or there are no draws.
 * `excess` as mhar_verdict takes it. g_free. */
char *mhar_verdict_sentence (const MharDataset *set, double p_value, double excess);
/* The same of a number of the run, by the name of its p-value. */
char *mhar_run_verdict (const MharDataset *set, const char *p_name);
/* The same of a cell's deviation from the head mean, against the largest of each draw; nearly every cell is below those,
 * so that it is below says nothing, and is not said. */
char *mhar_deviation_verdict (const MharDataset *set, double deviation);
/* "0.42", with two digits that count; "–" where there is none. g_free. */
char *mhar_p_value_shown (double p_value);
/* "0.021 [0.018, 0.024]", all to so many decimals; without brackets where an end is not finite. g_free. */
char *mhar_interval_shown (double value, double low, double high, int decimals, gboolean plus);

G_END_DECLS
