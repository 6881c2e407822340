/* SPDX-License-Identifier: MIT */
/* One map: what is absent in grey or hatched, what is there in the colours of the scale, a frame around. */
#include "app/figure/colour-bar.h"
#include "app/figure/head-panels.h"
#include "app/figure/heat-map.h"

#include <math.h>

typedef struct {
  const MharDrawing *drawing;
  guint panel;
} PanelData;

static gboolean
cell_colour (gconstpointer data, guint row, guint column, MharRgb *colour)
{
  const PanelData *p = data;
  double value = p->drawing->value (p->drawing, p->panel, row, column);

  if (!isfinite (value))
    return FALSE;
  *colour = mhar_colour_bar_colour (p->drawing, value);
  return TRUE;
}

static void
paint_absent (const MharDrawing *d, cairo_t *cr, const MharFigureRect *cells)
{
  double gap = MAX (3.0, d->font * 0.4), reach = cells->width + cells->height;

  cairo_save (cr);
  cairo_rectangle (cr, cells->x, cells->y, cells->width, cells->height);
  mhar_drawing_set_source (cr, d->hatched ? &d->palette->ground : &d->palette->absent);
  if (!mhar_heat_map_is_vector (cr))
    cairo_set_antialias (cr, CAIRO_ANTIALIAS_NONE);
  cairo_fill_preserve (cr);
  if (d->hatched && reach < 1e5) {
    cairo_clip (cr);
    cairo_set_antialias (cr, CAIRO_ANTIALIAS_DEFAULT);
    for (double at = gap / 2; at < reach; at += gap) {
      cairo_move_to (cr, cells->x + at, cells->y);
      cairo_rel_line_to (cr, -cells->height, cells->height);
    }
    mhar_drawing_set_source (cr, &d->palette->hatch);
    cairo_set_line_width (cr, 0.6);
    cairo_stroke (cr);
  }
  cairo_restore (cr);
  cairo_new_path (cr);
}

void
mhar_map_panel_paint (const MharDrawing *d, cairo_t *cr, guint panel)
{
  PanelData data = { d, panel };
  double cells = (double)d->out.n_rows * d->out.n_columns * d->out.n_panels;
  MharHeatMap map = {
    .cells = d->out.panels[panel].cells,
    .rows = d->out.n_rows,
    .columns = d->out.n_columns,
    .image = cells > MHAR_HEAT_MAP_MAX_RECTANGLES,
    .colour = cell_colour,
    .data = &data,
  };
  MharFigureRect frame = mhar_heat_map_snap (cr, &map.cells);

  paint_absent (d, cr, &frame);
  mhar_heat_map_paint (&map, cr);
  cairo_rectangle (cr, frame.x, frame.y, frame.width, frame.height);
  mhar_drawing_set_source (cr, &d->palette->line);
  cairo_set_line_width (cr, MIN (0.5, frame.width * 0.02));
  cairo_stroke (cr);
}
