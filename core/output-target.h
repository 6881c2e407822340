/* SPDX-License-Identifier: MIT */
/* Where a file that is to be written really goes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The path that a file written beside it and renamed takes (symbolic links followed; g_free), and the permissions to keep:
 * those of the file that is replaced, 0 where there is none. MHAR_ERROR_RUN, naming the path, where it is no name of a
 * file, a link that leads nowhere, a folder, a device, pipe or socket, or read-only. */
char *mhar_output_target (const char *path, guint *mode, GError **error);

/* MHAR_ERROR_RUN, "cannot write PATH: WHY"; returns FALSE. */
gboolean mhar_cannot_write (const char *path, GError **error, const char *why);

G_END_DECLS
