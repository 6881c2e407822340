/* SPDX-License-Identifier: MIT */
/* What the routing is worth in loss. */
#include "app/cli/jobs.h"
#include "app/cli/report-private.h"

#include <math.h>
#include <string.h>

#define WORST 12 /* lines of the table of the map */

/* "top-k=SITE:K". */
static char *
largest_words (const char *spec)
{
  const char *colon = strrchr (spec, ':');
  gint64 k = colon != NULL ? g_ascii_strtoll (colon + 1, NULL, 10) : 0;
  g_autofree char *count = mhar_report_count (k);

  return k == 1 ? g_strdup ("only the largest weight, which becomes 1")
                : g_strdup_printf ("only the %s largest weights, renormalised", count);
}

/* What the option that made `spec` does to every read that it names; g_free. */
static char *
words_of (const char *spec)
{
  static const struct {
    const char *start, *words;
  } known[] = { { "*:embedding", "without the embedding" },
                { "*:oldest", "without the oldest output" },
                { "*:middle", "without all outputs between the oldest and the newest" },
                { "*:newest", "without the newest output" },
                { "consensus=", "all heads read with their mean" },
                { "swap-heads=", "two heads read with each other’s weights" },
                { "permute-heads=", "every head reads with the next one’s weights" },
                { "null-query=", "a random query of the same norm" },
                { "uniform=", "all sources weigh the same" },
                { "regroup=", "the query read in other heads" } };

  if (g_str_has_prefix (spec, "top-k="))
    return largest_words (spec);
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_has_prefix (spec, known[i].start))
      return g_strdup (known[i].words);
  return g_strdup ("without that source");
}

static gboolean
has_intervals (const MharDataset *list)
{
  const MharField *interval = mhar_dataset_get (list, "delta_loss_interval");
  gboolean any = FALSE;

  for (gsize i = 0; interval != NULL && i < mhar_field_length (interval); i++)
    any = any || isfinite (mhar_field_value (interval, i));
  return any;
}

static void
asked_table (MharReport *r, const MharDataset *set, const char *name)
{
  static const char *const columns[] = { "intervention", "what changes", "reads", "loss", "change", NULL };
  const MharDataset *list = mhar_dataset_find_child (set, "interventions");
  const MharField *spec = list != NULL ? mhar_dataset_get (list, "spec") : NULL;

  if (spec == NULL)
    return;
  g_autofree char *extent = mhar_report_extent (list, set);
  mhar_document_table (r->document, columns, "llrrr",
                       "Interventions on " MHAR_CODE "%s" MHAR_PLAIN
                       ": loss under each and its change, in nat a token, over %s; %s.",
                       name, extent,
                       has_intervals (list) ? "brackets hold 95 % intervals of the paired difference"
                                            : "there are no intervals with fewer than three windows");
  for (gsize k = 0; k < spec->shape[0]; k++) {
    g_autofree char *text = mhar_report_label (list, "spec", k),
                    *code = g_strconcat (MHAR_CODE, text, MHAR_PLAIN, NULL), *words = words_of (text);
    g_autofree char *reads = g_strdup_printf ("%d", (int)mhar_report_value (list, "n_edited", k));
    g_autofree char *loss = mhar_report_number (mhar_report_value (list, "loss", k)),
                    *change = mhar_report_change (list, k);
    const char *cells[] = { code, words, reads, loss, change, NULL };
    mhar_document_row (r->document, cells);
  }
}

typedef struct {
  double size;
  gsize at;
} Cell;

static int
compare_cells (gconstpointer a, gconstpointer b)
{
  const Cell *x = a, *y = b;

  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return x->at < y->at ? -1 : 1;
}

static GArray *
sorted_cells (const MharDataset *map)
{
  const MharField *delta = mhar_dataset_get (map, "delta_loss");
  GArray *cells = g_array_new (FALSE, FALSE, sizeof (Cell));

  for (gsize i = 0; i < mhar_field_length (delta); i++) {
    Cell cell = { fabs (mhar_field_value (delta, i)), i };
    if (isfinite (cell.size))
      g_array_append_val (cells, cell);
  }
  g_array_sort (cells, compare_cells);
  return cells;
}

/* Reads where the source of the largest weight is the one whose absence costs most. */
static guint
count_alike (const MharDataset *map, guint *reads)
{
  const MharField *delta = mhar_dataset_get (map, "delta_loss"), *mass = mhar_dataset_get (map, "mass");
  gsize columns = delta->shape[1];
  guint alike = 0;

  *reads = 0;
  for (gsize s = 0; s < delta->shape[0]; s++) {
    gsize heaviest = 0, dearest = 0;
    for (gsize n = 1; n < columns && isfinite (mhar_field_value (delta, s * columns + n)); n++) {
      heaviest
          = mhar_field_value (mass, s * columns + n) > mhar_field_value (mass, s * columns + heaviest) ? n : heaviest;
      dearest
          = mhar_field_value (delta, s * columns + n) > mhar_field_value (delta, s * columns + dearest) ? n : dearest;
    }
    alike += heaviest == dearest;
    (*reads)++;
  }
  return alike;
}

static void
map_table (MharReport *r, const MharDataset *set, const char *name)
{
  static const char *const columns[] = { "read", "source left out", "its mean weight", "change of the loss", NULL };
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");

  if (map == NULL)
    return;
  g_autoptr (GArray) cells = sorted_cells (map);
  gsize width = mhar_dataset_get (map, "delta_loss")->shape[1];
  guint reads, alike = count_alike (map, &reads), n = MIN (cells->len, WORST);

  if (n == 0) {
    mhar_document_paragraph (
        r->document, "No source of " MHAR_CODE "%s" MHAR_PLAIN " left out leaves a loss that is a finite number.",
        name);
    return;
  }
  g_autofree char *all = mhar_report_number (mhar_dataset_real (map, "rank_correlation", NAN));
  g_autofree char *within = mhar_report_number (mhar_dataset_real (map, "rank_correlation_within", NAN));
  g_autofree char *extent = mhar_report_extent (map, set);

  mhar_document_table (r->document, columns, "llrr",
                       "The %u of %u sources of " MHAR_CODE "%s" MHAR_PLAIN
                       " that matter most, each left out alone (nat a token), over %s.",
                       n, cells->len, name, extent);
  for (guint i = 0; i < n; i++) {
    gsize at = g_array_index (cells, Cell, i).at;
    g_autofree char *site = mhar_report_label (map, "site_label", at / width),
                    *source = mhar_report_label (map, "source_label", at);
    g_autofree char *mass = mhar_report_number (mhar_report_value (map, "mass", at)),
                    *change = mhar_report_change (map, at);
    const char *line[] = { site, source, mass, change, NULL };
    mhar_document_row (r->document, line);
  }
  mhar_document_paragraph (
      r->document,
      MHAR_STRONG
      "Mass is not importance." MHAR_PLAIN " In " MHAR_CODE "%s" MHAR_PLAIN
      " the change of the loss and the mean weight have a rank correlation of %s over all cells, which also tells "
      "reads with few sources from reads with many, and of %s within a read on average. At %u of %u reads the "
      "source with the largest weight is not the one whose absence costs most.",
      name, all, within, reads - alike, reads);
}

void
mhar_report_interventions (MharReport *r)
{
  gboolean any = FALSE;

  mhar_document_heading (r->document, 1, "Interventions");
  for (guint c = 0; c < r->sets->len; c++)
    any = any || mhar_dataset_find_child (mhar_report_set (r, c), "interventions") != NULL
          || mhar_dataset_find_child (mhar_report_set (r, c), "ablation_map") != NULL;
  if (!any) {
    mhar_document_paragraph (r->document, "None was made.");
    return;
  }
  mhar_document_paragraph (r->document,
                           "A weight says what a read mixes, not what the model makes of it. Here reads are made "
                           "otherwise, nothing else is changed, "
                           "and the loss is compared over the same tokens. Above 0 the intervention hurts.");
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c);
    g_autofree char *why = mhar_report_string (set, "ablation_map_absent");

    asked_table (r, set, r->names[c]);
    map_table (r, set, r->names[c]);
    if (mhar_dataset_string (set, "ablation_map_absent") != NULL)
      mhar_document_paragraph (r->document, "There is no ablation map of " MHAR_CODE "%s" MHAR_PLAIN ": %s.",
                               r->names[c], why);
  }
}
