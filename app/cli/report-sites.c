/* SPDX-License-Identifier: MIT */
/* Every read of every checkpoint, a line each. */
#include "app/cli/report-private.h"
#include "probes/results.h"

#include <math.h>
#include <string.h>

/* The mean over heads of exp of the entropy. */
static double
effective (const MharDataset *set, gsize s)
{
  const MharField *entropy = mhar_dataset_get (set, "entropy");
  gsize heads = entropy != NULL ? entropy->shape[1] : 0, n = 0;
  double sum = 0;

  for (gsize h = 0; h < heads; h++) {
    double here = exp (mhar_field_value (entropy, s * heads + h));
    sum += isnan (here) ? 0 : here;
    n += !isnan (here);
  }
  return n > 0 ? sum / (double)n : NAN;
}

/* "embed 0.4312": the source that the heads give most on average. */
static char *
heaviest (const MharDataset *set, gsize s)
{
  const MharField *weight = mhar_dataset_get (set, "weight"), *label = mhar_dataset_get (set, "source_label");
  gsize heads = weight != NULL ? weight->shape[1] : 0, sources = weight != NULL ? weight->shape[2] : 0, best = 0;
  double most = -1;

  for (gsize n = 0; n < sources; n++) {
    double sum = 0, counted = 0;
    for (gsize h = 0; h < heads; h++) {
      double here = mhar_field_value (weight, (s * heads + h) * sources + n);
      sum += isnan (here) ? 0 : here;
      counted += !isnan (here);
    }
    if (counted > 0 && sum / counted > most) {
      most = sum / counted;
      best = n;
    }
  }
  if (most < 0 || label == NULL)
    return g_strdup ("–");
  g_autofree char *name = mhar_report_label (set, "source_label", s * label->shape[1] + best),
                  *value = mhar_report_number (most);
  return g_strdup_printf ("%s %s", name, value);
}

/* The least p of the site's heads. */
static double
corrected (const MharDataset *set, gsize s)
{
  const MharField *p = mhar_dataset_get (set, "deviation_p_value");
  double least = NAN;

  for (gsize h = 0; p != NULL && h < p->shape[1]; h++)
    least = fmin (least, mhar_field_value (p, s * p->shape[1] + h));
  return least;
}

static char *
with_interval (const MharDataset *set, const char *name, gsize s)
{
  g_autofree char *low = g_strconcat (name, "_low", NULL), *high = g_strconcat (name, "_high", NULL);

  return mhar_report_interval (mhar_report_value (set, name, s), mhar_report_value (set, low, s),
                               mhar_report_value (set, high, s));
}

/* Disagreement by read: of slices, or of heads. */
static void
disagreement_table (MharReport *r, const MharDataset *set, const char *name, const char *prefix, const char *what)
{
  static const char *const columns[]
      = { "read", "sources", "trained", "null", "p", "effective sources", "largest mean weight", NULL };
  g_autofree char *site = g_strconcat (prefix, "_site", NULL), *null = g_strconcat (prefix, "_null_site", NULL),
                  *p = g_strconcat (prefix, "_p_value", NULL);
  const MharField *field = mhar_dataset_get (set, site);

  if (field == NULL)
    return;
  mhar_document_table (r->document, columns, "lrrrrrl",
                       "%s of " MHAR_CODE "%s" MHAR_PLAIN
                       " by read (nat), with the number of sources that its weights amount to, exp of the entropy, "
                       "and the source that is given most%s.",
                       what, name, mhar_dataset_integer (set, "heads", 1) > 1 ? "; both are means over heads" : "");
  for (gsize s = 0; s < field->shape[0]; s++) {
    if (!mhar_results_site_counts (set, prefix, s))
      continue;
    g_autofree char *label = mhar_report_label (set, "site_label", s),
                    *n = g_strdup_printf ("%d", (int)mhar_report_value (set, "n_sources", s));
    g_autofree char *trained = with_interval (set, site, s),
                    *null_text = mhar_report_number (mhar_report_value (set, null, s));
    g_autofree char *p_text = mhar_report_number (mhar_report_value (set, p, s));
    g_autofree char *number = mhar_report_number (effective (set, s)), *most = heaviest (set, s);
    const char *cells[] = { label, n, trained, null_text, p_text, number, most, NULL };
    mhar_document_row (r->document, cells);
  }
}

static double
row_mean (const MharDataset *set, const char *name, gsize s)
{
  const MharField *field = mhar_dataset_get (set, name);
  gsize n = field != NULL && field->n_dims > 1 ? field->shape[1] : 0;
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += mhar_field_value (field, s * n + i);
  return n > 0 ? sum / (double)n : NAN;
}

static void
deviation_table (MharReport *r, const MharDataset *set, const char *name)
{
  static const char *const columns[] = { "read", "sources", "largest deviation", "its null", "p", "p corrected", NULL };
  const MharField *field = mhar_dataset_get (set, "max_deviation_site");

  if (field == NULL)
    return;
  mhar_document_table (r->document, columns, "lrrrrr",
                       "Deviation from the mean over heads of " MHAR_CODE "%s" MHAR_PLAIN
                       " by read: the largest of any head and source. p: against the "
                       "same read’s draws; corrected: against each draw’s largest at any read and head.",
                       name);
  for (gsize s = 0; s < field->shape[0]; s++) {
    if (!mhar_results_site_counts (set, "max_deviation", s))
      continue;
    g_autofree char *label = mhar_report_label (set, "site_label", s),
                    *n = g_strdup_printf ("%d", (int)mhar_report_value (set, "n_sources", s));
    g_autofree char *trained = with_interval (set, "max_deviation_site", s),
                    *null = mhar_report_number (row_mean (set, "max_deviation_null", s));
    g_autofree char *p = mhar_report_number (mhar_report_value (set, "max_deviation_p_value", s)),
                    *all = mhar_report_number (corrected (set, s));
    const char *cells[] = { label, n, trained, null, p, all, NULL };
    mhar_document_row (r->document, cells);
  }
}

void
mhar_report_sites (MharReport *r)
{
  mhar_document_heading (r->document, 1, "Read by read");
  mhar_document_paragraph (r->document, "Reads with one source have nothing to choose and are left out. A p here is a "
                                        "single read’s; where there are many reads, "
                                        "one in twenty is at 0.05 or below by chance.");
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c);

    disagreement_table (r, set, r->names[c], "slice_kl", "Slice disagreement");
    disagreement_table (r, set, r->names[c], "matched_kl", "Slice disagreement over a matched number of sources");
    deviation_table (r, set, r->names[c]);
    disagreement_table (r, set, r->names[c], "head_js", "Head disagreement");
  }
  mhar_report_reads (r);
}
