/* SPDX-License-Identifier: MIT */
/* Text for figures through Pango, the same on every surface: unhinted, grey antialiasing. Where the machine has no font
 * at all, Cairo's built-in stroke font (ASCII) stands in. */
#pragma once

#include "app/figure/colour-map.h"

#include <cairo.h>

typedef struct _MharText MharText;

typedef struct {
  const char *string;   /* UTF-8 */
  double size;          /* in user units; below 1 nothing is drawn and every extent is 0 */
  gsize bold;           /* bytes at the start that are bold */
  double width;         /* limit along the text; 0: none */
  gboolean wrap;        /* at the limit go to the next line, else end in "…" */
  gboolean up;          /* turned left: reads from bottom to top */
  double along, across; /* which point of the text lies at (x, y): 0 start or top, 0.5 middle, 1 end or bottom */
} MharTextRun;

MharText *mhar_text_new (const char *family); /* NULL: "Sans" */
void mhar_text_free (MharText *text);
/* Extents along and across the text, before it is turned. */
void mhar_text_measure (MharText *text, const MharTextRun *run, double *along, double *across);
void mhar_text_draw (MharText *text, cairo_t *cr, const MharTextRun *run, double x, double y, const MharRgb *colour);

/* Bytes of a file's string made fit to draw: valid UTF-8, no control characters, at most 200 characters. g_free. */
char *mhar_text_clean (const char *string);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharText, mhar_text_free)
