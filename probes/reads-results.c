/* SPDX-License-Identifier: MIT */
/* What a run knows of its reads as fields. */
#include "probes/reads-private.h"

#include "probes/labels.h"

#include <math.h>

/* What a binning is called: its mean weights, and its bins. */
static const struct {
  const char *prefix, *dim, *by;
} binnings[] = {
  [MHAR_BY_POSITION] = { "position", "position_bin", "position in the window" },
  [MHAR_BY_DOCUMENT] = { "document_position", "document_bin", "tokens since the last end-of-text token" },
  [MHAR_BY_CLASS] = { "class", "class", "class of the token that reads" },
  [MHAR_BY_PIECE] = { "piece", "piece", "piece of a word that the token that reads is" },
};

static MharField *
add (MharDataset *set, const char *prefix, const char *suffix, const char *long_name, MharFieldType type, guint n_dims,
     const char *const *dims, const gsize *shape)
{
  g_autofree char *name = g_strconcat (prefix, suffix, NULL);
  const char *units = type == MHAR_FIELD_STRING ? "" : "1";
  return mhar_dataset_add (set, mhar_field_new (name, long_name, units, type, n_dims, dims, shape));
}

/* ---- mean weights by bin ---- */

/* What the bins are: positions from first to last, or names; and the tokens in each. */
static void
label_bins (const MharReads *r, guint b, MharDataset *set)
{
  const char *prefix = binnings[b].prefix, *dim = binnings[b].dim;
  gsize n = r->bins[b];
  MharField *tokens
      = add (set, prefix, "_tokens", "tokens of the bin that the means count", MHAR_FIELD_I32, 1, &dim, &n);

  for (gsize i = 0; i < n; i++)
    tokens->data.i32[i] = (gint32) r->counts[r->first_bin[b] + i];
  if (b > MHAR_BY_DOCUMENT) {
    MharField *label = add (set, prefix, "_label", "what is in the bin", MHAR_FIELD_STRING, 1, &dim, &n);
    for (gsize i = 0; i < n; i++)
      label->data.str[i] = g_strdup (b == MHAR_BY_CLASS ? mhar_token_class_name ((MharTokenClass) i)
                                                        : mhar_token_piece_name ((MharTokenPiece) i));
    return;
  }
  MharField *first = add (set, prefix, "_first", "first position of the bin", MHAR_FIELD_I32, 1, &dim, &n);
  MharField *last = add (set, prefix, "_last", "last position of the bin", MHAR_FIELD_I32, 1, &dim, &n);
  for (gsize i = 0; i < n; i++) {
    first->data.i32[i] = i > 0 ? 1 << (i - 1) : 0;
    last->data.i32[i] = (gint32) MIN (i > 0 ? (1u << i) - 1 : 0, r->longest[b]);
  }
}

static void
add_means (const MharReads *r, guint b, MharDataset *set)
{
  const MharProbeSetup *setup = r->setup;
  const char *dims[] = { "site", "head", "source", binnings[b].dim };
  gsize n = r->bins[b], shape[] = { setup->n_sites, setup->max_heads, setup->max_sources, n };
  g_autofree char *name = g_strdup_printf ("weight_by_%s", binnings[b].prefix);
  g_autofree char *words = g_strdup_printf ("token mean of the routing weight by %s", binnings[b].by);
  MharField *field = add (set, name, "", words, MHAR_FIELD_F32, 4, dims, shape);

  for (guint s = 0; s < setup->n_sites; s++) {
    gsize cells = r->base[s + 1] - r->base[s], sources = (gsize) mhar_plan_site (setup->plan, s)->n_sources;
    for (gsize i = 0; i < cells * n; i++) {
      gsize c = i / n, bin = r->first_bin[b] + i % n;
      gsize to = (s * setup->max_heads + c / sources) * setup->max_sources + c % sources;
      double sum = r->sums[r->n_bins * r->base[s] + bin * cells + c];
      field->data.f32[to * n + i % n] = r->counts[bin] > 0 ? (float) (sum / r->counts[bin]) : NAN;
    }
  }
}

/* ---- tokens ---- */

/* The cell's own source, or the one with the largest mean, of equal ones the earliest. */
static int
source_of (const MharReads *r, const MharReadsCell *cell)
{
  int sources = mhar_plan_site (r->setup->plan, cell->site)->n_sources, best = 0;
  gsize cells = r->base[cell->site + 1] - r->base[cell->site];
  double most = -1;

  if (cell->source != MHAR_READS_TOP)
    return cell->source;
  for (int n = 0; n < sources; n++) {
    double sum = 0;
    for (guint bin = 0; bin < r->bins[MHAR_BY_POSITION]; bin++)
      sum += r->sums[r->n_bins * r->base[cell->site] + bin * cells + (gsize) (cell->head * sources + n)];
    if (sum > most) {
      most = sum;
      best = n;
    }
  }
  return best;
}

/* The cells asked for with their sources, each once. */
static GArray *
settle_cells (const MharReads *r)
{
  GArray *cells = g_array_new (FALSE, FALSE, sizeof (MharReadsCell));
  g_autofree guint8 *seen = g_new0 (guint8, r->candidates->len + 1);

  for (guint i = 0; i < r->asked->len; i++) {
    MharReadsCell cell = g_array_index (r->asked, MharReadsCell, i);
    cell.source = source_of (r, &cell);
    guint8 *here = &seen[r->place[mhar_reads_cell (r, &cell)]];
    if (*here == 0)
      g_array_append_val (cells, cell);
    *here = 1;
  }
  return cells;
}

static void
add_cells (const MharReads *r, const GArray *cells, gsize ranks, MharDataset *set)
{
  static const char *const dims[] = { "cell", "list", "rank" }, *const list_dim = "list";
  gsize shape[] = { cells->len, 2, ranks }, two = 2;
  MharField *site = add (set, "cell_site", "", "index of the cell's site", MHAR_FIELD_I32, 1, dims, shape);
  MharField *head = add (set, "cell_head", "", "the cell's head", MHAR_FIELD_I32, 1, dims, shape);
  MharField *source = add (set, "cell_source", "", "index of the cell's source", MHAR_FIELD_I32, 1, dims, shape);
  MharField *label = add (set, "list_label", "", "which tokens the list has", MHAR_FIELD_STRING, 1, &list_dim, &two);
  MharField *token
      = add (set, "token", "", "index in the text of the token, best first", MHAR_FIELD_I32, 3, dims, shape);
  MharField *weight
      = add (set, "token_weight", "", "routing weight of the cell at the token", MHAR_FIELD_F32, 3, dims, shape);

  label->data.str[0] = g_strdup ("most");
  label->data.str[1] = g_strdup ("least");
  for (guint i = 0; i < cells->len; i++) {
    const MharReadsCell *cell = &g_array_index (cells, MharReadsCell, i);
    gint32 place = r->place[mhar_reads_cell (r, cell)];
    site->data.i32[i] = (gint32) cell->site;
    head->data.i32[i] = cell->head;
    source->data.i32[i] = cell->source;
    for (gsize k = 0; k < 2 * ranks; k++) {
      const MharTopTokens *list = (k < ranks ? r->most : r->least)[place];
      gboolean there = k % ranks < list->n;
      token->data.i32[i * 2 * ranks + k] = there ? list->tokens[k % ranks] : -1;
      weight->data.f32[i * 2 * ranks + k] = there ? list->weights[k % ranks] : NAN;
    }
  }
}

/* The tokens of the lists, ascending, each once; gint32. */
static GArray *
find_examples (const MharField *token)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (gsize i = 0; i < mhar_field_length (token); i++)
    if (token->data.i32[i] >= 0 && g_hash_table_add (seen, GINT_TO_POINTER (token->data.i32[i])))
      g_array_append_val (list, token->data.i32[i]);
  g_array_sort (list, mhar_reads_compare_tokens);
  return list;
}

static void
add_examples (const MharReads *r, MharDataset *set)
{
  static const char *const dim = "example";
  g_autoptr (GArray) list = find_examples (mhar_dataset_get (set, "token"));
  gsize n = list->len;

  if (n == 0)
    return;
  MharField *token
      = add (set, "example_token", "", "index in the text of a token that a list has", MHAR_FIELD_I32, 1, &dim, &n);
  MharField *id = add (set, "example_id", "", "its id", MHAR_FIELD_I32, 1, &dim, &n);
  for (gsize i = 0; i < n; i++) {
    token->data.i32[i] = g_array_index (list, gint32, i);
    id->data.i32[i] = r->ids[token->data.i32[i]];
  }
  if (!mhar_token_kinds_has_text (r->kinds))
    return;
  MharField *before = add (set, "example_before", "", "the text before it", MHAR_FIELD_STRING, 1, &dim, &n);
  MharField *text = add (set, "example_text", "", "the text that it covers", MHAR_FIELD_STRING, 1, &dim, &n);
  MharField *after = add (set, "example_after", "", "the text after it", MHAR_FIELD_STRING, 1, &dim, &n);
  for (gsize i = 0; i < n; i++)
    mhar_token_kinds_around (r->kinds, (gsize) token->data.i32[i], &before->data.str[i], &text->data.str[i],
                             &after->data.str[i]);
}

/* ---- logit ---- */

static void
add_logit (const MharReads *r, MharDataset *set)
{
  static const char *const dims[] = { "head", "source" };
  static const char *const names[] = { "logit_contribution", "logit_contribution_centred" };
  static const char *const words[]
      = { "what a source adds to the logit of the next token through the last read, mean over predicted tokens",
          "the same less what it adds to the mean logit of the vocabulary" };
  static const char *const totals[] = { "target_logit", "target_logit_centred" };
  const MharReadsLogit *l = r->logit;
  gsize shape[] = { r->setup->max_heads, r->setup->max_sources }, cells = l->heads * l->n_sources;

  mhar_dataset_set_integer (set, "logit_site", l->site);
  mhar_dataset_set_integer (set, "logit_tokens", (gint64) r->pairs);
  for (guint k = 0; k < 2; k++) {
    MharField *field = add (set, names[k], "", words[k], MHAR_FIELD_F64, 2, dims, shape);
    double total = 0;
    for (gsize c = 0; c < cells; c++) {
      double mean = r->logit_sums[k * cells + c] / r->pairs;
      field->data.f64[c / l->n_sources * shape[1] + c % l->n_sources] = mean;
      total += mean;
    }
    mhar_dataset_set_real (set, totals[k], total);
  }
}

MharDataset *
mhar_reads_results (const MharReads *r)
{
  static const char *const end = "end";
  MharDataset *set = mhar_dataset_new ("reads");
  const GArray *ends = mhar_token_kinds_ends (r->kinds);
  gsize n_ends = ends->len;
  double tokens = 0;

  mhar_label_reads (r->setup->plan, set);
  for (guint bin = 0; bin < r->bins[MHAR_BY_POSITION]; bin++)
    tokens += r->counts[bin];
  mhar_dataset_set_integer (set, "tokens", (gint64) tokens);
  if (n_ends > 0) {
    MharField *field = add (set, "end_of_text", "", "id of an end-of-text token", MHAR_FIELD_I32, 1, &end, &n_ends);
    for (gsize i = 0; i < n_ends; i++)
      field->data.i32[i] = g_array_index (ends, gint32, i);
  }
  for (guint b = 0; b < MHAR_N_BINNINGS; b++) {
    if (r->bins[b] == 0)
      continue;
    label_bins (r, b, set);
    add_means (r, b, set);
  }
  g_autoptr (GArray) cells = settle_cells (r);
  if (cells->len > 0) {
    add_cells (r, cells, (gsize) MIN (tokens, (double) r->setup->options->top_tokens), set);
    add_examples (r, set);
  }
  if (r->logit != NULL)
    add_logit (r, set);
  return set;
}
