/* SPDX-License-Identifier: MIT */
#include "core/dialect.h"

#include "core/body.h"
#include "core/error.h"
#include "core/unused-tensors.h"

#include <string.h>

/* First come, first served: the most particular first. */
static const MharDialect *const dialects[] = {
  &mhar_dialect_map,
  &mhar_dialect_recency,
  &mhar_dialect_fla,
  &mhar_dialect_mhar,
  &mhar_dialect_plain,
};

static gboolean
all_queries_zero (const MharPlan *plan)
{
  for (guint i = 0; i < plan->sites->len; i++) {
    const MharSite *site = mhar_plan_site (plan, i);
    for (int k = 0; k < mhar_site_n_queries (site) * plan->width; k++)
      if (site->query[k] != 0)
        return FALSE;
  }
  return plan->sites->len > 0;
}

/* Whether there are gates of one number, and all are exactly zero. */
static gboolean
all_gates_closed (const MharPlan *plan)
{
  guint gates = 0, closed = 0;

  for (guint i = 0; i < plan->sites->len; i++) {
    const MharGate *gate = &mhar_plan_site (plan, i)->gate;
    gboolean number = gate->kind == MHAR_GATE_ALPHA || gate->kind == MHAR_GATE_SIGMOID;
    gates += number;
    closed += number && gate->value == 0;
  }
  return gates > 0 && closed == gates;
}

/* What no dialect can know to be meant. */
static void
warn_of_state (MharPlan *plan)
{
  guint twice = mhar_plan_count_twice (plan);

  if (all_queries_zero (plan))
    mhar_plan_warn (plan, "every routing query is exactly zero: all reads are uniform, the routing was not trained");
  if (all_gates_closed (plan))
    mhar_plan_warn (plan, "every gate is exactly zero: no read reaches a sublayer");
  if (twice > 0)
    mhar_plan_warn (plan, "a source stands twice at %u site%s and shares its weight between the two places", twice,
                    twice == 1 ? "" : "s");
}

/* Routing of a dialect that is not run: by a tensor, or by the config alone. */
static void
refuse_all (const MharCheckpoint *checkpoint, GError **error)
{
  const char *name = mhar_checkpoint_first_routing (checkpoint);

  if (name != NULL)
    mhar_bad_input (error,
                    "%s: the reads over depth of '%s' are of no dialect that is run; --map can name their tensors, and "
                    "--weights-only shows the queries",
                    mhar_checkpoint_path (checkpoint), name);
  else
    mhar_bad_input (error,
                    "%s: 'attn_res_block_size' asks for reads over depth but no tensor of them is stored; give the file "
                    "that was saved with this config",
                    mhar_checkpoint_path (checkpoint));
}

MharPlan *
mhar_plan_from_checkpoint (const MharCheckpoint *checkpoint, const MharDialectOptions *options, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (dialects); i++) {
    if (!dialects[i]->recognise (checkpoint))
      continue;
    g_autoptr (MharPlan) plan = dialects[i]->build (checkpoint, options, error);
    g_autoptr (GHashTable) used = g_hash_table_new (NULL, NULL);
    if (plan == NULL || !mhar_plan_check (plan, error) || !mhar_body_check (checkpoint, plan, used, error)
        || !mhar_unused_check (checkpoint, plan, used, options->strict, error))
      return NULL;
    warn_of_state (plan);
    if (options->heads > 0 && plan->sites->len == 0)
      mhar_plan_warn (plan, "--heads %d changes nothing: there are no reads over depth", options->heads);
    g_ptr_array_add (plan->routing, NULL);
    return g_steal_pointer (&plan);
  }
  refuse_all (checkpoint, error);
  return NULL;
}

const char *
mhar_checkpoint_first_routing (const MharCheckpoint *checkpoint)
{
  for (guint i = 0; i < mhar_checkpoint_n_tensors (checkpoint); i++) {
    const char *name = mhar_checkpoint_tensor (checkpoint, i)->name;
    if (strstr (name, "_res_proj") != NULL || strstr (name, "_res_score") != NULL)
      return name;
  }
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
