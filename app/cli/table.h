/* SPDX-License-Identifier: MIT */
/* The table on the screen: one column a checkpoint, as in the paper's Table 6. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

/* The table of `sets` (MharDataset *) as text, ending with a newline; g_free. Absent probes have no rows. */
char *mhar_table_format (const GPtrArray *sets, MharTableStyle style);

/* What the columns are called: base names of the checkpoints, or whole paths where two base names are alike, or
 * these with their places where they are alike too. g_strfreev. */
char **mhar_table_names (const GPtrArray *sets);

/* The rows but for controls and interventions, as lines of cells (char **, label first); a heading is a line of one cell.
 * Headings with no rows left under them are dropped. */
GPtrArray *mhar_table_build (const GPtrArray *sets);

/* The same of lines that are made already (char **: label, then `n` cells; a heading alone) under the columns' names:
 * as text, Markdown or LaTeX. */
char *mhar_table_lines (char **names, const GPtrArray *lines, guint n, MharTableStyle style);

G_END_DECLS
