/* SPDX-License-Identifier: MIT */
/* A window: one checkpoint or saved run, its text, and everything that is shown of it. */
#pragma once

#include "app/gui/application.h"

G_BEGIN_DECLS

#define MHAR_TYPE_WINDOW (mhar_window_get_type ())
G_DECLARE_FINAL_TYPE (MharWindow, mhar_window, MHAR, WINDOW, GtkApplicationWindow)

MharWindow *mhar_window_new (MharApplication *application);

/* Opens a checkpoint folder or a saved run, in place of what is open; where that fails, says why and keeps it. */
void mhar_window_open (MharWindow *window, GFile *file);
/* Whether nothing is open or being opened. */
gboolean mhar_window_is_empty (MharWindow *window);

G_END_DECLS
