/* SPDX-License-Identifier: MIT */
/* The page "Compare": A, B − A and B for the selected head, or the mean over heads; A and B on one scale, the
 * difference on its own. Sites and sources are matched by label where depths differ. The selection is A's. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_COMPARE_VIEW (mhar_compare_view_get_type ())
G_DECLARE_FINAL_TYPE (MharCompareView, mhar_compare_view, MHAR, COMPARE_VIEW, MharFigureView)

GtkWidget *mhar_compare_view_new (MharSelection *selection);
/* Either may be NULL; keeps references. */
void mhar_compare_view_set_datasets (MharCompareView *self, MharDataset *a, MharDataset *b);
void mhar_compare_view_set_display (MharCompareView *self, const MharDisplay *display);

G_END_DECLS
