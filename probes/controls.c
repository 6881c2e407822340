/* SPDX-License-Identifier: MIT */
#include "probes/controls.h"

#include "probes/disagreement.h"
#include "probes/null-queries.h"
#include "probes/statistics.h"

static guint
at_least_one (guint n)
{
  return MAX (n, 1);
}

/* The kinds of null, each of the first norm; then the first kind of the other norm. */
static guint
n_nulls (const MharProbeOptions *o)
{
  return at_least_one (o->n_all_nulls) + at_least_one (o->n_all_norms) - 1;
}

static void
set_null (const MharProbeOptions *o, guint k, MharControl *control)
{
  guint kinds = at_least_one (o->n_all_nulls), kind = k < kinds ? k : 0, norm = k < kinds ? 0 : k - kinds + 1;

  control->kind = o->n_all_nulls > 0 ? o->all_nulls[kind] : o->null_kind;
  control->norm_slice = o->n_all_norms > 0 ? o->all_norms[norm] : o->null_norm_slice;
}

GArray *
mhar_controls_list (const MharPlan *plan, const MharProbeOptions *o)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (MharControl));
  gboolean one = mhar_plan_count_sites (plan, FALSE) > 0, several = mhar_plan_count_sites (plan, TRUE) > 0;

  if (MAX (n_nulls (o), MAX (o->n_all_slices, o->n_all_slicings)) < 2)
    return list;
  for (guint k = 0; one && k < n_nulls (o); k++)
    for (guint s = 0; s < at_least_one (o->n_all_slices); s++)
      for (guint i = 0; i < at_least_one (o->n_all_slicings); i++) {
        MharControl control = { .slices = o->n_all_slices > 0 ? o->all_slices[s] : o->slices,
                                .interleaved = o->n_all_slicings > 0 ? o->all_slicings[i] : o->interleaved };
        set_null (o, k, &control);
        g_array_append_val (list, control);
      }
  for (guint k = 0; several && n_nulls (o) > 1 && k < n_nulls (o); k++) {
    MharControl control = { .heads = TRUE, .slices = o->slices, .interleaved = o->interleaved };
    set_null (o, k, &control);
    g_array_append_val (list, control);
  }
  return list;
}

/* Whether control i is the main disagreement, which other probes sum. */
static gboolean
is_main (const GArray *list, guint i)
{
  return i == 0 || (g_array_index (list, MharControl, i).heads && !g_array_index (list, MharControl, i - 1).heads);
}

/* The name of a control's sums; those of the null end in "_null". Heads are trained once, whatever their null. */
static char *
sums_name (const GArray *list, guint i, gboolean null)
{
  const MharControl *c = &g_array_index (list, MharControl, i);
  const char *end = null ? "_null" : "";

  if (is_main (list, i) || (c->heads && !null))
    return g_strconcat (c->heads ? "head_js" : "slice_kl", end, NULL);
  return g_strdup_printf ("control_%u%s", i, end);
}

/* A device's part: what each control scores, trained and drawn. */
typedef struct {
  GArray *list;
  MharNullQueries **queries; /* [controls · 2] */
  MharNull **nulls;
} State;

static void
end (MharRig *rig, gpointer data)
{
  State *state = data;
  MharDevice *device = mhar_rig_device (rig);

  if (state == NULL)
    return;
  for (guint i = 0; i < 2 * state->list->len; i++) {
    if (state->nulls[i] != NULL)
      mhar_device_ops (device)->null_free (mhar_device_context (device), state->nulls[i]);
    mhar_null_queries_free (state->queries[i]);
  }
  g_array_unref (state->list);
  g_free (state->queries);
  g_free (state->nulls);
  g_free (state);
}

/* The queries of control i on the device, trained or drawn. */
static gboolean
begin_queries (MharRig *rig, State *state, guint i, gboolean drawn, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (rig);
  const MharControl *c = &g_array_index (state->list, MharControl, i);
  MharDevice *device = mhar_rig_device (rig);
  MharNullRequest request = { .draws = drawn ? setup->options->null_draws : 0,
                              .kind = c->kind,
                              .norm_slice = c->norm_slice,
                              .slices = c->slices,
                              .interleaved = c->interleaved,
                              .sliced = !c->heads };
  MharNullQueries *queries = state->queries[2 * i + drawn] = mhar_null_queries_new ();

  if (is_main (state->list, i) || (c->heads && !drawn) || (drawn && setup->options->null_draws == 0))
    return TRUE;
  for (guint s = 0; s < setup->plan->sites->len; s++)
    if (mhar_site_counts (mhar_plan_site (setup->plan, s), c->heads))
      mhar_null_queries_add (queries, setup, s, &request);
  int status = mhar_device_ops (device)->null_new (mhar_device_context (device), mhar_rig_route (rig),
                                                   (const MharNullSite *)queries->sites->data, queries->sites->len,
                                                   &state->nulls[2 * i + drawn]);
  mhar_null_queries_release (queries);
  return mhar_device_check (device, status, "preparing the controls", error);
}

static gboolean
begin (MharRig *rig, gpointer *data, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (rig);
  State *state = g_new0 (State, 1);

  state->list = mhar_controls_list (setup->plan, setup->options);
  state->queries = g_new0 (MharNullQueries *, 2 * state->list->len + 1);
  state->nulls = g_new0 (MharNull *, 2 * state->list->len + 1);
  for (guint i = 0; i < 2 * state->list->len; i++)
    if (!begin_queries (rig, state, i / 2, i % 2, error)) {
      end (rig, state);
      return FALSE;
    }
  *data = state;
  return TRUE;
}

/* One site's sums [W, Q, S], or [W, Q] of heads, into the field [window, site] or [window, site, draw], mean over
 * slices. */
static void
fill (const double *sums, gsize windows, gsize queries, gsize slices, gsize n_sites, gsize site, double *to)
{
  for (gsize w = 0; w < windows; w++)
    for (gsize q = 0; q < queries; q++) {
      double sum = 0;
      for (gsize c = 0; c < slices; c++)
        sum += sums[(w * queries + q) * slices + c] / (double)slices;
      to[(w * n_sites + site) * queries + q] = mhar_not_negative (sum);
    }
}

static gboolean
run_queries (const State *state, guint i, gboolean drawn, MharBatch *b, MharDataset *slab, GError **error)
{
  const MharProbeSetup *setup = mhar_rig_setup (b->rig);
  const MharControl *c = &g_array_index (state->list, MharControl, i);
  const MharNullQueries *queries = state->queries[2 * i + drawn];
  gsize windows = (gsize)b->span.windows, n = drawn ? setup->options->null_draws : 1, slices = c->heads ? 1 : c->slices;
  const char *dims[] = { "window", "site", "draw" };
  gsize shape[] = { windows, setup->n_sites, n };
  g_autofree char *name = sums_name (state->list, i, drawn);
  g_autofree MharNullSums *sums = g_new0 (MharNullSums, queries->sites->len);
  g_autofree double *all = g_new0 (double, queries->sites->len *windows *n *slices);

  for (guint k = 0; k < queries->sites->len; k++) {
    double *at = all + k * windows * n * slices;
    sums[k].kl = c->heads ? NULL : at;
    sums[k].js = c->heads ? at : NULL;
  }
  if (!mhar_batch_null_run (b, state->nulls[2 * i + drawn], drawn, sums, "computing the controls", error))
    return FALSE;
  MharField *field
      = mhar_dataset_add (slab, mhar_field_new (name, "sum over the window's tokens of a control's disagreement", "nat",
                                                MHAR_FIELD_F64, drawn ? 3 : 2, dims, shape));
  for (guint k = 0; k < queries->sites->len; k++)
    fill (all + k * windows * n * slices, windows, n, slices, setup->n_sites,
          g_array_index (queries->indices, guint, k), field->data.f64);
  return TRUE;
}

static gboolean
batch (gpointer data, MharBatch *b, MharDataset *slab, GError **error)
{
  const State *state = data;

  for (guint i = 0; i < 2 * state->list->len; i++)
    if (state->nulls[i] != NULL && !run_queries (state, i / 2, i % 2, b, slab, error))
      return FALSE;
  return TRUE;
}

/* The sums of control i, whoever made them; FALSE where there are none. */
static gboolean
read_sums (const MharProbeSetup *setup, const MharPool *pool, const GArray *list, guint i, MharDisagreement *d)
{
  const MharControl *c = &g_array_index (list, MharControl, i);
  g_autofree char *trained = sums_name (list, i, FALSE), *null = sums_name (list, i, TRUE);

  if (!mhar_disagreement_read (setup, pool, trained, c->heads, is_main (list, i) && !c->heads ? c->slices : 1, d))
    return FALSE;
  d->null = mhar_pool_total (pool, null);
  d->draws = d->null != NULL ? setup->options->null_draws : 0;
  return TRUE;
}

static MharDataset *
child_of (MharDataset *out)
{
  MharDataset *child = mhar_dataset_find_child (out, "controls");

  if (child == NULL)
    mhar_dataset_add_child (out, child = mhar_dataset_new ("controls"));
  return child;
}

static MharField *
add (MharDataset *set, const char *name, const char *long_name, const char *units, MharFieldType type, gsize n)
{
  const char *dims[] = { "control" };
  return mhar_dataset_add (set, mhar_field_new (name, long_name, units, type, 1, dims, &n));
}

static void
scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  static const char *const names[][2]
      = { { "trained", "mean over sites" },
          { "median", "median over sites" },
          { "null", "mean over sites and draws of the null" },
          { "excess", "trained less null" },
          { "null_sd", "standard deviation over draws of the null's mean over sites" } };
  g_autoptr (GArray) list = mhar_controls_list (setup->plan, setup->options);
  guint n_names = setup->options->null_draws > 1 ? 5 : setup->options->null_draws > 0 ? 4 : 2;
  MharField *fields[5] = { NULL };

  if (list->len == 0)
    return;
  MharDataset *set = child_of (out);
  for (guint f = 0; f < n_names; f++)
    fields[f] = add (set, names[f][0], names[f][1], "nat", MHAR_FIELD_F64, list->len);
  for (guint i = 0; i < list->len; i++) {
    MharDisagreement d;
    if (!read_sums (setup, pool, list, i, &d))
      continue;
    MharDisagreementMeans m = mhar_disagreement_means (&d);
    const double values[] = { m.trained, m.median, m.null, m.excess, m.null_sd };
    for (guint f = 0; f < n_names; f++)
      fields[f]->data.f64[i] = values[f];
  }
}

static void
add_labels (const MharProbeSetup *setup, const GArray *list, MharDataset *set)
{
  MharField *measure = add (set, "measure", "slice disagreement, or that of heads", "", MHAR_FIELD_STRING, list->len);
  MharField *slices = add (set, "slices", "slices of a query; 0: heads", "1", MHAR_FIELD_I32, list->len);
  MharField *width = add (set, "slice_width", "coordinates of a slice; 0: heads", "1", MHAR_FIELD_I32, list->len);
  MharField *slicing = add (set, "slicing", "contiguous or interleaved", "", MHAR_FIELD_STRING, list->len);
  MharField *kind = add (set, "null_kind", "what the null's queries are", "", MHAR_FIELD_STRING, list->len);
  MharField *norm = add (set, "null_norm", "whose norm they keep, the query's or each slice's", "", MHAR_FIELD_STRING, list->len);

  for (guint i = 0; i < list->len; i++) {
    const MharControl *c = &g_array_index (list, MharControl, i);
    measure->data.str[i] = g_strdup (c->heads ? "head_js" : "slice_kl");
    slices->data.i32[i] = c->heads ? 0 : (gint32)c->slices;
    width->data.i32[i] = c->heads ? 0 : setup->plan->width / (gint32)c->slices;
    slicing->data.str[i] = g_strdup (c->heads ? "" : c->interleaved ? "interleaved" : "contiguous");
    kind->data.str[i] = g_strdup (mhar_null_kind_name (c->kind));
    norm->data.str[i] = g_strdup (c->norm_slice ? "slice" : "query");
  }
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out, GPtrArray *warnings G_GNUC_UNUSED)
{
  g_autoptr (GArray) list = mhar_controls_list (setup->plan, setup->options);

  if (list->len == 0)
    return;
  MharDataset *set = child_of (out);
  add_labels (setup, list, set);
  if (setup->options->null_draws == 0)
    return;
  MharField *p
      = add (set, "p_value", "share of draws at least as large, (1 + k) / (1 + draws)", "1", MHAR_FIELD_F64, list->len);
  MharField *low = add (set, "null_draw_low", "2.5 % quantile over draws", "nat", MHAR_FIELD_F64, list->len);
  MharField *high = add (set, "null_draw_high", "97.5 % quantile over draws", "nat", MHAR_FIELD_F64, list->len);
  for (guint i = 0; i < list->len; i++) {
    MharDisagreement d;
    if (!read_sums (setup, pool, list, i, &d) || d.draws == 0)
      continue;
    g_autofree double *per_draw = mhar_disagreement_per_draw (&d);
    p->data.f64[i] = mhar_p_value (mhar_disagreement_means (&d).trained, per_draw, d.draws, 1);
    if (d.draws > 1)
      mhar_interval (per_draw, d.draws, &low->data.f64[i], &high->data.f64[i]);
  }
}

static const char *const sums_by_window[] = { "control_*", NULL };

const MharProbe mhar_probe_controls = { "kl", MHAR_PROBE_KL, begin, batch, end, finish, scalars, sums_by_window };
