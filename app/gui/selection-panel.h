/* SPDX-License-Identifier: MIT */
/* What the selection is, in numbers and with a verdict: the right column of the window. */
#pragma once

#include "app/gui/display.h"
#include "app/gui/selection.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_SELECTION_PANEL (mhar_selection_panel_get_type ())
G_DECLARE_FINAL_TYPE (MharSelectionPanel, mhar_selection_panel, MHAR, SELECTION_PANEL, GtkWidget)

GtkWidget *mhar_selection_panel_new (MharSelection *selection);
/* NULL clears. Keeps a reference. */
void mhar_selection_panel_set_dataset (MharSelectionPanel *self, MharDataset *set);
void mhar_selection_panel_set_display (MharSelectionPanel *self, const MharDisplay *display);

G_END_DECLS
