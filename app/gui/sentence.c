/* SPDX-License-Identifier: MIT */
#include "app/gui/sentence.h"

#include "app/gui/dataset-look.h"
#include "app/gui/display.h"
#include "app/gui/verdict-words.h"

#include <glib/gi18n.h>
#include <math.h>

/* "L3.mlp, head 2" or "L3.mlp, mean of 4 heads" or "L3.mlp". */
static char *
reader (const MharDataset *set, const MharPoint *at)
{
  const char *site = mhar_look_site (set, at->site);
  int heads = mhar_look_n_heads (set, at->site);

  if (heads < 2)
    return g_strdup (site);
  if (at->head < 0)
    return g_strdup_printf (_("%s, mean of %d heads,"), site, heads);
  return g_strdup_printf (_("%s, head %d"), site, at->head);
}

/* One head's deviation from the head mean, and whether a null query deviates as much. */
static void
append_deviation (GString *line, const MharDataset *set, double deviation)
{
  double points = 100 * fabs (deviation);
  g_autofree char *verdict = mhar_deviation_verdict (set, deviation);

  if (deviation >= 0)
    g_string_append_printf (line, _(", %.1f points above the head mean"), points);
  else
    g_string_append_printf (line, _(", %.1f points below the head mean"), points);
  if (verdict == NULL)
    g_string_append (line, _("; there is no null to compare with"));
  else
    g_string_append_printf (line, _(" — the deviation: %s"), verdict);
}

static char *
cell (const MharDataset *set, const MharPoint *at)
{
  double weight = mhar_look_cell (set, "weight", at->site, at->head, at->source);
  double deviation = at->head >= 0 ? mhar_look_cell (set, "deviation", at->site, at->head, at->source) : NAN;
  double spread = mhar_look_spread (set, at->site, at->head, at->source);
  int sources = mhar_look_n_sources (set, at->site);
  const char *source = mhar_look_source (set, at->site, at->source);
  g_autofree char *who = reader (set, at);
  GString *line = g_string_new (NULL);

  if (sources == 1) {
    g_string_printf (line, _("%s has one source, %s, and reads all of it"), mhar_look_site (set, at->site), source);
    return g_string_free (line, FALSE);
  }
  if (isnan (weight)) {
    g_string_printf (line, _("%s: this run holds no weights"), who);
    return g_string_free (line, FALSE);
  }
  g_string_printf (line, _("%s reads %.1f %% of %s"), who, 100 * weight, source);
  if (!isnan (spread))
    g_string_append_printf (line, _(" (± %.1f between tokens)"), 100 * spread);
  if (!isnan (deviation))
    append_deviation (line, set, deviation);
  else
    g_string_append_printf (line, _(" — %.1f times its even share (%.1f %%) of %d sources"), weight * sources,
                            100.0 / sources, sources);
  return g_string_free (line, FALSE);
}

static const char *
null_queries (const MharDataset *set)
{
  const char *kind = mhar_dataset_string (set, "null_kind");

  return g_strcmp0 (kind, "shuffled") == 0  ? _("shuffled queries")
         : g_strcmp0 (kind, "swapped") == 0 ? _("other sites’ queries")
                                            : _("random queries");
}

/* What null queries reach, and what follows. */
static void
append_null (GString *line, const MharDataset *set, const MharDisagreement *d)
{
  g_autofree char *verdict = mhar_verdict_sentence (set, d->p, d->trained - d->null);
  const char *queries = null_queries (set);

  if (!isnan (d->null) && !isnan (d->null_sd))
    g_string_append_printf (line, _(", its null (%s) by %.4f ± %.4f"), queries, d->null, d->null_sd);
  else if (!isnan (d->null))
    g_string_append_printf (line, _(", its null (%s, one draw) by %.4f"), queries, d->null);
  if (verdict != NULL)
    g_string_append_printf (line, " — %s", verdict);
  else
    g_string_append (line, isnan (d->null) ? _(" — there is no null to compare with") : _(" — this run holds no p-value"));
}

static char *
disagreement (const MharDataset *set, const MharPoint *at)
{
  MharDisagreement d = mhar_look_disagreement (set, at->site);
  gboolean many = mhar_look_n_heads (set, at->site) > 1;
  const char *site = mhar_look_site (set, at->site);

  if (mhar_look_n_sources (set, at->site) == 1)
    return g_strdup_printf (_("%s has one source: there is nothing to disagree about"), site);
  if (isnan (d.trained))
    return g_strdup_printf (_("%s: this run holds no disagreement"), site);
  g_autofree char *value = mhar_interval_shown (d.trained, d.low, d.high, 4, FALSE);
  g_autoptr (GString) line = g_string_new (NULL);
  if (many)
    g_string_printf (line, _("%s: its heads disagree by %s nat"), site, value);
  else
    g_string_printf (line, _("%s: the slices of its query disagree by %s nat"), site, value);
  append_null (line, set, &d);
  return g_strdup (line->str);
}

static int
output_named (const MharDataset *set, const char *label)
{
  const MharField *field = mhar_dataset_get (set, "output_label");

  for (gsize i = 0; field != NULL && field->type == MHAR_FIELD_STRING && i < mhar_field_length (field); i++)
    if (g_strcmp0 (field->data.str[i], label) == 0)
      return (int) i;
  return -1;
}

/* The selected source's output against that of the selected site's own sublayer. */
static char *
collinearity (const MharDataset *set, const MharPoint *at)
{
  const MharField *cosine = mhar_dataset_get (set, "cosine");
  const char *a = mhar_look_source (set, at->site, at->source), *b = mhar_look_site (set, at->site);
  int i = output_named (set, a), j = output_named (set, b);
  double mean = mhar_dataset_real (set, "collinearity_mean", NAN),
         most = mhar_dataset_real (set, "collinearity_mean_abs", NAN);

  g_autofree char *mean_shown = mhar_display_number (mean, 3, FALSE), *most_shown = mhar_display_number (most, 3, FALSE);

  if (cosine == NULL || cosine->n_dims != 2)
    return g_strdup (_("This run holds no collinearity"));
  if (i < 0 || j < 0 || (gsize) i >= cosine->shape[0] || (gsize) j >= cosine->shape[1])
    return g_strdup_printf (
        _("Sublayer outputs have a mean cosine of %s (mean size %s): the nearer to 0, the more they differ"), mean_shown,
        most_shown);
  g_autofree char *value = mhar_display_number (mhar_field_value (cosine, (gsize) i * cosine->shape[1] + (gsize) j), 3, FALSE);
  return g_strdup_printf (_("The outputs of %s and %s have a cosine of %s; all pairs a mean of %s (mean size %s)"), a, b, value,
                          mean_shown, most_shown);
}

static char *
entropy (const MharDataset *set, const MharPoint *at)
{
  double nats = mhar_look_head (set, "entropy", at->site, at->head);
  double share = at->source >= 0 ? mhar_look_cell (set, "contribution", at->site, at->head, at->source) : NAN;
  int sources = mhar_look_n_sources (set, at->site);
  g_autofree char *who = reader (set, at);

  if (isnan (nats) || sources < 2)
    return cell (set, at);
  g_autoptr (GString) line = g_string_new (NULL);
  g_string_printf (line, _("%s uses its %d sources as if they were %.1f (entropy %.3f nat)"), who, sources, exp (nats),
                   nats);
  if (!isnan (share))
    g_string_append_printf (line, _("; %s adds a vector of length %.3f"), mhar_look_source (set, at->site, at->source),
                            share);
  return g_strdup (line->str);
}

/* "L3.mlp, head 2", or that it is the means over heads of two different numbers of them. */
static char *
compared_reader (const MharDataset *set, const MharDataset *other, const MharPoint *at)
{
  int there = mhar_look_site_named (other, mhar_look_site (set, at->site));
  int heads = mhar_look_n_heads (set, at->site), others = there >= 0 ? mhar_look_n_heads (other, there) : heads;

  if (heads == others)
    return reader (set, at);
  return g_strdup_printf (_("%s, mean over heads (%d in A, %d in B),"), mhar_look_site (set, at->site), heads, others);
}

/* Both checkpoints at the cell of the same labels. */
static char *
comparison (const MharDataset *set, const MharDataset *other, gboolean deviation, const MharPoint *at)
{
  const char *source = mhar_look_source (set, at->site, at->source);
  int head = mhar_look_common_head (set, other, at->site, at->head);
  double a, b;

  if (other == NULL)
    return g_strdup (_("Choose a second checkpoint to compare with"));
  g_autofree char *who = compared_reader (set, other, at);
  deviation = deviation && head >= 0;
  mhar_look_pair (set, other, deviation ? "deviation" : "weight", at->site, at->head, at->source, &a, &b);
  if (isnan (a) || isnan (b))
    return g_strdup_printf (_("%s has no counterpart in the second checkpoint here"), who);
  g_autofree char *difference = mhar_display_number (100 * (b - a), 1, TRUE);
  if (!deviation)
    return g_strdup_printf (_("%s reads %.1f %% of %s in A and %.1f %% in B: a difference of %s points"), who, 100 * a, source,
                            100 * b, difference);
  g_autofree char *first = mhar_display_number (100 * a, 1, TRUE), *second = mhar_display_number (100 * b, 1, TRUE);
  return g_strdup_printf (_("%s reads %s %s points off the head mean in A and %s in B: a difference of %s points"), who, source,
                          first, second, difference);
}

static char *
nothing_selected (const MharDataset *set)
{
  if (mhar_look_n_sites (set) == 0 && mhar_dataset_get (set, "coefficient") != NULL)
    return g_strdup (_("A hyper-connected model: how much each input takes of each output is fixed, and is under Maps"));
  if (mhar_look_n_sites (set) == 0)
    return g_strdup (
        _("A plain Transformer: nothing reads over depth, so only the collinearity of its outputs is shown"));
  return g_strdup (_("Point at a cell or a site to read its value here"));
}

char *
mhar_sentence (const MharDataset *set, const MharDataset *other, gboolean deviation, const MharPoint *at)
{
  if (set == NULL)
    return g_strdup ("");
  if (at->page == MHAR_PAGE_COLLINEARITY)
    return collinearity (set, at);
  if (at->site < 0)
    return nothing_selected (set);
  if (at->page == MHAR_PAGE_DISAGREEMENT)
    return disagreement (set, at);
  if (at->page == MHAR_PAGE_COMPARE)
    return comparison (set, other, deviation, at);
  if (at->page == MHAR_PAGE_SOURCES || at->source < 0)
    return at->page == MHAR_PAGE_SOURCES ? entropy (set, at) : disagreement (set, at);
  return cell (set, at);
}
