/* SPDX-License-Identifier: MIT */
/* One map: what is absent in grey or hatched, what is there in the colours of the scale, a frame around. */
#include "app/figure/colour-bar.h"
#include "app/figure/head-panels.h"
#include "app/figure/heat-map.h"

#include <math.h>

typedef struct {
  const MharDrawing *drawing, *scale;
  guint panel;
} PanelData;

/* What is lost where cells share a pixel are the unremarkable ones. */
static double
cell_rank (gconstpointer data, guint row, guint column)
{
  const PanelData *p = data;
  double value = p->drawing->value (p->drawing, p->panel, row, column);

  if (!isfinite (value))
    return -INFINITY;
  return p->scale->out.low < 0 ? fabs (value) : value;
}

static const MharDrawing *
scale_of (const MharDrawing *d, guint panel)
{
  return d->second && panel == d->second_panel ? d->second : d;
}

static gboolean
cell_colour (gconstpointer data, guint row, guint column, MharRgb *colour)
{
  const PanelData *p = data;
  double value = p->drawing->value (p->drawing, p->panel, row, column);

  if (!isfinite (value))
    return FALSE;
  *colour = mhar_colour_bar_colour (p->scale, value);
  return TRUE;
}

void
mhar_drawing_colour (const MharDrawing *d, guint panel, double value, double *red, double *green, double *blue)
{
  MharRgb colour = mhar_colour_bar_colour (scale_of (d, panel), value);

  *red = colour.r;
  *green = colour.g;
  *blue = colour.b;
}

/* Lines across the cells, `gap` apart. They end at the edges by themselves: MuPDF knows no clip in an SVG. */
static void
stroke_hatch (const MharDrawing *d, cairo_t *cr, const MharFigureRect *cells, double gap)
{
  double reach = cells->width + cells->height;

  cairo_set_antialias (cr, CAIRO_ANTIALIAS_DEFAULT);
  for (double at = gap / 2; at < reach; at += gap) {
    double from = MAX (0, at - cells->width), to = MIN (at, cells->height);

    cairo_move_to (cr, cells->x + at - from, cells->y + from);
    cairo_line_to (cr, cells->x + at - to, cells->y + to);
  }
  mhar_drawing_set_source (cr, &d->palette->hatch);
  cairo_set_line_width (cr, 0.6);
  cairo_stroke (cr);
}

/* The same as one tile, repeated, of whole pixels. */
static void
tile_hatch (const MharDrawing *d, cairo_t *cr, const MharFigureRect *cells, double gap)
{
  double x = cells->x, y = cells->y, dx = gap, dy = 0, side;
  cairo_surface_t *tile;
  cairo_t *to;

  cairo_user_to_device (cr, &x, &y);
  cairo_user_to_device_distance (cr, &dx, &dy);
  side = MAX (round (dx), 3);
  tile = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int)side, (int)side);
  to = cairo_create (tile);
  mhar_drawing_set_source (to, &d->palette->hatch);
  cairo_set_line_width (to, 0.6 * side / gap);
  for (int i = 0; i < 3; i++) { /* the line and what of its neighbours reaches into the tile's corners */
    cairo_move_to (to, side * (i - 0.5) + side, -side);
    cairo_rel_line_to (to, -3 * side, 3 * side);
  }
  cairo_stroke (to);
  cairo_destroy (to);
  cairo_save (cr);
  cairo_identity_matrix (cr);
  cairo_set_source_surface (cr, tile, round (x), round (y));
  cairo_pattern_set_extend (cairo_get_source (cr), CAIRO_EXTEND_REPEAT);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_paint (cr);
  cairo_restore (cr);
  cairo_surface_destroy (tile);
}

static void
paint_absent (const MharDrawing *d, cairo_t *cr, const MharFigureRect *cells)
{
  double gap = MAX (3.0, d->font * 0.4);
  gboolean vector = mhar_heat_map_is_vector (cr);

  cairo_save (cr);
  cairo_rectangle (cr, cells->x, cells->y, cells->width, cells->height);
  mhar_drawing_set_source (cr, d->hatched ? &d->palette->ground : &d->palette->absent);
  if (!vector)
    cairo_set_antialias (cr, CAIRO_ANTIALIAS_NONE);
  cairo_fill_preserve (cr);
  if (d->hatched && cells->width + cells->height < 1e5) {
    cairo_clip (cr);
    if (d->options.screen && !vector)
      tile_hatch (d, cr, cells, gap);
    else
      stroke_hatch (d, cr, cells, gap);
  }
  cairo_restore (cr);
  cairo_new_path (cr);
}

void
mhar_map_panel_paint (const MharDrawing *d, cairo_t *cr, guint panel)
{
  PanelData data = { d, scale_of (d, panel), panel };
  double cells = (double)d->out.n_rows * d->out.n_columns * d->out.n_panels;
  MharHeatMap map = {
    .cells = d->out.panels[panel].cells,
    .rows = d->out.n_rows,
    .columns = d->out.n_columns,
    .image = cells > MHAR_HEAT_MAP_MAX_RECTANGLES,
    .colour = cell_colour,
    .rank = cell_rank,
    .data = &data,
    .view = mhar_drawing_is_zoomed (d) ? &d->out.view : NULL,
  };
  MharFigureRect frame = mhar_heat_map_snap (cr, &map.cells);

  paint_absent (d, cr, &frame);
  mhar_heat_map_paint (&map, cr);
  cairo_rectangle (cr, frame.x, frame.y, frame.width, frame.height);
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, MIN (0.5, frame.width * 0.02));
  cairo_stroke (cr);
}
