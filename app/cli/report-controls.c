/* SPDX-License-Identifier: MIT */
/* Whether the disagreement hangs on how the query was cut, on what it was held against, on the number of sources, or on
 * the width. */
#include "app/cli/jobs.h"
#include "app/cli/report-private.h"
#include "app/cli/table-rows.h"

#include <math.h>
#include <string.h>

static const char *
kind_words (const char *kind)
{
  if (strcmp (kind, "swapped") == 0)
    return "other reads’";
  return strcmp (kind, "shuffled") == 0 ? "shuffled" : "random";
}

static void
control_row (MharReport *r, const MharDataset *set, const MharDataset *controls, gsize i)
{
  double p = mhar_report_value (controls, "p_value", i), null = mhar_report_value (controls, "null", i);
  double sd = mhar_report_value (controls, "null_sd", i);
  int slices = (int)mhar_report_value (controls, "slices", i), decimals = mhar_table_decimals (null);
  g_autofree char *kind = mhar_report_label (controls, "null_kind", i),
                  *norm = mhar_report_label (controls, "null_norm", i);
  g_autofree char *slicing = mhar_report_label (controls, "slicing", i);
  g_autofree char *cut = slices > 0 ? g_strdup_printf ("%d", slices) : g_strdup ("heads");
  g_autofree char *trained = mhar_report_number (mhar_report_value (controls, "trained", i));
  g_autofree char *excess
      = mhar_report_interval (mhar_report_value (controls, "excess", i), mhar_report_value (controls, "excess_low", i),
                              mhar_report_value (controls, "excess_high", i));
  g_autofree char *mean = mhar_table_fixed (null, decimals), *spread = mhar_table_fixed (sd, decimals);
  g_autofree char *both = isnan (null) ? g_strdup ("–")
                          : isnan (sd) ? g_strdup (mean)
                                       : g_strdup_printf ("%s ± %s", mean, spread);
  g_autofree char *p_text = mhar_report_number (p);
  const char *cells[] = { cut,
                          slices > 0 ? slicing : "–",
                          kind_words (kind),
                          norm,
                          trained,
                          both,
                          excess,
                          p_text,
                          mhar_report_verdict_cell (p, mhar_dataset_integer (set, "draws", 0)),
                          NULL };
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

  if (first == NULL)
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
count_sites (const MharDataset *set, const char *name)
{
  const MharField *field = mhar_dataset_get (set, name);
  gsize n = 0;

  for (gsize i = 0; field != NULL && i < mhar_field_length (field); i++)
    n += !isnan (mhar_field_value (field, i)) && mhar_report_value (set, "n_sources", i) > 1;
  return n;
}

static void
matched_row (MharReport *r, const MharDataset *set, const char *name, const char *prefix, const char *sources)
{
  g_autofree char *excess_name = g_strconcat (prefix, "_excess", NULL),
                  *site_name = g_strconcat (prefix, "_site", NULL);
  double p = mhar_report_real (set, prefix, "_p_value");
  g_autofree char *reads = g_strdup_printf ("%" G_GSIZE_FORMAT, count_sites (set, site_name));
  g_autofree char *mean = mhar_report_number (mhar_report_real (set, prefix, "_trained"));
  g_autofree char *median = mhar_report_number (mhar_report_real (set, prefix, "_median"));
  g_autofree char *null = mhar_report_null (set, prefix), *excess = mhar_report_scalar (set, excess_name),
                  *p_text = mhar_report_number (p);
  const char *cells[] = { name,   sources, reads,
                          mean,   median,  null,
                          excess, p_text,  mhar_report_verdict_cell (p, mhar_dataset_integer (set, "draws", 0)),
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

/* Lines behind the second heading of what the table makes of controls: there where widths differ. */
static void
width_table (MharReport *r)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  guint n = r->sets->len, from = 0;

  mhar_table_add_controls (r->sets, lines);
  for (guint l = 1; l < lines->len && from == 0; l++)
    if (((char **)g_ptr_array_index (lines, l))[1] == NULL)
      from = l + 1;
  mhar_document_heading (r->document, 2, "Width");
  if (from == 0) {
    mhar_document_paragraph (
        r->document,
        "A wider query cut into as many slices has wider ones. Models of different width are compared by slices of one "
        "width; here no two checkpoints of different width have slices of the same width, so there is nothing to "
        "compare.");
    return;
  }
  g_autofree const char **columns = g_new0 (const char *, n + 2);
  g_autofree char *align = g_strnfill (n + 1, 'r');
  columns[0] = "slices";
  align[0] = 'l';
  for (guint c = 0; c < n; c++)
    columns[c + 1] = r->names[c];
  mhar_document_table (r->document, columns, align,
                       "Width control: slices of one width across checkpoints, trained − null = excess (nat).");
  for (guint l = from; l < lines->len; l++) {
    char **line = g_ptr_array_index (lines, l);
    for (guint c = 1; c <= n; c++)
      line[c] = mhar_report_minus (line[c]);
    mhar_document_row (r->document, (const char *const *)line);
  }
}

void
mhar_report_controls (MharReport *r)
{
  mhar_document_heading (r->document, 1, "Controls");
  mhar_document_paragraph (r->document, "A disagreement is worth what it exceeds: what queries give that have learned "
                                        "nothing, on the same sources. Random queries keep the norm of the "
                                        "trained one (norm “query”) or of each of its slices (“slice”), so that "
                                        "neither its length nor an uneven spread of it is mistaken for learning. "
                                        "Shuffled queries keep the trained coordinates too, in another order. Other "
                                        "reads’ queries are trained, but for another place: what exceeds them "
                                        "belongs to the read itself.");
  for (guint c = 0; c < r->sets->len; c++)
    controls_table (r, mhar_report_set (r, c), r->names[c]);
  matched_table (r);
  width_table (r);
}
