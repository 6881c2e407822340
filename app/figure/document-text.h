/* SPDX-License-Identifier: MIT */
/* Text of a document on a page of Cairo's, laid out by Pango as the figures' is. Lengths are points. */
#pragma once

#include <pango/pangocairo.h>

typedef struct {
  double size;
  gboolean bold, mono;
  double width;   /* the limit at which lines break; 0: none */
  double leading; /* of one line to the next, times what the font asks for; 0: 1 */
  PangoAlignment align;
} MharTextStyle;

/* A context for pages; NULL and MHAR_ERROR_RUN where the machine has no font. g_object_unref. */
PangoContext *mhar_page_context (GError **error);

/* `text` with the marks of document.h. g_object_unref. */
PangoLayout *mhar_page_layout (PangoContext *context, const char *text, const MharTextStyle *style);

/* The widest line and the height of all. */
void mhar_page_layout_size (PangoLayout *layout, double *width, double *height);
/* The widest word: what the layout needs at least without breaking one. */
double mhar_page_word_width (PangoContext *context, const char *text, const MharTextStyle *style);
