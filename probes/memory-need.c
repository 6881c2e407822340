/* SPDX-License-Identifier: MIT */
#include "probes/memory-need.h"

#include "core/error.h"
#include "core/forward.h"
#include "probes/controls.h"
#include "probes/deviation.h"
#include "probes/resample.h"

#include <string.h>

#define MIB ((guint64)1 << 20)
/* What does not depend on the run: logits of the loss (16 MiB), widened weights, HDF5's chunks, figures. */
#define FIXED (40 * MIB)
/* What a thread of a CPU computes in. */
#define PER_THREAD (6 * MIB)
/* Batches of a device that wait, are computed, and are being taken in. */
#define IN_FLIGHT 4

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

/* Null queries, made and packed, and the weights that they give. */
static guint64
null_bytes (const MharProbeSetup *s)
{
  const MharProbeOptions *o = s->options;
  guint64 queries = 0, groups = count_controls (s) + (o->match_sources > 0) + 1;

  if ((o->probes & (MHAR_PROBE_KL | MHAR_PROBE_DEPTH_MAPS)) == 0)
    return 0;
  for (guint i = 0; i < s->plan->sites->len; i++)
    queries += (guint64)mhar_site_n_queries (mhar_plan_site (s->plan, i)) * (guint64)s->plan->width;
  return (guint64)o->null_draws * sizeof (double)
         * (queries * (groups + 1) + mhar_deviation_packed_length (s) * (IN_FLIGHT + 5));
}

/* What heads read, by bin; the lists are short. */
static guint64
reads_bytes (const MharProbeSetup *s)
{
  guint64 cells = s->n_sites * s->max_heads * s->max_sources, bins = 2 * 32 + 8,
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
  guint64 entries = MIN (run->windows, MHAR_RESAMPLE_ENTRIES);

  for (guint i = 0; i < run->devices->len; i++)
    if (is_cpu (g_ptr_array_index ((GPtrArray *)run->devices, i)))
      computing
          += tokens
             * mhar_forward_bytes_per_token (s->plan, run->body, g_ptr_array_index ((GPtrArray *)run->devices, i));
  if (s->options->probes & MHAR_PROBE_INTERVENTIONS)
    computing += tokens * 2 * (guint64)s->plan->width * sizeof (float);
  if (run->capture)
    waiting += tokens * IN_FLIGHT * sizeof (float) * cells;
  /* Intervals: every number one a site, with its resamples. */
  guint64 intervals = (guint64)MHAR_RESAMPLES * sizeof (double) * (8 * s->n_sites + 5 * count_controls (s) + 32);
  guint64 own
      = entries * kept * sizeof (double) + run->windows * series * 2 * sizeof (double) + 8 * slab * sizeof (double);
  guint64 all = computing + waiting + own + intervals + null_bytes (s) * run->devices->len + reads_bytes (s);
  return all + all / 8 + FIXED + PER_THREAD * (guint64)g_get_num_processors ();
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
  return (bytes + 16 * MIB - 1) / (16 * MIB) * (16 * MIB);
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
