/* SPDX-License-Identifier: MIT */
#include "probes/memory-need.h"

#include "core/error.h"
#include "core/forward.h"
#include "probes/controls.h"
#include "probes/deviation.h"
#include "probes/resample.h"

#include <omp.h>
#include <string.h>

#define MIB ((guint64)1 << 20)
/* What does not depend on the run; what HDF5 keeps of a file that is written. */
#define FIXED (3 * MIB / 2)
#define FILE_WRITTEN (7 * MIB)
/* What a thread of a CPU has for itself: its stack, and where OpenBLAS packs a product. */
#define PER_THREAD (MIB / 2)
/* Of kernels/cpu: tokens and logits of the loss at a time, weights widened at a time; tokens, logits and queries of a
 * null's task; rows of an attention block. */
#define LOSS_TOKENS 2048
#define LOSS_LOGITS ((guint64)4 << 20)
#define WIDENED ((guint64)2 << 20)
#define NULL_TOKENS 64
#define NULL_LOGITS ((guint64)1 << 20)
#define NULL_QUERIES 40
#define ATTENTION_ROWS 128
/* Batches of a device that wait, are computed, and are being taken in. */
#define IN_FLIGHT 4
/* Of what is taken before. */
#define STEP (2 * MIB)

static guint64
count_controls (const MharProbeSetup *s)
{
  g_autoptr (GArray) list = mhar_controls_list (s->plan, s->options);
  return (s->options->probes & MHAR_PROBE_KL) ? list->len : 0;
}

/* Numbers a window of what intervals are made of, which is kept by entries. */
static guint64
kept_numbers (const MharProbeSetup *s)
{
  const MharProbeOptions *o = s->options;
  guint64 draws = o->null_draws, sites = s->n_sites, n = 8;

  if (o->probes & MHAR_PROBE_DEPTH_MAPS)
    n += sites * s->max_heads * s->max_sources;
  if (o->probes & MHAR_PROBE_KL)
    n += sites * ((o->match_sources > 0 ? 2 : 1) * (o->slices + draws) + 1 + draws + count_controls (s) * (1 + draws));
  if (o->probes & MHAR_PROBE_COLLINEARITY)
    n += s->n_outputs * s->n_outputs + 2;
  return n;
}

/* Numbers a window of the series that interventions keep. */
static guint64
series_numbers (const MharProbeSetup *s)
{
  const MharProbeOptions *o = s->options;

  if ((o->probes & MHAR_PROBE_INTERVENTIONS) == 0)
    return 0;
  return 2 + (o->interventions != NULL ? o->interventions->len : 0)
         + (o->ablation_map ? 2 * s->n_sites * s->max_sources : 0);
}

/* Whether null queries of a site are scored. */
static gboolean
has_null (const MharProbeSetup *s, const MharSite *site)
{
  guint probes = s->options->probes;

  return (mhar_site_counts (site, TRUE) && (probes & (MHAR_PROBE_KL | MHAR_PROBE_DEPTH_MAPS)))
         || (mhar_site_counts (site, FALSE) && (probes & MHAR_PROBE_KL));
}

/* One list of null queries, of all draws and sites. */
static guint64
query_bytes (const MharProbeSetup *s)
{
  guint64 queries = 0;

  for (guint i = 0; i < s->plan->sites->len; i++)
    if (has_null (s, mhar_plan_site (s->plan, i)))
      queries += (guint64)mhar_site_n_queries (mhar_plan_site (s->plan, i)) * (guint64)s->plan->width;
  return s->options->null_draws * sizeof (double) * queries;
}

/* The lists packed, of the main result, the matched count and the controls; and the weights that the main ones give, which
 * wait with the batches. */
static guint64
null_bytes (const MharProbeSetup *s)
{
  const MharProbeOptions *o = s->options;
  guint64 groups = count_controls (s) + (o->match_sources > 0) + 1;
  guint64 weights = (o->probes & MHAR_PROBE_DEPTH_MAPS) ? mhar_deviation_packed_length (s) * (IN_FLIGHT + 2) : 0;

  return groups * query_bytes (s) + o->null_draws * sizeof (double) * weights;
}

/* What one thread scores null queries in. */
static guint64
null_scratch (const MharProbeSetup *s)
{
  guint64 most = 0, draws = s->options->null_draws;

  for (guint i = 0; i < s->plan->sites->len; i++) {
    const MharSite *site = mhar_plan_site (s->plan, i);
    guint64 parts = site->heads > 1 ? (guint64)site->heads : s->options->slices;
    guint64 each = parts * (guint64)site->n_sources * NULL_TOKENS;
    guint64 chunk = CLAMP (NULL_LOGITS / MAX (each, 1), 1, NULL_QUERIES);
    if (has_null (s, site))
      most = MAX (most, sizeof (double) * (NULL_TOKENS * (guint64)s->plan->width + each * MAX (MIN (chunk, draws), 1)));
  }
  return most;
}

/* The memory that the operations of a CPU share: as much as the one that takes most. */
static guint64
scratch_bytes (const MharMemoryRun *run, guint64 tokens, guint64 threads)
{
  const MharProbeSetup *s = run->setup;
  guint64 loss
      = MIN (MIN (tokens, LOSS_TOKENS) * (guint64)run->body->vocab, LOSS_LOGITS) * sizeof (float) + 24 * tokens;
  guint64 null = threads * null_scratch (s), outputs = s->n_outputs;
  guint64 attention = threads * ATTENTION_ROWS * s->options->context * sizeof (float);
  guint64 cosines = (s->options->probes & MHAR_PROBE_COLLINEARITY)
                        ? threads * sizeof (double) * outputs * (outputs + (guint64)s->plan->width)
                        : 0;

  return MAX (MAX (loss, null), MAX (attention, cosines));
}

/* Floats of as many rows of the largest weight as are widened at a time. */
static guint64
widened_bytes (const MharBody *body)
{
  guint64 rows = (guint64)MAX (body->vocab, MAX (body->ffn, body->heads * body->head_dim));

  return MIN (rows * (guint64)body->width, WIDENED) * sizeof (float);
}

/* Every number that gets an interval, with its resamples. */
static guint64
interval_bytes (const MharProbeSetup *s)
{
  guint64 n = 8 + 5 * count_controls (s);

  if (s->options->probes & MHAR_PROBE_KL)
    n += 8 + (s->options->match_sources > 0 ? 4 : 2) * s->n_sites;
  if (s->options->probes & MHAR_PROBE_DEPTH_MAPS)
    n += s->n_sites;
  return (guint64)MHAR_RESAMPLES * sizeof (double) * n;
}

/* What heads read, by bin; the lists are short. */
static guint64
reads_bytes (const MharProbeSetup *s, guint64 windows)
{
  guint64 context = s->options->context, cells = s->n_sites * s->max_heads * s->max_sources;
  guint64 bins = g_bit_storage (context) + g_bit_storage (windows * context) + 8,
          lists = 2 * (guint64)s->options->top_tokens;

  return (s->options->probes & MHAR_PROBE_READS) ? cells * sizeof (double) * (bins + lists) * IN_FLIGHT : 0;
}

static gboolean
is_cpu (const MharDevice *device)
{
  return strcmp (mhar_device_spec (device), "cpu") == 0;
}

guint64
mhar_memory_need (const MharMemoryRun *run, guint batch)
{
  const MharProbeSetup *s = run->setup;
  guint64 cells = s->n_sites * s->max_heads * s->max_sources, tokens = (guint64)batch * s->options->context;
  guint64 kept = kept_numbers (s), series = series_numbers (s), slab = 5 + kept + 3 * cells + series;
  guint64 waiting = (guint64)batch * IN_FLIGHT * run->devices->len * sizeof (double) * slab, computing = 0;
  guint64 entries = MIN (run->windows, MHAR_RESAMPLE_ENTRIES), threads = (guint64)omp_get_max_threads ();

  for (guint i = 0; i < run->devices->len; i++) {
    const MharDevice *device = g_ptr_array_index ((GPtrArray *)run->devices, i);
    if (is_cpu (device))
      computing += tokens * mhar_forward_bytes_per_token (s->plan, run->body, device)
                   + scratch_bytes (run, tokens, threads) + widened_bytes (run->body);
  }
  if (s->options->probes & MHAR_PROBE_INTERVENTIONS)
    computing += tokens * 2 * (guint64)s->plan->width * sizeof (float);
  if (run->capture)
    waiting += tokens * IN_FLIGHT * sizeof (float) * cells;
  guint64 own = entries * kept * sizeof (double) + run->windows * series * 2 * sizeof (double)
                + 8 * slab * sizeof (double) + threads * 4 * kept * sizeof (double);
  guint64 running = computing + waiting + own + interval_bytes (s) + reads_bytes (s, run->windows);
  /* The list that the last one is packed from goes before anything runs. */
  guint64 all = null_bytes (s) * run->devices->len + MAX (running, query_bytes (s) * run->devices->len);
  return all + all / 16 + FIXED + (run->file ? FILE_WRITTEN : 0) + PER_THREAD * threads;
}

guint64
mhar_memory_taken (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL) || (line = strstr (text, "\nRssAnon:")) == NULL)
    return 0;
  return g_ascii_strtoull (line + strlen ("\nRssAnon:"), NULL, 10) << 10;
}

/* In steps, so that the same command takes the same batches though it has a page more or less. */
static guint64
round_up (guint64 bytes)
{
  return (bytes + STEP - 1) / STEP * STEP;
}

guint
mhar_memory_batch (const MharMemoryRun *run, guint most, GError **error)
{
  guint64 limit = (guint64)run->setup->options->max_memory, taken = round_up (mhar_memory_taken ());
  guint low = 0, high = most; /* low fits */

  while (low < high) {
    guint middle = low + (high - low + 1) / 2;
    if (taken + mhar_memory_need (run, middle) <= limit)
      low = middle;
    else
      high = middle - 1;
  }
  if (low > 0)
    return low;
  guint64 need = taken + mhar_memory_need (run, 1);
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE,
               "one window of %u tokens takes about %" G_GUINT64_FORMAT
               "M beside the mapped files, more than the %" G_GUINT64_FORMAT
               "M of --max-memory; give a shorter --context, fewer probes or draws, or more memory",
               run->setup->options->context, (need + MIB - 1) / MIB, limit / MIB);
  return 0;
}
