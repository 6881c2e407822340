/* SPDX-License-Identifier: MIT */
/* A table of numbers as a list model: rows are made as a view asks for them. */
#pragma once

#include "app/gui/numbers.h"

G_BEGIN_DECLS

#define MHAR_TYPE_NUMBER_ROW (mhar_number_row_get_type ())
G_DECLARE_FINAL_TYPE (MharNumberRow, mhar_number_row, MHAR, NUMBER_ROW, GObject)

guint mhar_number_row_index (const MharNumberRow *row);

#define MHAR_TYPE_NUMBER_ROWS (mhar_number_rows_get_type ())
G_DECLARE_FINAL_TYPE (MharNumberRows, mhar_number_rows, MHAR, NUMBER_ROWS, GObject)

GListModel *mhar_number_rows_new (MharNumbers *numbers);

G_END_DECLS
