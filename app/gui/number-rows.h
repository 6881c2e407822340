/* SPDX-License-Identifier: MIT */
/* A table of numbers as a list model. Rows are made as a view asks for them, and stay where a table replaces another: a
 * view has a label for each cell, and to make or to fill them all at once takes longer than a key press may wait. */
#pragma once

#include "app/gui/numbers.h"

G_BEGIN_DECLS

/* GTK's list makes widgets for that many at most, however many there are. */
#define MHAR_NUMBER_ROWS_WITH_WIDGETS 200

#define MHAR_TYPE_NUMBER_ROWS (mhar_number_rows_get_type ())
G_DECLARE_FINAL_TYPE (MharNumberRows, mhar_number_rows, MHAR, NUMBER_ROWS, GObject)

/* Emits "changed" when its texts are others. */
#define MHAR_TYPE_NUMBER_ROW (mhar_number_row_get_type ())
G_DECLARE_FINAL_TYPE (MharNumberRow, mhar_number_row, MHAR, NUMBER_ROW, GObject)

/* What a cell says; "–" where there is no number. g_free. */
char *mhar_number_row_text (const MharNumberRow *row, guint column);

MharNumberRows *mhar_number_rows_new (void);
/* Takes a reference to `numbers`, NULL for no rows. What is too many goes at once; rows that are in use change, and new ones
 * come, by mhar_number_rows_advance. */
void mhar_number_rows_replace (MharNumberRows *rows, MharNumbers *numbers);
/* Changes or adds up to `n` rows; whether any are left. Those that no view has labels for come all at once at the end. */
gboolean mhar_number_rows_advance (MharNumberRows *rows, guint n);

G_END_DECLS
