/* SPDX-License-Identifier: MIT */
/* What somebody may have meant by a word that is not there. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The up to three of `labels` (char *, not empty) that the fewest letters have to be changed, added or left out for to
 * make `word`, nearest first: "L3.mlp, L2.mlp or L4.mlp"; labels that stand twice are named once. g_free. */
char *mhar_nearest_labels (const char *word, const GPtrArray *labels);

/* How many letters that is, of two words; capitals do not count. */
guint mhar_label_distance (const char *a, const char *b);

G_END_DECLS
