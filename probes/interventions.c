/* SPDX-License-Identifier: MIT */
/* Does routing matter? The loss of every window under each intervention asked for, and, for the ablation map, with every
 * source of every site left out in turn; beside the map the mass that the site's heads give the source on average, and
 * the rank correlation of the two. All that is summed is the cross-entropy; a difference is taken window by window, on
 * the same tokens, and its interval with it. */
#include "probes/intervention.h"
#include "probes/resample.h"
#include "probes/statistics.h"
#include "probes/window-interval.h"

#include <math.h>

typedef struct {
  const MharProbeSetup *setup;
  GPtrArray *edits; /* MharPlanEdit *: those asked for, then the map's */
  guint n_asked;
  GArray *cells; /* gsize: where in [site, source] the map's edits go */
} State;

static void
state_free (gpointer data)
{
  State *state = data;
  if (state == NULL)
    return;
  g_ptr_array_unref (state->edits);
  g_array_unref (state->cells);
  g_free (state);
}

static guint
count_asked (const MharProbeSetup *setup)
{
  return setup->options->interventions != NULL ? setup->options->interventions->len : 0;
}

/* One drop for each source of each site that has two. */
static void
add_map (State *state)
{
  const MharPlan *plan = state->setup->plan;

  for (guint s = 0; s < plan->sites->len; s++) {
    int n_sources = mhar_plan_site (plan, s)->n_sources;
    for (int n = 0; n_sources > 1 && n < n_sources; n++) {
      g_autofree gboolean *drop = g_new0 (gboolean, n_sources);
      GPtrArray *edits = mhar_plan_edit_new ();
      gsize cell = s * state->setup->max_sources + (gsize) n;
      drop[n] = TRUE;
      g_ptr_array_add (edits, mhar_site_edit_drop (plan, s, drop));
      g_ptr_array_add (state->edits, edits);
      g_array_append_val (state->cells, cell);
    }
  }
}

static gboolean
begin (MharRig *rig, gpointer *kept, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (rig);
  State *state = *kept = g_new0 (State, 1);

  state->setup = setup;
  state->edits = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  state->cells = g_array_new (FALSE, FALSE, sizeof (gsize));
  state->n_asked = count_asked (setup);
  for (guint k = 0; k < state->n_asked; k++) {
    MharPlanEdit *edits = mhar_intervention_resolve (g_ptr_array_index ((GPtrArray *) setup->options->interventions, k),
                                                     setup->plan, setup->options, error);
    if (edits == NULL)
      return FALSE;
    g_ptr_array_add (state->edits, edits);
  }
  if (setup->options->ablation_map)
    add_map (state);
  return TRUE;
}

static void
end (MharRig *rig G_GNUC_UNUSED, gpointer state)
{
  state_free (state);
}

static MharField *
add (MharDataset *set, const char *name, const char *long_name, const char *units, MharFieldType type, guint n_dims,
     const char *const *dims, const gsize *shape)
{
  return mhar_dataset_add (set, mhar_field_new (name, long_name, units, type, n_dims, dims, shape));
}

typedef struct {
  const State *state;
  gsize windows;
  double *sums;            /* [W] */
  double *asked, *dropped; /* [W, asked]; [W, site, source] */
} Losses;

static gboolean
take_loss (MharForward *forward, guint index, gpointer user, GError **error)
{
  Losses *to = user;
  const State *state = to->state;
  gsize cells = state->setup->n_sites * state->setup->max_sources;

  if (!mhar_forward_loss (forward, to->sums, error))
    return FALSE;
  for (gsize w = 0; w < to->windows; w++)
    if (index < state->n_asked)
      to->asked[w * state->n_asked + index] = to->sums[w];
    else
      to->dropped[w * cells + g_array_index (state->cells, gsize, index - state->n_asked)] = to->sums[w];
  return TRUE;
}

/* The mean over its heads of what a site gives a source, summed over tokens. */
static void
fill_mass (const MharProbeSetup *setup, const double *weight, gsize windows, double *mass)
{
  gsize at = 0;

  for (gsize w = 0; w < windows; w++)
    for (gsize s = 0; s < setup->n_sites; s++) {
      const MharSite *site = mhar_plan_site (setup->plan, (guint) s);
      double *row = mass + (w * setup->n_sites + s) * setup->max_sources;
      for (int n = 0; n < site->n_sources; n++)
        row[n] = 0;
      for (int h = 0; h < site->heads; h++)
        for (int n = 0; n < site->n_sources; n++)
          row[n] += weight[at++] / site->heads;
    }
}

static gboolean
batch (gpointer kept, MharBatch *b, MharDataset *slab, GError **error)
{
  const State *state = kept;
  const MharProbeSetup *setup = state->setup;
  static const char *const asked_dims[] = { "window", "intervention" }, *const map_dims[] = { "window", "site", "source" };
  gsize windows = (gsize) b->span.windows, asked_shape[] = { windows, state->n_asked };
  gsize map_shape[] = { windows, setup->n_sites, setup->max_sources };
  g_autofree double *sums = g_new (double, windows);
  Losses losses = { state, windows, sums, NULL, NULL };
  MharForwardEdits edits = { .list = state->edits, .done = take_loss, .user = &losses };
  MharRouteSums route;

  if (state->n_asked > 0)
    losses.asked = add (slab, "intervention_loss", "sum over predicted tokens of the cross-entropy under the intervention",
                        "nat", MHAR_FIELD_F64, 2, asked_dims, asked_shape)->data.f64;
  if (setup->options->ablation_map) {
    losses.dropped = add (slab, "ablation_loss", "sum over predicted tokens of the cross-entropy without the site's source",
                          "nat", MHAR_FIELD_F64, 3, map_dims, map_shape)->data.f64;
    if (!mhar_batch_route_sums (b, &route, error))
      return FALSE;
    MharField *mass = add (slab, "mass", "sum over tokens of the weight of the site's source, mean over heads", "1",
                           MHAR_FIELD_F64, 3, map_dims, map_shape);
    fill_mass (setup, route.weight, windows, mass->data.f64);
  }
  return mhar_forward_run_edits (mhar_rig_forward (b->rig), &edits, b->cancellable, error);
}

/* ---- results ---- */

/* What the windows say of the losses `value`, [window] `stride` apart: mean difference from the loss as it is, and the
 * ends of its interval. */
static void
summarise (const MharPool *pool, const MharWindowResamples *resamples, const double *value, gsize stride, double *delta,
           double *interval)
{
  gsize n = (gsize) mhar_pool_windows (pool);
  const double *loss = mhar_pool_series (pool, "loss"), *pairs = mhar_pool_series (pool, "pairs");
  g_autofree double *difference = g_new (double, n);
  double sum = 0, counted = 0;

  for (gsize w = 0; w < n; w++) {
    difference[w] = value[w * stride] - loss[w];
    sum += difference[w];
    counted += pairs[w];
  }
  *delta = sum / counted;
  mhar_window_interval (resamples, difference, 1, &interval[0], &interval[1]);
}

static void
set_interval (MharDataset *set)
{
  mhar_dataset_set_real (set, "interval_level", 0.95);
  mhar_dataset_set_integer (set, "interval_resamples", MHAR_RESAMPLES);
}

/* A report may measure them over less text than the rest. */
static void
set_extent (MharDataset *set, const MharPool *pool)
{
  mhar_dataset_set_integer (set, "tokens", (gint64) mhar_pool_scalar (pool, "count"));
  mhar_dataset_set_integer (set, "windows", (gint64) mhar_pool_windows (pool));
}

/* What was asked for, one entry an intervention. */
static MharDataset *
list_asked (const MharProbeSetup *setup, const MharPool *pool, const MharWindowResamples *resamples, double loss)
{
  static const char *const dims[] = { "intervention", "bound" };
  gsize n = count_asked (setup), shape[] = { n, 2 };
  const double *sums = mhar_pool_series (pool, "intervention_loss");
  MharDataset *set = mhar_dataset_new ("interventions");
  MharField *spec = add (set, "spec", "the intervention, as an option says it", "", MHAR_FIELD_STRING, 1, dims, shape);
  MharField *sites = add (set, "n_edited", "sites that read otherwise", "1", MHAR_FIELD_I32, 1, dims, shape);
  MharField *with = add (set, "loss", "mean cross-entropy under the intervention", "nat", MHAR_FIELD_F64, 1, dims, shape);
  MharField *delta = add (set, "delta_loss", "what the intervention adds to the loss", "nat", MHAR_FIELD_F64, 1, dims, shape);
  MharField *interval = add (set, "delta_loss_interval", "ends of the interval of delta_loss over blocks of windows", "nat",
                             MHAR_FIELD_F64, 2, dims, shape);

  for (gsize k = 0; k < n; k++) {
    const MharIntervention *one = g_ptr_array_index ((GPtrArray *) setup->options->interventions, k);
    g_autoptr (GPtrArray) edits
        = one->n_edited == 0 ? mhar_intervention_resolve (one, setup->plan, setup->options, NULL) : NULL;
    spec->data.str[k] = g_strdup (one->spec);
    sites->data.i32[k] = edits != NULL ? (gint32) edits->len : one->n_edited;
    summarise (pool, resamples, sums + k, n, &delta->data.f64[k], interval->data.f64 + 2 * k);
    with->data.f64[k] = loss + delta->data.f64[k];
  }
  set_interval (set);
  set_extent (set, pool);
  return set;
}

/* Sites with two sources or more: the rows of the map. */
static GArray *
map_sites (const MharPlan *plan)
{
  GArray *sites = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint s = 0; s < plan->sites->len; s++)
    if (mhar_plan_site (plan, s)->n_sources > 1)
      g_array_append_val (sites, s);
  return sites;
}

static void
label_map (const MharPlan *plan, const GArray *sites, gsize most, MharDataset *set)
{
  static const char *const dims[] = { "site", "source" };
  gsize shape[] = { sites->len, most };
  MharField *number = add (set, "site", "2l feeds attention l, 2l+1 MLP l, 2L the last norm", "1", MHAR_FIELD_I32, 1, dims, shape);
  MharField *label = add (set, "site_label", "the read's name", "", MHAR_FIELD_STRING, 1, dims, shape);
  MharField *count = add (set, "n_sources", "sources that the site reads", "1", MHAR_FIELD_I32, 1, dims, shape);
  MharField *source = add (set, "source_label", "what the site's source is", "", MHAR_FIELD_STRING, 2, dims, shape);

  for (guint i = 0; i < sites->len; i++) {
    const MharSite *site = mhar_plan_site (plan, g_array_index (sites, guint, i));
    number->data.i32[i] = site->number;
    label->data.str[i] = g_strdup (site->label);
    count->data.i32[i] = site->n_sources;
    for (int n = 0; n < site->n_sources; n++)
      source->data.str[i * most + (gsize) n] = mhar_plan_source_label (plan, site, n);
  }
}

/* Spearman's rank correlation of the two maps, over all cells and as the mean over the sites with three sources or more:
 * the first is moved by how many sources a site has, the second is not. */
static void
correlate (MharDataset *set, const MharField *delta, const MharField *mass, const MharField *count)
{
  gsize most = delta->shape[1], n = 0, inside = 0;
  g_autofree double *a = g_new (double, mhar_field_length (delta)), *b = g_new (double, mhar_field_length (delta));
  double sum = 0;

  for (gsize i = 0; i < delta->shape[0]; i++) {
    gsize here = (gsize) count->data.i32[i];
    for (gsize k = 0; k < here; k++) {
      a[n + k] = delta->data.f64[i * most + k];
      b[n + k] = mass->data.f64[i * most + k];
    }
    double r = here > 2 ? mhar_spearman (a + n, b + n, here) : NAN;
    sum += isnan (r) ? 0 : r;
    inside += !isnan (r);
    n += here;
  }
  mhar_dataset_set_real (set, "rank_correlation", mhar_spearman (a, b, n));
  mhar_dataset_set_real (set, "rank_correlation_within", inside > 0 ? sum / (double) inside : NAN);
}

static MharDataset *
draw_map (const MharProbeSetup *setup, const MharPool *pool, const MharWindowResamples *resamples)
{
  static const char *const dims[] = { "site", "source", "bound" };
  g_autoptr (GArray) sites = map_sites (setup->plan);
  gsize most = setup->max_sources, cells = setup->n_sites * most, shape[] = { sites->len, most, 2 };
  const double *sums = mhar_pool_series (pool, "ablation_loss"), *weight = mhar_pool_total (pool, "mass");
  double tokens = mhar_pool_scalar (pool, "count");
  MharDataset *set = mhar_dataset_new ("ablation_map");

  label_map (setup->plan, sites, most, set);
  MharField *delta = add (set, "delta_loss", "what leaving the site's source out adds to the loss", "nat", MHAR_FIELD_F64, 2,
                          dims, shape);
  MharField *interval = add (set, "delta_loss_interval", "ends of the interval of delta_loss over blocks of windows", "nat",
                             MHAR_FIELD_F64, 3, dims, shape);
  MharField *mass = add (set, "mass", "token mean of the weight of the site's source, mean over heads", "1", MHAR_FIELD_F64,
                         2, dims, shape);
  for (guint i = 0; i < sites->len; i++) {
    gsize s = g_array_index (sites, guint, i);
    for (gsize n = 0; n < (gsize) mhar_plan_site (setup->plan, (guint) s)->n_sources; n++) {
      gsize at = i * most + n;
      mass->data.f64[at] = weight[s * most + n] / tokens;
      summarise (pool, resamples, sums + s * most + n, cells, &delta->data.f64[at], interval->data.f64 + 2 * at);
    }
  }
  correlate (set, delta, mass, mhar_dataset_get (set, "n_sources"));
  set_interval (set);
  set_extent (set, pool);
  mhar_dataset_set_string (set, "signal", "delta_loss");
  return set;
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings G_GNUC_UNUSED)
{
  g_autoptr (MharWindowResamples) resamples = mhar_window_resamples_new (
      setup->options->seed, mhar_pool_series (pool, "pairs"), (gsize) mhar_pool_windows (pool));

  if (count_asked (setup) > 0)
    mhar_dataset_add_child (out, list_asked (setup, pool, resamples, mhar_dataset_real (out, "loss", NAN)));
  if (setup->options->ablation_map)
    mhar_dataset_add_child (out, draw_map (setup, pool, resamples));
}

const MharProbe mhar_probe_interventions = { "interventions", MHAR_PROBE_INTERVENTIONS, begin, batch, end, finish };
