/* SPDX-License-Identifier: MIT */
#include "probes/resample.h"

#include "probes/philox.h"

#include <string.h>

typedef struct {
  char *name;
  gsize n;            /* numbers a window */
  gsize draws;        /* length of the last dimension where that is "draw"; else 0 */
  GPtrArray *entries; /* double [n] */
} Kept;

struct _MharResampler {
  GPtrArray *names; /* char *, of what is to be kept; one may end in "*" */
  GPtrArray *kept;  /* Kept, of the first slab's fields */
  guint64 windows;
  guint64 together; /* windows an entry, at most: a power of two */
};

static void
kept_free (gpointer data)
{
  Kept *kept = data;
  g_free (kept->name);
  g_ptr_array_unref (kept->entries);
  g_free (kept);
}

MharResampler *
mhar_resampler_new (void)
{
  MharResampler *r = g_new0 (MharResampler, 1);
  r->names = g_ptr_array_new_with_free_func (g_free);
  r->kept = g_ptr_array_new_with_free_func (kept_free);
  r->together = 1;
  return r;
}

void
mhar_resampler_free (MharResampler *r)
{
  if (r == NULL)
    return;
  g_ptr_array_unref (r->names);
  g_ptr_array_unref (r->kept);
  g_free (r);
}

void
mhar_resampler_keep (MharResampler *r, const char *name)
{
  g_ptr_array_add (r->names, g_strdup (name));
}

static gboolean
wanted (const MharResampler *r, const char *name)
{
  for (guint i = 0; i < r->names->len; i++)
    if (g_pattern_match_simple (g_ptr_array_index (r->names, i), name))
      return TRUE;
  return FALSE;
}

static void
keep_fields (MharResampler *r, const MharDataset *slab)
{
  for (guint f = 0; f < mhar_dataset_n_fields (slab); f++) {
    const MharField *field = mhar_dataset_field (slab, f);
    guint last = field->n_dims - 1;
    if (field->type != MHAR_FIELD_F64 || !wanted (r, field->name))
      continue;
    Kept *kept = g_new0 (Kept, 1);
    kept->name = g_strdup (field->name);
    kept->n = mhar_field_length (field) / field->shape[0];
    kept->draws = last > 0 && strcmp (field->dims[last], "draw") == 0 ? field->shape[last] : 0;
    kept->entries = g_ptr_array_new_with_free_func (g_free);
    g_ptr_array_add (r->kept, kept);
  }
}

static guint64
entry_among (guint64 together, guint64 window)
{
  return window / (2 * together) * 2 + window % 2;
}

static guint64
entry_of (const MharResampler *r, guint64 window)
{
  return entry_among (r->together, window);
}

guint
mhar_resample_entry (guint64 window, guint64 windows)
{
  guint64 together = 1;

  while (entry_among (together, windows - 1) >= MHAR_RESAMPLE_ENTRIES || (windows > 1 && entry_among (together, windows - 2) >= MHAR_RESAMPLE_ENTRIES))
    together *= 2;
  return (guint) entry_among (together, window);
}

/* Adds sums of a window to an entry: the last, or the one after it. */
static void
add_to (Kept *kept, gsize entry, const double *sums)
{
  if (entry >= kept->entries->len)
    g_ptr_array_add (kept->entries, g_new0 (double, MAX (kept->n, 1)));
  double *to = g_ptr_array_index (kept->entries, entry);
  for (gsize i = 0; i < kept->n; i++)
    to[i] += sums[i];
}

/* Twice as many windows an entry: entries of one parity, two by two. */
static void
halve (MharResampler *r)
{
  r->together *= 2;
  for (guint k = 0; k < r->kept->len; k++) {
    Kept *kept = g_ptr_array_index (r->kept, k);
    GPtrArray *before = kept->entries;
    kept->entries = g_ptr_array_new_with_free_func (g_free);
    for (guint e = 0; e < before->len; e++)
      add_to (kept, e / 4 * 2 + e % 2, g_ptr_array_index (before, e));
    g_ptr_array_unref (before);
  }
}

static void
add_window (MharResampler *r, const MharDataset *slab, gsize w, guint64 window)
{
  while (entry_of (r, window) >= MHAR_RESAMPLE_ENTRIES)
    halve (r);
  for (guint k = 0; k < r->kept->len; k++) {
    Kept *kept = g_ptr_array_index (r->kept, k);
    add_to (kept, entry_of (r, window), mhar_dataset_get (slab, kept->name)->data.f64 + w * kept->n);
  }
}

void
mhar_resampler_add (MharResampler *r, const MharDataset *slab, guint64 first_window)
{
  gsize windows = mhar_dataset_n_fields (slab) > 0 ? mhar_dataset_field (slab, 0)->shape[0] : 0;

  if (r->kept->len == 0)
    keep_fields (r, slab);
  for (gsize w = 0; w < windows; w++)
    add_window (r, slab, w, first_window + w);
  r->windows = first_window + windows;
}

guint
mhar_resampler_entries (const MharResampler *r)
{
  guint64 n = 0;

  for (guint64 back = 1; back <= 2 && back <= r->windows; back++) /* one of either parity */
    n = MAX (n, entry_of (r, r->windows - back) + 1);
  return (guint)n;
}

guint
mhar_resample_block (guint n)
{
  guint length = 1;

  while (length * length * length < n)
    length++;
  return length;
}

gboolean
mhar_resample_enough (guint n)
{
  return mhar_resample_block (n) < n;
}

guint
mhar_resampler_block (const MharResampler *r)
{
  return mhar_resample_block (mhar_resampler_entries (r));
}

void
mhar_resample_count (guint64 seed, guint b, guint n, guint *times)
{
  guint length = mhar_resample_block (n);
  guint32 words[MHAR_RESAMPLE_ENTRIES];

  memset (times, 0, n * sizeof *times);
  mhar_random_words (seed, b, 0, MHAR_STREAM_WINDOWS, (n + length - 1) / length, words);
  for (guint i = 0; i < n; i++)
    times[(mhar_random_below (words[i / length], n) + i % length) % n]++;
}

void
mhar_resampled_draws (guint64 seed, guint b, gsize n, guint *draws)
{
  g_autofree guint32 *words = g_new (guint32, n);

  mhar_random_words (seed, b, 0, MHAR_STREAM_DRAWS, n, words);
  for (gsize j = 0; j < n; j++)
    draws[j] = (guint)mhar_random_below (words[j], n);
}

/* Row by row along the last dimension, which are the draws. */
static void
exchange_draws (double *sums, gsize n, gsize draws, guint64 seed, guint b)
{
  g_autofree guint *from = g_new (guint, draws);
  g_autofree double *row = g_new (double, draws);

  mhar_resampled_draws (seed, b, draws, from);
  for (gsize at = 0; at + draws <= n; at += draws) {
    memcpy (row, sums + at, draws * sizeof *row);
    for (gsize j = 0; j < draws; j++)
      sums[at + j] = row[from[j]];
  }
}

static void
put (const Kept *kept, const guint *times, guint64 seed, guint b, MharPool *pool)
{
  double *half[2] = { g_new0 (double, MAX (kept->n, 1)), g_new0 (double, MAX (kept->n, 1)) };

  for (guint e = 0; e < kept->entries->len; e++) {
    const double *sums = g_ptr_array_index (kept->entries, e);
    double *to = half[e % 2], often = times[e];
    for (gsize i = 0; times[e] > 0 && i < kept->n; i++)
      to[i] += often * sums[i];
  }
  for (guint p = 0; p < 2 && kept->draws > 0; p++)
    exchange_draws (half[p], kept->n, kept->draws, seed, b);
  mhar_pool_put (pool, kept->name, kept->n, half[0], half[1]);
}

MharPool *
mhar_resampler_pool (const MharResampler *r, guint64 seed, guint b)
{
  guint n = mhar_resampler_entries (r), times[MHAR_RESAMPLE_ENTRIES];
  MharPool *pool = mhar_pool_new ();

  mhar_resample_count (seed, b, n, times);
  for (guint k = 0; k < r->kept->len; k++)
    put (g_ptr_array_index (r->kept, k), times, seed, b, pool);
  mhar_pool_set_windows (pool, r->windows);
  return pool;
}

/* Whether each of n entries is in the first part of a split (Fisher–Yates over their order). */
static void
choose_half (guint64 seed, guint split, guint n, gboolean *first)
{
  guint order[MHAR_RESAMPLE_ENTRIES];
  guint32 words[MHAR_RESAMPLE_ENTRIES];

  mhar_random_words (seed, split, 0, MHAR_STREAM_SPLIT, n, words);
  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (guint i = n - 1; i > 0; i--) {
    gsize j = mhar_random_below (words[n - 1 - i], i + 1);
    guint held = order[i];
    order[i] = order[j];
    order[j] = held;
  }
  for (guint i = 0; i < n; i++)
    first[order[i]] = i < (n + 1) / 2;
}

MharPool *
mhar_resampler_split (const MharResampler *r, guint64 seed, guint split)
{
  guint n = mhar_resampler_entries (r);
  gboolean first[MHAR_RESAMPLE_ENTRIES] = { FALSE };
  MharPool *pool = mhar_pool_new ();

  if (n > 0)
    choose_half (seed, split, n, first);
  for (guint k = 0; k < r->kept->len; k++) {
    const Kept *kept = g_ptr_array_index (r->kept, k);
    double *half[2] = { g_new0 (double, MAX (kept->n, 1)), g_new0 (double, MAX (kept->n, 1)) };
    for (guint e = 0; e < kept->entries->len; e++) {
      const double *sums = g_ptr_array_index (kept->entries, e);
      for (gsize i = 0; i < kept->n; i++)
        half[!first[e]][i] += sums[i];
    }
    mhar_pool_put (pool, kept->name, kept->n, half[0], half[1]);
  }
  mhar_pool_set_windows (pool, r->windows);
  return pool;
}
