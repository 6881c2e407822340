/* SPDX-License-Identifier: MIT */
/* Merges lie sorted by their left token, then their right one: a table of first places and a short binary search find a
 * pair. (Not hashed: the file chooses the ids and could choose them to collide.) Short words are merged by looking
 * through all pairs for the lowest rank; long ones keep the pairs in a heap, since there a scan for each merge would be
 * quadratic. */
#include "core/bpe.h"

#include "core/error.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_WORD 64    /* bytes; about where a heap begins to pay */
#define NONE G_MAXUINT32 /* no token, no rank, no neighbour */

typedef struct {
  guint32 right, rank, id;
} Merge;

struct _MharBpe {
  guint32 byte_ids[256];
  gsize n_ids;
  guint32 *first; /* [n_ids + 2]: merge[first[l]] … merge[first[l + 1] − 1] have the left token l */
  Merge *merge;   /* by right token; of equal ones the highest rank first */
};

static int
compare_merges (const void *a, const void *b)
{
  const Merge *x = a, *y = b;
  if (x->right != y->right)
    return x->right < y->right ? -1 : 1;
  return x->rank > y->rank ? -1 : x->rank < y->rank;
}

MharBpe *
mhar_bpe_new (const guint32 *byte_ids, const MharBpePair *pairs, gsize n_pairs, gsize n_ids)
{
  g_return_val_if_fail (n_pairs < NONE && n_ids < NONE, NULL);
  MharBpe *bpe = g_new0 (MharBpe, 1);
  memcpy (bpe->byte_ids, byte_ids, sizeof bpe->byte_ids);
  bpe->n_ids = n_ids;
  bpe->first = g_new0 (guint32, n_ids + 2);
  bpe->merge = g_new (Merge, MAX (n_pairs, 1));

  /* Counting sort by left token. The counts stand two places on, so that filling leaves first[l] where l begins. */
  for (gsize i = 0; i < n_pairs; i++)
    bpe->first[pairs[i].left + 2]++;
  for (gsize l = 2; l < n_ids + 2; l++)
    bpe->first[l] += bpe->first[l - 1];
  for (gsize i = 0; i < n_pairs; i++)
    bpe->merge[bpe->first[pairs[i].left + 1]++] = (Merge){ pairs[i].right, (guint32)i, pairs[i].id };
  for (gsize l = 0; l < n_ids; l++)
    qsort (bpe->merge + bpe->first[l], bpe->first[l + 1] - bpe->first[l], sizeof (Merge), compare_merges);
  return bpe;
}

void
mhar_bpe_free (MharBpe *bpe)
{
  if (bpe == NULL)
    return;
  g_free (bpe->first);
  g_free (bpe->merge);
  g_free (bpe);
}

/* The merge of left and right; NULL where they do not merge. */
static const Merge *
find_merge (const MharBpe *bpe, guint32 left, guint32 right)
{
  const Merge *base = bpe->merge + bpe->first[left];
  gsize n = bpe->first[left + 1] - bpe->first[left];
  if (n == 0)
    return NULL;
  for (; n > 1; n -= n / 2)
    if (base[n / 2 - 1].right < right)
      base += n / 2;
  return base->right == right ? base : NULL;
}

static void
append_token (GArray *tokens, guint32 id, gsize start, gsize end)
{
  MharToken token = { (gint32)id, start, end };
  g_array_append_val (tokens, token);
}

/* A word of `n` tokens, at most SHORT_WORD: id[i] ends at the word's byte end[i]. */
static void
append_short (const MharBpe *bpe, guint32 *id, gsize n, gsize start, GArray *tokens)
{
  guint8 end[SHORT_WORD];
  const Merge *merge[SHORT_WORD]; /* of i and i + 1 */
  for (gsize i = 0; i < n; i++) {
    end[i] = (guint8)(i + 1);
    merge[i] = i + 1 < n ? find_merge (bpe, id[i], id[i + 1]) : NULL;
  }
  for (;;) {
    gsize best = n;
    for (gsize i = 0; i + 1 < n; i++)
      if (merge[i] != NULL && (best == n || merge[i]->rank < merge[best]->rank))
        best = i;
    if (best == n)
      break;
    id[best] = merge[best]->id;
    gsize rest = n - best - 2;
    memmove (id + best + 1, id + best + 2, rest * sizeof *id);
    memmove (end + best, end + best + 1, (rest + 1) * sizeof *end);
    memmove (merge + best, merge + best + 1, (rest + 1) * sizeof *merge);
    n--;
    merge[best] = best + 1 < n ? find_merge (bpe, id[best], id[best + 1]) : NULL;
    if (best > 0)
      merge[best - 1] = find_merge (bpe, id[best - 1], id[best]);
  }
  for (gsize i = 0; i < n; i++)
    append_token (tokens, id[i], start + (i > 0 ? end[i - 1] : 0), start + end[i]);
}

/* A long word: tokens linked by the byte they begin at, and a heap of the pairs that merge, lowest rank first, leftmost
 * first of equal ones. A pair that changed since it was put in is known by its rank, which no other pair has. */
typedef struct {
  guint32 rank, at;
} Entry;

typedef struct {
  const MharBpe *bpe;
  guint32 n;
  guint32 *id, *next, *previous; /* [n], by first byte; next and previous NONE at the ends */
  Entry *heap;                   /* [2n]: each merge takes one out and puts two in at most */
  gsize n_heap;
} LongWord;

static gboolean
entry_before (Entry a, Entry b)
{
  return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
}

static void
heap_sink (LongWord *word, gsize i)
{
  Entry entry = word->heap[i];
  for (gsize child; (child = 2 * i + 1) < word->n_heap; i = child) {
    if (child + 1 < word->n_heap && entry_before (word->heap[child + 1], word->heap[child]))
      child++;
    if (!entry_before (word->heap[child], entry))
      break;
    word->heap[i] = word->heap[child];
  }
  word->heap[i] = entry;
}

static void
heap_push (LongWord *word, Entry entry)
{
  gsize i = word->n_heap++;
  for (; i > 0 && entry_before (entry, word->heap[(i - 1) / 2]); i = (i - 1) / 2)
    word->heap[i] = word->heap[(i - 1) / 2];
  word->heap[i] = entry;
}

static Entry
heap_pop (LongWord *word)
{
  Entry top = word->heap[0];
  word->heap[0] = word->heap[--word->n_heap];
  if (word->n_heap > 0)
    heap_sink (word, 0);
  return top;
}

/* The merge of the token at `at` and its right neighbour; NULL where there is none. */
static const Merge *
merge_at (const LongWord *word, guint32 at)
{
  guint32 next = word->next[at];
  if (next == NONE || word->id[at] == NONE)
    return NULL;
  return find_merge (word->bpe, word->id[at], word->id[next]);
}

static void
push_pair (LongWord *word, guint32 at)
{
  const Merge *merge = merge_at (word, at);
  if (merge != NULL)
    heap_push (word, (Entry){ merge->rank, at });
}

static void
merge_long (LongWord *word)
{
  for (guint32 i = 0; i + 1 < word->n; i++) {
    const Merge *merge = merge_at (word, i);
    if (merge != NULL)
      word->heap[word->n_heap++] = (Entry){ merge->rank, i };
  }
  for (gsize i = word->n_heap / 2; i-- > 0;)
    heap_sink (word, i);
  while (word->n_heap > 0) {
    Entry top = heap_pop (word);
    const Merge *merge = merge_at (word, top.at);
    if (merge == NULL || merge->rank != top.rank)
      continue;
    guint32 gone = word->next[top.at];
    word->id[top.at] = merge->id;
    word->id[gone] = NONE;
    word->next[top.at] = word->next[gone];
    if (word->next[gone] != NONE)
      word->previous[word->next[gone]] = top.at;
    push_pair (word, top.at);
    if (word->previous[top.at] != NONE)
      push_pair (word, word->previous[top.at]);
  }
}

static gboolean
append_long (const MharBpe *bpe, const guint8 *bytes, gsize n, gsize start, GArray *tokens, GError **error)
{
  if (n >= G_MAXINT32)
    return mhar_bad_input (error, "the text has a single word of 2 GiB or more; break it up");
  g_autofree guint32 *links = g_try_malloc_n (n, 3 * sizeof (guint32));
  g_autofree Entry *heap = g_try_malloc_n (n, 2 * sizeof (Entry));
  if (links == NULL || heap == NULL) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN,
                 "not enough memory to tokenize a word of %" G_GSIZE_FORMAT " bytes; break it up", n);
    return FALSE;
  }
  LongWord word = { bpe, (guint32)n, links, links + n, links + 2 * n, heap, 0 };
  for (guint32 i = 0; i < word.n; i++) {
    word.id[i] = bpe->byte_ids[bytes[i]];
    word.next[i] = i + 1 < word.n ? i + 1 : NONE;
    word.previous[i] = i > 0 ? i - 1 : NONE;
  }
  merge_long (&word);
  for (guint32 i = 0; i != NONE; i = word.next[i])
    append_token (tokens, word.id[i], start + i, start + (word.next[i] != NONE ? word.next[i] : n));
  return TRUE;
}

gboolean
mhar_bpe_append (const MharBpe *bpe, const char *text, gsize start, gsize end, GArray *tokens, GError **error)
{
  const guint8 *bytes = (const guint8 *)text + start;
  gsize n = end - start;
  for (gsize i = 0; i < n; i++)
    if (bpe->byte_ids[bytes[i]] == NONE)
      return mhar_bad_input (error, "the vocabulary has no token for the byte 0x%02X, which the text holds", bytes[i]);
  if (n > SHORT_WORD)
    return append_long (bpe, bytes, n, start, tokens, error);
  guint32 id[SHORT_WORD];
  for (gsize i = 0; i < n; i++)
    id[i] = bpe->byte_ids[bytes[i]];
  append_short (bpe, id, n, start, tokens);
  return TRUE;
}
