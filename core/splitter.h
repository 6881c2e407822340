/* SPDX-License-Identifier: MIT */
/* Cuts a text into the words that byte-pair encoding works on: the matches of a pattern, and what lies between them.
 * The pattern is not trusted: every match has a limit of steps, all together one of time. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MharSplitter MharSplitter;

/* `pattern` as in tokenizer.json. MHAR_ERROR_INPUT where it is not a regular expression we can follow. */
MharSplitter *mhar_splitter_new (const char *pattern, GError **error);
void mhar_splitter_free (MharSplitter *splitter);

/* One walk over one text; plain memory, nothing to free. The fields are the walk's own. */
typedef struct {
  const MharSplitter *splitter;
  const char *text;
  gsize length;
  gsize at;         /* the words before it are handed out */
  gsize search;     /* where the next search begins */
  gsize match_end;  /* of the last match; G_MAXSIZE before the first */
  gsize start, end; /* the match found, while `found` */
  gboolean found, exhausted;
  guint64 allowance; /* bytes that may still be looked at in windows longer than the first */
  gint64 deadline;   /* monotonic, microseconds */
} MharSplit;

typedef enum { MHAR_SPLIT_LIMIT = -1, MHAR_SPLIT_END = 0, MHAR_SPLIT_WORD = 1 } MharSplitResult;

/* `text`: `length` bytes of valid UTF-8, at most G_MAXINT, NUL bytes allowed. */
void mhar_split_init (MharSplit *split, const MharSplitter *splitter, const char *text, gsize length);
/* The next word [*start, *end), never empty; MHAR_SPLIT_LIMIT where the pattern needs more steps or time than it may
 * have (at split->search). */
MharSplitResult mhar_split_next (MharSplit *split, gsize *start, gsize *end);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharSplitter, mhar_splitter_free)

G_END_DECLS
