/* SPDX-License-Identifier: MIT */
/* The table of sites: what each reads and how, sortable by any column. Selecting a row selects the site. */
#pragma once

#include "app/gui/selection.h"
#include "core/plan.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_SITES_VIEW (mhar_sites_view_get_type ())
G_DECLARE_FINAL_TYPE (MharSitesView, mhar_sites_view, MHAR, SITES_VIEW, GtkWidget)

GtkWidget *mhar_sites_view_new (MharSelection *selection);

/* `set` NULL: what the plan knows before a run (labels and sources). Both NULL: nothing. */
void mhar_sites_view_show (MharSitesView *view, const MharPlan *plan, MharDataset *set);

G_END_DECLS
