/* SPDX-License-Identifier: MIT */
/* A training run as a table: one line a step, a column a scalar. */
#pragma once

#include "app/cli/table.h"

G_BEGIN_DECLS

/* What the dataset "series" (checked) says; text is broken into several tables where it would be too wide, CSV has a
 * line a step and every number in full. g_free. */
char *mhar_table_series (const MharDataset *series, MharTableStyle style);

G_END_DECLS
