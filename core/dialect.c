/* SPDX-License-Identifier: MIT */
#include "core/dialect.h"

#include "core/body.h"
#include "core/error.h"

/* First come, first served: the most particular first. */
static const MharDialect *const dialects[] = {
  &mhar_dialect_mhar,
  &mhar_dialect_plain,
};

MharPlan *
mhar_plan_from_checkpoint (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (dialects); i++) {
    if (!dialects[i]->recognise (checkpoint))
      continue;
    g_autoptr (MharPlan) plan = dialects[i]->build (checkpoint, options, error);
    if (plan == NULL || !mhar_plan_check (plan, error) || !mhar_body_check (checkpoint, plan, error))
      return NULL;
    g_ptr_array_add (plan->routing, NULL);
    return g_steal_pointer (&plan);
  }
  mhar_bad_input (error, "%s: no known dialect fits its tensors; see `mhar-probe --help` for those that are read",
                  mhar_checkpoint_path (checkpoint));
  return NULL;
}

gboolean
mhar_checkpoint_has_suffix (const MharCheckpoint *checkpoint, const char *suffix)
{
  for (guint i = 0; i < mhar_checkpoint_n_tensors (checkpoint); i++)
    if (g_str_has_suffix (mhar_checkpoint_tensor (checkpoint, i)->name, suffix))
      return TRUE;
  return FALSE;
}

int
mhar_plan_store_embedding (MharPlan *plan)
{
  int row = mhar_plan_add_row (plan, "embed");
  mhar_plan_add_step (plan, MHAR_STEP_STORE, row, MHAR_VALUE_EMBED);
  g_array_append_val (plan->outputs, row);
  return row;
}

int
mhar_plan_run_sublayer (MharPlan *plan, MharSiteKind kind, int layer)
{
  gboolean mlp = kind == MHAR_SITE_MLP;
  int row = mhar_plan_add_row (plan, "L%d.%s", layer, mlp ? "mlp" : "attn");
  mhar_plan_add_step (plan, mlp ? MHAR_STEP_MLP : MHAR_STEP_ATTN, layer, MHAR_VALUE_OUT);
  mhar_plan_add_step (plan, MHAR_STEP_STORE, row, MHAR_VALUE_OUT);
  g_array_append_val (plan->outputs, row);
  return row;
}
