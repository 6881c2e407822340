/* SPDX-License-Identifier: MIT */
/* Whether the disagreement hangs on how the query was cut, on what it was held against, on the number of sources, or on
 * the width. */
#include "app/cli/jobs.h"
#include "app/cli/report-private.h"
#include "probes/results.h"

#include <math.h>
#include <string.h>

static const char *
kind_words (const char *kind)
{
  if (strcmp (kind, "swapped") == 0)
    return "other reads’";
  return strcmp (kind, "shuffled") == 0 ? "shuffled" : "random";
}

static gboolean
has_null (const MharDataset *set)
{
  return mhar_dataset_integer (set, "draws", 0) > 0;
}

static char *
null_of (const MharDataset *controls, gsize i)
{
  return mhar_report_spread (mhar_report_value (controls, "null", i), mhar_report_value (controls, "null_sd", i));
}

static char *
excess_of (const MharDataset *controls, gsize i)
{
  return mhar_report_interval (mhar_report_value (controls, "excess", i), mhar_report_value (controls, "excess_low", i),
                               mhar_report_value (controls, "excess_high", i));
}

static void
control_row (MharReport *r, const MharDataset *set, const MharDataset *controls, gsize i)
{
  double p = mhar_report_value (controls, "p_value", i);
  int slices = (int)mhar_report_value (controls, "slices", i);
  g_autofree char *kind = mhar_report_label (controls, "null_kind", i),
                  *norm = mhar_report_label (controls, "null_norm", i);
  g_autofree char *slicing = mhar_report_label (controls, "slicing", i);
  g_autofree char *cut = slices > 0 ? g_strdup_printf ("%d", slices) : g_strdup ("heads");
  g_autofree char *trained = mhar_report_number (mhar_report_value (controls, "trained", i));
  g_autofree char *null = null_of (controls, i), *excess = excess_of (controls, i), *p_text = mhar_report_number (p);
  const char *cells[] = {
    cut,
    slices > 0 ? slicing : "–",
    kind_words (kind),
    norm,
    trained,
    null,
    excess,
    p_text,
    mhar_report_verdict_cell (mhar_report_control_verdict (set, i)),
    NULL,
  };
  mhar_document_row (r->document, cells);
}

/* One table a checkpoint: contiguous and interleaved follow each other for each S, so that they stand side by side. */
static void
controls_table (MharReport *r, const MharDataset *set, const char *name)
{
  static const char *const columns[]
      = { "S", "slicing", "null", "norm", "trained", "null ± sd", "excess", "p", "verdict", NULL };
  const MharDataset *controls = mhar_dataset_find_child (set, "controls");
  const MharField *first = controls != NULL ? mhar_dataset_get (controls, "trained") : NULL;

  if (first == NULL || !has_null (set))
    return;
  mhar_document_table (r->document, columns, "rlllrrrrl",
                       "Controls of " MHAR_CODE "%s" MHAR_PLAIN
                       ", over one forward pass (nat). S: number of slices; norm: whose norm a null query "
                       "keeps, that of the whole query or of each slice. The first line is the main result.",
                       name);
  for (gsize i = 0; i < first->shape[0]; i++)
    control_row (r, set, controls, i);
}

static gsize
count_sites (const MharDataset *set, const char *measure)
{
  const MharField *site = mhar_dataset_get (set, "site");
  gsize n = 0;

  for (gsize i = 0; site != NULL && i < site->shape[0]; i++)
    n += mhar_results_site_counts (set, measure, i);
  return n;
}

static void
matched_row (MharReport *r, const MharDataset *set, const char *name, const char *prefix, const char *sources)
{
  g_autofree char *excess_name = g_strconcat (prefix, "_excess", NULL),
                  *p_name = g_strconcat (prefix, "_p_value", NULL);
  double p = mhar_report_real (set, prefix, "_p_value");
  g_autofree char *reads = g_strdup_printf ("%" G_GSIZE_FORMAT, count_sites (set, prefix));
  g_autofree char *mean = mhar_report_number (mhar_report_real (set, prefix, "_trained"));
  g_autofree char *median = mhar_report_number (mhar_report_real (set, prefix, "_median"));
  g_autofree char *null = mhar_report_null (set, prefix), *excess = mhar_report_scalar (set, excess_name),
                  *p_text = mhar_report_number (p);
  const char *cells[] = { name,   sources, reads,
                          mean,   median,  null,
                          excess, p_text,  mhar_report_verdict_cell (mhar_verdict_of (set, p_name)),
                          NULL };
  mhar_document_row (r->document, cells);
}

static void
matched_table (MharReport *r)
{
  static const char *const columns[]
      = { "checkpoint", "sources", "reads", "mean", "median", "null ± sd", "excess", "p", "verdict", NULL };
  gboolean any = FALSE;

  for (guint c = 0; c < r->sets->len; c++)
    any = any || !isnan (mhar_dataset_real (mhar_report_set (r, c), "matched_kl_trained", NAN));
  if (!any)
    return;
  mhar_document_heading (r->document, 2, "Matched source count");
  mhar_document_paragraph (
      r->document,
      "Reads with more sources have more to disagree about, and depth changes how many there are. Here only the reads "
      "with at least M sources take part, each with M of its sources, evenly spaced from the oldest to the newest.");
  mhar_document_table (r->document, columns, "llrrrrrrl",
                       "Slice disagreement over all sources and over a matched number of them (nat): mean and median "
                       "over reads, null and excess of the mean.");
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c);
    g_autofree char *m = g_strdup_printf ("M = %" G_GINT64_FORMAT, mhar_dataset_integer (set, "match_sources", 0));

    if (isnan (mhar_dataset_real (set, "matched_kl_trained", NAN)))
      continue;
    matched_row (r, set, r->names[c], "slice_kl", "all");
    matched_row (r, set, r->names[c], "matched_kl", m);
  }
}

/* What makes two controls comparable across widths: g_free. NULL of heads, which have no slices. */
static char *
width_label (const MharDataset *controls, gsize i)
{
  g_autofree char *slicing = mhar_report_label (controls, "slicing", i);
  g_autofree char *kind = mhar_report_label (controls, "null_kind", i),
                  *norm = mhar_report_label (controls, "null_norm", i);

  if (!(mhar_report_value (controls, "slices", i) > 0))
    return NULL;
  return g_strdup_printf ("%d coordinates a slice, %s; null: %s, norm of the %s",
                          (int)mhar_report_value (controls, "slice_width", i), slicing, kind_words (kind), norm);
}

static gsize
n_controls (const MharDataset *controls)
{
  const MharField *first = controls != NULL ? mhar_dataset_get (controls, "trained") : NULL;

  return first != NULL ? first->shape[0] : 0;
}

/* The control of a checkpoint with this label; its number of controls where none has it. */
static gsize
find_width (const MharDataset *controls, const char *label)
{
  for (gsize i = 0; i < n_controls (controls); i++) {
    g_autofree char *own = width_label (controls, i);
    if (g_strcmp0 (own, label) == 0)
      return i;
  }
  return n_controls (controls);
}

static gboolean
differ_in_width (const MharReport *r)
{
  gboolean differ = FALSE;

  for (guint c = 1; c < r->sets->len; c++)
    differ = differ
             || mhar_dataset_integer (mhar_report_set (r, c), "width", 0)
                    != mhar_dataset_integer (mhar_report_set (r, 0), "width", 0);
  return differ;
}

/* Whether checkpoints of different width have it. */
static gboolean
compares_widths (const MharReport *r, const char *label)
{
  gint64 least = G_MAXINT64, most = 0;

  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c), *controls = mhar_dataset_find_child (set, "controls");
    gint64 width = mhar_dataset_integer (set, "width", 0);
    if (find_width (controls, label) == n_controls (controls))
      continue;
    least = MIN (least, width);
    most = MAX (most, width);
  }
  return most > least;
}

static void
width_rows (MharReport *r, const char *label)
{
  const char *heading[] = { label, NULL };

  mhar_document_row (r->document, heading);
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c), *controls = mhar_dataset_find_child (set, "controls");
    gsize i = find_width (controls, label);
    if (i == n_controls (controls))
      continue;
    double p = mhar_report_value (controls, "p_value", i);
    g_autofree char *width = g_strdup_printf ("%" G_GINT64_FORMAT, mhar_dataset_integer (set, "width", 0));
    g_autofree char *slices = g_strdup_printf ("%d", (int)mhar_report_value (controls, "slices", i));
    g_autofree char *trained = mhar_report_number (mhar_report_value (controls, "trained", i));
    g_autofree char *null = null_of (controls, i), *excess = excess_of (controls, i), *p_text = mhar_report_number (p);
    const char *cells[] = {
      r->names[c], width,  slices, trained,
      null,        excess, p_text, mhar_report_verdict_cell (mhar_report_control_verdict (set, i)),
      NULL,
    };
    mhar_document_row (r->document, cells);
  }
}

/* Labels (char *) that checkpoints of different width have in common, in order. */
static GPtrArray *
width_labels (const MharReport *r)
{
  GPtrArray *labels = g_ptr_array_new_with_free_func (g_free);

  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *controls = mhar_dataset_find_child (mhar_report_set (r, c), "controls");
    for (gsize i = 0; i < n_controls (controls); i++) {
      g_autofree char *label = width_label (controls, i);
      if (label != NULL && !g_ptr_array_find_with_equal_func (labels, label, g_str_equal, NULL)
          && compares_widths (r, label))
        g_ptr_array_add (labels, g_steal_pointer (&label));
    }
  }
  return labels;
}

static void
width_table (MharReport *r)
{
  static const char *const columns[]
      = { "checkpoint", "width d", "S", "trained", "null ± sd", "excess", "p", "verdict", NULL };
  g_autoptr (GPtrArray) labels = width_labels (r);

  if (!differ_in_width (r))
    return;
  mhar_document_heading (r->document, 2, "Width");
  if (labels->len == 0) {
    mhar_document_paragraph (r->document,
                             "A wider query cut into as many slices has wider ones. Models of different width are "
                             "compared by slices of one width; here no two checkpoints of different width have slices "
                             "of the same width, so there is nothing to compare.");
    return;
  }
  mhar_document_table (r->document, columns, "lrrrrrrl",
                       "Width control: slices of one width across checkpoints of different width (nat).");
  for (guint l = 0; l < labels->len; l++)
    width_rows (r, g_ptr_array_index (labels, l));
}

static const char about_nulls[] = "A disagreement is worth what it exceeds: what queries give that have learned "
                                  "nothing, on the same sources. Random queries keep the norm of the "
                                  "trained one (norm “query”) or of each of its slices (“slice”), so that "
                                  "neither its length nor an uneven spread of it is mistaken for learning. "
                                  "Shuffled queries keep the trained coordinates too, in another order. Other "
                                  "reads’ queries are trained, but for another place: what exceeds them "
                                  "belongs to the read itself.";

void
mhar_report_controls (MharReport *r)
{
  gboolean any = FALSE;

  mhar_document_heading (r->document, 1, "Controls");
  for (guint c = 0; c < r->sets->len; c++)
    any = any || has_null (mhar_report_set (r, c));
  mhar_document_paragraph (r->document, "%s",
                           any ? about_nulls
                               : "No null was drawn, so there is nothing that a disagreement could exceed.");
  for (guint c = 0; c < r->sets->len; c++)
    controls_table (r, mhar_report_set (r, c), r->names[c]);
  matched_table (r);
  if (any)
    width_table (r);
}
