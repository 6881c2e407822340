/* SPDX-License-Identifier: MIT */
/* What a window shows with nothing open: the demo, what can be opened, and what was. */
#pragma once

#include "app/gui/settings.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_START_PAGE (mhar_start_page_get_type ())
G_DECLARE_FINAL_TYPE (MharStartPage, mhar_start_page, MHAR, START_PAGE, GtkBox)

/* Its buttons activate win.open-uri (s), win.open-folder and win.open-file. */
GtkWidget *mhar_start_page_new (void);
void mhar_start_page_show_recent (MharStartPage *page, const MharSettings *settings);
void mhar_start_page_set_dark (MharStartPage *page, gboolean dark);

G_END_DECLS
