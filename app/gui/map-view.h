/* SPDX-License-Identifier: MIT */
/* The page "Depth maps": a map per head and one of their mean, sites down, sources across. A click selects a cell and
 * enlarges its map (with Control it only selects); F11 and Enter enlarge too, Escape and a button lead back. Enlarged,
 * the map is that of the selected head. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_MAP_VIEW (mhar_map_view_get_type ())
G_DECLARE_FINAL_TYPE (MharMapView, mhar_map_view, MHAR, MAP_VIEW, MharFigureView)

GtkWidget *mhar_map_view_new (MharSelection *selection);
void mhar_map_view_set_dataset (MharMapView *self, MharDataset *set);
void mhar_map_view_set_display (MharMapView *self, const MharDisplay *display);

/* Whether one map takes the whole page. */
void mhar_map_view_set_enlarged (MharMapView *self, gboolean enlarged);
gboolean mhar_map_view_get_enlarged (MharMapView *self);

G_END_DECLS
