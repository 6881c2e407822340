/* SPDX-License-Identifier: MIT */
/* The page "Sources": how many sources each site reads from, exp (entropy) by site and head, and what each source gives
 * to the selected site, in the order of the sources or the largest first. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_SOURCES_VIEW (mhar_sources_view_get_type ())
G_DECLARE_FINAL_TYPE (MharSourcesView, mhar_sources_view, MHAR, SOURCES_VIEW, MharFigureView)

GtkWidget *mhar_sources_view_new (MharSelection *selection);
void mhar_sources_view_set_dataset (MharSourcesView *self, MharDataset *set);
void mhar_sources_view_set_display (MharSourcesView *self, const MharDisplay *display);
void mhar_sources_view_set_sorted (MharSourcesView *self, gboolean sorted);

G_END_DECLS
