/* SPDX-License-Identifier: MIT */
/* Which sites and sources of two datasets belong together: those of the same label. */
#pragma once

#include "app/figure/drawing.h"

G_BEGIN_DECLS

/* Rows are the sites of both, columns the sources of both, in an order that keeps both lists' own. */
typedef struct {
  guint n_rows, n_columns;
  char **rows, **columns; /* labels as drawn */
  guint *sites[2];        /* [n_rows] the site of either dataset; G_MAXUINT where it has none of that label */
  guint *sources[2];      /* [n_rows, n_columns] the source of that site; G_MAXUINT likewise */
} MharPairing;

/* Of the field [site, head, source] in both. MHAR_ERROR_INPUT where there is too much to show side by side. */
MharPairing *mhar_pairing_new (const MharDataset *a, const MharDataset *b, const char *field, GError **error);
void mhar_pairing_free (MharPairing *pairing);
/* The row and column of a cell of dataset `which` (0 or 1); FALSE where it has none. */
gboolean mhar_pairing_find (const MharPairing *pairing, guint which, guint site, guint source, guint *row,
                            guint *column);

/* The head at which the two can be compared at the sites `site_a` and `site_b`: `head` where both sites have it and equally
 * many heads; −1, the mean over heads, where they have not: heads of one number are not those of another. Where there is
 * only one of the sites (the other G_MAXUINT) `head` if that has it. */
int mhar_pairing_head (const MharDataset *a, guint site_a, const MharDataset *b, guint site_b, int head);

/* The pairing behind a compare figure, borrowed; NULL of other kinds. */
const MharPairing *mhar_drawing_pairing (const MharDrawing *drawing);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharPairing, mhar_pairing_free)

G_END_DECLS
