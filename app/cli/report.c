/* SPDX-License-Identifier: MIT */
/* The report as a whole, and its summary: the few sentences that somebody reads who reads nothing else. */
#include "app/cli/report.h"

#include "app/cli/report-private.h"
#include "app/cli/table.h"
#include "probes/results.h"

#include <math.h>
#include <string.h>

#define NOT_FINITE                                                                                                     \
  MHAR_STRONG "not a finite number" MHAR_PLAIN                                                                         \
              ": its weights hold NaN or infinite values, or overflow, and what is n/a below is so too"

/* "6 layers of width 256, 13 reads of up to 13 sources, 4 routing heads". */
static char *
shape_of (const MharDataset *set)
{
  const MharField *counts = mhar_dataset_get (set, "n_sources");
  gint64 sites = mhar_dataset_integer (set, "sites", 0), heads = mhar_dataset_integer (set, "heads", 0), most = 0;
  g_autofree char *h = mhar_report_count (heads);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%" G_GINT64_FORMAT " layers of width %" G_GINT64_FORMAT,
                          mhar_dataset_integer (set, "layers", 0), mhar_dataset_integer (set, "width", 0));
  for (gsize s = 0; counts != NULL && s < counts->shape[0]; s++)
    most = MAX (most, (gint64)mhar_field_value (counts, s));
  if (sites > 0)
    g_string_append_printf (
        text, ", %" G_GINT64_FORMAT " reads over depth of up to %" G_GINT64_FORMAT " sources, %s routing head%s", sites,
        most, h, heads == 1 ? "" : "s");
  else
    g_string_append (text, ", no reads over depth");
  return g_string_free (text, FALSE);
}

static void
say_what (MharReport *r, const MharDataset *set, const char *name)
{
  g_autofree char *mode = mhar_report_string (set, "mode"), *shape = shape_of (set),
                  *loss = mhar_report_scalar (set, "loss");
  g_autofree char *text = mhar_report_string (r->provenance, "text");
  gint64 tokens = mhar_dataset_integer (set, "tokens", 0), windows = mhar_dataset_integer (set, "windows", 0);
  gboolean finite = isfinite (mhar_dataset_real (set, "loss", NAN));

  mhar_document_paragraph (r->document,
                           MHAR_STRONG "%s" MHAR_PLAIN " (mode " MHAR_CODE "%s" MHAR_PLAIN
                                       "; %s) was run over %" G_GINT64_FORMAT
                                       " tokens of the text (%s) in %" G_GINT64_FORMAT " window%s. Its loss is %s%s.",
                           name, mode, shape, tokens, text, windows, windows == 1 ? "" : "s",
                           finite ? loss : NOT_FINITE, finite ? " nat a token" : "");
}

/* Slice or head disagreement against its null. */
static void
say_disagreement (MharReport *r, const MharDataset *set, const char *name, const char *prefix, const char *subject)
{
  g_autofree char *trained_name = g_strconcat (prefix, "_trained", NULL),
                  *p_name = g_strconcat (prefix, "_p_value", NULL);
  g_autofree char *trained = mhar_report_scalar (set, trained_name), *null = mhar_report_null (set, prefix);
  g_autofree char *verdict = mhar_report_verdict (set, p_name);
  guint all, above = mhar_verdict_sites_above (set, p_name, &all);

  if (isnan (mhar_dataset_real (set, trained_name, NAN)))
    return;
  if (verdict == NULL) {
    mhar_document_paragraph (r->document,
                             "%s disagree by %s nat on average over its reads. No null was drawn, so nothing can be "
                             "said about what that is worth.",
                             subject, trained);
    return;
  }
  mhar_document_paragraph (
      r->document,
      "%s disagree by %s nat on average over its reads, against %s nat for %s. The disagreement of " MHAR_CODE
      "%s" MHAR_PLAIN " %s; taken one by one, %u of %u reads lie above their null at the level of 0.05.",
      subject, trained, null, mhar_report_null_words (set), name, verdict, above, all);
}

static void
say_deviation (MharReport *r, const MharDataset *set, const char *name)
{
  g_autofree char *largest = mhar_report_scalar (set, "max_deviation"),
                  *null = mhar_report_scalar (set, "null_max_deviation");
  g_autofree char *verdict = mhar_report_verdict (set, "max_deviation_p_value");
  double replication = mhar_dataset_real (set, "replication_r", NAN);
  g_autofree char *again = mhar_report_scalar (set, "replication_r");
  GString *text = g_string_new (NULL);

  if (isnan (mhar_dataset_real (set, "max_deviation", NAN))) {
    g_string_free (text, TRUE);
    return;
  }
  g_string_append_printf (text, "Its heads deviate from their mean by %s at most", largest);
  if (verdict != NULL)
    g_string_append_printf (
        text, "; the heads of %s reach %s on average over draws. The deviation of " MHAR_CODE "%s" MHAR_PLAIN " %s.",
        mhar_report_null_words (set), null, name, verdict);
  else
    g_string_append (text, ". No null was drawn.");
  if (!isnan (replication))
    g_string_append_printf (
        text,
        " The map of deviations itself replicates between even and odd windows (r = %s): it is a property "
        "of the checkpoint and not of the sample of text. That does not show that it was learned; a random query is "
        "the same on every window too.",
        again);
  mhar_document_paragraph (r->document, "%s", text->str);
  g_string_free (text, TRUE);
}

/* The kind of null that all controls above theirs have in common; "" where there is none, or others have it too. */
static const char *
kind_above (const MharDataset *set)
{
  static const char *const kinds[][2] = { { "random", ", against random queries" },
                                          { "shuffled", ", against shuffled queries" },
                                          { "swapped", ", against the queries of other reads" } };
  const MharDataset *controls = mhar_dataset_find_child (set, "controls");
  const MharField *kind = mhar_dataset_get (controls, "null_kind");

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    gboolean alone = TRUE;
    for (gsize i = 0; i < kind->shape[0]; i++) {
      gboolean above = mhar_report_control_verdict (set, i) == MHAR_VERDICT_ABOVE;
      alone = alone && above == (g_strcmp0 (kind->data.str[i], kinds[k][0]) == 0);
    }
    if (alone)
      return kinds[k][1];
  }
  return "";
}

static void
say_controls (MharReport *r, const MharDataset *set)
{
  guint counts[MHAR_VERDICT_TOO_FEW + 1], n = mhar_report_count_controls (set, counts);

  if (n < 2)
    return;
  if (counts[MHAR_VERDICT_ABOVE] == n)
    mhar_document_paragraph (
        r->document,
        "All %u controls (Section 5) say the same: the disagreement lies above each null, however the query is cut.",
        n);
  else if (counts[MHAR_VERDICT_ABOVE] == 0 && counts[MHAR_VERDICT_TOO_FEW] == 0)
    mhar_document_paragraph (r->document, "None of the %u controls (Section 5) puts the disagreement above its null%s.",
                             n, counts[MHAR_VERDICT_BELOW] > 0 ? "; some put it below" : "");
  else
    mhar_document_paragraph (
        r->document,
        "The %u controls (Section 5) do not agree: the disagreement lies above its null in %u%s, and not in %u.", n,
        counts[MHAR_VERDICT_ABOVE], kind_above (set), n - counts[MHAR_VERDICT_ABOVE]);
}

/* What heads are worth, which their deviation does not say. */
static void
say_consensus (MharReport *r, const MharDataset *set)
{
  const MharDataset *list = mhar_dataset_find_child (set, "interventions");
  gsize at = 0;

  if (!mhar_report_find_intervention (set, "consensus=*", &at) || isnan (mhar_report_value (list, "delta_loss", at)))
    return;
  g_autofree char *change = mhar_report_change (list, at);
  double low = mhar_report_value (list, "delta_loss_interval", 2 * at);
  gboolean alike = mhar_verdict_of (set, "max_deviation_p_value") == MHAR_VERDICT_ALIKE;
  mhar_document_paragraph (
      r->document, "Letting all heads read with the mean of their weights changes the loss by %s nat a token.%s",
      change,
      low > 0 && alike ? " So the model does use the differences between its heads; what cannot be "
                         "told from chance is their size, not their use."
                       : "");
}

static void
say_map (MharReport *r, const MharDataset *set)
{
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");
  gsize at = 0;

  if (map == NULL || !mhar_report_largest_cell (map, &at))
    return;
  gsize columns = mhar_dataset_get (map, "delta_loss")->shape[1];
  g_autofree char *site = mhar_report_label (map, "site_label", at / columns),
                  *source = mhar_report_label (map, "source_label", at);
  g_autofree char *change = mhar_report_change (map, at),
                  *mass = mhar_report_number (mhar_report_value (map, "mass", at));
  g_autofree char *within = mhar_report_number (mhar_dataset_real (map, "rank_correlation_within", NAN));
  mhar_document_paragraph (
      r->document,
      "Of all sources left out one at a time, the one that costs most is " MHAR_CODE "%s" MHAR_PLAIN " at " MHAR_CODE
      "%s" MHAR_PLAIN ": %s nat a token, at a mean weight of %s. Within a read, what a source is worth and the weight "
      "it is given have a mean rank correlation of %s.",
      source, site, change, mass, within);
}

/* The verdicts as a table: what was measured, its null, and what follows. */
static void
verdict_row (MharReport *r, guint c, const char *what, const char *trained_name, const char *null_prefix,
             const char *null_name, const char *excess_name, const char *p_name)
{
  const MharDataset *set = mhar_report_set (r, c);
  double p = mhar_dataset_real (set, p_name, NAN);

  if (!mhar_dataset_has_real (set, trained_name))
    return;
  gboolean finite = isfinite (mhar_dataset_real (set, trained_name, NAN));
  g_autofree char *trained
      = finite ? mhar_report_number (mhar_dataset_real (set, trained_name, NAN)) : g_strdup ("n/a");
  g_autofree char *null = null_prefix != NULL ? mhar_report_null (set, null_prefix)
                                              : mhar_report_number (mhar_dataset_real (set, null_name, NAN));
  g_autofree char *excess = excess_name != NULL ? mhar_report_scalar (set, excess_name) : g_strdup ("–");
  g_autofree char *p_text = mhar_report_number (p);
  const char *cells[] = { r->names[c], what, trained, null, excess, p_text, mhar_report_verdict_cell (mhar_verdict_of (set, p_name)),
                          NULL };
  mhar_document_row (r->document, cells);
}

static void
verdict_table (MharReport *r)
{
  static const char *const columns[] = { "checkpoint", "quantity", "trained", "null", "excess", "p", "verdict", NULL };

  g_autofree char *brackets = mhar_report_brackets (r, 0, r->sets->len);

  mhar_document_table (r->document, columns, "llrrrrl",
                       "Verdicts. %s Disagreements are in nat. A quantity is above its null where p ≤ 0.05.", brackets);
  for (guint c = 0; c < r->sets->len; c++) {
    if (mhar_dataset_integer (mhar_report_set (r, c), "draws", 0) == 0)
      continue;
    verdict_row (r, c, "slice disagreement", "slice_kl_trained", "slice_kl", NULL, "slice_kl_excess",
                 "slice_kl_p_value");
    verdict_row (r, c, "the same, matched sources", "matched_kl_trained", "matched_kl", NULL, "matched_kl_excess",
                 "matched_kl_p_value");
    verdict_row (r, c, "head disagreement", "head_js_trained", "head_js", NULL, "head_js_excess", "head_js_p_value");
    verdict_row (r, c, "largest deviation", "max_deviation", NULL, "null_max_deviation", NULL, "max_deviation_p_value");
  }
}

void
mhar_report_summary (MharReport *r)
{
  gboolean any = FALSE;

  mhar_document_heading (r->document, 1, "Summary");
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c);

    say_what (r, set, r->names[c]);
    say_disagreement (r, set, r->names[c], "slice_kl", "The slices of its queries");
    say_deviation (r, set, r->names[c]);
    say_disagreement (r, set, r->names[c], "head_js", "Its heads");
    say_controls (r, set);
    say_consensus (r, set);
    say_map (r, set);
    gboolean measured = !isnan (mhar_dataset_real (set, "slice_kl_trained", NAN))
                        || !isnan (mhar_dataset_real (set, "head_js_trained", NAN))
                        || !isnan (mhar_dataset_real (set, "max_deviation", NAN));
    any = any || (measured && mhar_dataset_integer (set, "draws", 0) > 0);
  }
  if (any)
    verdict_table (r);
}

static char *
title_of (const MharReport *r)
{
  g_autofree char *list = g_strjoinv (", ", r->names);

  return g_strdup_printf ("Routing over depth: %s", list);
}

MharDocument *
mhar_report_document (const MharDataset *root, const char *file)
{
  g_autoptr (GPtrArray) sets = mhar_results_checkpoints (root);
  g_auto (GStrv) names = mhar_table_names (sets);
  MharReport r = {
    .root = root, .provenance = mhar_dataset_find_child (root, "provenance"), .file = file, .sets = sets, .names = names
  };
  g_autofree char *title = title_of (&r), *version = mhar_report_string (r.provenance, "version"),
                  *time = mhar_report_string (r.provenance, "time");
  g_autofree char *subtitle
      = g_strdup_printf ("Everything that %s measured of %s, with its nulls, controls and definitions. Measured %s.",
                         version, sets->len == 1 ? "this checkpoint" : "these checkpoints", time);

  r.document = mhar_document_new (title, subtitle, mhar_dataset_string (r.provenance, "time"));
  mhar_report_summary (&r);
  mhar_report_setup (&r);
  mhar_report_results (&r);
  mhar_report_figures (&r);
  mhar_report_controls (&r);
  mhar_report_interventions (&r);
  mhar_report_caveats (&r);
  mhar_report_definitions (&r);
  mhar_report_sites (&r);
  mhar_report_reproduce (&r);
  return r.document;
}
