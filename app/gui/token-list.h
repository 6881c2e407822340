/* SPDX-License-Identifier: MIT */
/* The tokens at which a cell's weight is largest, or smallest: a line each, its weight and the token in its context.
 * Choosing a line selects the token. */
#pragma once

#include "app/gui/selection.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_TOKEN_LIST (mhar_token_list_get_type ())
G_DECLARE_FINAL_TYPE (MharTokenList, mhar_token_list, MHAR, TOKEN_LIST, GtkBox)

/* `which`: 0 the most, 1 the least. */
GtkWidget *mhar_token_list_new (MharSelection *selection, guint which, const char *title);
/* The lines of cell `cell` of results' reads; no lines where `reads` is NULL or the cell below 0. Nothing is kept. */
void mhar_token_list_show (MharTokenList *list, const MharDataset *reads, int cell);

G_END_DECLS
