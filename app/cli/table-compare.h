/* SPDX-License-Identifier: MIT */
/* A comparison of two checkpoints as a table of its own, printed after theirs. */
#pragma once

#include "app/cli/table.h"

G_BEGIN_DECLS

/* What the dataset "compare" (checked) says: the checkpoints' numbers, then a line for each read; as CSV, lines that
 * continue those of mhar_table_format. g_free. */
char *mhar_table_compare (const MharDataset *compare, MharTableStyle style);

G_END_DECLS
