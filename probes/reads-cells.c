/* SPDX-License-Identifier: MIT */
/* The words of cells, and the cells that they name. */
#include "probes/reads-private.h"

#include "core/error.h"
#include "probes/intervention.h"
#include "probes/nearest-label.h"

#include <string.h>

#define MOST_HEAD 65535

typedef struct {
  char *site; /* label, number or "last"; NULL: every site */
  gboolean after;
  int head;     /* −1: every head */
  char *source; /* "*", "top", or as of an ablation */
  char *spec;   /* as given */
} Spec;

static void
spec_free (gpointer data)
{
  Spec *s = data;
  g_free (s->site);
  g_free (s->source);
  g_free (s->spec);
  g_free (s);
}

GPtrArray *
mhar_reads_specs_new (void)
{
  return g_ptr_array_new_with_free_func (spec_free);
}

/* ---- words ---- */

static gboolean
take_site (Spec *to, const char *text)
{
  gsize n = strlen (text);

  if (strcmp (text, "*") == 0)
    return TRUE;
  to->after = n > 1 && text[n - 1] == '+';
  to->site = g_strndup (text, n - (to->after ? 1 : 0));
  return to->site[0] != '\0' && strpbrk (to->site, "*+") == NULL;
}

static gboolean
take_head (Spec *to, const char *text)
{
  guint64 value = 0;

  if (strcmp (text, "*") == 0) {
    to->head = -1;
    return TRUE;
  }
  gboolean good = g_ascii_string_to_unsigned (text, 10, 0, MOST_HEAD, &value, NULL);
  to->head = (int) value;
  return good;
}

static Spec *
parse_one (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  Spec *s = g_new0 (Spec, 1);

  if (g_strv_length (parts) == 3 && parts[2][0] != '\0' && take_site (s, parts[0]) && take_head (s, parts[1])) {
    s->source = g_strdup (parts[2]);
    s->spec = g_strdup (text);
    return s;
  }
  spec_free (s);
  return NULL;
}

gboolean
mhar_reads_specs_parse (GPtrArray *list, const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  guint before = list->len;

  for (guint k = 0; items[k] != NULL; k++) {
    Spec *one = parse_one (items[k]);
    if (one == NULL) {
      g_ptr_array_set_size (list, (int) before);
      return mhar_bad_usage (
          error, "--reads takes SITE:HEAD:SOURCE, such as L3.mlp:2:embed, final:*:top or *:0:newest, not “%s”",
          items[k]);
    }
    for (guint i = 0; i < list->len; i++)
      if (strcmp (((const Spec *) g_ptr_array_index (list, i))->spec, one->spec) == 0) {
        mhar_bad_usage (error, "--reads asks for %s twice; leave one of them out", one->spec);
        spec_free (one);
        g_ptr_array_set_size (list, (int) before);
        return FALSE;
      }
    g_ptr_array_add (list, one);
  }
  return list->len > before
         || mhar_bad_usage (error, "--reads takes SITE:HEAD:SOURCE, such as L3.mlp:2:embed, not nothing");
}

/* ---- cells ---- */

typedef struct {
  const MharPlan *plan;
  const Spec *spec;
  guint first, last; /* sites it is about, [first, last) */
  GArray *cells;     /* MharReadsCell */
  GHashTable *known; /* of them, as text */
} Resolve;

static gboolean
find_sites (Resolve *r, GError **error)
{
  const Spec *s = r->spec;
  g_autoptr (GPtrArray) labels = g_ptr_array_new ();
  guint n = r->plan->sites->len;

  r->first = 0;
  r->last = n;
  if (s->site == NULL)
    return TRUE;
  for (guint i = 0; i < n; i++) {
    const MharSite *site = mhar_plan_site (r->plan, i);
    g_autofree char *number = g_strdup_printf ("%d", site->number);
    g_ptr_array_add (labels, site->label);
    if (strcmp (s->site, site->label) != 0 && strcmp (s->site, number) != 0
        && (i + 1 < n || strcmp (s->site, "last") != 0))
      continue;
    r->first = i;
    r->last = s->after ? n : i + 1;
    return TRUE;
  }
  g_autofree char *nearest = mhar_nearest_labels (s->site, labels);
  return mhar_bad_usage (error, "--reads %s: there is no site “%s”; the nearest are %s, and --sites lists all", s->spec,
                         s->site, nearest);
}

static void
add_cell (Resolve *r, guint site, int head, int source)
{
  MharReadsCell cell = { site, head, source };
  char *key = g_strdup_printf ("%u:%d:%d", site, head, source);

  if (g_hash_table_add (r->known, key))
    g_array_append_val (r->cells, cell);
}

/* The sources of a site that the word names, of one head. */
static gboolean
add_head (Resolve *r, guint s, int head)
{
  const MharSite *site = mhar_plan_site (r->plan, s);
  g_autofree gboolean *named = g_new0 (gboolean, site->n_sources);
  const char *word = r->spec->source;
  gboolean found = FALSE;

  if (strcmp (word, "top") == 0) {
    add_cell (r, s, head, MHAR_READS_TOP);
    return TRUE;
  }
  if (strcmp (word, "*") != 0)
    mhar_intervention_mark (r->plan, site, word, named);
  for (int n = 0; n < site->n_sources; n++)
    if (named[n] || strcmp (word, "*") == 0) {
      add_cell (r, s, head, n);
      found = TRUE;
    }
  return found;
}

/* No site has the source: why, and what there is. */
static gboolean
refuse_source (const Resolve *r, GError **error)
{
  g_autoptr (GPtrArray) labels = g_ptr_array_new_with_free_func (g_free);
  const Spec *s = r->spec;
  gboolean one = r->last - r->first == 1;

  for (guint i = r->first; i < r->last; i++)
    for (int n = 0; n < mhar_plan_site (r->plan, i)->n_sources; n++)
      g_ptr_array_add (labels, mhar_plan_source_label (r->plan, mhar_plan_site (r->plan, i), n));
  g_autofree char *nearest = mhar_nearest_labels (s->source, labels);
  return mhar_bad_usage (error, "--reads %s: %s reads no source “%s”; the nearest are %s", s->spec,
                         one ? mhar_plan_site (r->plan, r->first)->label : "no site of these", s->source, nearest);
}

static gboolean
resolve_one (Resolve *r, GError **error)
{
  const Spec *s = r->spec;
  gboolean head = FALSE, source = FALSE;
  int most = 0;

  if (!find_sites (r, error))
    return FALSE;
  for (guint i = r->first; i < r->last; i++) {
    int heads = mhar_plan_site (r->plan, i)->heads, low = MAX (s->head, 0), high = s->head < 0 ? heads : s->head + 1;
    most = MAX (most, heads);
    for (int h = low; h < MIN (high, heads); h++) {
      head = TRUE;
      source |= add_head (r, i, h);
    }
    if (r->cells->len > MHAR_READS_MOST_CELLS)
      return mhar_bad_usage (error, "--reads %s: more than %d cells; name fewer sites, heads or sources", s->spec,
                             MHAR_READS_MOST_CELLS);
  }
  if (!head)
    return mhar_bad_usage (error, "--reads %s: there is no head %d; %s %d, counted from 0", s->spec, s->head,
                           r->last - r->first == 1 ? "the site's heads are" : "the most that a site of these has is",
                           most);
  return source || refuse_source (r, error);
}

GArray *
mhar_reads_resolve (const MharPlan *plan, const GPtrArray *specs, GError **error)
{
  g_autoptr (GArray) cells = g_array_new (FALSE, FALSE, sizeof (MharReadsCell));
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Resolve r = { .plan = plan, .cells = cells, .known = known };

  if (plan->sites->len == 0 && specs->len > 0) {
    mhar_bad_usage (error, "nothing is read over depth, so there is nothing for --reads; leave it out");
    return NULL;
  }
  for (guint k = 0; k < specs->len; k++) {
    r.spec = g_ptr_array_index ((GPtrArray *)specs, k);
    if (!resolve_one (&r, error))
      return NULL;
  }
  return g_steal_pointer (&cells);
}

gboolean
mhar_reads_check (const MharPlan *plan, const MharProbeOptions *options, GError **error)
{
  if ((options->probes & MHAR_PROBE_READS) == 0 || options->reads == NULL)
    return TRUE;
  g_autoptr (GArray) cells = mhar_reads_resolve (plan, options->reads, error);
  return cells != NULL;
}
