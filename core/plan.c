/* SPDX-License-Identifier: MIT */
#include "core/plan.h"

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

static void
connection_free (gpointer data)
{
  MharConnection *connection = data;
  g_free (connection->read);
  g_free (connection->carry);
  g_free (connection->write);
  g_free (connection);
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
  plan->tensors = g_ptr_array_new_with_free_func (g_free);
  plan->connections = g_ptr_array_new_with_free_func (connection_free);
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
  g_ptr_array_unref (plan->tensors);
  g_ptr_array_unref (plan->connections);
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
  site->base = MHAR_VALUE_STREAM;
  g_ptr_array_add (plan->sites, site);
  return (int) plan->sites->len - 1;
}

void
mhar_plan_add_step (MharPlan *plan, MharStepKind kind, int index, MharValue value)
{
  MharStep step = { kind, index, value, -1 };
  g_array_append_val (plan->steps, step);
}

void
mhar_plan_add_store (MharPlan *plan, int row, MharValue value, int other)
{
  MharStep step = { MHAR_STEP_STORE, row, value, other };
  g_array_append_val (plan->steps, step);
}

int
mhar_plan_add_tensor (MharPlan *plan, const char *name)
{
  g_ptr_array_add (plan->tensors, g_strdup (name));
  return (int) plan->tensors->len - 1;
}

int
mhar_plan_add_connection (MharPlan *plan, double *read, double *carry, double *write)
{
  MharConnection *connection = g_new0 (MharConnection, 1);
  *connection = (MharConnection){ read, carry, write };
  g_ptr_array_add (plan->connections, connection);
  return (int) plan->connections->len - 1;
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

/* The earlier place of the row that stands at place n of a site's list; −1 where there is none. */
static int
earlier_place (const MharSite *site, int n)
{
  for (int i = 0; i < n; i++)
    if (site->sources[i] == site->sources[n])
      return i;
  return -1;
}

char *
mhar_plan_source_label (const MharPlan *plan, const MharSite *site, int n)
{
  const char *row = mhar_plan_row (plan, site->sources[n]);
  return earlier_place (site, n) < 0 ? g_strdup (row) : g_strdup_printf ("stream (= %s)", row);
}

guint
mhar_plan_count_twice (const MharPlan *plan)
{
  guint count = 0;

  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    gboolean twice = FALSE;
    for (int n = 1; n < site->n_sources && !twice; n++)
      twice = earlier_place (site, n) >= 0;
    count += twice;
  }
  return count;
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
