/* SPDX-License-Identifier: MIT */
#include "probes/sums-check.h"

#include "core/error.h"
#include "probes/controls.h"
#include "probes/deviation.h"

#include <string.h>

/* Lengths of a sum's dimensions after the window. */
typedef struct {
  const char *name;
  guint n;
  gsize shape[3];
  gboolean there; /* the run makes it */
} Wanted;

#define MOST_WANTED 24

typedef struct {
  const MharProbeSetup *setup;
  guint n;
  Wanted list[MOST_WANTED];
} Wishes;

static void
want (Wishes *wishes, gboolean there, const char *name, guint n, gsize a, gsize b, gsize c)
{
  g_assert (wishes->n < MOST_WANTED);
  wishes->list[wishes->n++] = (Wanted){ name, n, { a, b, c }, there };
}

static gboolean
some_match (const MharProbeSetup *setup)
{
  guint count = setup->options->match_sources;

  for (guint s = 0; count > 0 && s < setup->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (setup->plan, s);
    if (mhar_site_counts (site, FALSE) && (guint)site->n_sources >= count)
      return TRUE;
  }
  return FALSE;
}

static void
want_disagreement (Wishes *w)
{
  const MharProbeSetup *s = w->setup;
  const MharProbeOptions *o = s->options;
  gboolean kl = (o->probes & MHAR_PROBE_KL) != 0, null = o->null_draws > 0, match = kl && some_match (s);
  gboolean one = kl && mhar_plan_count_sites (s->plan, FALSE) > 0,
           several = kl && mhar_plan_count_sites (s->plan, TRUE) > 0;

  want (w, one, "slice_kl", 2, s->n_sites, o->slices, 0);
  want (w, one && null, "slice_kl_null", 2, s->n_sites, o->null_draws, 0);
  want (w, match, "matched_kl", 2, s->n_sites, o->slices, 0);
  want (w, match && null, "matched_kl_null", 2, s->n_sites, o->null_draws, 0);
  want (w, several, "head_js", 1, s->n_sites, 0, 0);
  want (w, several && null, "head_js_null", 2, s->n_sites, o->null_draws, 0);
}

static void
want_all (Wishes *w)
{
  const MharProbeSetup *s = w->setup;
  const MharProbeOptions *o = s->options;
  gboolean maps = (o->probes & MHAR_PROBE_DEPTH_MAPS) && s->n_sites > 0,
           cosines = (o->probes & MHAR_PROBE_COLLINEARITY) != 0;
  gboolean interventions = (o->probes & MHAR_PROBE_INTERVENTIONS) != 0;
  gsize asked = interventions && o->interventions != NULL ? o->interventions->len : 0;
  static const char *const numbers[] = { "start", "count", "null_count", "pairs", "loss" };
  static const char *const by_source[] = { "weight", "weight_square", "contribution" };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    want (w, TRUE, numbers[i], 0, 0, 0, 0);
  for (guint i = 0; i < G_N_ELEMENTS (by_source); i++)
    want (w, maps, by_source[i], 3, s->n_sites, s->max_heads, s->max_sources);
  want (w, maps, "entropy", 2, s->n_sites, s->max_heads, 0);
  want_disagreement (w);
  want (w, cosines, "cosine", 2, s->n_outputs, s->n_outputs, 0);
  want (w, cosines, "mean_abs_cosine", 0, 0, 0, 0);
  want (w, cosines, "zero_outputs", 0, 0, 0, 0);
  want (w, asked > 0, "intervention_loss", 1, asked, 0, 0);
  want (w, interventions && o->ablation_map, "ablation_loss", 2, s->n_sites, s->max_sources, 0);
  want (w, interventions && o->ablation_map, "mass", 2, s->n_sites, s->max_sources, 0);
}

/* Of control i's sums, whose names have its number in them; not all controls have their own. */
static gboolean
is_control (const MharProbeSetup *setup, const char *name, Wanted *wanted)
{
  g_autoptr (GArray) list = mhar_controls_list (setup->plan, setup->options);
  gboolean null = g_str_has_suffix (name, "_null");

  for (guint i = 0; (setup->options->probes & MHAR_PROBE_KL) && i < list->len; i++) {
    g_autofree char *own = g_strdup_printf ("control_%u%s", i, null ? "_null" : "");
    *wanted = (Wanted){ name, null ? 2 : 1, { setup->n_sites, setup->options->null_draws }, TRUE };
    if (strcmp (name, own) == 0)
      return TRUE;
  }
  return FALSE;
}

static gboolean
refuse (GError **error, const char *name, const char *what)
{
  return mhar_bad_input (error, "sums/%s %s", name, what);
}

static gboolean
fits (const MharField *field, const Wanted *wanted, gsize windows)
{
  gboolean good = field->type == MHAR_FIELD_F64 && field->n_dims == wanted->n + 1 && field->shape[0] == windows;

  for (guint d = 0; good && d < wanted->n; d++)
    good = field->shape[d + 1] == wanted->shape[d];
  return good;
}

static gboolean
check_field (const Wishes *w, const MharField *field, gsize windows, GError **error)
{
  Wanted control;

  for (guint i = 0; i < w->n; i++)
    if (strcmp (w->list[i].name, field->name) == 0)
      return w->list[i].there && fits (field, &w->list[i], windows)
                 ? TRUE
                 : refuse (error, field->name, "has another shape than the run gives it");
  if (is_control (w->setup, field->name, &control) && fits (field, &control, windows))
    return TRUE;
  return refuse (error, field->name, "is nothing that the run makes");
}

/* Controls that have sums of their own. */
static guint
count_controls (const MharDataset *slab)
{
  guint n = 0;

  for (guint f = 0; f < mhar_dataset_n_fields (slab); f++)
    n += g_str_has_prefix (mhar_dataset_field (slab, f)->name, "control_");
  return n;
}

/* The first control, and the first of heads, are what other probes sum; the others are trained once a slicing, and
 * drawn. */
static guint
expect_controls (const MharProbeSetup *setup)
{
  g_autoptr (GArray) list = mhar_controls_list (setup->plan, setup->options);
  guint n = 0;

  for (guint i = 1; (setup->options->probes & MHAR_PROBE_KL) && i < list->len; i++) {
    const MharControl *c = &g_array_index (list, MharControl, i);
    gboolean first_heads = c->heads && !g_array_index (list, MharControl, i - 1).heads;
    n += first_heads ? 0 : (guint)!c->heads + (setup->options->null_draws > 0);
  }
  return n;
}

gboolean
mhar_sums_check (const MharProbeSetup *setup, const MharDataset *slab, GError **error)
{
  Wishes wishes = { .setup = setup };
  const MharField *start = mhar_dataset_get (slab, "start");
  gsize windows = start != NULL && start->n_dims == 1 ? start->shape[0] : 0;

  want_all (&wishes);
  if (windows == 0)
    return refuse (error, "start", "is missing or empty");
  for (guint i = 0; i < wishes.n; i++)
    if (wishes.list[i].there && mhar_dataset_get (slab, wishes.list[i].name) == NULL)
      return refuse (error, wishes.list[i].name, "is missing");
  for (guint f = 0; f < mhar_dataset_n_fields (slab); f++)
    if (!check_field (&wishes, mhar_dataset_field (slab, f), windows, error))
      return FALSE;
  return count_controls (slab) == expect_controls (setup)
         || refuse (error, "control_…", "are not as many as the run makes");
}

gboolean
mhar_pooled_check (const MharProbeSetup *setup, const MharDataset *pooled, gboolean halves, GError **error)
{
  const MharProbeOptions *o = setup->options;
  gboolean there
      = (o->probes & MHAR_PROBE_DEPTH_MAPS) && o->null_draws > 0 && mhar_plan_count_sites (setup->plan, TRUE) > 0;
  const MharField *field = mhar_dataset_get (pooled, "weight_null");
  gsize draws = o->null_draws, packed = mhar_deviation_packed_length (setup);
  Wanted wanted
      = halves ? (Wanted){ "weight_null", 2, { draws, packed }, TRUE } : (Wanted){ "weight_null", 1, { packed }, TRUE };
  guint n = 0;

  for (guint f = 0; f < mhar_dataset_n_fields (pooled); f++) /* a file has scales beside them */
    n += mhar_dataset_field (pooled, f)->type == MHAR_FIELD_F64;
  if (n != (guint)there || (there && (field == NULL || !fits (field, &wanted, halves ? 2 : draws))))
    return mhar_bad_input (error, "pooled/weight_null is not what the run makes of it");
  return TRUE;
}
