/* SPDX-License-Identifier: MIT */
/* Text without any font installed: Cairo's built-in stroke font, which knows ASCII. */
#pragma once

#include <cairo.h>
#include <glib.h>

/* The lines of `string`, in ASCII, broken at spaces (`wrap`) or cut so that none is longer than `width` (0: any length)
 * at `size`; `scratch` is any cairo_t to measure with. g_strfreev. */
char **mhar_stroke_text_lines (cairo_t *scratch, const char *string, double size, double width, gboolean wrap);
void mhar_stroke_text_extents (cairo_t *scratch, char **lines, double size, double *along, double *across);
/* Draws the lines with the first one's top left at the current point, in the current source. */
void mhar_stroke_text_show (cairo_t *cr, char **lines, double size);
