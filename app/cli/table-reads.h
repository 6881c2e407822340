/* SPDX-License-Identifier: MIT */
/* What heads read, for people. */
#pragma once

#include "app/cli/csv-lines.h"
#include "app/cli/table.h"

G_BEGIN_DECLS

/* Lines for mhar_table_format (GPtrArray of char **): what sources add to the logit of the next token. */
void mhar_table_reads (const GPtrArray *sets, GPtrArray *lines);
/* Every number of them, of the cells that were asked for, by name. */
void mhar_csv_reads (const MharCsv *csv, const MharDataset *set);
/* Of each cell asked for its means and the tokens in context, under the table, in any style but CSV; g_free; NULL where
 * there are none. */
char *mhar_table_reads_cells (const GPtrArray *sets, MharTableStyle style);

/* One cell that was asked for (child "reads" of a checkpoint's results): "SITE:HEAD:SOURCE", g_free; lines as above of
 * a name and its mean weight, and of a rank, weight, token and text; those with a label alone are headings. */
char *mhar_table_reads_cell (const MharDataset *reads, gsize cell);
void mhar_table_reads_means (const MharDataset *reads, gsize cell, GPtrArray *lines);
void mhar_table_reads_tokens (const MharDataset *reads, gsize cell, GPtrArray *lines);

/* `text` as one line for a terminal: line ends, tabs and what cannot be printed as escapes. g_free. */
char *mhar_escape (const char *text);

G_END_DECLS
