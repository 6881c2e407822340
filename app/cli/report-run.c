/* SPDX-License-Identifier: MIT */
/* What a report measures. Every default is chosen so that it takes minutes and not hours, and the report says what was
 * chosen; an option on the line overrules it. */
#include "app/cli/report.h"

#include "probes/intervention.h"
#include "probes/null-queries.h"

#include <stdlib.h>
#include <string.h>

#define DRAWS 99           /* p can be as low as 0.01 */
#define TOKENS 16384       /* of the main pass */
#define EDITED_TOKENS 4096 /* of the interventions and of the map, */
#define EDITED_WINDOWS 4   /* or as many windows: with fewer than three there is no interval */
#define LEAST_WINDOWS 3
#define DEFAULT_CONTEXT 1024

/* Parameters × tokens × forwards that a map may cost: about half a minute on two CPU cores, about one on a GPU. */
#define CPU_BUDGET 1.5e12
#define GPU_BUDGET 1e16

/* 4, 2 and 8, where they divide the width; else the least number of slices that does. */
static void
choose_slices (const MharPlan *plan, MharProbeOptions *p)
{
  static const guint wanted[] = { 4, 2, 8 };

  p->n_all_slices = 0;
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    if (plan->width % (int)wanted[i] == 0)
      p->all_slices[p->n_all_slices++] = wanted[i];
  for (guint s = 3; p->n_all_slices == 0 && s <= (guint)plan->width; s++)
    if (plan->width % (int)s == 0)
      p->all_slices[p->n_all_slices++] = s;
  if (p->n_all_slices > 0)
    p->slices = p->all_slices[0];
}

static void
choose_nulls (const MharCliOptions *o, const MharPlan *plan, MharProbeOptions *p)
{
  if (!mhar_is_given (o, "null-kind")) {
    p->all_nulls[0] = MHAR_NULL_RANDOM;
    p->all_nulls[1] = MHAR_NULL_SHUFFLED;
    p->all_nulls[2] = MHAR_NULL_SWAPPED;
    p->n_all_nulls = mhar_null_lonely_site (plan) == NULL ? 3 : 2;
  }
  if (!mhar_is_given (o, "null-norm")) {
    p->all_norms[0] = FALSE;
    p->all_norms[1] = TRUE;
    p->n_all_norms = 2;
  }
}

static int
compare_counts (gconstpointer a, gconstpointer b)
{
  return *(const guint *)a < *(const guint *)b ? -1 : *(const guint *)a > *(const guint *)b;
}

/* The median number of sources of the sites with one head, so that half of them take part; 0 where all have as many. */
static guint
choose_match (const MharPlan *plan)
{
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint s = 0; s < plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (plan, s);
    guint n = (guint)site->n_sources;
    if (mhar_site_counts (site, FALSE))
      g_array_append_val (counts, n);
  }
  g_array_sort (counts, compare_counts);
  if (counts->len < 2 || g_array_index (counts, guint, 0) == g_array_index (counts, guint, counts->len - 1))
    return 0;
  return g_array_index (counts, guint, counts->len / 2);
}

static void
choose_measures (const MharCliOptions *o, const MharPlan *plan, MharProbeOptions *p)
{
  *p = o->probe;
  p->probes = o->probe.probes & MHAR_PROBE_ALL;
  if (p->probes == 0)
    p->probes = MHAR_PROBE_ALL;
  p->probes |= o->probe.probes & MHAR_PROBE_READS; /* only where asked for */
  p->interventions = NULL;
  p->ablation_map = FALSE;
  if (!mhar_is_given (o, "slices"))
    choose_slices (plan, p);
  if (!mhar_is_given (o, "slicing")) {
    p->all_slicings[0] = FALSE;
    p->all_slicings[1] = TRUE;
    p->n_all_slicings = 2;
  }
  choose_nulls (o, plan, p);
  if (!mhar_is_given (o, "null-draws"))
    p->null_draws = DRAWS;
  if (!mhar_is_given (o, "max-tokens"))
    p->max_tokens = TOKENS;
  if (!mhar_is_given (o, "match-sources"))
    p->match_sources = choose_match (plan);
}

/* ---- interventions ---- */

/* Those of the usual ones that change anything here. */
static GPtrArray *
usual_interventions (const MharPlan *plan, const MharProbeOptions *p)
{
  static const struct {
    MharInterventionKind kind;
    const char *text;
  } usual[] = { { MHAR_INTERVENTION_ABLATE, "*:embedding" },
                { MHAR_INTERVENTION_ABLATE, "*:oldest" },
                { MHAR_INTERVENTION_ABLATE, "*:middle" },
                { MHAR_INTERVENTION_ABLATE, "*:newest" },
                { MHAR_INTERVENTION_CONSENSUS, "*" },
                { MHAR_INTERVENTION_PERMUTE, "*" },
                { MHAR_INTERVENTION_TOP, "1" },
                { MHAR_INTERVENTION_TOP, "2" },
                { MHAR_INTERVENTION_UNIFORM, "*" },
                { MHAR_INTERVENTION_NULL, "*" } };
  GPtrArray *list = mhar_interventions_new ();

  for (guint i = 0; i < G_N_ELEMENTS (usual); i++) {
    if (!mhar_interventions_parse (list, usual[i].kind, usual[i].text, NULL))
      continue;
    MharPlanEdit *edit = mhar_intervention_resolve (g_ptr_array_index (list, list->len - 1), plan, p, NULL);
    if (edit == NULL)
      g_ptr_array_set_size (list, (int)list->len - 1);
    else
      g_ptr_array_unref (edit);
  }
  return list;
}

static guint
context_of (const MharReportTask *task)
{
  const MharBody *body = mhar_config_body (mhar_checkpoint_config (task->checkpoint));

  if (task->options->probe.context > 0)
    return task->options->probe.context;
  return body->context > 0 ? (guint)MIN (DEFAULT_CONTEXT, body->context) : DEFAULT_CONTEXT;
}

/* As the main pass, but for the probes and the text: the smaller of what is measured there and what is enough. */
static MharProbeOptions
edited_options (const MharReportTask *task, const MharProbeOptions *measures)
{
  MharProbeOptions p = *measures;
  gint64 enough = MAX (EDITED_TOKENS, (gint64)EDITED_WINDOWS * context_of (task));

  p.probes = MHAR_PROBE_INTERVENTIONS;
  p.max_tokens = p.max_tokens > 0 ? MIN (p.max_tokens, enough) : enough;
  return p;
}

/* One pass, with nothing for the file. */
static MharDataset *
pass (const MharReportTask *task, const MharProbeOptions *p, const char *what, GError **error)
{
  MharRunHooks hooks = { .progress = task->hooks->progress, .user = task->hooks->user };
  g_autofree char *stage = g_strdup_printf ("%s: %s", task->name, what);

  task->stage (stage, task->hooks->user);
  return mhar_probe_run (task->devices, task->checkpoint, task->plan, (const gint32 *)task->ids->data, task->ids->len,
                         p, &hooks, task->cancellable, error);
}

/* Takes the child `name` of what a pass gave. */
static void
adopt (MharDataset *set, MharDataset *from, const char *name)
{
  MharDataset *child = mhar_dataset_find_child (from, name);

  if (child != NULL)
    mhar_dataset_add_child (set, mhar_dataset_ref (child));
}

static gboolean
intervene (const MharReportTask *task, const MharProbeOptions *measures, MharDataset *set, GError **error)
{
  MharProbeOptions p = edited_options (task, measures);
  g_autoptr (GPtrArray) usual = usual_interventions (task->plan, &p);

  p.interventions = task->options->interventions->len > 0 ? task->options->interventions : usual;
  if (p.interventions->len == 0)
    return TRUE;
  g_autoptr (MharDataset) edited = pass (task, &p, "interventions", error);
  if (edited == NULL)
    return FALSE;
  adopt (set, edited, "interventions");
  return TRUE;
}

/* ---- the ablation map ---- */

static gsize
map_cells (const MharPlan *plan)
{
  gsize n = 0;

  for (guint s = 0; s < plan->sites->len; s++)
    if (mhar_plan_site (plan, s)->n_sources > 1)
      n += (gsize)mhar_plan_site (plan, s)->n_sources;
  return n;
}

/* Tokens that the map can afford, in whole windows; 0: too few for an interval. */
static gint64
affordable (const MharReportTask *task, gsize cells)
{
  double bytes = strcmp (mhar_checkpoint_dtype (task->checkpoint), "F32") == 0 ? 4 : 2;
  double parameters = MAX ((double)mhar_checkpoint_bytes (task->checkpoint) / bytes, 1);
  gboolean cpu = g_str_has_prefix (mhar_device_spec (g_ptr_array_index ((GPtrArray *)task->devices, 0)), "cpu");
  double tokens = (cpu ? CPU_BUDGET : GPU_BUDGET) / parameters / (double)cells, context = context_of (task);
  double windows = MIN (tokens / context, 1e6);

  return windows >= LEAST_WINDOWS ? (gint64)windows * (gint64)context : 0;
}

static gboolean
map (const MharReportTask *task, const MharProbeOptions *measures, MharDataset *set, GError **error)
{
  MharProbeOptions p = edited_options (task, measures);
  gsize cells = map_cells (task->plan);

  if (cells == 0)
    return TRUE;
  gint64 most = affordable (task, cells);
  p.interventions = NULL;
  p.ablation_map = TRUE;
  if (!task->options->probe.ablation_map) {
    if (most == 0) {
      mhar_dataset_set_string (set, "ablation_map_absent",
                               "it would have taken too long; --ablation-map asks for it all the same");
      return TRUE;
    }
    p.max_tokens = MIN (p.max_tokens, most);
  }
  g_autoptr (MharDataset) edited = pass (task, &p, "ablation map", error);
  if (edited == NULL)
    return FALSE;
  adopt (set, edited, "ablation_map");
  return TRUE;
}

MharDataset *
mhar_report_run (const MharReportTask *task, GError **error)
{
  MharProbeOptions p;

  choose_measures (task->options, task->plan, &p);
  g_autoptr (MharDataset) set
      = mhar_probe_run (task->devices, task->checkpoint, task->plan, (const gint32 *)task->ids->data, task->ids->len,
                        &p, task->hooks, task->cancellable, error);
  if (set == NULL || !intervene (task, &p, set, error) || !map (task, &p, set, error))
    return NULL;
  return g_steal_pointer (&set);
}
