/* SPDX-License-Identifier: MIT */
/* The reads of a run: sums by bin and the extreme tokens of each batch, then of all. */
#include "probes/reads-private.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

#define BLOCK 64 /* cells that a thread adds up at a time */

/* ---- what is the same for every batch ---- */

static void
count_bins (MharReads *r, gsize total)
{
  gboolean text = mhar_token_kinds_has_text (r->kinds);

  r->longest[MHAR_BY_POSITION] = r->setup->options->context - 1;
  for (gsize i = 0; i < total; i++)
    r->longest[MHAR_BY_DOCUMENT] = MAX (r->longest[MHAR_BY_DOCUMENT], mhar_token_kinds_document (r->kinds, i));
  for (guint b = 0; b < MHAR_N_BINNINGS; b++) {
    r->bins[b] = b <= MHAR_BY_DOCUMENT ? mhar_reads_bin (r->longest[b]) + 1
                 : !text              ? 0
                 : b == MHAR_BY_CLASS ? MHAR_N_CLASSES
                                      : MHAR_N_PIECES;
    r->first_bin[b] = r->n_bins;
    r->n_bins += r->bins[b];
  }
}

static gint
compare_cells (gconstpointer a, gconstpointer b)
{
  const MharReadsCell *x = a, *y = b;

  if (x->site != y->site)
    return x->site < y->site ? -1 : 1;
  return x->head != y->head ? x->head - y->head : x->source - y->source;
}

/* The cells whose tokens are listed: those asked for, and where the source is not known yet, all that it can be. */
static void
add_candidates (MharReads *r)
{
  gsize cells = r->base[r->setup->n_sites];

  r->candidates = g_array_new (FALSE, FALSE, sizeof (MharReadsCell));
  r->place = g_new (gint32, cells + 1);
  memset (r->place, 0xff, (cells + 1) * sizeof *r->place);
  for (guint i = 0; i < r->asked->len; i++) {
    MharReadsCell cell = g_array_index (r->asked, MharReadsCell, i);
    int low = cell.source, high = cell.source + 1;
    if (cell.source == MHAR_READS_TOP) {
      low = 0;
      high = mhar_plan_site (r->setup->plan, cell.site)->n_sources;
    }
    for (cell.source = low; cell.source < high; cell.source++)
      if (r->place[mhar_reads_cell (r, &cell)] < 0) {
        r->place[mhar_reads_cell (r, &cell)] = 0;
        g_array_append_val (r->candidates, cell);
      }
  }
  g_array_sort (r->candidates, compare_cells);
  for (guint c = 0; c < r->candidates->len; c++)
    r->place[mhar_reads_cell (r, &g_array_index (r->candidates, MharReadsCell, c))] = (gint32) c;
}

static MharTopTokens **
new_lists (const MharReads *r, gboolean least)
{
  MharTopTokens **lists = g_new0 (MharTopTokens *, r->candidates->len + 1);

  for (guint c = 0; c < r->candidates->len; c++)
    lists[c] = mhar_top_tokens_new (r->setup->options->top_tokens, least);
  return lists;
}

static void
free_lists (MharTopTokens **lists)
{
  for (guint c = 0; lists != NULL && lists[c] != NULL; c++)
    mhar_top_tokens_free (lists[c]);
  g_free (lists);
}

MharReads *
mhar_reads_new (const MharProbeSetup *setup, const MharCheckpoint *checkpoint, const gint32 *ids, gsize n, gsize total,
                GError **error)
{
  const MharPlan *plan = setup->plan;
  g_autoptr (GPtrArray) none = mhar_reads_specs_new ();
  GArray *asked = mhar_reads_resolve (plan, setup->options->reads != NULL ? setup->options->reads : none, error);

  if (asked == NULL)
    return NULL;
  MharReads *r = g_new0 (MharReads, 1);
  r->setup = setup;
  r->ids = ids;
  r->n_ids = n;
  r->asked = asked;
  r->kinds = mhar_token_kinds_new (checkpoint, ids, n);
  r->base = g_new0 (gsize, setup->n_sites + 1);
  for (guint s = 0; s < setup->n_sites; s++)
    r->base[s + 1] = r->base[s] + (gsize) mhar_plan_site (plan, s)->heads * (gsize) mhar_plan_site (plan, s)->n_sources;
  count_bins (r, total);
  add_candidates (r);
  r->logit = mhar_reads_logit_new (plan, checkpoint);
  r->sums = g_new0 (double, r->base[setup->n_sites] * r->n_bins + 1);
  r->counts = g_new0 (double, r->n_bins);
  r->most = new_lists (r, FALSE);
  r->least = new_lists (r, TRUE);
  r->logit_sums = r->logit != NULL ? g_new0 (double, 2 * r->logit->heads * r->logit->n_sources) : NULL;
  return r;
}

void
mhar_reads_free (MharReads *r)
{
  if (r == NULL)
    return;
  free_lists (r->most);
  free_lists (r->least);
  mhar_reads_logit_free (r->logit);
  mhar_token_kinds_free (r->kinds);
  g_array_unref (r->asked);
  g_array_unref (r->candidates);
  g_free (r->base);
  g_free (r->place);
  g_free (r->sums);
  g_free (r->counts);
  g_free (r->logit_sums);
  g_free (r);
}

/* ---- a batch ---- */

/* The sums of one batch, in its slab's child "reads". */
typedef struct {
  const MharReads *reads;
  double *sums, *counts, *logit;
  MharTopTokens **most, **least;
} Batch;

/* The bins, among all, of a window's counted tokens: [count, binnings]. */
static guint *
bins_of (const MharReads *r, gsize first, gsize skip, gsize count, double *counts)
{
  guint *bins = g_new (guint, count *MHAR_N_BINNINGS + 1);

  for (gsize i = 0; i < count; i++) {
    gsize token = first + skip + i;
    guint *to = bins + i * MHAR_N_BINNINGS;
    to[MHAR_BY_POSITION] = mhar_reads_bin ((guint) (skip + i));
    to[MHAR_BY_DOCUMENT] = mhar_reads_bin (mhar_token_kinds_document (r->kinds, token));
    to[MHAR_BY_CLASS] = r->bins[MHAR_BY_CLASS] > 0 ? mhar_token_kinds_class (r->kinds, token) : 0;
    to[MHAR_BY_PIECE] = r->bins[MHAR_BY_PIECE] > 0 ? mhar_token_kinds_piece (r->kinds, token) : 0;
    for (guint b = 0; b < MHAR_N_BINNINGS; b++) {
      to[b] += r->first_bin[b];
      if (r->bins[b] > 0)
        counts[to[b]]++;
    }
  }
  return bins;
}

/* Adds weights [count, cells] to sums [n_bins, cells]. Threads share out the cells, so the order of a sum is that of
 * the tokens however many there are. */
static void
add_weights (const MharReads *r, const float *weights, gsize count, gsize cells, const guint *bins, double *sums)
{
  gsize blocks = (cells + BLOCK - 1) / BLOCK;

#pragma omp parallel for schedule(static)
  for (gsize block = 0; block < blocks; block++) {
    gsize low = block * BLOCK, high = MIN (low + BLOCK, cells);
    for (gsize i = 0; i < count; i++)
      for (guint b = 0; b < MHAR_N_BINNINGS; b++) {
        double *to = sums + (gsize) bins[i * MHAR_N_BINNINGS + b] * cells;
        for (gsize c = low; r->bins[b] > 0 && c < high; c++)
          to[c] += (double) weights[i * cells + c];
      }
  }
}

/* `token`: the index in the text of the first. */
static void
list_tokens (const Batch *b, guint s, const float *weights, gsize count, gsize token)
{
  const MharReads *r = b->reads;
  gsize cells = r->base[s + 1] - r->base[s];

#pragma omp parallel for schedule(dynamic, 8)
  for (gsize c = 0; c < cells; c++) {
    gint32 place = r->place[r->base[s] + c];
    for (gsize i = 0; place >= 0 && i < count; i++) {
      mhar_top_tokens_add (b->most[place], (gint32) (token + i), weights[i * cells + c]);
      mhar_top_tokens_add (b->least[place], (gint32) (token + i), weights[i * cells + c]);
    }
  }
}

static gboolean
add_window (const Batch *b, MharBatch *batch, gsize window, gsize first, GError **error)
{
  const MharReads *r = b->reads;
  MharDevice *device = mhar_rig_device (batch->rig);
  gsize t = (gsize) batch->span.length, skip = (gsize) batch->span.skip, count = t - skip;
  g_autofree guint *bins = bins_of (r, first, skip, count, b->counts);
  g_autofree float *weights = g_new (float, count *r->setup->max_heads *r->setup->max_sources + 1);

  for (guint s = 0; s < r->setup->n_sites; s++) {
    gsize cells = r->base[s + 1] - r->base[s];
    int status = mhar_device_ops (device)->route_weights (mhar_device_context (device), mhar_rig_route (batch->rig),
                                                          (int)s, window * t + skip, count, weights);
    if (!mhar_device_check (device, status, "fetching the routing weights", error))
      return FALSE;
    add_weights (r, weights, count, cells, bins, b->sums + r->n_bins * r->base[s]);
    list_tokens (b, s, weights, count, first + skip);
  }
  return r->logit == NULL ||
         mhar_reads_logit_window (r->logit, batch->rig, window, t, r->ids + first, b->logit, error);
}

static MharField *
add_field (MharDataset *set, const char *name, MharFieldType type, gsize n)
{
  g_autofree char *dim = g_strconcat (name, "_entry", NULL);
  return mhar_dataset_add (set, mhar_field_new (name, name, "1", type, 1, (const char *const *) &dim, &n));
}

/* [candidates, 2, room] tokens, −1 where there is none, and their weights. */
static void
pack_lists (const Batch *b, MharDataset *set)
{
  const MharReads *r = b->reads;
  gsize room = r->setup->options->top_tokens, n = 2 * room * r->candidates->len;
  gint32 *tokens = add_field (set, "tokens", MHAR_FIELD_I32, n + 1)->data.i32;
  float *weights = add_field (set, "weights", MHAR_FIELD_F32, n + 1)->data.f32;

  for (gsize i = 0; i < n; i++) {
    const MharTopTokens *list = (i / room % 2 == 0 ? b->most : b->least)[i / room / 2];
    gboolean there = i % room < list->n;
    tokens[i] = there ? list->tokens[i % room] : -1;
    weights[i] = there ? list->weights[i % room] : NAN;
  }
}

static gboolean
batch (gpointer state G_GNUC_UNUSED, MharBatch *batch, MharDataset *slab, GError **error)
{
  const MharReads *r = mhar_rig_setup (batch->rig)->reads;
  MharDataset *set = mhar_dataset_new ("reads");
  Batch b = { .reads = r, .most = new_lists (r, FALSE), .least = new_lists (r, TRUE) };
  const double *start = mhar_dataset_get (slab, "start")->data.f64;
  gboolean good = TRUE;

  mhar_dataset_add_child (slab, set);
  b.sums = add_field (set, "sums", MHAR_FIELD_F64, r->n_bins * r->base[r->setup->n_sites] + 1)->data.f64;
  b.counts = add_field (set, "counts", MHAR_FIELD_F64, r->n_bins)->data.f64;
  memset (b.sums, 0, r->n_bins * r->base[r->setup->n_sites] * sizeof (double));
  memset (b.counts, 0, r->n_bins * sizeof (double));
  if (r->logit != NULL) {
    gsize n = 2 * r->logit->heads * r->logit->n_sources;
    b.logit = add_field (set, "logit", MHAR_FIELD_F64, n)->data.f64;
    memset (b.logit, 0, n * sizeof (double));
  }
  for (gsize w = 0; good && w < (gsize) batch->span.windows; w++)
    good = !g_cancellable_set_error_if_cancelled (batch->cancellable, error) &&
           add_window (&b, batch, w, (gsize) start[w], error);
  if (good)
    pack_lists (&b, set);
  free_lists (b.most);
  free_lists (b.least);
  return good;
}

/* ---- all of them ---- */

static void
add_up (double *to, const double *from, gsize n)
{
  for (gsize i = 0; i < n; i++)
    to[i] += from[i];
}

static void
take_sums (MharReads *r, const MharDataset *set)
{
  const MharProbeSetup *setup = r->setup;
  gsize room = setup->options->top_tokens, n = 2 * room * r->candidates->len;
  const gint32 *tokens = mhar_dataset_get (set, "tokens")->data.i32;
  const float *weights = mhar_dataset_get (set, "weights")->data.f32;

  add_up (r->sums, mhar_dataset_get (set, "sums")->data.f64, r->n_bins * r->base[setup->n_sites]);
  add_up (r->counts, mhar_dataset_get (set, "counts")->data.f64, r->n_bins);
  if (r->logit != NULL)
    add_up (r->logit_sums, mhar_dataset_get (set, "logit")->data.f64, 2 * r->logit->heads * r->logit->n_sources);
  for (gsize i = 0; i < n; i++)
    if (tokens[i] >= 0)
      mhar_top_tokens_add ((i / room % 2 == 0 ? r->most : r->least)[i / room / 2], tokens[i], weights[i]);
}

static void
take (const MharProbeSetup *setup, MharDataset *slab)
{
  g_autoptr (MharDataset) set = mhar_dataset_steal_child (slab, "reads");
  const MharField *pairs = mhar_dataset_get (slab, "pairs");

  take_sums (setup->reads, set);
  for (gsize w = 0; w < pairs->shape[0]; w++)
    setup->reads->pairs += pairs->data.f64[w];
}

/* ---- an interrupted run ---- */

MharDataset *
mhar_reads_state (const MharReads *r)
{
  MharDataset *set = mhar_dataset_new ("reads");
  const Batch all = { .reads = r, .most = r->most, .least = r->least };
  gsize n = r->n_bins * r->base[r->setup->n_sites], parts = r->logit != NULL ? 2 * r->logit->heads * r->logit->n_sources : 0;

  memcpy (add_field (set, "sums", MHAR_FIELD_F64, n + 1)->data.f64, r->sums, (n + 1) * sizeof (double));
  memcpy (add_field (set, "counts", MHAR_FIELD_F64, r->n_bins)->data.f64, r->counts, r->n_bins * sizeof (double));
  if (parts > 0)
    memcpy (add_field (set, "logit", MHAR_FIELD_F64, parts)->data.f64, r->logit_sums, parts * sizeof (double));
  pack_lists (&all, set);
  mhar_dataset_set_real (set, "pairs", r->pairs);
  return set;
}

static gboolean
fits (const MharDataset *state, const char *name, MharFieldType type, gsize n)
{
  const MharField *field = mhar_dataset_get (state, name);
  return field != NULL && field->type == type && field->n_dims == 1 && field->shape[0] == n;
}

/* Every token is one of the text's. */
static gboolean
tokens_fit (const MharReads *r, const MharDataset *state)
{
  const MharField *tokens = mhar_dataset_get (state, "tokens");

  for (gsize i = 0; i + 1 < tokens->shape[0]; i++)
    if (tokens->data.i32[i] < -1 || (gsize) MAX (tokens->data.i32[i], 0) >= r->n_ids)
      return FALSE;
  return TRUE;
}

gboolean
mhar_reads_restore (MharReads *r, const MharDataset *state, GError **error)
{
  gsize list = 2 * (gsize) r->setup->options->top_tokens * r->candidates->len + 1;
  gsize parts = r->logit != NULL ? 2 * r->logit->heads * r->logit->n_sources : 0;

  if (!fits (state, "sums", MHAR_FIELD_F64, r->n_bins * r->base[r->setup->n_sites] + 1) ||
      !fits (state, "counts", MHAR_FIELD_F64, r->n_bins) || (parts > 0 && !fits (state, "logit", MHAR_FIELD_F64, parts)) ||
      !fits (state, "tokens", MHAR_FIELD_I32, list) || !fits (state, "weights", MHAR_FIELD_F32, list) || !tokens_fit (r, state))
    return mhar_bad_input (error, "the reads that were saved are not what the run makes of them");
  take_sums (r, state);
  r->pairs = mhar_dataset_real (state, "pairs", 0);
  return TRUE;
}

static void
finish (const MharProbeSetup *setup, const MharPool *pool G_GNUC_UNUSED, MharDataset *out, GPtrArray *warnings)
{
  const MharReads *r = setup->reads;

  if (r == NULL) /* looked at again with less: the caller has the results */
    return;
  if (mhar_token_kinds_problem (r->kinds) != NULL)
    g_ptr_array_add (warnings, g_strdup_printf ("tokens have no text: %s", mhar_token_kinds_problem (r->kinds)));
  mhar_dataset_add_child (out, mhar_reads_results (r));
}

const MharProbe mhar_probe_reads = { "reads", MHAR_PROBE_READS, NULL, batch, NULL, finish, NULL, NULL, take };
