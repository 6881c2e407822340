/* SPDX-License-Identifier: MIT */
/* What is open, in words: mode, sizes, and everything that deserves a warning. */
#pragma once

#include "app/gui/opened.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_CHECKPOINT_PANEL (mhar_checkpoint_panel_get_type ())
G_DECLARE_FINAL_TYPE (MharCheckpointPanel, mhar_checkpoint_panel, MHAR, CHECKPOINT_PANEL, GtkBox)

GtkWidget *mhar_checkpoint_panel_new (void);

/* `set` is the run that is shown, NULL before there is one: its own warnings join the checkpoint's. */
void mhar_checkpoint_panel_show (MharCheckpointPanel *panel, const MharOpened *opened, const MharDataset *set);

G_END_DECLS
