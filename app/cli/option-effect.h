/* SPDX-License-Identifier: MIT */
/* Options that would change nothing, as only the checkpoints tell. */
#pragma once

#include "app/cli/options.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* What the checkpoints of a line have, all together; zeros to begin with. */
typedef struct {
  guint one, several;   /* reads of two sources or more, with one head and with several */
  gboolean block_delta; /* some has differences of blocks */
} MharEffects;

void mhar_effects_add (MharEffects *effects, const MharPlan *plan);

/* Says on standard error which options of the line none of the checkpoints heeds, unless --quiet is one; with --strict
 * the first of them is MHAR_ERROR_USAGE. */
gboolean mhar_effects_check (const MharEffects *effects, const MharCliOptions *options, GError **error);

G_END_DECLS
