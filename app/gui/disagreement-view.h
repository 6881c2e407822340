/* SPDX-License-Identifier: MIT */
/* The page "Disagreement": the trained value of each site as a dot (hollow within the null), its slices as dashes, what
 * random queries reach as a band, and a line of summary above. A dot selects its site. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_DISAGREEMENT_VIEW (mhar_disagreement_view_get_type ())
G_DECLARE_FINAL_TYPE (MharDisagreementView, mhar_disagreement_view, MHAR, DISAGREEMENT_VIEW, MharFigureView)

GtkWidget *mhar_disagreement_view_new (MharSelection *selection);
void mhar_disagreement_view_set_dataset (MharDisagreementView *self, MharDataset *set);
void mhar_disagreement_view_set_display (MharDisagreementView *self, const MharDisplay *display);

G_END_DECLS
