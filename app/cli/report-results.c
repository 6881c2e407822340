/* SPDX-License-Identifier: MIT */
/* The table that a run prints, in the report. */
#include "app/cli/report-private.h"
#include "app/cli/table.h"

#include <string.h>

/* Identity is in the setup. */
static gboolean
is_wanted (const char *label)
{
  static const char *const told[] = { "mode",      "layers × width",   "routing heads",        "sites",
                                      "sources N", "tokens / windows", "intervals in brackets" };

  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    if (strcmp (label, told[i]) == 0)
      return FALSE;
  return TRUE;
}

/* Verdicts in capitals are for a terminal. */
static char *
cell_of (const char *text)
{
  if (strcmp (text, "—") == 0)
    return g_strdup ("–");
  if (g_str_has_prefix (text, "NOT DISTINGUISHABLE"))
    return g_strdup (MHAR_STRONG "not distinguishable from its null" MHAR_PLAIN);
  if (g_str_has_prefix (text, "BELOW"))
    return g_strdup (MHAR_STRONG "below its null" MHAR_PLAIN);
  return mhar_report_typeset (g_strdup (text));
}

static void
results_table (MharReport *r, guint first)
{
  guint n = MIN (r->sets->len - first, MHAR_REPORT_ABREAST);
  g_autoptr (GPtrArray) some = g_ptr_array_new ();
  const char *columns[MHAR_REPORT_ABREAST + 2] = { "" };
  char align[MHAR_REPORT_ABREAST + 2] = "l";
  g_autofree char *brackets = mhar_report_brackets (r, first, n);

  for (guint c = 0; c < n; c++) {
    g_ptr_array_add (some, g_ptr_array_index (r->sets, first + c));
    columns[c + 1] = r->names[first + c];
    align[c + 1] = 'r';
  }
  mhar_document_table (r->document, columns, align,
                       "Results. %s Slice disagreement belongs to reads with one head, head disagreement and deviation "
                       "to reads with several; "
                       "they are different quantities.",
                       brackets);
  g_autoptr (GPtrArray) lines = mhar_table_build (some);
  for (guint l = 0; l < lines->len; l++) {
    char **line = g_ptr_array_index (lines, l), *cells[MHAR_REPORT_ABREAST + 2] = { line[0] };
    for (guint c = 1; line[1] != NULL && c <= n; c++)
      cells[c] = cell_of (line[c]);
    if (line[1] == NULL || is_wanted (line[0]))
      mhar_document_row (r->document, (const char *const *)cells);
    for (guint c = 1; c <= n; c++)
      g_free (cells[c]);
  }
}

void
mhar_report_results (MharReport *r)
{
  mhar_document_heading (r->document, 1, "Results");
  for (guint c = 0; c < r->sets->len; c += MHAR_REPORT_ABREAST)
    results_table (r, c);
}
