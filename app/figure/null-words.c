/* SPDX-License-Identifier: MIT */
#include "app/figure/null-words.h"

#include "app/figure/ticks.h"

#include <math.h>

const char *
mhar_null_words (const MharDataset *set)
{
  const char *kind = mhar_dataset_string (set, "null_kind");

  if (g_strcmp0 (kind, "shuffled") == 0)
    return "the trained query with its coordinates shuffled";
  if (g_strcmp0 (kind, "swapped") == 0)
    return "another site’s trained query, brought to the same norm";
  return "a random query of the same norm";
}

MharVerdict
mhar_null_verdict (const MharDataset *set, double p_value)
{
  return mhar_verdict (p_value, mhar_dataset_integer (set, "draws", 0), NAN);
}

char *
mhar_null_sentence (const MharDataset *set, const char *p_name)
{
  double p = mhar_dataset_real (set, p_name, NAN);
  MharVerdict verdict = mhar_verdict_of (set, p_name);
  g_autofree char *number = mhar_number (p, 2);

  if (verdict == MHAR_VERDICT_NONE)
    return NULL;
  return g_strdup_printf ("%s (p = %s)", mhar_verdict_words (verdict), number);
}
