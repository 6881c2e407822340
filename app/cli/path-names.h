/* SPDX-License-Identifier: MIT */
/* What checkpoints are called, so that each can be told from the others. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Each path as it is; where some are the same, each of these with its place on the line behind it: "run-a (2)".
 * g_strfreev, as of the next. */
char **mhar_path_names (const char *const *paths, guint n);

/* Base names, and where some are alike these paths' mhar_path_names. */
char **mhar_path_short_names (const char *const *paths, guint n);

/* What stands behind the last slash but those at the end; g_free. */
char *mhar_path_base (const char *path);

G_END_DECLS
