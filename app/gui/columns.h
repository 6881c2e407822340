/* SPDX-License-Identifier: MIT */
/* Three columns, of which the outer two give way: what does not fit beside the centre is not shown. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_COLUMNS (mhar_columns_get_type ())
G_DECLARE_FINAL_TYPE (MharColumns, mhar_columns, MHAR, COLUMNS, GtkWidget)

GtkWidget *mhar_columns_new (GtkWidget *left, GtkWidget *centre, GtkWidget *right);

/* Whether a side is wanted. Where both are and one fits, it is the one asked for last. */
void mhar_columns_show_left (MharColumns *columns, gboolean show);
void mhar_columns_show_right (MharColumns *columns, gboolean show);

G_END_DECLS
