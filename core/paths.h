/* SPDX-License-Identifier: MIT */
/* Where the program finds what belongs to it, installed or not. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A file of the bundled data ("demo/text.txt"), or NULL where there is none: in $MHAR_DATA_DIR, beside an installed program
 * (../share/mhar-probe), in the configured data folder, in the source tree of an uninstalled build. g_free. */
char *mhar_path_data (const char *name);

/* A plug-in by file name, or NULL: in $MHAR_BACKEND_DIR alone where that is set, else beside an installed program
 * (../lib*), in the configured library folder, in the build tree. Never the current folder. g_free. */
char *mhar_path_plugin (const char *name);

/* A program that this one starts, or NULL: beside an installed program (../lib*), in the build tree of one that is not, in the
 * configured library folder. g_free. */
char *mhar_path_program (const char *name);

G_END_DECLS
