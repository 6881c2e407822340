/* SPDX-License-Identifier: MIT */
/* The page "Reads": what the selected head of the selected site reads of the selected source. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_READS_PAGE (mhar_reads_page_get_type ())
G_DECLARE_FINAL_TYPE (MharReadsPage, mhar_reads_page, MHAR, READS_PAGE, GtkBox)

GtkWidget *mhar_reads_page_new (MharSelection *selection);
void mhar_reads_page_set_dataset (MharReadsPage *page, MharDataset *set);
void mhar_reads_page_set_display (MharReadsPage *page, const MharDisplay *display);
MharFigureView *mhar_reads_page_get_view (MharReadsPage *page); /* its picture; borrowed */

G_END_DECLS
