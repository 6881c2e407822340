/* SPDX-License-Identifier: MIT */
#include "app/cli/option-effect.h"

#include "core/error.h"
#include "probes/probe.h"

#include <stdio.h>

void
mhar_effects_add (MharEffects *effects, const MharPlan *plan)
{
  effects->one += mhar_plan_count_sites (plan, FALSE);
  effects->several += mhar_plan_count_sites (plan, TRUE);
  effects->block_delta |= plan->block_delta != NULL;
}

/* Each is asked of an option that is on the line; why it changes nothing, NULL: it may change something. */

static const char *
of_block_delta (const MharEffects *e, const MharCliOptions *o G_GNUC_UNUSED)
{
  return e->block_delta ? NULL : "no checkpoint has differences of blocks";
}

static const char *
of_slices (const MharEffects *e, const MharCliOptions *o)
{
  if (o->weights_only)
    return e->one > 0 ? NULL : "where there are several routing heads, they are the slices";
  return e->one > 0 || mhar_uses_slice_norm (o) ? NULL : "no checkpoint has reads with one head, whose queries are cut";
}

static const char *
of_match (const MharEffects *e, const MharCliOptions *o G_GNUC_UNUSED)
{
  return e->one > 0 ? NULL : "no checkpoint has reads with one head, whose sources are matched";
}

static const char *
of_null (const MharEffects *e, const MharCliOptions *o)
{
  gboolean any = e->several > 0 || (e->one > 0 && (mhar_measured (o) & MHAR_PROBE_KL) != 0);
  return any || mhar_uses_null_query (o) ? NULL : "nothing that is measured of the checkpoints has a null";
}

static const struct {
  const char *option;
  const char *(*why) (const MharEffects *effects, const MharCliOptions *options);
} asked[] = { { "block-delta", of_block_delta }, { "slices", of_slices },  { "slicing", of_slices },
              { "match-sources", of_match },     { "null-kind", of_null }, { "null-norm", of_null },
              { "null-tokens", of_null } };

gboolean
mhar_effects_check (const MharEffects *effects, const MharCliOptions *o, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (asked); i++) {
    const char *why = mhar_is_given (o, asked[i].option) ? asked[i].why (effects, o) : NULL;
    if (why != NULL && o->strict)
      return mhar_bad_usage (error, "--%s changes nothing: %s; leave it out, or --strict", asked[i].option, why);
    if (why != NULL && !o->quiet)
      fprintf (stderr, "mhar-probe: warning: --%s changes nothing: %s\n", asked[i].option, why);
  }
  return TRUE;
}
