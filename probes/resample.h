/* SPDX-License-Identifier: MIT */
/* The bootstrap: what sums would have been over other windows, drawn with replacement from those of the run, and over
 * other draws of the null.
 *
 * Windows are resampled in blocks (circular block bootstrap, Politis & Romano 1992), because windows of one text follow
 * each other. What is drawn are entries: a window each up to 256 of them; beyond, the u windows of one parity within 2u
 * consecutive ones, u = 2, 4, 8 … the least that leaves no more than 256. A block is the least whole number of entries
 * whose cube is not below their number; it begins anywhere, runs on past the last entry to the first, and the last
 * block is cut so that there are as many entries as before. Seeded (probes/philox.h), so that a run and its oracle draw
 * alike. */
#pragma once

#include "core/field.h"
#include "probes/pool.h"

G_BEGIN_DECLS

#define MHAR_RESAMPLES 2000
#define MHAR_RESAMPLE_ENTRIES 256 /* at most */

/* The entry that one of `windows` windows is in. */
guint mhar_resample_entry (guint64 window, guint64 windows);
/* Entries in a block, of n in all. */
guint mhar_resample_block (guint n);
/* Whether n entries can say how far a number spreads. Of fewer than three a block is all: every resample is the whole.
 */
gboolean mhar_resample_enough (guint n);
/* How often each of n entries stands in resample b: times [n], n ≤ MHAR_RESAMPLE_ENTRIES. */
void mhar_resample_count (guint64 seed, guint b, guint n, guint *times);

typedef struct _MharResampler MharResampler;

MharResampler *mhar_resampler_new (void);
void mhar_resampler_free (MharResampler *resampler);

/* Sums of this name (copied; "x*": all that begin with x) are kept; call before the first slab. */
void mhar_resampler_keep (MharResampler *resampler, const char *name);
/* Keeps what it was asked to of `slab`, whose first window has index `first_window`. Slabs come in order, with the same
 * fields. */
void mhar_resampler_add (MharResampler *resampler, const MharDataset *slab, guint64 first_window);

guint mhar_resampler_entries (const MharResampler *resampler);
guint mhar_resampler_block (const MharResampler *resampler);

/* The sums kept, over the windows of resample `b`, and with draws exchanged along every last dimension "draw". From any
 * thread. */
MharPool *mhar_resampler_pool (const MharResampler *resampler, guint64 seed, guint b);

/* The sums kept, of all windows, in two halves at random (mhar_pool_parity 0 and 1): the entries are put into a random
 * order, whose first half, the larger, is one. Of two entries or more. From any thread. */
MharPool *mhar_resampler_split (const MharResampler *resampler, guint64 seed, guint split);

/* The draws of resample `b`: [n] places in 0 … n − 1. */
void mhar_resampled_draws (guint64 seed, guint b, gsize n, guint *draws);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharResampler, mhar_resampler_free)

G_END_DECLS
