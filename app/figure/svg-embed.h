/* SPDX-License-Identifier: MIT */
/* An SVG file inside another document. */
#pragma once

#include <glib.h>

/* Appends the <svg> element of the file in `svg` to `out`, with `prefix` before each of its ids, so that two figures of
 * one page do not share glyphs and clips, and as one picture (role img) to who cannot see it. */
void mhar_svg_embed (const GByteArray *svg, const char *prefix, GString *out);
