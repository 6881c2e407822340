/* SPDX-License-Identifier: MIT */
/* The captured weights of a text's tokens: which token of the text has which row, and what a row says. */
#pragma once

#include "core/field.h"

G_BEGIN_DECLS

typedef struct _MharTokenWeights MharTokenWeights;

/* Of a capture: weight [token, site, head, source], token [token] (the index of each in the text; without it they are
 * the first ones). `n_tokens` is how many the text has. Keeps a reference. NULL where the capture has no such field. */
MharTokenWeights *mhar_token_weights_new (MharDataset *capture, guint n_tokens);
void mhar_token_weights_free (MharTokenWeights *weights);

guint mhar_token_weights_n_heads (const MharTokenWeights *weights);
guint mhar_token_weights_n_sources (const MharTokenWeights *weights);
/* One more than the last token of the text that was captured. */
guint mhar_token_weights_end (const MharTokenWeights *weights);
/* Weight of a token; `head` −1: the mean over the heads that have one. With `deviation`, minus that mean. NaN where the
 * token was not captured or an index is out of range. */
double mhar_token_weights_get (const MharTokenWeights *weights, int token, int site, int head, int source,
                               gboolean deviation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTokenWeights, mhar_token_weights_free)

G_END_DECLS
