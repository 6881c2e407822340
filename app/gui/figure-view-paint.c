/* SPDX-License-Identifier: MIT */
/* The picture as a cached node, and pointer and cursor as nodes over it.
 *
 * GTK 4.8 filters every texture linearly, so the picture is a Cairo node that copies an image of the device's own
 * pixels. The image lives, untouched, as long as the node, which GTK keeps as long as it likes: Cairo would copy it
 * otherwise. */
#include "app/gui/figure-view-private.h"

#include "app/figure/colour-map.h"

#include <math.h>

void
mhar_figure_view_drop_node (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  g_clear_pointer (&p->node, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

typedef struct {
  cairo_surface_t *image, **spare;
} Picture;

/* The node is gone: its image is kept for the next. Large images come from the system page by page, which takes longer
 * than painting them. */
static void
picture_free (gpointer data)
{
  Picture *picture = data;

  if (*picture->spare == NULL)
    *picture->spare = g_steal_pointer (&picture->image);
  else
    cairo_surface_destroy (picture->image);
  g_rc_box_release_full (picture->spare, mhar_figure_view_clear_spare);
  g_free (picture);
}

void
mhar_figure_view_clear_spare (gpointer spare)
{
  cairo_surface_t **cell = spare;

  g_clear_pointer (cell, cairo_surface_destroy);
}

/* An image of the size, with any content. */
static cairo_surface_t *
take_image (MharFigureViewPrivate *p, int width, int height)
{
  cairo_surface_t *spare = g_steal_pointer (p->spare);

  if (spare != NULL && cairo_image_surface_get_width (spare) == width
      && cairo_image_surface_get_height (spare) == height)
    return spare;
  g_clear_pointer (&spare, cairo_surface_destroy);
  return cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
}

static void
make_node (MharFigureView *self, MharDrawing *drawing)
{
  static const cairo_user_data_key_t key;
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (0, 0, (float)p->width, (float)p->height);
  Picture *picture = g_new (Picture, 1);
  cairo_t *cr;

  p->scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  picture->image = take_image (p, p->width * p->scale, p->height * p->scale);
  picture->spare = g_rc_box_acquire (p->spare);
  cr = cairo_create (picture->image);
  cairo_scale (cr, p->scale, p->scale);
  mhar_drawing_paint (drawing, cr);
  cairo_destroy (cr);
  cairo_surface_flush (picture->image);
  p->node = gsk_cairo_node_new (&bounds);
  cr = gsk_cairo_node_get_draw_context (p->node);
  cairo_scale (cr, 1.0 / p->scale, 1.0 / p->scale);
  cairo_set_source_surface (cr, picture->image, 0, 0);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_paint (cr);
  if (cairo_surface_set_user_data (cairo_get_target (cr), &key, picture, picture_free) != CAIRO_STATUS_SUCCESS)
    picture_free (picture);
  cairo_destroy (cr);
}

static GdkRGBA
rgba (const MharRgb *colour, double alpha)
{
  return (GdkRGBA){ (float)colour->r, (float)colour->g, (float)colour->b, (float)alpha };
}

/* Edges on whole device pixels, grown by `by` on every side. */
static graphene_rect_t
snapped (const MharFigureViewPrivate *p, const MharFigureRect *rect, double by)
{
  double s = p->scale;
  double x0 = round (rect->x * s) / s - by, x1 = round ((rect->x + rect->width) * s) / s + by;
  double y0 = round (rect->y * s) / s - by, y1 = round ((rect->y + rect->height) * s) / s + by;

  return GRAPHENE_RECT_INIT ((float)x0, (float)y0, (float)MAX (x1 - x0, 1 / s), (float)MAX (y1 - y0, 1 / s));
}

static void
outline (GtkSnapshot *snapshot, const graphene_rect_t *rect, double width, const GdkRGBA *colour)
{
  GskRoundedRect rounded;
  float widths[4] = { (float)width, (float)width, (float)width, (float)width };
  GdkRGBA colours[4] = { *colour, *colour, *colour, *colour };

  if (rect->size.width <= 0 || rect->size.height <= 0)
    return;
  gsk_rounded_rect_init_from_rect (&rounded, rect, 0);
  gtk_snapshot_append_border (snapshot, &rounded, widths, colours);
}

/* A ring around a cell that shows on every colour: dark in light, or the other way about. */
static void
ring (const MharFigureViewPrivate *p, GtkSnapshot *snapshot, const MharFigureRect *cell, double width,
      const MharPalette *palette)
{
  graphene_rect_t inner = snapped (p, cell, width), outer = snapped (p, cell, width + 1);
  GdkRGBA ink = rgba (&palette->ink, 1), paper = rgba (&palette->paper, 1);

  outline (snapshot, &outer, 1, &paper);
  outline (snapshot, &inner, width, &ink);
}

static gboolean
is_plot (const MharFigureLayout *layout)
{
  return layout->kind == MHAR_FIGURE_KL || layout->kind == MHAR_FIGURE_SOURCES || layout->kind == MHAR_FIGURE_READS;
}

/* The row and the column of a cell, marked at the edges of its map. */
static void
edge_marks (const MharFigureViewPrivate *p, GtkSnapshot *snapshot, const MharFigureRect *cells,
            const MharFigureRect *cell, const GdkRGBA *colour)
{
  MharFigureRect row = { cells->x - 4, MAX (cell->y, cells->y), 3, cell->height };
  MharFigureRect column = { MAX (cell->x, cells->x), cells->y + cells->height + 1, cell->width, 3 };
  graphene_rect_t left, below;

  row.height = MAX (MIN (cell->y + cell->height, cells->y + cells->height) - row.y, 2);
  column.width = MAX (MIN (cell->x + cell->width, cells->x + cells->width) - column.x, 2);
  left = snapped (p, &row, 0);
  below = snapped (p, &column, 0);
  if (cell->y + cell->height > cells->y && cell->y < cells->y + cells->height)
    gtk_snapshot_append_color (snapshot, colour, &left);
  if (cell->x + cell->width > cells->x && cell->x < cells->x + cells->width)
    gtk_snapshot_append_color (snapshot, colour, &below);
}

/* Half a ring more than the panel, so that the ring of a cell at its edge is whole. */
static void
push_panel (const MharFigureViewPrivate *p, GtkSnapshot *snapshot, const MharFigureRect *cells)
{
  graphene_rect_t clip = snapped (p, cells, 3);

  gtk_snapshot_push_clip (snapshot, &clip);
}

static void
column_band (const MharFigureViewPrivate *p, GtkSnapshot *snapshot, const MharFigureRect *cell, const GdkRGBA *colour)
{
  graphene_rect_t band = snapped (p, cell, 0);

  gtk_snapshot_append_color (snapshot, colour, &band);
}

static void
paint_selected (MharFigureView *self, GtkSnapshot *snapshot, const MharDrawing *drawing, guint panel, gboolean current)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  const MharPalette *palette = mhar_palette_get (p->display.theme, p->display.style);
  gboolean focus = gtk_widget_has_focus (GTK_WIDGET (self));
  const MharFigureRect *cells = &layout->panels[panel].cells;
  GdkRGBA accent = rgba (&palette->accent, 1), wash = rgba (&palette->accent, current && focus ? 0.22 : 0.13);
  MharFigureRect rect;
  MharCell cell;

  if (!mhar_figure_view_locate (self, drawing, panel, &cell))
    return;
  rect = mhar_figure_layout_cell (layout, cell.panel, cell.row, cell.column);
  if (is_plot (layout)) {
    column_band (p, snapshot, &rect, &wash);
    edge_marks (p, snapshot, cells, &(MharFigureRect){ rect.x, -1e4, rect.width, 0 }, &accent);
    return;
  }
  edge_marks (p, snapshot, cells, &rect, &accent);
  push_panel (p, snapshot, cells);
  ring (p, snapshot, &rect, current ? focus ? 2 : 1.5 : 1, palette);
  gtk_snapshot_pop (snapshot);
}

static void
paint_hover (MharFigureView *self, GtkSnapshot *snapshot, const MharDrawing *drawing)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  const MharPalette *palette = mhar_palette_get (p->display.theme, p->display.style);
  MharFigureRect rect = mhar_figure_layout_cell (layout, p->hover.panel, p->hover.row, p->hover.column);
  GdkRGBA wash = rgba (&palette->ink, 0.1);

  if (is_plot (layout)) {
    column_band (p, snapshot, &rect, &wash);
    return;
  }
  push_panel (p, snapshot, &layout->panels[p->hover.panel].cells);
  ring (p, snapshot, &rect, 1, palette);
  gtk_snapshot_pop (snapshot);
}

/* Whether the panel that keys start from is the selected head's: deviations have none for the consensus. */
static gboolean
panel_shows_head (MharFigureView *self, const MharDrawing *drawing, guint panel)
{
  MharCell cell;

  return mhar_figure_view_locate (self, drawing, panel, &cell)
         && MHAR_FIGURE_VIEW_GET_CLASS (self)->point (self, drawing, &cell).head
                == mhar_selection_get_head (mhar_figure_view_private (self)->selection);
}

/* Which of several maps the keys work on. */
static void
paint_panel_frame (MharFigureView *self, GtkSnapshot *snapshot, const MharDrawing *drawing, guint panel)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  const MharPalette *palette = mhar_palette_get (p->display.theme, p->display.style);
  graphene_rect_t frame = snapped (p, &layout->panels[panel].cells, 1);
  GdkRGBA accent = rgba (&palette->accent, 1);

  if (layout->n_panels > 1 && !is_plot (layout))
    outline (snapshot, &frame, gtk_widget_has_focus (GTK_WIDGET (self)) ? 2 : 1, &accent);
}

/* Why there is nothing to see, in the middle. */
static void
paint_lack (MharFigureView *self, GtkSnapshot *snapshot)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  int width = gtk_widget_get_width (GTK_WIDGET (self)), height = gtk_widget_get_height (GTK_WIDGET (self)), text_height;
  const MharPalette *palette = mhar_palette_get (p->display.theme, p->display.style);
  GdkRGBA paper = rgba (&palette->paper, 1), faint = rgba (&palette->faint, 1);
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), p->lack);

  gtk_snapshot_append_color (snapshot, &paper, &GRAPHENE_RECT_INIT (0, 0, (float)width, (float)height));
  if (p->lack == NULL || width < 60)
    return;
  pango_layout_set_width (layout, MIN (width - 48, 480) * PANGO_SCALE);
  pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_alignment (layout, PANGO_ALIGN_CENTER);
  pango_layout_get_pixel_size (layout, NULL, &text_height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT ((float)(width - MIN (width - 48, 480)) / 2, (float)(height - text_height) / 2));
  gtk_snapshot_append_layout (snapshot, layout, &faint);
  gtk_snapshot_restore (snapshot);
}

static void
snapshot_children (GtkWidget *widget, GtkSnapshot *snapshot)
{
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    gtk_widget_snapshot_child (widget, child, snapshot);
}

void
mhar_figure_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  MharFigureView *self = MHAR_FIGURE_VIEW (widget);
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharDrawing *drawing = p->set != NULL ? mhar_figure_view_place (self) : NULL;
  gboolean shows_head;
  guint panel;

  if (drawing == NULL || p->width == 0) {
    paint_lack (self, snapshot);
    snapshot_children (widget, snapshot);
    return;
  }
  if (p->node == NULL)
    make_node (self, drawing);
  gtk_snapshot_append_node (snapshot, p->node);
  panel = mhar_figure_view_panel (self, drawing);
  shows_head = panel_shows_head (self, drawing, panel);
  if (shows_head)
    paint_panel_frame (self, snapshot, drawing, panel);
  for (guint i = 0; i < mhar_drawing_layout (drawing)->n_panels; i++)
    paint_selected (self, snapshot, drawing, i, i == panel && shows_head);
  if (p->hovering)
    paint_hover (self, snapshot, drawing);
  snapshot_children (widget, snapshot);
}
