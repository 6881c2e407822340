/* SPDX-License-Identifier: MIT */
/* What the probes are asked: how much text, in which windows, against which null. */
#pragma once

#include "app/gui/settings.h"
#include "probes/probe.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_PROBE_PANEL (mhar_probe_panel_get_type ())
G_DECLARE_FINAL_TYPE (MharProbePanel, mhar_probe_panel, MHAR, PROBE_PANEL, GtkBox)

GtkWidget *mhar_probe_panel_new (void);

/* Fills in what the panel decides; leaves the rest. */
void mhar_probe_panel_read (MharProbePanel *panel, MharProbeOptions *options);
/* Slices that do not divide the model's width are not offered. */
void mhar_probe_panel_set_width (MharProbePanel *panel, int width);
/* Remembers what was run, so that the panel can say what has changed since; NULL forgets. */
void mhar_probe_panel_set_ran (MharProbePanel *panel, const MharProbeOptions *options);

void mhar_probe_panel_load (MharProbePanel *panel, const MharSettings *settings);
void mhar_probe_panel_save (MharProbePanel *panel, MharSettings *settings);

G_END_DECLS
