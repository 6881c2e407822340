/* SPDX-License-Identifier: MIT */
/* Contents lie sorted by bytes, so those that share what has been read so far are a range, which every further byte
 * narrows; a content that ends there stands first in it. */
#include "core/added-tokens.h"

#include <string.h>

typedef struct {
  char *content;
  gsize length;
  guint32 id;
  guint order; /* of adding */
} Added;

struct _MharAddedTokens {
  GArray *sorted;   /* of Added */
  guint first[257]; /* those with the first byte b are sorted[first[b]] … sorted[first[b + 1] − 1] */
};

static void
added_clear (gpointer data)
{
  g_free (((Added *)data)->content);
}

MharAddedTokens *
mhar_added_tokens_new (void)
{
  MharAddedTokens *added = g_new0 (MharAddedTokens, 1);
  added->sorted = g_array_new (FALSE, FALSE, sizeof (Added));
  g_array_set_clear_func (added->sorted, added_clear);
  return added;
}

void
mhar_added_tokens_free (MharAddedTokens *added)
{
  if (added == NULL)
    return;
  g_array_unref (added->sorted);
  g_free (added);
}

void
mhar_added_tokens_add (MharAddedTokens *added, const char *content, gsize length, guint32 id)
{
  g_return_if_fail (length > 0);
  Added entry = { g_memdup2 (content, length), length, id, added->sorted->len };
  g_array_append_val (added->sorted, entry);
}

/* By content; equal ones the first added last, since a later exact match takes the place of an earlier one in a search.
 */
static int
compare_added (gconstpointer a, gconstpointer b)
{
  const Added *x = a, *y = b;
  int order = memcmp (x->content, y->content, MIN (x->length, y->length));
  if (order != 0)
    return order;
  if (x->length != y->length)
    return x->length < y->length ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

void
mhar_added_tokens_seal (MharAddedTokens *added)
{
  g_array_sort (added->sorted, compare_added);
  guint i = 0;
  for (guint byte = 0; byte < 256; byte++) {
    added->first[byte] = i;
    while (i < added->sorted->len && (guint8)g_array_index (added->sorted, Added, i).content[0] == byte)
      i++;
  }
  added->first[256] = i;
}

/* The first of sorted[low, high), all longer than `depth` and alike before it, whose byte at `depth` is not below
 * `byte`. */
static guint
lower_bound (const MharAddedTokens *added, guint low, guint high, gsize depth, guint byte)
{
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if ((guint8)g_array_index (added->sorted, Added, middle).content[depth] < byte)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The longest content that the text (`length` bytes, at least 1) begins with; NULL where there is none. */
static const Added *
longest_here (const MharAddedTokens *added, const char *text, gsize length)
{
  const Added *best = NULL;
  guint low = added->first[(guint8)text[0]], high = added->first[(guint8)text[0] + 1];
  for (gsize depth = 1; low < high; depth++) {
    for (; low < high && g_array_index (added->sorted, Added, low).length == depth; low++)
      best = &g_array_index (added->sorted, Added, low);
    if (depth == length)
      break;
    low = lower_bound (added, low, high, depth, (guint8)text[depth]);
    high = lower_bound (added, low, high, depth, (guint)(guint8)text[depth] + 1);
  }
  return best;
}

gboolean
mhar_added_tokens_find (const MharAddedTokens *added, const char *text, gsize length, gsize from, gsize *start,
                        gsize *end, guint32 *id)
{
  if (added->sorted->len == 0)
    return FALSE;
  for (gsize at = from; at < length; at++) {
    guint8 byte = (guint8)text[at];
    if (added->first[byte] == added->first[byte + 1])
      continue;
    const Added *hit = longest_here (added, text + at, length - at);
    if (hit == NULL)
      continue;
    *start = at;
    *end = at + hit->length;
    *id = hit->id;
    return TRUE;
  }
  return FALSE;
}
