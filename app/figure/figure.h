/* SPDX-License-Identifier: MIT */
/* Figures of one checkpoint's results (a dataset of core/field.h), drawn with Cairo on anything Cairo draws on.
 *
 * Drawing never saves and saving never draws by another way, so a picture written by the command line is the picture in
 * the window. Lengths are user units of the cairo_t: points in a PDF or SVG, logical pixels in a window. */
#pragma once

#include "core/field.h"

#include <cairo.h>

G_BEGIN_DECLS

typedef enum {
  MHAR_FIGURE_DEFAULT,      /* what mhar_figure_default_kind says of the dataset */
  MHAR_FIGURE_DEVIATION,    /* a panel per head: weight minus the mean over heads (the paper's Figure 4) */
  MHAR_FIGURE_DEPTH_MAP,    /* a panel per head and their mean: token mean of the routing weight */
  MHAR_FIGURE_KL,           /* slice disagreement (one head) or head disagreement by site, with the null */
  MHAR_FIGURE_COLLINEARITY, /* cosine between every pair of sublayer outputs */
  MHAR_FIGURE_COEFFICIENTS, /* of a hyper-connected model: what each sublayer takes of each output before it, signed */
  MHAR_FIGURE_SOURCES,      /* effective number of sources by site; what each source gives one site */
  MHAR_FIGURE_COMPARE,      /* one map of this dataset and of another, and the difference */
  MHAR_FIGURE_ABLATION,     /* what leaving each source of each site out does to the loss, beside the routing mass */
  MHAR_FIGURE_SERIES,       /* of a training run's "series": every scalar against the step */
  MHAR_FIGURE_READS         /* what a head reads of a source: its weight by position, class and piece of the token */
} MharFigureKind;

typedef enum { MHAR_FIGURE_LIGHT, MHAR_FIGURE_DARK } MharFigureTheme;
typedef enum {
  MHAR_FIGURE_PLAIN,
  MHAR_FIGURE_AUTHORS /* as the paper's own plots: depth maps in viridis from 0 to 0.7, dark missing cells */
} MharFigureStyle;

/* Where a colour scale ends. */
typedef enum {
  MHAR_FIGURE_SCALE_AUTO,       /* at the largest value, from 0; both ways where values have a sign */
  MHAR_FIGURE_SCALE_PERCENTILE, /* at the 1st and the 99th percentile; both ways alike where values have a sign */
  MHAR_FIGURE_SCALE_FIXED,      /* at the low and the high of the options */
  MHAR_FIGURE_SCALE_SYMMETRIC   /* at the largest magnitude, both ways */
} MharFigureScale;

typedef enum {
  MHAR_MAP_OWN,        /* the kind's: diverging where values have a sign, else sequential */
  MHAR_MAP_DIVERGING,  /* RdBu: blue, near-white at 0.5, red: told apart with every common colour blindness */
  MHAR_MAP_SEQUENTIAL, /* viridis: dark to light, evenly */
  MHAR_MAP_PUOR,       /* brown, near-white at 0.5, violet */
  MHAR_MAP_CIVIDIS,    /* blue to yellow, the same to nearly every eye */
  MHAR_MAP_GREYS       /* white to black */
} MharColourMap;

#define MHAR_FIGURE_ALL_HEADS (-1)
#define MHAR_FIGURE_CONSENSUS (-2)

typedef struct {
  double x, y, width, height;
} MharFigureRect;

typedef struct {
  guint first_sites; /* rows of the panels, counted from the first site; 0: all */
  MharFigureTheme theme;
  MharFigureStyle style;
  const char *family; /* font family; NULL: "Sans". Borrowed */
  double font_size;   /* of panel titles; 0: 8 */
  int head;           /* MHAR_FIGURE_ALL_HEADS, or the one panel wanted: a head, MHAR_FIGURE_CONSENSUS */
  double limit;       /* end of the colour scale (both ends of a diverging one), to share one; 0: from the data */
  gboolean bare;      /* no caption lines below */
  double png_scale;   /* pixels a unit in saved PNG; 0: 3 */
  MharFigureScale scale;
  double low, high; /* of MHAR_FIGURE_SCALE_FIXED, low < high; else as MHAR_FIGURE_SCALE_AUTO */
  MharColourMap map;
  MharFigureRect view;      /* of maps: the part shown, in cells (columns across, rows down); width 0: all */
  gboolean deviation;       /* compare: deviations, not weights; depth map: what its numbers are called */
  guint site;               /* sources: whose sources the lower plot shows */
  gboolean cell;            /* reads: that of `site`, `head` and `source`; else the first that was asked for */
  guint source;
  gboolean sorted;          /* sources: the largest first, not the oldest */
  const MharDataset *other; /* compare: the second dataset. Borrowed */
  gboolean fill;     /* one map takes all the room there is, whatever that makes of its cells, and has no titles */
  double room_above; /* of head panels, left empty for a window's own controls */
  gboolean screen;   /* drawn anew many times a second: hatching in whole pixels, which is quicker */
} MharFigureOptions;

/* Ten sites, light, plain, all heads, everything else 0. Where a function takes options, NULL means these. */
void mhar_figure_options_init (MharFigureOptions *options);

/* "deviation", "depth-map", "kl", "collinearity", "coefficients", "ablation", "compare", "series", "reads"; "light", "dark"; "default",
 * "authors". MHAR_ERROR_USAGE listing the names where it is none of them. */
gboolean mhar_figure_kind_parse (const char *name, MharFigureKind *kind, GError **error);
gboolean mhar_figure_theme_parse (const char *name, MharFigureTheme *theme, GError **error);
gboolean mhar_figure_style_parse (const char *name, MharFigureStyle *style, GError **error);
const char *mhar_figure_kind_name (MharFigureKind kind); /* "default" for MHAR_FIGURE_DEFAULT */

/* Series where the dataset is one; deviation where it holds one, else kl where it holds a slice or head disagreement,
 * else coefficients where it holds them, else reads where it holds them and no collinearity, else that. */
MharFigureKind mhar_figure_default_kind (const MharDataset *set);
/* Whether the dataset holds what the kind draws. */
gboolean mhar_figure_available (const MharDataset *set, MharFigureKind kind);

/* The size at which the figure is meant to be printed: whole points, 504 wide (7 inches) unless it has much to show.
 * MHAR_ERROR_INPUT, naming the checkpoint and a kind that it has, where it holds nothing to draw, here and below. */
gboolean mhar_figure_natural_size (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                                   double *width, double *height, GError **error);

/* Draws into (0, 0, width, height), background included. Any size will do: small ones have fewer labels, tiny ones
 * none. Leaves the state of `cr` as it was. MHAR_ERROR_RUN where Cairo reports an error. */
gboolean mhar_figure_draw (cairo_t *cr, const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                           double width, double height, GError **error);

/* One map or plot. `cells` is cut evenly into the layout's n_rows × n_columns, or the part of them in the layout's
 * view; plots (kl, sources) have one row. */
typedef struct {
  MharFigureRect cells;
  int head;        /* which head it shows; MHAR_FIGURE_CONSENSUS; MHAR_FIGURE_ALL_HEADS where it is about none */
  guint n_columns; /* where it differs from the layout's; else 0 */
  guint *columns;  /* [n_columns] likewise; else NULL */
} MharFigurePanel;

/* Where mhar_figure_draw puts things at the same arguments. Rectangles of absent things are all zero. */
typedef struct {
  MharFigureKind kind;
  double width, height;
  guint n_panels;
  MharFigurePanel *panels;
  guint n_rows, n_columns;
  guint *rows;         /* [n_rows] site (deviation, depth map), input (coefficients), output (collinearity), 0 (kl) */
  guint *columns;      /* [n_columns] source, output, or site (kl, sources) of each column */
  MharFigureRect view; /* the part of rows and columns that the panels show; all of them but for the options' view */
  double low, high;    /* ends of the colour scale or of the y axis */
  MharFigureRect bar, histogram, heading, caption;
} MharFigureLayout;

/* Free with mhar_figure_layout_free. Keeps nothing of the dataset. */
MharFigureLayout *mhar_figure_layout_new (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                                          double width, double height, GError **error);
void mhar_figure_layout_free (MharFigureLayout *layout);
/* The cell under (x, y); FALSE, and nothing set, where there is none. Row and column count from 0 in the panel. */
gboolean mhar_figure_layout_hit (const MharFigureLayout *layout, double x, double y, guint *panel, guint *row,
                                 guint *column);
/* The rectangle of a cell, which may lie partly or wholly outside the panel where only a part is in view; all zero
 * where an index is out of range. */
MharFigureRect mhar_figure_layout_cell (const MharFigureLayout *layout, guint panel, guint row, guint column);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharFigureLayout, mhar_figure_layout_free)

/* Draws each of `sets` (MharDataset *, at least one) at its natural size into `path`: .pdf, .svg or .png. Several make
 * one PDF of a page each, otherwise NAME-1.png, NAME-2.png … Files appear whole, under another name until after fsync,
 * or not at all; nothing is written before everything is drawn. The same data and fonts give the same bytes.
 * A symbolic link is followed, and a file that is replaced keeps its permissions. MHAR_ERROR_USAGE for another extension,
 * MHAR_ERROR_RUN where drawing or writing fails, or the name is a folder's, a device's, or a read-only file's. */
gboolean mhar_figure_save (const char *path, const GPtrArray *sets, MharFigureKind kind,
                           const MharFigureOptions *options, GError **error);

/* One page of a file, or one file of several. */
typedef struct {
  const MharDataset *set; /* borrowed */
  MharFigureKind kind;
  MharFigureOptions options;
} MharFigurePage;

/* The same of `n` pages, at least one, each of a kind and with options of its own. */
gboolean mhar_figure_save_pages (const char *path, const MharFigurePage *pages, guint n, GError **error);

/* What the i-th of `n` figures saved as `path` is called; g_free. */
char *mhar_figure_file_name (const char *path, guint i, guint n);

G_END_DECLS
