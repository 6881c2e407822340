/* SPDX-License-Identifier: MIT */
#include "probes/saved-run.h"

#include "core/error.h"
#include "probes/intervention.h"
#include "probes/run.h"
#include "probes/weights-only.h"

#include <string.h>

#define MOST 65536 /* of what a file counts: layers, sites, heads */

void
mhar_saved_run_free (MharSavedRun *run)
{
  if (run == NULL)
    return;
  g_clear_pointer (&run->plan, mhar_plan_free);
  g_clear_pointer (&run->interventions, g_ptr_array_unref);
  g_free (run);
}

/* ---- the plan ---- */

/* The row of that label, made where there is none. */
static int
row_of (MharPlan *plan, GHashTable *rows, const char *label)
{
  gpointer found;

  if (g_hash_table_lookup_extended (rows, label, NULL, &found))
    return GPOINTER_TO_INT (found);
  int row = mhar_plan_add_row (plan, "%s", label);
  g_hash_table_insert (rows, g_strdup (label), GINT_TO_POINTER (row));
  return row;
}

static gboolean
add_site (MharPlan *plan, GHashTable *rows, const MharDataset *set, gsize s)
{
  const MharField *labels = mhar_dataset_get (set, "source_label"), *whole = mhar_dataset_get (set, "whole_rows");
  const char *label = mhar_dataset_get (set, "site_label")->data.str[s];
  int number = mhar_dataset_get (set, "site")->data.i32[s], n = mhar_dataset_get (set, "n_sources")->data.i32[s];
  int heads = mhar_dataset_get (set, "n_heads")->data.i32[s];
  g_autofree int *sources = g_new (int, (gsize)MAX (n, 0) + 1);

  if (n < 1 || heads < 1 || heads > MOST || number < 0 || number > 2 * plan->layers)
    return FALSE;
  for (int k = 0; k < n; k++) {
    const char *source = labels->data.str[s * labels->shape[1] + (gsize)k];
    sources[k] = row_of (plan, rows, source != NULL ? source : "");
  }
  MharSiteKind kind = number == 2 * plan->layers ? MHAR_SITE_FINAL : number % 2 != 0 ? MHAR_SITE_MLP : MHAR_SITE_ATTN;
  mhar_plan_add_site (plan, kind, number / 2, sources, n, heads, whole->data.i32[s] != 0, NULL, NULL);
  MharSite *site = g_ptr_array_index (plan->sites, s);
  g_free (site->label);
  site->label = g_strdup (label != NULL ? label : "");
  return TRUE;
}

static gboolean
fill_plan (MharPlan *plan, const MharDataset *set)
{
  const MharField *outputs = mhar_dataset_get (set, "output_label"), *sites = mhar_dataset_get (set, "site");
  g_autoptr (GHashTable) rows = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (gsize i = 0; outputs != NULL && i < outputs->shape[0]; i++) {
    int row = row_of (plan, rows, outputs->data.str[i] != NULL ? outputs->data.str[i] : "");
    g_array_append_val (plan->outputs, row);
  }
  for (gsize s = 0; sites != NULL && s < sites->shape[0]; s++)
    if (!add_site (plan, rows, set, s))
      return FALSE;
  return TRUE;
}

static MharPlan *
read_plan (const MharDataset *set)
{
  gint64 layers = mhar_dataset_integer (set, "layers", 0), width = mhar_dataset_integer (set, "width", 0);
  gint64 heads = mhar_dataset_integer (set, "heads", 0);
  const char *dialect = mhar_dataset_string (set, "dialect"), *mode = mhar_dataset_string (set, "mode");

  if (layers < 1 || layers > MOST || width < 1 || width > G_MAXINT32 || heads < 1 || heads > MOST || dialect == NULL
      || mode == NULL)
    return NULL;
  g_autoptr (MharPlan) plan = mhar_plan_new (dialect, mode, (int)layers, (int)width, (int)heads);
  return fill_plan (plan, set) ? g_steal_pointer (&plan) : NULL;
}

/* ---- the options ---- */

static gboolean
read_count (const MharDataset *set, const char *name, guint most, guint *to)
{
  gint64 value = mhar_dataset_integer (set, name, 0);

  *to = (guint)value;
  return value >= 0 && value <= (gint64)most;
}

static gboolean
read_null_kind (const char *name, MharNullKind *kind)
{
  for (guint k = 0; k < MHAR_NULL_KINDS; k++)
    if (g_strcmp0 (name, mhar_null_kind_name ((MharNullKind)k)) == 0) {
      *kind = (MharNullKind)k;
      return TRUE;
    }
  return FALSE;
}

static gboolean
note (guint value, guint most, guint *list, guint *n)
{
  for (guint i = 0; i < *n; i++)
    if (list[i] == value)
      return TRUE;
  if (*n == most)
    return FALSE;
  list[(*n)++] = value;
  return TRUE;
}

/* The lists that the controls cross: what of each comes up, in that order. */
static gboolean
read_controls (const MharDataset *set, MharProbeOptions *o)
{
  const MharDataset *controls = mhar_dataset_find_child (set, "controls");
  guint slices[MHAR_MAX_SLICES], slicings[2], kinds[MHAR_NULL_KINDS];

  if (controls == NULL)
    return TRUE;
  const MharField *measure = mhar_dataset_get (controls, "measure");
  for (gsize i = 0; i < measure->shape[0]; i++) {
    MharNullKind kind;
    gboolean sliced = g_strcmp0 (measure->data.str[i], "slice_kl") == 0;
    gint32 s = mhar_dataset_get (controls, "slices")->data.i32[i];
    gboolean interleaved = g_strcmp0 (mhar_dataset_get (controls, "slicing")->data.str[i], "interleaved") == 0;
    if (!read_null_kind (mhar_dataset_get (controls, "null_kind")->data.str[i], &kind)
        || !note (kind, MHAR_NULL_KINDS, kinds, &o->n_all_nulls)
        || (sliced
            && (s < 2 || !note ((guint)s, MHAR_MAX_SLICES, slices, &o->n_all_slices)
                || !note ((guint)interleaved, 2, slicings, &o->n_all_slicings))))
      return FALSE;
  }
  for (guint i = 0; i < o->n_all_slices; i++)
    o->all_slices[i] = slices[i];
  for (guint i = 0; i < o->n_all_slicings; i++)
    o->all_slicings[i] = (gboolean)slicings[i];
  for (guint i = 0; i < o->n_all_nulls; i++)
    o->all_nulls[i] = (MharNullKind)kinds[i];
  return TRUE;
}

static void
read_interventions (const MharDataset *set, MharSavedRun *run)
{
  const MharDataset *asked = mhar_dataset_find_child (set, "interventions");
  const MharField *spec = asked != NULL ? mhar_dataset_get (asked, "spec") : NULL;
  MharProbeOptions *o = &run->options;

  run->interventions = mhar_interventions_new ();
  for (gsize i = 0; spec != NULL && i < spec->shape[0]; i++) {
    MharIntervention *one = g_new0 (MharIntervention, 1);
    one->spec = g_strdup (spec->data.str[i] != NULL ? spec->data.str[i] : "");
    one->n_edited = MAX (mhar_dataset_get (asked, "n_edited")->data.i32[i], 1);
    g_ptr_array_add (run->interventions, one);
  }
  o->interventions = run->interventions->len > 0 ? run->interventions : NULL;
  o->ablation_map = mhar_dataset_find_child (set, "ablation_map") != NULL;
  if (o->interventions != NULL || o->ablation_map)
    o->probes |= MHAR_PROBE_INTERVENTIONS;
}

static gboolean
read_options (const MharDataset *set, MharSavedRun *run)
{
  MharProbeOptions *o = &run->options;
  const char *seed = mhar_dataset_string (set, "seed");

  mhar_probe_options_init (o);
  o->probes = 0;
  if (mhar_dataset_get (set, "weight") != NULL || mhar_dataset_get (set, "coefficient") != NULL)
    o->probes |= MHAR_PROBE_DEPTH_MAPS;
  if (mhar_dataset_get (set, "slice_kl") != NULL || mhar_dataset_get (set, "head_js") != NULL)
    o->probes |= MHAR_PROBE_KL;
  if (mhar_dataset_get (set, "cosine") != NULL)
    o->probes |= MHAR_PROBE_COLLINEARITY;
  o->interleaved = g_strcmp0 (mhar_dataset_string (set, "slicing"), "interleaved") == 0;
  o->null_norm_slice = g_strcmp0 (mhar_dataset_string (set, "null_norm"), "slice") == 0;
  return read_count (set, "context", G_MAXINT32, &o->context)
         && read_count (set, "skip_first", G_MAXINT32, &o->skip_first) && read_count (set, "slices", MOST, &o->slices)
         && read_count (set, "draws", 1000000, &o->null_draws)
         && read_count (set, "match_sources", MOST, &o->match_sources)
         && read_null_kind (mhar_dataset_string (set, "null_kind"), &o->null_kind) && seed != NULL
         && g_ascii_string_to_unsigned (seed, 10, 0, G_MAXUINT64, &o->seed, NULL) && read_controls (set, o);
}

MharSavedRun *
mhar_saved_run_new (const MharDataset *set, const char *path, GError **error)
{
  g_autoptr (MharSavedRun) run = g_new0 (MharSavedRun, 1);
  const char *name = mhar_dataset_name (set);

  if (mhar_weights_only_is (set)) {
    mhar_bad_input (error, "%s: %s is of --weights-only, which runs over no text; give the files of runs", path, name);
    return NULL;
  }
  if (mhar_dataset_get (set, "site") != NULL && mhar_dataset_get (set, "whole_rows") == NULL) {
    mhar_bad_input (error, "%s: %s was saved by a mhar-probe that could not merge runs yet; make it anew", path, name);
    return NULL;
  }
  run->plan = read_plan (set);
  if (run->plan == NULL || !read_options (set, run)) {
    mhar_bad_input (error, "%s: %s does not say how it was made; the file is damaged", path, name);
    return NULL;
  }
  read_interventions (set, run);
  return g_steal_pointer (&run);
}
