/* SPDX-License-Identifier: MIT */
#include "probes/top-tokens.h"

#include <math.h>

MharTopTokens *
mhar_top_tokens_new (guint room, gboolean least)
{
  MharTopTokens *list = g_new0 (MharTopTokens, 1);

  list->room = room;
  list->least = least;
  list->tokens = g_new (gint32, room);
  list->weights = g_new (float, room);
  return list;
}

void
mhar_top_tokens_free (MharTopTokens *list)
{
  if (list == NULL)
    return;
  g_free (list->tokens);
  g_free (list->weights);
  g_free (list);
}

/* Whether a token comes before the i-th of the list. */
static gboolean
is_before (const MharTopTokens *list, gint32 token, float weight, guint i)
{
  float there = list->weights[i];

  if (weight < there || weight > there)
    return list->least ? weight < there : weight > there;
  return token < list->tokens[i];
}

void
mhar_top_tokens_insert (MharTopTokens *list, gint32 token, float weight)
{
  guint i = list->n;

  if (isnan (weight) || (list->n == list->room && !is_before (list, token, weight, list->n - 1)))
    return;
  if (list->n < list->room)
    list->n++;
  else
    i--;
  for (; i > 0 && is_before (list, token, weight, i - 1); i--) {
    list->tokens[i] = list->tokens[i - 1];
    list->weights[i] = list->weights[i - 1];
  }
  list->tokens[i] = token;
  list->weights[i] = weight;
}
