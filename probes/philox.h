/* SPDX-License-Identifier: MIT */
/* Philox4x32-10 (Salmon et al., SC'11): random words by their place, so that what is drawn is the same on every device,
 * whatever the thread count and however much is drawn beside it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a word is for, the last of the four words of its counter. Never renumbered: files and the oracle hold them. */
typedef enum {
  MHAR_STREAM_NORMALS = 0, /* random queries: (draw, site) */
  MHAR_STREAM_WINDOWS = 1, /* blocks of the bootstrap: (resample, 0) */
  MHAR_STREAM_DRAWS = 2,   /* resampled draws: (resample, 0) */
  MHAR_STREAM_SHUFFLE = 3, /* shuffled queries: (draw, site) */
  MHAR_STREAM_SWAP = 4,    /* swapped queries: (draw, first site) */
  MHAR_STREAM_SPLIT = 5    /* a text in two halves: (split, 0) */
} MharStream;

/* The first `n` words of a stream: block b of four has the counter (b, one, two, stream), the key is the seed's two
 * halves, low first. */
void mhar_random_words (guint64 seed, guint32 one, guint32 two, MharStream stream, gsize n, guint32 *words);

/* A word as a whole number below n: ⌊word · n / 2³²⌋. */
static inline gsize
mhar_random_below (guint32 word, gsize n)
{
  return (gsize)((guint64)word * n >> 32);
}

G_END_DECLS
