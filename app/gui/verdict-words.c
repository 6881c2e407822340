/* SPDX-License-Identifier: MIT */
#include "app/gui/verdict-words.h"

#include "app/gui/dataset-look.h"
#include "app/gui/display.h"

#include <glib/gi18n.h>
#include <math.h>

/* For translators; test-sentence holds them equal to what mhar_verdict_words says. */
static const char *const words[]
    = { "", N_("above its null"), N_("not distinguishable from its null"), N_("below its null"),
        N_("too few draws to tell from its null") };

const char *
mhar_verdict_shown (MharVerdict verdict)
{
  return verdict == MHAR_VERDICT_NONE ? "" : _(words[verdict]);
}

char *
mhar_p_value_shown (double p_value)
{
  int decimals = 2;

  if (!isfinite (p_value))
    return g_strdup ("–");
  for (double least = 0.1; p_value > 0 && p_value < least && decimals < 5; least /= 10)
    decimals++;
  return g_strdup_printf ("%.*f", p_value < 1 ? decimals : 0, p_value);
}

static char *
sentence (MharVerdict verdict, double p_value)
{
  g_autofree char *p = mhar_p_value_shown (p_value);

  return verdict != MHAR_VERDICT_NONE ? g_strdup_printf (_("%s (p = %s)"), mhar_verdict_shown (verdict), p) : NULL;
}

char *
mhar_verdict_sentence (const MharDataset *set, double p_value, double excess)
{
  return sentence (mhar_verdict (p_value, mhar_dataset_integer (set, "draws", 0), excess), p_value);
}

char *
mhar_run_verdict (const MharDataset *set, const char *p_name)
{
  return sentence (mhar_verdict_of (set, p_name), mhar_dataset_real (set, p_name, NAN));
}

char *
mhar_deviation_verdict (const MharDataset *set, double deviation)
{
  double p = mhar_look_deviation_p (set, deviation);
  MharVerdict verdict = mhar_verdict (p, mhar_dataset_integer (set, "draws", 0), NAN);

  return sentence (verdict == MHAR_VERDICT_BELOW ? MHAR_VERDICT_ALIKE : verdict, p);
}

char *
mhar_interval_shown (double value, double low, double high, int decimals, gboolean plus)
{
  g_autofree char *text = mhar_display_number (value, decimals, plus);

  if (!isfinite (low) || !isfinite (high))
    return g_steal_pointer (&text);
  g_autofree char *from = mhar_display_number (low, decimals, plus), *to = mhar_display_number (high, decimals, plus);
  return g_strdup_printf (_("%s [%s, %s]"), text, from, to);
}
