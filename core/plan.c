/* SPDX-License-Identifier: MIT */
#include "core/plan.h"

#include "core/error.h"

static void
site_free (gpointer data)
{
  MharSite *site = data;
  g_free (site->label);
  g_free (site->sources);
  g_free (site->query);
  g_free (site->gain);
  g_free (site);
}

MharPlan *
mhar_plan_new (const char *dialect, const char *mode, int layers, int width, int heads)
{
  MharPlan *plan = g_new0 (MharPlan, 1);
  plan->dialect = g_strdup (dialect);
  plan->mode = g_strdup (mode);
  plan->layers = layers;
  plan->width = width;
  plan->heads = heads;
  plan->rows = g_ptr_array_new_with_free_func (g_free);
  plan->sites = g_ptr_array_new_with_free_func (site_free);
  plan->steps = g_array_new (FALSE, FALSE, sizeof (MharStep));
  plan->outputs = g_array_new (FALSE, FALSE, sizeof (int));
  plan->routing = g_ptr_array_new_with_free_func (g_free);
  plan->warnings = g_ptr_array_new_with_free_func (g_free);
  return plan;
}

void
mhar_plan_free (MharPlan *plan)
{
  if (plan == NULL)
    return;
  g_free (plan->dialect);
  g_free (plan->mode);
  g_ptr_array_unref (plan->rows);
  g_ptr_array_unref (plan->sites);
  g_array_unref (plan->steps);
  g_array_unref (plan->outputs);
  g_ptr_array_unref (plan->routing);
  g_ptr_array_unref (plan->warnings);
  g_free (plan);
}

int
mhar_plan_add_row (MharPlan *plan, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (plan->rows, g_strdup_vprintf (format, args));
  va_end (args);
  return (int) plan->rows->len - 1;
}

int
mhar_plan_add_site (MharPlan *plan, MharSiteKind kind, int layer, const int *sources, int n_sources, int heads,
                    gboolean whole, double *query, double *gain)
{
  MharSite *site = g_new0 (MharSite, 1);
  gboolean final = kind == MHAR_SITE_FINAL;

  site->kind = kind;
  site->layer = final ? -1 : layer;
  site->number = final ? 2 * plan->layers : 2 * layer + (kind == MHAR_SITE_MLP);
  site->label = final ? g_strdup ("final") : g_strdup_printf ("L%d.%s", layer, kind == MHAR_SITE_MLP ? "mlp" : "attn");
  site->n_sources = n_sources;
  site->sources = g_memdup2 (sources, (gsize) n_sources * sizeof *sources);
  site->heads = heads;
  site->whole = whole;
  site->query = query;
  site->gain = gain;
  g_ptr_array_add (plan->sites, site);
  return (int) plan->sites->len - 1;
}

void
mhar_plan_add_step (MharPlan *plan, MharStepKind kind, int index, MharValue value)
{
  MharStep step = { kind, index, value };
  g_array_append_val (plan->steps, step);
}

void
mhar_plan_warn (MharPlan *plan, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (plan->warnings, g_strdup_vprintf (format, args));
  va_end (args);
}

const MharSite *
mhar_plan_site (const MharPlan *plan, guint i)
{
  return g_ptr_array_index (plan->sites, i);
}

const char *
mhar_plan_row (const MharPlan *plan, int row)
{
  return g_ptr_array_index (plan->rows, row);
}

double *
mhar_site_scored_query (const MharSite *site, const double *query, int width)
{
  gsize n = (gsize) mhar_site_n_queries (site);
  const double *q = query != NULL ? query : site->query;
  double *scored = g_new (double, n * width);

  for (gsize r = 0; r < n; r++)
    for (int i = 0; i < width; i++)
      scored[r * width + i] = q[r * width + i] * site->gain[i];
  return scored;
}

/* One READ: its site is the next one, and all that it reads has been stored. */
static gboolean
check_read (const MharPlan *plan, int index, int *next_site, const gboolean *stored, GError **error)
{
  if (index == -1)
    return TRUE;
  if (index != *next_site || index >= (int) plan->sites->len)
    return mhar_bad_input (error, "the plan reads site %d out of order", index);
  const MharSite *site = mhar_plan_site (plan, (guint) index);
  for (int i = 0; i < site->n_sources; i++) {
    int row = site->sources[i];
    if (row < 0 || row >= (int) plan->rows->len || !stored[row])
      return mhar_bad_input (error, "site %s reads row %d, which is not stored before it", site->label, row);
  }
  *next_site += 1;
  return TRUE;
}

static gboolean
check_step (const MharPlan *plan, const MharStep *step, int *next_site, gboolean *stored, GError **error)
{
  switch (step->kind) {
  case MHAR_STEP_READ:
    return check_read (plan, step->index, next_site, stored, error);
  case MHAR_STEP_ATTN:
  case MHAR_STEP_MLP:
    if (step->index < 0 || step->index >= plan->layers)
      return mhar_bad_input (error, "the plan runs layer %d of %d", step->index, plan->layers);
    return TRUE;
  case MHAR_STEP_STORE:
    if (step->index < 0 || step->index >= (int) plan->rows->len || stored[step->index])
      return mhar_bad_input (error, "the plan stores row %d twice or out of range", step->index);
    stored[step->index] = TRUE;
    return TRUE;
  case MHAR_STEP_STREAM_ADD:
    return TRUE;
  default:
    return mhar_bad_input (error, "the plan has an unknown step %d", (int) step->kind);
  }
}

gboolean
mhar_plan_check (const MharPlan *plan, GError **error)
{
  g_autofree gboolean *stored = g_new0 (gboolean, plan->rows->len + 1);
  int next_site = 0;

  for (guint i = 0; i < plan->steps->len; i++)
    if (!check_step (plan, &g_array_index (plan->steps, MharStep, i), &next_site, stored, error))
      return FALSE;
  if (plan->steps->len == 0 || g_array_index (plan->steps, MharStep, plan->steps->len - 1).kind != MHAR_STEP_READ)
    return mhar_bad_input (error, "the plan does not end with a read");
  if (next_site != (int) plan->sites->len)
    return mhar_bad_input (error, "the plan reads %d of its %u sites", next_site, plan->sites->len);
  return TRUE;
}
