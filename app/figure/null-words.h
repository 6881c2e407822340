/* SPDX-License-Identifier: MIT */
/* What figures say of a null, in one voice. */
#pragma once

#include "core/field.h"
#include "probes/verdict.h"

/* "a random query of the same norm", or what else the dataset's null is. */
const char *mhar_null_words (const MharDataset *set);

/* The verdict of a p-value of the dataset; none where it has none. */
MharVerdict mhar_null_verdict (const MharDataset *set, double p_value);

/* "not distinguishable from its null (p = 0.42)" of the attribute `p_name`; NULL where there is none. g_free. */
char *mhar_null_sentence (const MharDataset *set, const char *p_name);
