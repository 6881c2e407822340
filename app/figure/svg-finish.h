/* SPDX-License-Identifier: MIT */
/* What Cairo's SVG lacks: a title, and ids that do not depend on what was drawn before. */
#pragma once

#include <glib.h>

/* Rewrites the text in `svg`. `title` is plain text. */
void mhar_svg_finish (GByteArray *svg, const char *title);
