/* SPDX-License-Identifier: MIT */
/* The tokens with the largest, or the smallest, weights: a short list, best first, of equal ones the earlier. What it
 * ends up with does not depend on the order in which tokens come. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint room, n;
  gboolean least;
  gint32 *tokens; /* [room] */
  float *weights; /* [room] */
} MharTopTokens;

MharTopTokens *mhar_top_tokens_new (guint room, gboolean least);
void mhar_top_tokens_free (MharTopTokens *list);

void mhar_top_tokens_insert (MharTopTokens *list, gint32 token, float weight);

/* Takes the token in where it belongs to the best so far; each token once. A weight that is NaN never does. */
static inline void
mhar_top_tokens_add (MharTopTokens *list, gint32 token, float weight)
{
  if (list->n == list->room
      && (list->least ? weight > list->weights[list->n - 1] : weight < list->weights[list->n - 1]))
    return;
  mhar_top_tokens_insert (list, token, weight);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTopTokens, mhar_top_tokens_free)

G_END_DECLS
