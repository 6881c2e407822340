/* SPDX-License-Identifier: MIT */
/* Cells as rectangles, or as one image expanded by a whole factor; on images as the very pixels they cover.
 *
 * Viewers smooth the edges of adjacent rectangles separately and leave white hairlines between them, so on vector
 * surfaces a cell reaches under its right and lower neighbours, which are drawn after it. They also smooth enlarged
 * images (SVG has no way to forbid it that Cairo writes), so an image is expanded before it is handed over. */
#include "app/figure/heat-map.h"

#include "app/figure/heat-pixels.h"

#include <math.h>

#define OVERLAP 0.3          /* user units */
#define PIXELS_A_UNIT 4.0    /* of an expanded image */
#define MAX_SIDE 2000u       /* of an image: a panel of five inches then has 400 dots an inch, and an SVG some megabytes */
#define MAX_PIXELS 1000000.0 /* of an expanded image */

gboolean
mhar_heat_map_is_vector (cairo_t *cr)
{
  switch (cairo_surface_get_type (cairo_get_group_target (cr))) {
  case CAIRO_SURFACE_TYPE_PDF:
  case CAIRO_SURFACE_TYPE_PS:
  case CAIRO_SURFACE_TYPE_SVG:
    return TRUE;
  default:
    return FALSE;
  }
}

static void
snap_point (cairo_t *cr, double *x, double *y)
{
  cairo_user_to_device (cr, x, y);
  *x = round (*x);
  *y = round (*y);
  cairo_device_to_user (cr, x, y);
}

MharFigureRect
mhar_heat_map_snap (cairo_t *cr, const MharFigureRect *rect)
{
  double x0 = rect->x, y0 = rect->y, x1 = rect->x + rect->width, y1 = rect->y + rect->height;

  if (mhar_heat_map_is_vector (cr))
    return *rect;
  snap_point (cr, &x0, &y0);
  snap_point (cr, &x1, &y1);
  return (MharFigureRect){ x0, y0, x1 - x0, y1 - y0 };
}

MharFigureRect
mhar_heat_map_view (const MharHeatMap *map)
{
  return map->view ? *map->view : (MharFigureRect){ 0, 0, map->columns, map->rows };
}

MharFigureRect
mhar_heat_map_cell (const MharHeatMap *map, guint row, guint column)
{
  MharFigureRect view = mhar_heat_map_view (map);
  double w = map->cells.width / view.width, h = map->cells.height / view.height;

  return (MharFigureRect){ map->cells.x + w * (column - view.x), map->cells.y + h * (row - view.y), w, h };
}

void
mhar_heat_map_visible (double start, double length, guint n, guint *first, guint *count)
{
  double from = CLAMP (floor (start), 0, n), to = CLAMP (ceil (start + length), from, n);

  *first = (guint)from;
  *count = (guint)(to - from);
}

static gboolean
has_cell (const MharHeatMap *map, guint row, guint column)
{
  MharRgb colour;

  return row < map->rows && column < map->columns && map->colour (map->data, row, column, &colour);
}

static void
paint_cell (const MharHeatMap *map, cairo_t *cr, guint row, guint column, gboolean vector)
{
  MharFigureRect cell = mhar_heat_map_cell (map, row, column);
  MharRgb colour;

  if (!map->colour (map->data, row, column, &colour))
    return;
  if (vector) {
    gboolean right = has_cell (map, row, column + 1), below = has_cell (map, row + 1, column);

    /* The corner under the overlap must be somebody's too. */
    if (right && (!below || has_cell (map, row + 1, column + 1)))
      cell.width += OVERLAP;
    if (below && (!right || has_cell (map, row + 1, column + 1)))
      cell.height += OVERLAP;
  } else {
    cell = mhar_heat_map_snap (cr, &cell);
  }
  cairo_set_source_rgb (cr, colour.r, colour.g, colour.b);
  cairo_rectangle (cr, cell.x, cell.y, cell.width, cell.height);
  cairo_fill (cr);
}

static void
paint_rectangles (const MharHeatMap *map, cairo_t *cr)
{
  gboolean vector = mhar_heat_map_is_vector (cr);
  MharFigureRect view = mhar_heat_map_view (map);
  guint row, column, rows, columns;

  mhar_heat_map_visible (view.y, view.height, map->rows, &row, &rows);
  mhar_heat_map_visible (view.x, view.width, map->columns, &column, &columns);
  cairo_save (cr);
  if (map->view) {
    cairo_rectangle (cr, map->cells.x, map->cells.y, map->cells.width, map->cells.height);
    cairo_clip (cr);
  }
  if (!vector)
    cairo_set_antialias (cr, CAIRO_ANTIALIAS_NONE);
  for (guint i = row; i < row + rows; i++)
    for (guint j = column; j < column + columns; j++)
      paint_cell (map, cr, i, j, vector);
  cairo_restore (cr);
}

static guint32
pixel (const MharHeatMap *map, guint row, guint column)
{
  MharRgb c;

  if (!map->colour (map->data, row, column, &c))
    return 0;
  return 0xff000000u | (guint32)lround (c.r * 255) << 16 | (guint32)lround (c.g * 255) << 8
         | (guint32)lround (c.b * 255);
}

/* `*across` × `*down` pixels a cell, so that the image has about PIXELS_A_UNIT, within the limits. */
static void
choose_factors (const MharHeatMap *map, guint *across, guint *down)
{
  double most = MAX_PIXELS / ((double)map->rows * map->columns);

  *across = (guint)CLAMP (ceil (PIXELS_A_UNIT * map->cells.width / map->columns), 1, MAX_SIDE / map->columns);
  *down = (guint)CLAMP (ceil (PIXELS_A_UNIT * map->cells.height / map->rows), 1, MAX_SIDE / map->rows);
  while ((double)*across * *down > most && (*across > 1 || *down > 1)) {
    *across = MAX (*across / 2, 1);
    *down = MAX (*down / 2, 1);
  }
}

static void
fill_expanded (const MharHeatMap *map, cairo_surface_t *image, guint across, guint down)
{
  guint8 *data = cairo_image_surface_get_data (image);
  gsize stride = (gsize)cairo_image_surface_get_stride (image);

  cairo_surface_flush (image);
  for (guint y = 0; y < map->rows * down; y++) {
    guint32 *line = (guint32 *)(void *)(data + y * stride);

    for (guint x = 0; x < map->columns * across; x++)
      line[x] = x % across ? line[x - 1] : pixel (map, y / down, x / across);
  }
  cairo_surface_mark_dirty (image);
}

/* More cells on a side than an image may have pixels: each shows what is most remarkable of what it covers. */
static void
fill_reduced (const MharHeatMap *map, cairo_surface_t *image, guint width, guint height)
{
  MharHeatMap whole = *map;
  cairo_t *cr = cairo_create (image);

  whole.cells = (MharFigureRect){ 0, 0, width, height };
  whole.view = NULL;
  mhar_heat_pixels_paint (&whole, cr, &whole.cells);
  cairo_destroy (cr);
}

/* The whole map; in an error state where there is no memory for it. */
static cairo_surface_t *
map_image (const MharHeatMap *map)
{
  gboolean reduced = map->rows > MAX_SIDE || map->columns > MAX_SIDE;
  guint across = 1, down = 1;

  if (!reduced)
    choose_factors (map, &across, &down);
  guint width = MIN (map->columns * across, MAX_SIDE), height = MIN (map->rows * down, MAX_SIDE);
  cairo_surface_t *image = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int)width, (int)height);
  if (cairo_surface_status (image) != CAIRO_STATUS_SUCCESS)
    return image;
  if (reduced)
    fill_reduced (map, image, width, height);
  else
    fill_expanded (map, image, across, down);
  return image;
}

static void
paint_image (const MharHeatMap *map, cairo_t *cr)
{
  MharFigureRect cells = mhar_heat_map_snap (cr, &map->cells), view = mhar_heat_map_view (map);
  cairo_surface_t *image = map_image (map);
  double width = cairo_image_surface_get_width (image), height = cairo_image_surface_get_height (image);
  double left = width * view.x / map->columns, top = height * view.y / map->rows;

  width *= view.width / map->columns;
  height *= view.height / map->rows;
  cairo_save (cr);
  cairo_translate (cr, cells.x, cells.y);
  if (width > 0 && height > 0)
    cairo_scale (cr, cells.width / width, cells.height / height);
  /* An image that could not be made puts its error into `cr`, where the caller looks. */
  cairo_set_source_surface (cr, image, -left, -top);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_rectangle (cr, 0, 0, width, height);
  cairo_fill (cr);
  cairo_restore (cr);
  cairo_surface_destroy (image);
}

void
mhar_heat_map_paint (const MharHeatMap *map, cairo_t *cr)
{
  MharFigureRect snapped = mhar_heat_map_snap (cr, &map->cells);

  /* Less than a pixel: nothing to see, and no scale to invert. */
  if (map->rows == 0 || map->columns == 0 || !(snapped.width > 1e-6) || !(snapped.height > 1e-6))
    return;
  if (mhar_heat_pixels_apply (cr, &snapped))
    mhar_heat_pixels_paint (map, cr, &snapped);
  else if (map->image)
    paint_image (map, cr);
  else
    paint_rectangles (map, cr);
}
