/* SPDX-License-Identifier: MIT */
/* The numbers of a page as a table: what a screen reader reads where the eye sees a picture. */
#pragma once

#include "app/gui/numbers.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_NUMBERS_VIEW (mhar_numbers_view_get_type ())
G_DECLARE_FINAL_TYPE (MharNumbersView, mhar_numbers_view, MHAR, NUMBERS_VIEW, GtkWidget)

GtkWidget *mhar_numbers_view_new (void);
/* NULL hides it until there are others. */
void mhar_numbers_view_show (MharNumbersView *view, MharNumbers *numbers);

G_END_DECLS
