/* SPDX-License-Identifier: MIT */
/* The page "Collinearity": cosine between every pair of sublayer outputs. A cell selects its pair: the later output is
 * the selected site, the earlier one the selected source, where the checkpoint has such a read. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_COLLINEARITY_VIEW (mhar_collinearity_view_get_type ())
G_DECLARE_FINAL_TYPE (MharCollinearityView, mhar_collinearity_view, MHAR, COLLINEARITY_VIEW, MharFigureView)

GtkWidget *mhar_collinearity_view_new (MharSelection *selection);
void mhar_collinearity_view_set_dataset (MharCollinearityView *self, MharDataset *set);
void mhar_collinearity_view_set_display (MharCollinearityView *self, const MharDisplay *display);

G_END_DECLS
