/* SPDX-License-Identifier: MIT */
/* From an intervention's words to edits of a plan. */
#include "probes/intervention.h"

#include "core/error.h"
#include "probes/nearest-label.h"
#include "probes/random-query.h"

#include <string.h>

typedef struct {
  const MharIntervention *intervention;
  const MharPlan *plan;
  const MharProbeOptions *options;
  guint first, last; /* sites it is about, [first, last) */
} Resolve;

static gboolean
is_number (const char *text)
{
  return text[0] != '\0' && strspn (text, G_CSET_DIGITS) == strlen (text);
}

static gboolean
find_sites (Resolve *r, GError **error)
{
  const MharIntervention *i = r->intervention;
  g_autoptr (GPtrArray) labels = g_ptr_array_new ();

  r->first = 0;
  r->last = r->plan->sites->len;
  if (r->last == 0)
    return mhar_bad_usage (error, "%s would change nothing: the checkpoint reads nothing over depth", i->spec);
  if (i->site == NULL)
    return TRUE;
  for (guint s = 0; s < r->plan->sites->len; s++) {
    const MharSite *site = mhar_plan_site (r->plan, s);
    g_autofree char *number = g_strdup_printf ("%d", site->number);
    g_ptr_array_add (labels, site->label);
    if (strcmp (i->site, site->label) != 0 && strcmp (i->site, number) != 0)
      continue;
    r->first = s;
    r->last = i->after ? r->last : s + 1;
    return TRUE;
  }
  g_autofree char *nearest = mhar_nearest_labels (i->site, labels);
  return mhar_bad_usage (error, "%s: there is no site “%s”; did you mean %s? --sites lists all", i->spec, i->site, nearest);
}

/* ---- sources ---- */

/* Whether the site's n-th source is the same for every token. */
static gboolean
is_constant (const MharPlan *plan, const MharSite *site, int n)
{
  for (guint i = 0; i < plan->steps->len; i++) {
    const MharStep *step = &g_array_index (plan->steps, MharStep, i);
    if (step->kind == MHAR_STEP_STORE && step->index == site->sources[n])
      return step->value == MHAR_VALUE_TENSOR;
  }
  return FALSE;
}

/* The first place of the embedding in a site's list; −1 where it is not there. */
static int
embedding_place (const MharPlan *plan, const MharSite *site)
{
  int row = plan->outputs->len > 0 ? g_array_index (plan->outputs, int, 0) : -1;

  for (int n = 0; n < site->n_sources; n++)
    if (site->sources[n] == row)
      return n;
  return -1;
}

/* Marks the places of a family; FALSE where the word is none. */
static gboolean
mark_family (const MharPlan *plan, const MharSite *site, const char *word, gboolean *drop)
{
  int embedding = embedding_place (plan, site), oldest = -1, newest = site->n_sources - 1;
  gboolean middle = strcmp (word, "middle") == 0;

  if (is_constant (plan, site, newest))
    newest = -1;
  for (int n = site->n_sources - 1; n >= 0; n--)
    if (n != embedding && !is_constant (plan, site, n))
      oldest = n;
  int place = strcmp (word, "embedding") == 0 ? embedding : strcmp (word, "oldest") == 0 ? oldest
            : strcmp (word, "newest") == 0    ? newest
                                              : -2;
  if (place == -2 && !middle)
    return FALSE;
  for (int n = 0; n < site->n_sources; n++)
    drop[n] = middle ? n != embedding && n != oldest && n != newest && !is_constant (plan, site, n) : n == place;
  return TRUE;
}

/* What of a site's list the word names. */
static void
mark_sources (const MharPlan *plan, const MharSite *site, const char *word, gboolean *drop)
{
  guint64 place = G_MAXUINT64;

  if (is_number (word))
    g_ascii_string_to_unsigned (word, 10, 0, G_MAXINT32, &place, NULL);
  if (mark_family (plan, site, word, drop))
    return;
  for (int n = 0; n < site->n_sources; n++) {
    g_autofree char *label = mhar_plan_source_label (plan, site, n);
    gboolean stream = strcmp (word, "stream") == 0 && g_str_has_prefix (label, "stream (= ");
    drop[n] = place == (guint64) n || stream || strcmp (word, label) == 0;
  }
}

static int
count_marked (const MharSite *site, const gboolean *drop)
{
  int count = 0;

  for (int n = 0; n < site->n_sources; n++)
    count += drop[n] ? 1 : 0;
  return count;
}

/* No site of an ablation has the source: why, and what there is. */
static gboolean
refuse_source (const Resolve *r, GError **error)
{
  g_autoptr (GPtrArray) labels = g_ptr_array_new_with_free_func (g_free);
  const MharIntervention *i = r->intervention;
  const MharSite *site = mhar_plan_site (r->plan, r->first);
  gboolean one = r->last - r->first == 1;

  for (guint s = r->first; s < r->last; s++)
    for (int n = 0; n < mhar_plan_site (r->plan, s)->n_sources; n++)
      g_ptr_array_add (labels, mhar_plan_source_label (r->plan, mhar_plan_site (r->plan, s), n));
  g_autofree char *nearest = mhar_nearest_labels (i->source, labels);
  if (one && is_number (i->source))
    return mhar_bad_usage (error, "%s: %s reads no source number %s; its %d are counted from 0", i->spec, site->label, i->source,
                   site->n_sources);
  if (one)
    return mhar_bad_usage (error, "%s: %s reads no source “%s”; did you mean %s? --sites lists all", i->spec, site->label, i->source,
                   nearest);
  return mhar_bad_usage (error, "%s: none of these sites reads a source “%s”; did you mean %s? --sites lists all", i->spec,
                 i->source, nearest);
}

static gboolean
resolve_ablation (const Resolve *r, MharPlanEdit *edits, GError **error)
{
  const MharIntervention *i = r->intervention;
  gboolean found = FALSE;

  for (guint s = r->first; s < r->last; s++) {
    const MharSite *site = mhar_plan_site (r->plan, s);
    g_autofree gboolean *drop = g_new0 (gboolean, site->n_sources);
    mark_sources (r->plan, site, i->source, drop);
    int marked = count_marked (site, drop);
    found |= marked > 0;
    if (marked > 0 && marked < site->n_sources)
      g_ptr_array_add (edits, mhar_site_edit_drop (r->plan, s, drop));
  }
  if (!found)
    return refuse_source (r, error);
  return edits->len > 0 || mhar_bad_usage (error, "%s: %s reads nothing else, and would be left with no source", i->spec,
                                   r->last - r->first == 1 ? mhar_plan_site (r->plan, r->first)->label
                                                           : "each site that reads it");
}

/* ---- the others ---- */

static MharSiteEdit *
null_edit (const Resolve *r, guint s)
{
  const MharSite *site = mhar_plan_site (r->plan, s);
  const MharProbeOptions *o = r->options;
  gsize width = (gsize) r->plan->width, rows = (gsize) mhar_site_n_queries (site);
  MharNullNorm norm = { o->null_norm_slice ? o->slices : 0, o->interleaved };
  g_autofree double *query = g_new (double, rows * width);

  mhar_random_query (o->seed, (guint32) site->number, 0, site->query, rows, width, &norm, query);
  return mhar_site_edit_query (r->plan, s, query);
}

/* Head h reads with another's weights: two exchanged, or all moved on by one. */
static MharSiteEdit *
moved_edit (const Resolve *r, guint s)
{
  const MharIntervention *i = r->intervention;
  gint32 heads = mhar_plan_site (r->plan, s)->heads;
  g_autofree gint32 *from = g_new (gint32, heads);

  for (gint32 h = 0; h < heads; h++)
    from[h] = i->kind == MHAR_INTERVENTION_PERMUTE ? (h + 1) % heads
            : (guint) h == i->a                    ? (gint32) i->b
            : (guint) h == i->b                    ? (gint32) i->a
                                                   : h;
  return mhar_site_edit_from (r->plan, s, from);
}

/* The edit of a site; NULL where there is nothing to change. */
static MharSiteEdit *
edit_of (const Resolve *r, guint s)
{
  const MharIntervention *i = r->intervention;
  const MharSite *site = mhar_plan_site (r->plan, s);

  if (site->n_sources < 2)
    return NULL;
  switch (i->kind) {
  case MHAR_INTERVENTION_CONSENSUS:
    return site->heads > 1 ? mhar_site_edit_consensus (r->plan, s) : NULL;
  case MHAR_INTERVENTION_SWAP:
    return MAX (i->a, i->b) < (guint) site->heads ? moved_edit (r, s) : NULL;
  case MHAR_INTERVENTION_PERMUTE:
    return site->heads > 1 ? moved_edit (r, s) : NULL;
  case MHAR_INTERVENTION_NULL:
    return null_edit (r, s);
  case MHAR_INTERVENTION_UNIFORM:
    return mhar_site_edit_uniform (r->plan, s);
  case MHAR_INTERVENTION_TOP:
    return i->a < (guint) site->n_sources ? mhar_site_edit_top (r->plan, s, (int) i->a) : NULL;
  case MHAR_INTERVENTION_REGROUP:
    return !site->whole && i->a != (guint) site->heads ? mhar_site_edit_regroup (r->plan, s, (int) i->a) : NULL;
  default:
    return NULL;
  }
}

/* Why an intervention has nothing to change. */
static const char *
reason_of (MharInterventionKind kind)
{
  switch (kind) {
  case MHAR_INTERVENTION_CONSENSUS:
  case MHAR_INTERVENTION_PERMUTE:
    return "two sources and two heads";
  case MHAR_INTERVENTION_SWAP:
    return "two sources and both of the heads";
  case MHAR_INTERVENTION_TOP:
    return "more sources than are kept";
  case MHAR_INTERVENTION_REGROUP:
    return "two sources and another number of heads, each with a slice of the row";
  default:
    return "two sources";
  }
}

static gboolean
resolve_reads (const Resolve *r, MharPlanEdit *edits, GError **error)
{
  const MharIntervention *i = r->intervention;
  gboolean one = r->last - r->first == 1;

  if (i->kind == MHAR_INTERVENTION_REGROUP && r->plan->width % (int) i->a != 0)
    return mhar_bad_usage (error, "%s: %u heads do not divide a width of %d", i->spec, i->a, r->plan->width);
  for (guint s = r->first; s < r->last; s++) {
    MharSiteEdit *edit = edit_of (r, s);
    if (edit != NULL)
      g_ptr_array_add (edits, edit);
  }
  if (edits->len > 0)
    return TRUE;
  return one ? mhar_bad_usage (error, "%s would change nothing: it takes a site with %s, which %s has not", i->spec,
                       reason_of (i->kind), mhar_plan_site (r->plan, r->first)->label)
             : mhar_bad_usage (error, "%s would change nothing: it takes a site with %s, and there is none", i->spec,
                       reason_of (i->kind));
}

MharPlanEdit *
mhar_intervention_resolve (const MharIntervention *intervention, const MharPlan *plan, const MharProbeOptions *options,
                           GError **error)
{
  Resolve r = { intervention, plan, options, 0, 0 };
  g_autoptr (GPtrArray) edits = mhar_plan_edit_new ();

  if (!find_sites (&r, error))
    return NULL;
  if (intervention->kind == MHAR_INTERVENTION_ABLATE ? !resolve_ablation (&r, edits, error)
                                                     : !resolve_reads (&r, edits, error))
    return NULL;
  return g_steal_pointer (&edits);
}

gboolean
mhar_interventions_check (const MharPlan *plan, const MharProbeOptions *options, GError **error)
{
  const GPtrArray *list = options->interventions;
  guint most = 0;

  for (guint k = 0; list != NULL && k < list->len; k++) {
    g_autoptr (GPtrArray) edits = mhar_intervention_resolve (g_ptr_array_index ((GPtrArray *) list, k), plan, options, error);
    if (edits == NULL)
      return FALSE;
  }
  for (guint s = 0; s < plan->sites->len; s++)
    most = MAX (most, (guint) mhar_plan_site (plan, s)->n_sources);
  if (options->ablation_map && most < 2)
    return mhar_bad_usage (error, "no site reads two sources, so there is no --ablation-map; leave it out");
  return TRUE;
}

void
mhar_intervention_mark (const MharPlan *plan, const MharSite *site, const char *source, gboolean *drop)
{
  mark_sources (plan, site, source, drop);
}
