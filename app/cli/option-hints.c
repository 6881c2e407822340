/* SPDX-License-Identifier: MIT */
#include "app/cli/option-hints.h"

#include "app/cli/option-table.h"
#include "core/error.h"
#include "probes/nearest-label.h"

#include <string.h>

#define UNKNOWN "Unknown option "

/* What other programs, or this one's own pages, call them. */
static const struct {
  const char *word, *option;
} others[] = { { "drop", "ablate" },      { "remove", "ablate" },   { "knockout", "ablate" }, { "plot", "figure" },
               { "draw", "figure" },      { "gpu", "device" },      { "cuda", "device" },     { "cpu", "device" },
               { "dtype", "precision" },  { "window", "context" },  { "length", "context" },  { "ids", "tokens" },
               { "limit", "max-tokens" }, { "format", "table" },    { "csv", "table" },       { "markdown", "table" },
               { "latex", "table" },      { "continue", "resume" }, { "diff", "compare" } };

/* The row whose name is the likeliest: that of another word for it, one that begins like it, or one a slip away. */
static const char *
nearest (const char *word)
{
  const char *best = NULL;
  guint least = MAX (1, (guint)strlen (word) / 3) + 1;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (strcmp (others[i].word, word) == 0)
      return others[i].option;
  for (const MharOptionGroup *group = mhar_option_groups; group->title != NULL; group++)
    for (const MharOptionRow *row = group->rows; row->name != NULL; row++) {
      guint distance = mhar_label_distance (word, row->name);
      if (strlen (word) > 2 && g_str_has_prefix (row->name, word))
        return row->name;
      if (distance < least) {
        least = distance;
        best = row->name;
      }
    }
  return best;
}

char *
mhar_hint_unknown (const char *message)
{
  const char *found = NULL;

  if (g_str_has_prefix (message, UNKNOWN)) {
    const char *word = message + strlen (UNKNOWN);
    g_autofree char *name = g_strndup (word, strcspn (word, "="));
    g_strdelimit (name, "_", '-');
    const char *bare = name + strspn (name, "-");
    found = strlen (bare) > 1 ? nearest (bare) : NULL;
  }
  return found != NULL ? g_strdup_printf ("%s; --%s may be meant, see mhar-probe --help", message, found)
                       : g_strdup_printf ("%s; see mhar-probe --help", message);
}

gboolean
mhar_check_detached_values (char *const *words, GError **error)
{
  for (guint i = 1; words[0] != NULL && words[i] != NULL && strcmp (words[i], "--") != 0; i++) {
    const MharOptionRow *row = g_str_has_prefix (words[i], "--") ? mhar_option_find (words[i]) : NULL;
    const char *next = words[i + 1];
    if (row == NULL || row->if_alone == NULL || next == NULL || *next == '-' || *next == '\0'
        || mhar_option_is_choice (row, next) || g_file_test (next, G_FILE_TEST_EXISTS))
      continue;
    g_autofree char *shown = g_filename_display_name (next);
    return mhar_bad_usage (error,
                           "%s: there is no such checkpoint, and a value of --%s follows “=” (--%s=%s); check which is "
                           "meant",
                           shown, row->name, row->name, shown);
  }
  return TRUE;
}
