/* SPDX-License-Identifier: MIT */
/* Every figure that a checkpoint's results can be drawn as, with what it shows in words. */
#include "app/cli/report-private.h"

#include <math.h>

/* Up to so many sites a map shows all of them; else the first, as the paper's does. */
#define ALL_SITES 32
#define FIRST_SITES 20

static char *
rows_words (const MharDataset *set, const MharFigureOptions *options)
{
  gint64 sites = mhar_dataset_integer (set, "sites", 0);

  return options->first_sites > 0 && options->first_sites < sites
             ? g_strdup_printf ("the first %u of %" G_GINT64_FORMAT " reads", options->first_sites, sites)
             : g_strdup ("all reads");
}

static void
add_deviation (MharReport *r, const MharDataset *set, const char *name, const MharFigureOptions *options)
{
  g_autofree char *rows = rows_words (set, options);
  g_autofree char *verdict = mhar_report_verdict (set, "max_deviation_p_value");

  mhar_document_figure (r->document, set, MHAR_FIGURE_DEVIATION, options,
                        MHAR_CODE
                        "%s" MHAR_PLAIN
                        ": how far each head’s mean weight departs from the mean over heads, at %s (down) and each "
                        "of their sources (across). Blue is less than the others give, red is more.%s%s%s%s%s",
                        name, rows, verdict != NULL ? " The largest deviation " : "", verdict != NULL ? verdict : "",
                        verdict != NULL ? ". The bracket beside the colour bar marks what heads of " : "",
                        verdict != NULL ? mhar_report_null_words (set) : "", verdict != NULL ? " reach." : "");
}

static void
add_disagreement (MharReport *r, const MharDataset *set, const char *name, const MharFigureOptions *options)
{
  gboolean heads = !isnan (mhar_dataset_real (set, "head_js_trained", NAN));
  const char *p_name = heads ? "head_js_p_value" : "slice_kl_p_value";
  g_autofree char *verdict = mhar_report_verdict (set, p_name);

  gboolean null = mhar_dataset_integer (set, "draws", 0) > 0;
  mhar_document_figure (
      r->document, set, MHAR_FIGURE_KL, options, MHAR_CODE "%s" MHAR_PLAIN ": %s by read%s%s%s.%s%s%s%s", name,
      heads ? "head disagreement" : "slice disagreement", null ? ", and what " : "",
      null ? mhar_report_null_words (set) : "", null ? " give there: mean and two standard deviations over draws" : "",
      mhar_report_has_intervals (set) ? " Lines through marks are 95 % intervals." : "",
      verdict != NULL ? " The mean over reads " : "", verdict != NULL ? verdict : "", verdict != NULL ? "." : "");
}

static void
add_ablation (MharReport *r, const MharDataset *set, const char *name, const MharFigureOptions *options)
{
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");
  g_autofree char *all = mhar_report_number (map != NULL ? mhar_dataset_real (map, "rank_correlation", NAN) : NAN);
  g_autofree char *within
      = mhar_report_number (map != NULL ? mhar_dataset_real (map, "rank_correlation_within", NAN) : NAN);

  mhar_document_figure (
      r->document, set, MHAR_FIGURE_ABLATION, options,
      MHAR_CODE "%s" MHAR_PLAIN
                ": what leaving one source of one read out adds to the loss, beside the mean weight that "
                "the read gives it. Rank correlation of the two: %s over all cells, %s within a read on average.",
      name, all, within);
}

static void
add_rest (MharReport *r, const MharDataset *set, const char *name, const MharFigureOptions *options)
{
  g_autofree char *rows = rows_words (set, options), *mean = mhar_report_scalar (set, "collinearity_mean");
  g_autofree char *mean_abs = mhar_report_scalar (set, "collinearity_mean_abs");
  MharFigureOptions sources = *options;
  gboolean several = mhar_dataset_integer (set, "heads", 1) > 1;

  mhar_document_figure (r->document, set, MHAR_FIGURE_DEPTH_MAP, options,
                        MHAR_CODE
                        "%s" MHAR_PLAIN
                        ": depth map, the mean over tokens of the weight that %s (down) give each of their sources "
                        "(across)%s.",
                        name, rows, several ? ", head by head, and the mean over heads" : "");
  sources.site = (guint)MAX (mhar_dataset_integer (set, "sites", 1), 1) - 1;
  mhar_document_figure (
      r->document, set, MHAR_FIGURE_SOURCES, &sources,
      MHAR_CODE "%s" MHAR_PLAIN ": above, from how many sources each read takes, the exponential of the entropy of its "
                "weights; below, what each source gives the last read, the mean norm of its weighted contribution.%s",
      name, several ? " Dots and bars are means over heads, dashes single heads." : "");
  mhar_document_figure (r->document, set, MHAR_FIGURE_COLLINEARITY, options,
                        MHAR_CODE
                        "%s" MHAR_PLAIN
                        ": cosine between every two sublayer outputs, mean over tokens. Over all pairs the mean is %s, "
                        "of absolute values %s.",
                        name, mean, mean_abs);
  mhar_document_figure (r->document, set, MHAR_FIGURE_READS, options,
                        MHAR_CODE "%s" MHAR_PLAIN ": what a head gives a source, the first that was asked for.", name);
  mhar_document_figure (r->document, set, MHAR_FIGURE_COEFFICIENTS, options,
                        MHAR_CODE "%s" MHAR_PLAIN
                                  ": the exact, signed coefficient of every output in the input of every sublayer.",
                        name);
}

void
mhar_report_figures (MharReport *r)
{
  mhar_document_heading (r->document, 1, "Figures");
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c);
    MharFigureOptions options;

    mhar_figure_options_init (&options);
    options.first_sites = mhar_dataset_integer (set, "sites", 0) <= ALL_SITES ? 0 : FIRST_SITES;
    mhar_document_heading (r->document, 2, r->names[c]);
    add_deviation (r, set, r->names[c], &options);
    add_disagreement (r, set, r->names[c], &options);
    add_rest (r, set, r->names[c], &options);
    add_ablation (r, set, r->names[c], &options);
  }
}
