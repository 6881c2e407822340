/* SPDX-License-Identifier: MIT */
/* The program: one process, a window for each checkpoint that is opened by another way than from a window. */
#pragma once

#include "app/gui/settings.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_APPLICATION_ID "io.github.mhar_probe.Viewer"

#define MHAR_TYPE_APPLICATION (mhar_application_get_type ())
G_DECLARE_FINAL_TYPE (MharApplication, mhar_application, MHAR, APPLICATION, GtkApplication)

MharApplication *mhar_application_new (void);

/* What is remembered from one start to the next. */
MharSettings *mhar_application_settings (MharApplication *application);

G_END_DECLS
