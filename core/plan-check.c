/* SPDX-License-Identifier: MIT */
/* Whether a plan can be run: forward.c relies on every word of it. */
#include "core/error.h"
#include "core/plan.h"

typedef struct {
  const MharPlan *plan;
  gboolean *stored; /* [rows] */
  int next_site, next_connection;
  gboolean out; /* there is a latest output */
} Check;

static gboolean
in_range (int index, guint length)
{
  return index >= 0 && index < (int) length;
}

static gboolean
check_gate (const Check *c, const MharSite *site, GError **error)
{
  guint tensors = c->plan->tensors->len;
  gboolean plain = site->gate.kind == MHAR_GATE_NONE && site->mode == MHAR_READ_REPLACE;

  if (site->gate.kind == MHAR_GATE_VECTOR
      && (!in_range (site->gate.proj, tensors) || !in_range (site->gate.bias, tensors)))
    return mhar_bad_input (error, "the gate of site %s takes a tensor that the plan does not name", site->label);
  if (!plain && site->whole)
    return mhar_bad_input (error, "site %s gives a mix a group, which cannot be gated or added", site->label);
  if (!plain && site->base != MHAR_VALUE_STREAM && !(site->base == MHAR_VALUE_OUT && c->out))
    return mhar_bad_input (error, "site %s is mixed with something that is not there", site->label);
  return TRUE;
}

/* One READ: its site is the next one, and all that it reads has been stored. */
static gboolean
check_read (Check *c, int index, GError **error)
{
  if (index == -1)
    return TRUE;
  if (index != c->next_site || index >= (int) c->plan->sites->len)
    return mhar_bad_input (error, "the plan reads site %d out of order", index);
  const MharSite *site = mhar_plan_site (c->plan, (guint) index);
  for (int i = 0; i < site->n_sources; i++)
    if (!in_range (site->sources[i], c->plan->rows->len) || !c->stored[site->sources[i]])
      return mhar_bad_input (error, "site %s reads row %d, which is not stored before it", site->label,
                             site->sources[i]);
  c->next_site++;
  return check_gate (c, site, error);
}

static gboolean
check_store (Check *c, const MharStep *step, GError **error)
{
  guint rows = c->plan->rows->len;

  if (!in_range (step->index, rows) || c->stored[step->index])
    return mhar_bad_input (error, "the plan stores row %d twice or out of range", step->index);
  if (step->value == MHAR_VALUE_STREAM_LESS && (!in_range (step->other, rows) || !c->stored[step->other]))
    return mhar_bad_input (error, "row %d is to lack row %d, which is not stored before it", step->index, step->other);
  if (step->value == MHAR_VALUE_TENSOR && !in_range (step->other, c->plan->tensors->len))
    return mhar_bad_input (error, "row %d is to be tensor %d, which the plan does not name", step->index, step->other);
  if (step->value == MHAR_VALUE_OUT && !c->out)
    return mhar_bad_input (error, "row %d is to be an output before there is one", step->index);
  c->stored[step->index] = TRUE;
  c->out = c->out || step->value == MHAR_VALUE_EMBED;
  return TRUE;
}

/* MIX k, the sublayer, SPREAD k; the last MIX has no SPREAD. */
static gboolean
check_connection (Check *c, const MharStep *step, GError **error)
{
  gboolean mix = step->kind == MHAR_STEP_MIX;

  if (c->plan->streams < 1 || !in_range (step->index, c->plan->connections->len) || step->index != c->next_connection)
    return mhar_bad_input (error, "the plan takes connection %d out of order", step->index);
  const MharConnection *connection = g_ptr_array_index (c->plan->connections, step->index);
  if (!mix && (connection->carry == NULL || connection->write == NULL))
    return mhar_bad_input (error, "connection %d cannot be written through", step->index);
  c->next_connection += !mix;
  return TRUE;
}

static gboolean
check_step (Check *c, const MharStep *step, GError **error)
{
  switch (step->kind) {
  case MHAR_STEP_READ:
    return check_read (c, step->index, error);
  case MHAR_STEP_ATTN:
  case MHAR_STEP_MLP:
    if (!in_range (step->index, (guint) c->plan->layers))
      return mhar_bad_input (error, "the plan runs layer %d of %d", step->index, c->plan->layers);
    c->out = TRUE;
    return TRUE;
  case MHAR_STEP_STORE:
    return check_store (c, step, error);
  case MHAR_STEP_STREAM_ADD:
  case MHAR_STEP_STREAM_SET:
    return c->out || mhar_bad_input (error, "the plan adds an output before there is one");
  case MHAR_STEP_MIX:
  case MHAR_STEP_SPREAD:
    return check_connection (c, step, error);
  default:
    return mhar_bad_input (error, "the plan has an unknown step %d", (int) step->kind);
  }
}

/* What READ and MIX leave goes to the step after them; a mix a group only to attention. */
static gboolean
check_order (const MharPlan *plan, guint i, GError **error)
{
  const MharStep *step = &g_array_index (plan->steps, MharStep, i);
  gboolean last = i + 1 == plan->steps->len;
  MharStepKind next = last ? MHAR_STEP_READ : g_array_index (plan->steps, MharStep, i + 1).kind;
  gboolean whole = step->kind == MHAR_STEP_READ && step->index >= 0 && mhar_plan_site (plan, (guint) step->index)->whole;

  if (step->kind != MHAR_STEP_READ && step->kind != MHAR_STEP_MIX)
    return !last || mhar_bad_input (error, "the plan does not end with a read");
  if (whole ? next != MHAR_STEP_ATTN || last : !last && next != MHAR_STEP_ATTN && next != MHAR_STEP_MLP)
    return mhar_bad_input (error, "step %u of the plan reads for nobody", i);
  return TRUE;
}

gboolean
mhar_plan_check (const MharPlan *plan, GError **error)
{
  g_autofree gboolean *stored = g_new0 (gboolean, plan->rows->len + 1);
  Check c = { .plan = plan, .stored = stored };

  if (plan->steps->len == 0)
    return mhar_bad_input (error, "the plan does not end with a read");
  for (guint i = 0; i < plan->steps->len; i++)
    if (!check_step (&c, &g_array_index (plan->steps, MharStep, i), error) || !check_order (plan, i, error))
      return FALSE;
  if (c.next_site != (int) plan->sites->len)
    return mhar_bad_input (error, "the plan reads %d of its %u sites", c.next_site, plan->sites->len);
  for (guint i = 0; i < plan->outputs->len; i++)
    if (!in_range (g_array_index (plan->outputs, int, i), plan->rows->len)
        || !stored[g_array_index (plan->outputs, int, i)])
      return mhar_bad_input (error, "output %u is never stored", i);
  return TRUE;
}
