/* SPDX-License-Identifier: MIT */
/* What --weights-only says of each query. */
#pragma once

#include "app/cli/csv-lines.h"
#include "app/cli/table.h"

G_BEGIN_DECLS

/* A line a query, under the table, in any style but CSV; g_free; NULL where no set has such results. */
char *mhar_table_weights (const GPtrArray *sets, MharTableStyle style);
/* The norms and cosines of every query, where the set has such results. */
void mhar_csv_weights (const MharCsv *csv, const MharDataset *set);

G_END_DECLS
