/* SPDX-License-Identifier: MIT */
/* Keys and pointer of the figure view. */
#include "app/gui/figure-view-private.h"

#include <math.h>

#define ZOOM_STEP 1.25
#define LABEL_REACH 140.0 /* pixels: how far labels go from a panel */
#define FEWEST_CELLS 4.0  /* across, in a zoomed map */

static gboolean
is_map (const MharDrawing *drawing)
{
  MharFigureKind kind = mhar_drawing_layout (drawing)->kind;

  return kind != MHAR_FIGURE_KL && kind != MHAR_FIGURE_SOURCES && kind != MHAR_FIGURE_READS
         && kind != MHAR_FIGURE_SERIES;
}

static gboolean
is_zoomed (MharFigureView *self)
{
  return mhar_figure_view_private (self)->zoom.width > 0;
}

/* What is in view of a panel made smaller by `factor`, with the point at the shares (x, y) of it kept where it is. */
static void
zoom_about (MharFigureView *self, double factor, double x, double y)
{
  MharDrawing *drawing = mhar_figure_view_place (self);
  const MharFigureLayout *layout = drawing != NULL ? mhar_drawing_layout (drawing) : NULL;
  MharFigureRect view, next;

  if (drawing == NULL || !is_map (drawing))
    return;
  view = layout->view;
  next.width = MAX (view.width / factor, MIN (FEWEST_CELLS, layout->n_columns));
  next.height = next.width * layout->n_rows / layout->n_columns;
  next.x = view.x + x * (view.width - next.width);
  next.y = view.y + y * (view.height - next.height);
  mhar_figure_view_set_zoom (self, &next);
}

/* Moves what is in view by cells. */
static void
pan (MharFigureView *self, const MharFigureRect *from, double columns, double rows)
{
  MharFigureRect next = *from;

  next.x += columns;
  next.y += rows;
  mhar_figure_view_set_zoom (self, &next);
}

void
mhar_figure_view_reveal (MharFigureView *self, const MharCell *cell)
{
  MharFigureRect next = mhar_figure_view_private (self)->zoom;

  if (!is_zoomed (self))
    return;
  next.x = CLAMP (next.x, cell->column + 1 - next.width, cell->column);
  next.y = CLAMP (next.y, cell->row + 1 - next.height, cell->row);
  mhar_figure_view_set_zoom (self, &next);
}

static gboolean
hit (MharFigureView *self, double x, double y, MharCell *cell)
{
  MharDrawing *drawing = mhar_figure_view_place (self);

  return drawing != NULL
         && mhar_figure_layout_hit (mhar_drawing_layout (drawing), x, y, &cell->panel, &cell->row, &cell->column);
}

void
mhar_figure_view_hover_again (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  if (!p->hover_stale)
    return;
  p->hover_stale = FALSE;
  p->hovering = hit (self, p->pointer_x, p->pointer_y, &p->hover);
}

/* Whether there is a panel as large further left (`across`), or further down, in the same line: then it has the labels. */
static gboolean
has_neighbour (const MharFigureLayout *layout, guint panel, gboolean across)
{
  const MharFigureRect *here = &layout->panels[panel].cells;

  for (guint i = 0; i < layout->n_panels; i++) {
    const MharFigureRect *other = &layout->panels[i].cells;

    if (across ? other->y == here->y && other->height == here->height && other->x < here->x
               : other->x == here->x && other->width == here->width && other->y > here->y)
      return TRUE;
  }
  return FALSE;
}

const char *
mhar_figure_view_label_at (MharFigureView *self, double x, double y)
{
  MharDrawing *drawing = mhar_figure_view_private (self)->set != NULL ? mhar_figure_view_place (self) : NULL;
  const MharFigureLayout *layout = drawing != NULL ? mhar_drawing_layout (drawing) : NULL;
  MharCell cell;

  for (guint i = 0; layout != NULL && i < layout->n_panels; i++) {
    const MharFigureRect *cells = &layout->panels[i].cells;
    double right = cells->x + cells->width, bottom = cells->y + cells->height;

    if (x < cells->x && x > cells->x - LABEL_REACH && y >= cells->y && y < bottom && !has_neighbour (layout, i, TRUE)
        && hit (self, cells->x + cells->width / 2, y, &cell))
      return mhar_drawing_label (drawing, cell.panel, FALSE, cell.row);
    if (y > bottom && y < bottom + LABEL_REACH && x >= cells->x && x < right
        && !(is_map (drawing) && has_neighbour (layout, i, FALSE)) && hit (self, x, bottom - 0.01, &cell))
      return mhar_drawing_label (drawing, cell.panel, TRUE, cell.column);
  }
  return NULL;
}

static void
on_motion (MharFigureView *self, double x, double y)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharCell cell;
  gboolean over = hit (self, x, y, &cell);

  p->pointer_x = x;
  p->pointer_y = y;
  if (over == p->hovering
      && (!over || (cell.panel == p->hover.panel && cell.row == p->hover.row && cell.column == p->hover.column)))
    return;
  p->hovering = over;
  if (over)
    p->hover = cell;
  mhar_figure_view_refresh_description (self);
  gtk_widget_trigger_tooltip_query (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_leave (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  if (!p->hovering)
    return;
  p->hovering = FALSE;
  mhar_figure_view_refresh_description (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Shares of its panel at which the pointer is; the middle where it is over none. */
static void
pointer_shares (MharFigureView *self, double *x, double *y)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharDrawing *drawing = mhar_figure_view_place (self);
  MharCell cell;

  *x = *y = 0.5;
  if (drawing == NULL || !hit (self, p->pointer_x, p->pointer_y, &cell))
    return;
  const MharFigureRect *cells = &mhar_drawing_layout (drawing)->panels[cell.panel].cells;
  *x = (p->pointer_x - cells->x) / cells->width;
  *y = (p->pointer_y - cells->y) / cells->height;
}

static gboolean
on_scroll (GtkEventControllerScroll *controller, double dx, double dy, MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  MharDrawing *drawing = mhar_figure_view_place (self);
  double x, y;

  if (drawing == NULL || !is_map (drawing))
    return GDK_EVENT_PROPAGATE;
  if ((state & GDK_CONTROL_MASK) != 0) {
    pointer_shares (self, &x, &y);
    zoom_about (self, pow (ZOOM_STEP, -dy), x, y);
  } else if (is_zoomed (self)) {
    gboolean sideways = (state & GDK_SHIFT_MASK) != 0;

    pan (self, &p->zoom, (sideways ? dy : dx) * p->zoom.width / 12, (sideways ? 0 : dy) * p->zoom.height / 12);
  } else {
    return GDK_EVENT_PROPAGATE;
  }
  on_motion (self, p->pointer_x, p->pointer_y);
  return GDK_EVENT_STOP;
}

static void
on_drag_begin (GtkGestureDrag *gesture G_GNUC_UNUSED, double x, double y, MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharCell cell;

  p->drag_panel = hit (self, x, y, &cell) ? cell.panel : 0;
  p->drag_zoom = p->zoom;
  p->dragging = FALSE;
}

/* A drag of a few pixels is still a click. */
static void
on_drag_update (GtkGestureDrag *gesture, double dx, double dy, MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharDrawing *drawing = mhar_figure_view_place (self);

  if (drawing == NULL || !is_zoomed (self) || p->drag_zoom.width == 0)
    return;
  if (!p->dragging && hypot (dx, dy) < 6)
    return;
  if (!p->dragging) {
    p->dragging = TRUE;
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
    gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grabbing");
  }
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  const MharFigureRect *cells = &layout->panels[MIN (p->drag_panel, layout->n_panels - 1)].cells;
  pan (self, &p->drag_zoom, -dx / cells->width * p->drag_zoom.width, -dy / cells->height * p->drag_zoom.height);
}

static void
on_drag_end (MharFigureView *self)
{
  mhar_figure_view_private (self)->dragging = FALSE;
  gtk_widget_set_cursor (GTK_WIDGET (self), NULL);
}

static gboolean
enlarge (MharFigureView *self, const MharCell *cell)
{
  MharFigureViewClass *class = MHAR_FIGURE_VIEW_GET_CLASS (self);

  return class->enlarge != NULL && class->enlarge (self, cell);
}

static void
on_released (GtkGestureClick *gesture, int presses, double x, double y, MharFigureView *self)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  MharDrawing *drawing = mhar_figure_view_place (self);
  MharCell cell;

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (drawing == NULL || !hit (self, x, y, &cell))
    return;
  mhar_figure_view_choose (self, drawing, &cell);
  if (presses == 1 && (state & GDK_CONTROL_MASK) == 0)
    enlarge (self, &cell);
}

/* The cell to move from; where nothing is selected a move selects the first. */
static gboolean
current_cell (MharFigureView *self, const MharDrawing *drawing, MharCell *cell)
{
  guint panel = mhar_figure_view_panel (self, drawing);

  if (mhar_figure_view_locate (self, drawing, panel, cell))
    return TRUE;
  *cell = (MharCell){ .panel = panel };
  mhar_figure_view_choose (self, drawing, cell);
  return FALSE;
}

static void
move (MharFigureView *self, const MharDrawing *drawing, int columns, int rows)
{
  MharCell cell;

  if (!current_cell (self, drawing, &cell))
    return;
  cell.column = (guint)CLAMP ((int)cell.column + columns, 0, (int)mhar_figure_view_columns (drawing, cell.panel) - 1);
  cell.row = (guint)CLAMP ((int)cell.row + rows, 0, (int)mhar_drawing_layout (drawing)->n_rows - 1);
  mhar_figure_view_choose (self, drawing, &cell);
}

static gboolean
move_by_key (MharFigureView *self, const MharDrawing *drawing, guint key)
{
  switch (key) {
  case GDK_KEY_Left:
  case GDK_KEY_KP_Left:
    move (self, drawing, -1, 0);
    return TRUE;
  case GDK_KEY_Right:
  case GDK_KEY_KP_Right:
    move (self, drawing, 1, 0);
    return TRUE;
  case GDK_KEY_Up:
  case GDK_KEY_KP_Up:
    move (self, drawing, 0, -1);
    return TRUE;
  case GDK_KEY_Down:
  case GDK_KEY_KP_Down:
    move (self, drawing, 0, 1);
    return TRUE;
  case GDK_KEY_Home:
    move (self, drawing, -G_MAXINT / 2, 0);
    return TRUE;
  case GDK_KEY_End:
    move (self, drawing, G_MAXINT / 2, 0);
    return TRUE;
  default:
    return FALSE;
  }
}

static gboolean
select_by_key (MharSelection *selection, guint key)
{
  int site = mhar_selection_get_site (selection);

  if (key >= GDK_KEY_1 && key <= GDK_KEY_9)
    mhar_selection_set_head (selection, (int)(key - GDK_KEY_1));
  else if (key == GDK_KEY_0)
    mhar_selection_set_head (selection, MHAR_SELECTION_CONSENSUS);
  else if (key == GDK_KEY_Page_Up || key == GDK_KEY_KP_Page_Up)
    mhar_selection_set_site (selection, MAX (site - 1, 0));
  else if (key == GDK_KEY_Page_Down || key == GDK_KEY_KP_Page_Down)
    mhar_selection_set_site (selection, site + 1);
  else
    return FALSE;
  return TRUE;
}

static gboolean
zoom_by_key (MharFigureView *self, guint key)
{
  if (key == GDK_KEY_plus || key == GDK_KEY_equal || key == GDK_KEY_KP_Add)
    zoom_about (self, ZOOM_STEP, 0.5, 0.5);
  else if (key == GDK_KEY_minus || key == GDK_KEY_KP_Subtract)
    zoom_about (self, 1 / ZOOM_STEP, 0.5, 0.5);
  else if (key == GDK_KEY_0 || key == GDK_KEY_KP_0)
    mhar_figure_view_set_zoom (self, &(MharFigureRect){ 0 });
  else
    return FALSE;
  return TRUE;
}

static gboolean
enlarge_by_key (MharFigureView *self, const MharDrawing *drawing, guint key)
{
  MharCell cell = { .panel = mhar_figure_view_panel (self, drawing) };

  if (key == GDK_KEY_Escape)
    return enlarge (self, NULL);
  if (key != GDK_KEY_F11 && key != GDK_KEY_Return && key != GDK_KEY_KP_Enter)
    return FALSE;
  mhar_figure_view_locate (self, drawing, cell.panel, &cell);
  return enlarge (self, &cell) || enlarge (self, NULL);
}

static gboolean
on_key (GtkEventControllerKey *controller G_GNUC_UNUSED, guint key, guint code G_GNUC_UNUSED, GdkModifierType state,
        MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharDrawing *drawing = p->set != NULL ? mhar_figure_view_place (self) : NULL;

  if (drawing == NULL || (state & (GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;
  if ((state & GDK_CONTROL_MASK) != 0)
    return is_map (drawing) && zoom_by_key (self, key);
  return move_by_key (self, drawing, key) || select_by_key (p->selection, key) || enlarge_by_key (self, drawing, key);
}

gboolean
mhar_figure_view_focus (GtkWidget *widget, GtkDirectionType direction)
{
  MharFigureView *self = MHAR_FIGURE_VIEW (widget);
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharDrawing *drawing = p->set != NULL ? mhar_figure_view_place (self) : NULL;
  GtkWidgetClass *parent = g_type_class_peek (GTK_TYPE_WIDGET);
  int step = direction == GTK_DIR_TAB_FORWARD ? 1 : direction == GTK_DIR_TAB_BACKWARD ? -1 : 0, panel;
  MharCell cell;

  if (drawing != NULL && step != 0 && gtk_widget_is_focus (widget)) {
    panel = (int)mhar_figure_view_panel (self, drawing) + step;
    if (panel >= 0 && panel < (int)mhar_drawing_layout (drawing)->n_panels && current_cell (self, drawing, &cell)) {
      if (!mhar_figure_view_locate (self, drawing, (guint)panel, &cell))
        cell = (MharCell){ .panel = (guint)panel, .row = cell.row, .column = cell.column };
      mhar_figure_view_choose (self, drawing, &cell);
      return TRUE;
    }
  }
  return parent->focus (widget, direction);
}

void
mhar_figure_view_add_controllers (MharFigureView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkEventController *motion = gtk_event_controller_motion_new (), *keys = gtk_event_controller_key_new ();
  GtkEventController *scroll = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  GtkEventController *focus = gtk_event_controller_focus_new ();
  GtkGesture *click = gtk_gesture_click_new (), *drag = gtk_gesture_drag_new ();

  g_signal_connect_swapped (motion, "enter", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), self);
  g_signal_connect_swapped (focus, "enter", G_CALLBACK (gtk_widget_queue_draw), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (gtk_widget_queue_draw), self);
  g_signal_connect (click, "released", G_CALLBACK (on_released), self);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect_swapped (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, keys);
  gtk_widget_add_controller (widget, scroll);
  gtk_widget_add_controller (widget, focus);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
}
