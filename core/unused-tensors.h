/* SPDX-License-Identifier: MIT */
/* Tensors that are stored and that no step of the plan reads: a sign that the config is of another model. */
#pragma once

#include "core/checkpoint.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* `used`: the tensors of the body (const MharTensor *, a set); those of plan->routing are used besides. Warns on the
 * plan, in a sentence each, of layers beyond the config's, of routing that the mode does not use, of biases that the
 * config does not ask for, and of what has no known name; says nothing of buffers that can be computed, nor of the
 * queries and norms that the authors' script writes in every mode. With `strict`, MHAR_ERROR_INPUT for the first two.
 */
gboolean mhar_unused_check (const MharCheckpoint *checkpoint, MharPlan *plan, GHashTable *used, gboolean strict,
                            GError **error);

G_END_DECLS
