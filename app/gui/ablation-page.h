/* SPDX-License-Identifier: MIT */
/* The page "Ablation": a button that measures the ablation map, how many tokens it takes for it, and the map. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_ABLATION_PAGE (mhar_ablation_page_get_type ())
G_DECLARE_FINAL_TYPE (MharAblationPage, mhar_ablation_page, MHAR, ABLATION_PAGE, GtkBox)

GtkWidget *mhar_ablation_page_new (MharSelection *selection);
/* `set` is a run that holds an ablation map, or NULL; `measurable`: a checkpoint is open that has one to measure. */
void mhar_ablation_page_show (MharAblationPage *page, MharDataset *set, gboolean measurable);
void mhar_ablation_page_set_display (MharAblationPage *page, const MharDisplay *display);
MharFigureView *mhar_ablation_page_get_view (MharAblationPage *page); /* its picture; borrowed */
/* Tokens of the text that a measurement takes at most. */
int mhar_ablation_page_get_tokens (MharAblationPage *page);

G_END_DECLS
