/* SPDX-License-Identifier: MIT */
/* The steps of a saved training run: every scalar against the step. Nothing in it is a site or a head, so it selects
 * nothing. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_SERIES_VIEW (mhar_series_view_get_type ())
G_DECLARE_FINAL_TYPE (MharSeriesView, mhar_series_view, MHAR, SERIES_VIEW, MharFigureView)

/* Its dataset is the group "series" of a saved run. */
GtkWidget *mhar_series_view_new (MharSelection *selection);

/* "Steps 100 to 4000: 12 checkpoints"; g_free. */
char *mhar_series_sentence (const MharDataset *series);

G_END_DECLS
