/* SPDX-License-Identifier: MIT */
#include "probes/verdict.h"

#include <math.h>

MharVerdict
mhar_verdict (double p_value, gint64 draws)
{
  double n = (double)draws, slack = MHAR_VERDICT_LEVEL * (1 + 1e-9); /* 2/40 is 0.05 */

  if (isnan (p_value) || draws < 1)
    return MHAR_VERDICT_NONE;
  if (1 / (n + 1) > slack)
    return MHAR_VERDICT_TOO_FEW;
  if (p_value <= slack)
    return MHAR_VERDICT_ABOVE;
  return (n + 2) / (n + 1) - p_value <= slack ? MHAR_VERDICT_BELOW : MHAR_VERDICT_ALIKE;
}

const char *
mhar_verdict_words (MharVerdict verdict)
{
  static const char *const words[] = { "", "above its null", "not distinguishable from its null", "below its null",
                                       "too few draws to tell from its null" };
  return words[verdict];
}
