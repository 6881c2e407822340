/* SPDX-License-Identifier: MIT */
#include "probes/verdict.h"

#include <math.h>
#include <string.h>

/* What p takes for the same (mhar_p_value) is not below. */
#define SAME 1e-7

MharVerdict
mhar_verdict (double p_value, gint64 draws, double excess)
{
  double n = (double)draws, slack = MHAR_VERDICT_LEVEL * (1 + 1e-9); /* 2/40 is 0.05 */

  if (isnan (p_value) || draws < 1)
    return MHAR_VERDICT_NONE;
  if (1 / (n + 1) > slack)
    return MHAR_VERDICT_TOO_FEW;
  if (p_value <= slack)
    return MHAR_VERDICT_ABOVE;
  return (n + 2) / (n + 1) - p_value <= slack && !(excess >= -SAME) ? MHAR_VERDICT_BELOW : MHAR_VERDICT_ALIKE;
}

/* An attribute of the stem: by what stands behind its name, else by what stands before it. */
static double
beside (const MharDataset *set, const char *stem, const char *before, const char *behind)
{
  g_autofree char *first = g_strconcat (before, stem, NULL), *last = g_strconcat (stem, behind, NULL);

  return mhar_dataset_real (set, mhar_dataset_has_real (set, last) ? last : first, NAN);
}

MharVerdict
mhar_verdict_of (const MharDataset *set, const char *p_name)
{
  g_autofree char *stem = g_strndup (p_name, strlen (p_name) - strlen ("_p_value"));
  double excess = beside (set, stem, "", "_trained") - beside (set, stem, "null_", "_null");

  return mhar_verdict (mhar_dataset_real (set, p_name, NAN), mhar_dataset_integer (set, "draws", 0), excess);
}

guint
mhar_verdict_sites_above (const MharDataset *set, const char *name, guint *all)
{
  const MharField *p = mhar_dataset_get (set, name);
  gsize columns = p != NULL && p->n_dims > 1 ? p->shape[1] : 1;
  guint above = 0;

  *all = 0;
  for (gsize s = 0; p != NULL && s < p->shape[0]; s++) {
    double least = NAN;
    for (gsize h = 0; h < columns; h++)
      least = fmin (least, mhar_field_value (p, s * columns + h)); /* of a number and NaN, the number */
    *all += !isnan (least);
    above += mhar_verdict (least, mhar_dataset_integer (set, "draws", 0), NAN) == MHAR_VERDICT_ABOVE;
  }
  return above;
}

const char *
mhar_verdict_words (MharVerdict verdict)
{
  static const char *const words[] = { "", "above its null", "not distinguishable from its null", "below its null",
                                       "too few draws to tell from its null" };
  return words[verdict];
}
