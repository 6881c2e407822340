/* SPDX-License-Identifier: MIT */
/* Files of token ids: raw little-endian uint16 (.u16) or uint32 (.u32), or one-dimensional NumPy arrays (.npy). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The ids as a GArray of gint32 (g_array_unref), by the ending of `path`. MHAR_ERROR_INPUT naming the file where the ending is
 * another, the file is empty or not a whole number of ids, an id is negative or over 2³¹ − 1, or a .npy is not a one-dimensional
 * little-endian array of whole numbers. */
GArray *mhar_ids_parse (GBytes *bytes, const char *path, GError **error);

G_END_DECLS
