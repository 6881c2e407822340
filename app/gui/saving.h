/* SPDX-License-Identifier: MIT */
/* Figures to files and to the clipboard, as mhar-probe --figure draws them: the window's locale does not reach them. */
#pragma once

#include "app/figure/figure.h"

#include <gdk/gdk.h>

G_BEGIN_DECLS

/* Errors as mhar_figure_save. */
gboolean mhar_saving_figure (const char *path, MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                             GError **error);
/* The figure at its natural size, three pixels a point; g_object_unref. Errors as mhar_figure_draw. */
GdkTexture *mhar_saving_texture (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                                 GError **error);

G_END_DECLS
