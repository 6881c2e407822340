/* SPDX-License-Identifier: MIT */
#include "probes/nearest-label.h"

#include <string.h>

#define NAMED 3
#define LONGEST 64 /* letters looked at */

/* Levenshtein's distance, by bytes. */
guint
mhar_label_distance (const char *a, const char *b)
{
  gsize n = MIN (strlen (a), LONGEST), m = MIN (strlen (b), LONGEST);
  guint row[LONGEST + 1];

  for (gsize j = 0; j <= m; j++)
    row[j] = (guint) j;
  for (gsize i = 1; i <= n; i++) {
    guint diagonal = row[0];
    row[0] = (guint) i;
    for (gsize j = 1; j <= m; j++) {
      guint changed = diagonal + (g_ascii_tolower (a[i - 1]) != g_ascii_tolower (b[j - 1]));
      diagonal = row[j];
      row[j] = MIN (changed, 1 + MIN (row[j], row[j - 1]));
    }
  }
  return row[m];
}

char *
mhar_nearest_labels (const char *word, const GPtrArray *labels)
{
  const char *found[NAMED] = { NULL };
  guint n = 0;

  for (; n < NAMED; n++) {
    guint best = G_MAXUINT;
    for (guint i = 0; i < labels->len; i++) {
      const char *label = g_ptr_array_index ((GPtrArray *) labels, i);
      gboolean named = FALSE;
      for (guint k = 0; k < n; k++)
        named |= strcmp (found[k], label) == 0;
      if (!named && mhar_label_distance (word, label) < best) {
        best = mhar_label_distance (word, label);
        found[n] = label;
      }
    }
    if (found[n] == NULL)
      break;
  }
  if (n == 1)
    return g_strdup (found[0]);
  return n == 2 ? g_strdup_printf ("%s or %s", found[0], found[1])
                : g_strdup_printf ("%s, %s or %s", found[0], found[1], found[2]);
}
