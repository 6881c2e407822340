/* SPDX-License-Identifier: MIT */
/* What stands in the table, row by row. */
#pragma once

#include "core/field.h"
#include "probes/verdict.h"

G_BEGIN_DECLS

/* A row: what it says of a dataset; NULL where the dataset has nothing to say. A row without a cell is a heading. */
typedef struct {
  const char *label, *units;
  const char *name; /* of the attribute, or the prefix of several */
  char *(*cell) (const MharDataset *set, const char *name);
  const char *null_kind; /* only of datasets whose null is of this kind; NULL: of all */
} MharTableRow;

/* In order; the last has no label. */
extern const MharTableRow mhar_table_rows[];

/* What a row says of a dataset; NULL: nothing. g_free. */
char *mhar_table_cell (const MharTableRow *row, const MharDataset *set);

/* "above its null", "NOT DISTINGUISHABLE from its null" …; NULL where there is no null. */
char *mhar_table_verdict (MharVerdict verdict);

/* Lines (char **, label first; a heading is one cell) for every control of every set, and for those that cut models of
 * different widths into slices of one width. */
void mhar_table_add_controls (const GPtrArray *sets, GPtrArray *lines);

/* "slice_kl:4:contiguous:random": control i by what it is of and against; g_free. */
char *mhar_table_control_name (const MharDataset *controls, gsize i);

G_END_DECLS
