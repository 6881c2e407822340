/* SPDX-License-Identifier: MIT */
/* PCRE2 (through GRegex) is asked for a match at one place, shown a short window of the text and told to report a hard
 * partial match, which says that what is behind the window could matter; only then the window grows. So a match costs
 * as much as the word it finds, not as the rest of the text, whatever look-ahead the pattern has, and its steps can be
 * limited by the window's length. PCRE2 does not count a step for each character that a simple repeat passes, though:
 * its work can be the square of the window's length, so long windows are for patterns that are seen to be linear. */
#include "core/splitter.h"

#include "core/error.h"
#include "core/pattern.h"

#include <string.h>

#define WINDOW 128 /* bytes, the first one; most words are far shorter */
#define GROWTH 4
#define LONGEST 8192 /* window of a pattern that may be slower than linear: at worst a second or two for a match */
#define STEPS 16     /* of matching a byte of the window; a run of spaces needs about 3 */
#define MOST_STEPS 10000000 /* PCRE2 of GRegex makes no more; spaces in a row beyond as many are refused */
#define HEAP_KIB 65536      /* what one search may take */
#define GROWN_BYTES 16 /* a byte of the text, in grown windows: a word needs at most GROWTH² / (GROWTH − 1), about 5 \
                        */
#define BASE_SECONDS 20      /* for a whole text, and */
#define BYTE_MICROSECONDS 20 /* for each of its bytes, some 50 times what common patterns take */

struct _MharSplitter {
  char *pattern; /* translated */
  GRegex *first; /* for the first window */
  gboolean linear;
};

/* The pattern with the limits for a window of `window` bytes. */
static GRegex *
compile (const char *pattern, gsize window, GError **error)
{
  guint limit = (guint)MIN ((guint64)window * STEPS + 1024, MOST_STEPS);
  g_autofree char *limited = g_strdup_printf ("(*LIMIT_MATCH=%u)(*LIMIT_DEPTH=%u)(*LIMIT_HEAP=%u)%s", limit, limit,
                                              (guint)HEAP_KIB, pattern);
  return g_regex_new (limited, G_REGEX_NEWLINE_LF, 0, error);
}

MharSplitter *
mhar_splitter_new (const char *pattern, GError **error)
{
  gboolean linear;
  g_autofree char *translated = mhar_pattern_translate (pattern, &linear, error);
  if (translated == NULL)
    return NULL;
  GRegex *first = compile (translated, WINDOW, NULL);
  if (first == NULL) {
    mhar_bad_input (error,
                    "the pattern has a property, repeat or look-behind that PCRE2 does not know or finds too large");
    return NULL;
  }
  MharSplitter *splitter = g_new0 (MharSplitter, 1);
  splitter->pattern = g_steal_pointer (&translated);
  splitter->first = first;
  splitter->linear = linear;
  return splitter;
}

void
mhar_splitter_free (MharSplitter *splitter)
{
  if (splitter == NULL)
    return;
  g_free (splitter->pattern);
  g_regex_unref (splitter->first);
  g_free (splitter);
}

void
mhar_split_init (MharSplit *split, const MharSplitter *splitter, const char *text, gsize length)
{
  g_return_if_fail (length <= G_MAXINT);
  *split = (MharSplit){ .splitter = splitter, .text = text, .length = length, .match_end = G_MAXSIZE };
  split->allowance = (guint64)length * GROWN_BYTES + 65536;
  split->deadline
      = g_get_monotonic_time () + (gint64)BASE_SECONDS * G_USEC_PER_SEC + (gint64)length * BYTE_MICROSECONDS;
}

/* Where a window of `window` bytes from `from` ends: behind a whole character. */
static gsize
window_end (const MharSplit *split, gsize from, gsize window)
{
  if (window >= split->length - from)
    return split->length;
  gsize end = from + window;
  while (((guint8)split->text[end] & 0xc0) == 0x80)
    end--;
  return end;
}

typedef enum { FOUND, NOTHING, SHORT, FAILED } Search;

/* The match at `from` in a text that is cut at `end`: FOUND, NOTHING, or SHORT where bytes behind `end` may change the
 * answer. */
static Search
match_window (const MharSplit *split, const GRegex *regex, gsize from, gsize end, gsize *match_end)
{
  g_autoptr (GMatchInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  int start, stop;
  GRegexMatchFlags partial = end < split->length ? G_REGEX_MATCH_PARTIAL_HARD : 0;
  gboolean matched = g_regex_match_full (regex, split->text, (gssize)end, (int)from, G_REGEX_MATCH_ANCHORED | partial,
                                         &info, &error);
  if (error != NULL)
    return FAILED;
  if (!matched)
    return g_match_info_is_partial_match (info) ? SHORT : NOTHING;
  g_match_info_fetch_pos (info, 0, &start, &stop);
  *match_end = (gsize)stop;
  return FOUND;
}

/* The match at `from`, in windows as long as it takes. */
static Search
match_at (MharSplit *split, gsize from, gsize *match_end)
{
  const MharSplitter *splitter = split->splitter;
  if (g_get_monotonic_time () > split->deadline)
    return FAILED;
  Search search = match_window (split, splitter->first, from, window_end (split, from, WINDOW), match_end);
  for (gsize window = WINDOW * GROWTH; search == SHORT; window *= GROWTH) {
    gsize cost = MIN (window, split->length - from);
    if (cost > split->allowance || (!splitter->linear && cost > LONGEST))
      return FAILED;
    split->allowance -= cost;
    g_autoptr (GRegex) regex = compile (splitter->pattern, window, NULL);
    if (regex == NULL)
      return FAILED;
    search = match_window (split, regex, from, window_end (split, from, window), match_end);
  }
  return search;
}

/* The next match, found as Oniguruma's iterator does: an empty one right behind the match before does not count. */
static gboolean
find_match (MharSplit *split)
{
  while (split->search <= split->length) {
    gsize start = split->search, end;
    Search search = match_at (split, start, &end);
    if (search == FAILED)
      return FALSE;
    if (search == FOUND && (end > start || end != split->match_end)) {
      split->found = TRUE;
      split->start = start;
      split->end = split->search = split->match_end = end;
      return TRUE;
    }
    if (start == split->length)
      break;
    split->search = (gsize)(g_utf8_next_char (split->text + start) - split->text);
  }
  split->exhausted = TRUE;
  return TRUE;
}

MharSplitResult
mhar_split_next (MharSplit *split, gsize *start, gsize *end)
{
  while (split->at < split->length) {
    if (!split->found && !split->exhausted && !find_match (split))
      return MHAR_SPLIT_LIMIT;
    *start = split->at;
    if (split->found && split->at >= split->start) {
      split->at = split->end;
      split->found = FALSE;
    } else
      split->at = split->found ? split->start : split->length;
    *end = split->at;
    if (*end > *start)
      return MHAR_SPLIT_WORD;
  }
  return MHAR_SPLIT_END;
}
