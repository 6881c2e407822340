/* SPDX-License-Identifier: MIT */
/* A document's table on pages: widths of its columns, and its rows laid out. */
#pragma once

#include "app/figure/document-private.h"
#include "app/figure/document-text.h"

typedef struct {
  PangoLayout **cells; /* [n_columns]; of a heading within the table one, and NULLs */
  double height;
  gboolean part; /* such a heading */
} MharTableLine;

typedef struct {
  const MharBlock *block;
  double size, width;
  double *lefts, *widths; /* [n_columns] of the text in a column */
  MharTableLine *head;
  GPtrArray *lines; /* MharTableLine * */
} MharPageTable;

/* Within `width`; a little smaller where every cell then is one line, else where words and numbers would not fit, down
 * to 5.5, and then broken. Free with
 * mhar_page_table_free. */
MharPageTable *mhar_page_table_new (PangoContext *context, const MharBlock *block, double width);
void mhar_page_table_free (MharPageTable *table);
/* With its top left at (x, y). */
void mhar_page_table_draw (const MharPageTable *table, const MharTableLine *line, cairo_t *cr, double x, double y);
