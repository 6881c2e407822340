/* SPDX-License-Identifier: MIT */
/* The page "Compare": the comparison where there are two, else what to compare with. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_COMPARE_PAGE (mhar_compare_page_get_type ())
G_DECLARE_FINAL_TYPE (MharComparePage, mhar_compare_page, MHAR, COMPARE_PAGE, GtkWidget)

GtkWidget *mhar_compare_page_new (MharSelection *selection);
/* `caution` is what speaks against comparing the two; NULL: nothing. */
void mhar_compare_page_show (MharComparePage *page, MharDataset *a, MharDataset *b, const MharDataset *compared, const char *caution);
void mhar_compare_page_set_display (MharComparePage *page, const MharDisplay *display);
MharFigureView *mhar_compare_page_get_view (MharComparePage *page);

G_END_DECLS
