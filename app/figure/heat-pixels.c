/* SPDX-License-Identifier: MIT */
/* An image, one pixel for one of the target, and a copy of it there; band by band, since a large image would come from
 * the system, and go back, page by page.
 *
 * Cairo rounds the edges of a rectangle that is filled without antialiasing, and its colour, in the same way. */
#include "app/figure/heat-pixels.h"

#include <math.h>
#include <string.h>

#define MAX_SIDE 16384.0
#define BAND 64 /* pixels down */

typedef struct {
  guint first, count; /* cells in view, at least partly */
  int *start, *end;   /* [count] pixels [start, end) of each, from the start of the image */
} Edges;

typedef struct {
  const MharHeatMap *map;
  int x, y, width, height; /* of the map in the target */
  Edges columns, rows;
  int top, bottom; /* of the present band, from y */
  guint32 *pixels; /* [bottom - top, width] */
} Canvas;

static MharFigureRect
device_rect (cairo_t *cr, const MharFigureRect *rect)
{
  double x0 = rect->x, y0 = rect->y, x1 = rect->x + rect->width, y1 = rect->y + rect->height;

  cairo_user_to_device (cr, &x0, &y0);
  cairo_user_to_device (cr, &x1, &y1);
  x0 = round (x0);
  y0 = round (y0);
  return (MharFigureRect){ x0, y0, round (x1) - x0, round (y1) - y0 };
}

gboolean
mhar_heat_pixels_apply (cairo_t *cr, const MharFigureRect *frame)
{
  cairo_surface_t *target = cairo_get_group_target (cr);
  MharFigureRect device = device_rect (cr, frame);
  cairo_matrix_t m;

  cairo_get_matrix (cr, &m);
  return cairo_surface_get_type (target) == CAIRO_SURFACE_TYPE_IMAGE && m.xy == 0 && m.yx == 0 && m.xx > 0 && m.yy > 0
         && device.width >= 1 && device.width <= MAX_SIDE && device.height >= 1 && device.height <= MAX_SIDE
         && fabs (device.x) <= G_MAXINT / 2 && fabs (device.y) <= G_MAXINT / 2;
}

/* As Cairo makes a colour of 8 bits a channel. */
static guint32
channel (double value)
{
  return (guint32)(value * 65535.0 + 0.5) >> 8;
}

/* 0 where the cell has no colour. */
static guint32
cell_pixel (const MharHeatMap *map, guint row, guint column)
{
  MharRgb c;

  if (!map->colour (map->data, row, column, &c))
    return 0;
  return 0xff000000u | channel (c.r) << 16 | channel (c.g) << 8 | channel (c.b);
}

static void
find_edges (Edges *edges, const Canvas *canvas, cairo_t *cr, gboolean across)
{
  const MharHeatMap *map = canvas->map;
  MharFigureRect view = mhar_heat_map_view (map);

  if (across)
    mhar_heat_map_visible (view.x, view.width, map->columns, &edges->first, &edges->count);
  else
    mhar_heat_map_visible (view.y, view.height, map->rows, &edges->first, &edges->count);
  edges->start = g_new (int, MAX (edges->count, 1));
  edges->end = g_new (int, MAX (edges->count, 1));
  for (guint i = 0; i < edges->count; i++) {
    guint at = edges->first + i;
    MharFigureRect cell = mhar_heat_map_cell (map, across ? 0 : at, across ? at : 0);
    MharFigureRect device = device_rect (cr, &cell);
    double start = across ? device.x - canvas->x : device.y - canvas->y;
    double limit = across ? canvas->width : canvas->height;

    edges->start[i] = (int)CLAMP (start, 0, limit);
    edges->end[i] = (int)CLAMP (start + (across ? device.width : device.height), 0, limit);
  }
}

/* One line of pixels for one row of cells; 0 where nothing is drawn. */
static void
fill_line (const Canvas *canvas, guint row, guint32 *line)
{
  const Edges *columns = &canvas->columns;

  memset (line, 0, (gsize)canvas->width * sizeof *line);
  for (guint j = 0; j < columns->count; j++) {
    guint32 pixel;

    if (columns->start[j] >= columns->end[j])
      continue;
    pixel = cell_pixel (canvas->map, row, columns->first + j);
    for (int x = columns->start[j]; pixel && x < columns->end[j]; x++)
      line[x] = pixel;
  }
}

/* Each cell's pixels in the band, in the order of the cells. */
static void
fill_cells (Canvas *canvas)
{
  g_autofree guint32 *line = g_new (guint32, canvas->width);

  for (guint i = 0; i < canvas->rows.count; i++) {
    int start = MAX (canvas->rows.start[i], canvas->top), end = MIN (canvas->rows.end[i], canvas->bottom);

    if (start >= end)
      continue;
    fill_line (canvas, canvas->rows.first + i, line);
    for (int y = start; y < end; y++) {
      guint32 *to = canvas->pixels + (gsize)(y - canvas->top) * (gsize)canvas->width;

      for (int x = 0; x < canvas->width; x++)
        to[x] = line[x] ? line[x] : to[x];
    }
  }
}

/* The cells [*from, *to) that a pixel of an axis covers, at least one. */
static void
covered (int pixel, int pixels, double start, double length, guint n, guint *from, guint *to)
{
  *from = (guint)CLAMP (floor (start + length * pixel / pixels), 0, n - 1);
  *to = (guint)CLAMP (ceil (start + length * (pixel + 1) / pixels), *from + 1, n);
}

static guint32
ranked_pixel (const MharHeatMap *map, guint row, guint row_end, guint column, guint column_end)
{
  double most = -INFINITY;
  guint at_row = row, at_column = column;

  for (guint i = row; i < row_end; i++)
    for (guint j = column; j < column_end; j++) {
      double rank = map->rank (map->data, i, j);

      if (rank > most) {
        most = rank;
        at_row = i;
        at_column = j;
      }
    }
  return most > -INFINITY ? cell_pixel (map, at_row, at_column) : 0;
}

/* More cells than pixels: every pixel looks at all that it covers. */
static void
fill_ranked (Canvas *canvas)
{
  const MharHeatMap *map = canvas->map;
  MharFigureRect view = mhar_heat_map_view (map);

  for (int y = canvas->top; y < canvas->bottom; y++) {
    guint row, row_end;

    covered (y, canvas->height, view.y, view.height, map->rows, &row, &row_end);
    for (int x = 0; x < canvas->width; x++) {
      guint column, column_end;

      covered (x, canvas->width, view.x, view.width, map->columns, &column, &column_end);
      canvas->pixels[(gsize)(y - canvas->top) * (gsize)canvas->width + (gsize)x]
          = ranked_pixel (map, row, row_end, column, column_end);
    }
  }
}

static void
copy_band (const Canvas *canvas, cairo_t *cr, cairo_surface_t *image)
{
  if (cairo_status (cr) != CAIRO_STATUS_SUCCESS)
    return; /* cairo 1.16 loses the pattern that it makes for a context in error */
  cairo_save (cr);
  cairo_identity_matrix (cr);
  cairo_set_source_surface (cr, image, canvas->x, canvas->y + canvas->top);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_rectangle (cr, canvas->x, canvas->y + canvas->top, canvas->width, canvas->bottom - canvas->top);
  cairo_fill (cr);
  cairo_restore (cr);
}

/* FALSE, and the error in `cr`, where there is no memory. */
static gboolean
paint_band (Canvas *canvas, cairo_t *cr, gboolean ranked)
{
  cairo_surface_t *image
      = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, canvas->width, canvas->bottom - canvas->top);

  canvas->pixels = (guint32 *)(void *)cairo_image_surface_get_data (image);
  if (!canvas->pixels) {
    cairo_set_source_surface (cr, image, 0, 0);
    cairo_surface_destroy (image);
    return FALSE;
  }
  cairo_surface_flush (image);
  if (ranked)
    fill_ranked (canvas);
  else
    fill_cells (canvas);
  cairo_surface_mark_dirty (image);
  copy_band (canvas, cr, image);
  cairo_surface_destroy (image);
  return TRUE;
}

void
mhar_heat_pixels_paint (const MharHeatMap *map, cairo_t *cr, const MharFigureRect *frame)
{
  MharFigureRect device = device_rect (cr, frame), view = mhar_heat_map_view (map);
  Canvas canvas
      = { map, (int)device.x, (int)device.y, (int)device.width, (int)device.height, { 0 }, { 0 }, 0, 0, NULL };
  gboolean ranked = map->rank && (view.width > canvas.width || view.height > canvas.height);

  find_edges (&canvas.columns, &canvas, cr, TRUE);
  find_edges (&canvas.rows, &canvas, cr, FALSE);
  for (canvas.top = 0; canvas.top < canvas.height; canvas.top = canvas.bottom) {
    canvas.bottom = MIN (canvas.top + BAND, canvas.height);
    if (!paint_band (&canvas, cr, ranked))
      break;
  }
  g_free (canvas.columns.start);
  g_free (canvas.columns.end);
  g_free (canvas.rows.start);
  g_free (canvas.rows.end);
}
