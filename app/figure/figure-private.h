/* SPDX-License-Identifier: MIT */
/* What the files of this folder share: one drawing on its way from dataset to ink, and the table of kinds. */
#pragma once

#include "app/figure/axis-labels.h"
#include "app/figure/colour-map.h"
#include "app/figure/drawing.h"
#include "app/figure/figure-text.h"

struct _MharDrawing {
  MharFigureLayout out; /* first: layouts given out are drawings */
  const MharDataset *set;
  MharFigureOptions options;
  const MharPalette *palette;
  MharText *text;
  double font, small, margin; /* sizes of titles, of other text, and of the empty border; font 0: no text */
  MharAxis x, y;
  char *heading, *caption, *null_label, *scale_title; /* scale_title names the colour scale or the y axis */
  gsize heading_bold, caption_bold;                   /* bytes of each that are bold */
  gsize legend; /* bytes of the caption before what explains marks, and stands under the figure whatever is said of it;
                   0: none */
  gboolean no_caption;                                /* not wanted, or given up at this size */
  guint grid_columns;

  /* Maps. */
  const MharField *field;
  gsize *n_sources; /* [n_rows] of maps over sources */
  MharColourMap map;
  gboolean hatched;   /* lines over cells without a value */
  gboolean over;      /* a value shown lies above the scale, */
  gboolean under;     /* or below it */
  double linear;      /* > 0: the scale is linear up to here and logarithmic beyond, asinh (v / linear); 0: linear */
  double null_extent; /* marked on the colour bar; NaN: none */
  /* The value in a cell, NaN where there is none; `panel` indexes out.panels, row and column the data. */
  double (*value) (const MharDrawing *drawing, guint panel, guint row, guint column);

  double *consensus; /* [n_rows, n_columns] mean over heads; NULL where no panel shows it */

  MharDrawing *second; /* compare: another scale, for panel second_panel; owned by `extra` */
  guint second_panel;

  gpointer extra; /* of one kind only; freed with */
  GDestroyNotify extra_free;

  /* kl: per column. */
  double *trained, *null_mean, *null_sd; /* NaN where absent */
  double *low, *high;                    /* of the trained's interval */
  double *p_value;
  guint broken; /* sites left out since their numbers are not finite */
  guint *counts;                         /* collinearity: the histogram */
  guint n_counts;
};

typedef struct {
  MharFigureKind kind;
  const char *name;
  gboolean listed; /* can be asked for by name */
  gboolean (*available) (const MharDataset *set);
  /* Fills everything that does not depend on the size. */
  gboolean (*prepare) (MharDrawing *drawing, GError **error);
  void (*natural) (MharDrawing *drawing, double *width, double *height);
  void (*place) (MharDrawing *drawing); /* rectangles within out.width × out.height */
  void (*paint) (const MharDrawing *drawing, cairo_t *cr);
} MharFigureClass;

extern const MharFigureClass mhar_figure_deviation, mhar_figure_depth_map, mhar_figure_kl, mhar_figure_collinearity,
    mhar_figure_coefficients, mhar_figure_sources, mhar_figure_compare, mhar_figure_ablation,
    mhar_figure_reads, mhar_figure_series;

/* What column `column` of a panel of a reads figure is; NULL where there is none. Borrowed. */
const char *mhar_figure_reads_label (const MharDrawing *drawing, guint panel, guint column);

/* Sets the size and with it the sizes of text. */
void mhar_drawing_set_size (MharDrawing *drawing, double width, double height);
/* Gives the page to the cells: no text from here on. */
void mhar_drawing_mute (MharDrawing *drawing);
void mhar_drawing_natural_size (MharDrawing *drawing, double *width, double *height);
/* Whether the view is not all of the cells. */
gboolean mhar_drawing_is_zoomed (const MharDrawing *drawing);

/* Colour scale and map as the options ask: called by the kinds that draw maps when low, high and map are what they
 * would be without. */
void mhar_drawing_apply_scale (MharDrawing *drawing);

/* Rows and columns 0 … n-1, all in view. */
void mhar_drawing_set_cells (MharDrawing *drawing, guint rows, guint columns);
void mhar_drawing_set_panels (MharDrawing *drawing, guint n);

/* Height of the caption in the present width, and its rectangle at the bottom of the page; 0 where it would take more
 * than three tenths of the page, or none is wanted. */
double mhar_drawing_place_caption (MharDrawing *drawing);
void mhar_drawing_paint_caption (const MharDrawing *drawing, cairo_t *cr);

/* Text at (x, y) in the theme's ink; see MharTextRun. */
void mhar_drawing_write (const MharDrawing *drawing, cairo_t *cr, const MharTextRun *run, double x, double y,
                         const MharRgb *colour);
double mhar_drawing_text_width (const MharDrawing *drawing, const char *string, double size);
void mhar_drawing_set_source (cairo_t *cr, const MharRgb *colour);

/* A placed drawing as the text of an SVG file, appended to `bytes`. MHAR_ERROR_RUN, naming `path`. */
gboolean mhar_drawing_svg (MharDrawing *drawing, GByteArray *bytes, const char *path, GError **error);

/* "demo-mhar  full_mh · d 256, L 6, H 4 · …": the start of every caption; *bold is the length of the name.
 * g_string_free. */
GString *mhar_caption_new (const MharDataset *set, gsize *bold);
/* "; hatched: no such source yet. …": what a map of `what` has to say of cells without a value, of `broken`
 * sites whose weights are no numbers, and of values beyond its scale. */
void mhar_caption_cells (const MharDrawing *drawing, GString *caption, const char *what, guint broken);
/* The legend of a caption, to its end; NULL where there is none. The drawing's. */
const char *mhar_drawing_legend (const MharDrawing *drawing);
