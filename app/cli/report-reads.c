/* SPDX-License-Identifier: MIT */
/* What heads read, cell by cell, as --reads prints it; the figure shows the first of them. */
#include "app/cli/jobs.h"
#include "app/cli/report-private.h"
#include "app/cli/table-reads.h"

#define CELLS 16 /* of a checkpoint; the file has all */

/* The lines as rows of the table begun last, numbers typeset but for a text's. */
static void
add_rows (MharReport *r, const GPtrArray *lines, guint text)
{
  for (guint i = 0; i < lines->len; i++) {
    char **line = lines->pdata[i];
    for (guint c = 0; line[c] != NULL; c++)
      if (c > 0 && c != text)
        line[c] = mhar_report_typeset (line[c]);
    mhar_document_row (r->document, (const char *const *)line);
  }
}

static void
cell_tables (MharReport *r, const MharDataset *reads, gsize cell, const char *name)
{
  static const char *const means[] = { "tokens", "mean weight", NULL }, *const tokens[]
                                                                        = { "", "weight", "token", "text", NULL };
  g_autoptr (GPtrArray) bins = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_autofree char *cell_name = mhar_table_reads_cell (reads, cell), *shown = mhar_printable (cell_name);

  mhar_table_reads_means (reads, cell, bins);
  mhar_table_reads_tokens (reads, cell, lists);
  mhar_document_table (r->document, means, "lr",
                       MHAR_CODE "%s" MHAR_PLAIN ", " MHAR_CODE "%s" MHAR_PLAIN
                                 ": mean weight by what the token that reads is, and where.",
                       name, shown);
  add_rows (r, bins, 0);
  mhar_document_table (r->document, tokens, "rrrl",
                       MHAR_CODE "%s" MHAR_PLAIN ", " MHAR_CODE "%s" MHAR_PLAIN
                                 ": tokens with the largest and with the smallest weight; token: its place in the "
                                 "text, from 0, and between « and » the text that it covers.",
                       name, shown);
  add_rows (r, lists, 3);
}

gboolean
mhar_report_has_reads (const MharReport *r)
{
  for (guint c = 0; c < r->sets->len; c++)
    if (mhar_dataset_find_child (mhar_report_set (r, c), "reads") != NULL)
      return TRUE;
  return FALSE;
}

void
mhar_report_reads (MharReport *r)
{
  if (!mhar_report_has_reads (r))
    return;
  mhar_document_heading (r->document, 2, "What heads read");
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *reads = mhar_dataset_find_child (mhar_report_set (r, c), "reads");
    const MharField *cells = reads != NULL ? mhar_dataset_get (reads, "cell_site") : NULL;
    gsize n = cells != NULL ? cells->shape[0] : 0;

    for (gsize cell = 0; cell < MIN (n, CELLS); cell++)
      cell_tables (r, reads, cell, r->names[c]);
    if (n > CELLS)
      mhar_document_paragraph (r->document,
                               "These are the first %d of the %" G_GSIZE_FORMAT " cells of " MHAR_CODE "%s" MHAR_PLAIN
                               " that were asked for; the saved run has all of them.",
                               CELLS, n, r->names[c]);
  }
}
