/* SPDX-License-Identifier: MIT */
/* The widget: what it shows, what it says. */
#include "app/gui/figure-view-private.h"

#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>

enum { PROP_0, PROP_DESCRIPTION, N_PROPS };

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (MharFigureView, mhar_figure_view, GTK_TYPE_WIDGET)

static GParamSpec *properties[N_PROPS];

MharFigureViewPrivate *
mhar_figure_view_private (MharFigureView *self)
{
  return mhar_figure_view_get_instance_private (self);
}

/* The desktop's font, a little smaller than in its menus. */
static void
read_font (MharFigureView *self, char **family, double *size)
{
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));
  const PangoFontDescription *font = pango_context_get_font_description (context);
  double points = (double)pango_font_description_get_size (font) / PANGO_SCALE;
  double dpi = pango_cairo_context_get_resolution (context);

  *family = g_strdup (pango_font_description_get_family (font));
  if (!pango_font_description_get_size_is_absolute (font))
    points *= (dpi > 0 ? dpi : 96) / 72;
  *size = CLAMP (points * 0.84, 8, 40);
}

static void
forget_drawing (MharFigureViewPrivate *p)
{
  g_clear_pointer (&p->drawing, mhar_drawing_free);
  g_clear_pointer (&p->lack, g_free);
  p->tried = FALSE;
}

static void
set_ends (const MharDisplay *display, MharFigureKind kind, MharFigureOptions *options)
{
  const MharEnds *ends = &display->ends[mhar_display_scaled (kind, options)];

  options->low = ends->low;
  options->high = ends->high;
}

static void
make_drawing (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  g_autoptr (GError) error = NULL;
  MharFigureOptions options;
  MharFigureKind kind;

  p->tried = TRUE;
  if (p->set == NULL)
    return;
  mhar_display_to_options (&p->display, &options);
  if (!MHAR_FIGURE_VIEW_GET_CLASS (self)->figure (self, &kind, &options, &p->lack))
    return;
  set_ends (&p->display, kind, &options);
  options.family = p->family;
  options.font_size = p->font_size;
  options.bare = options.screen = TRUE;
  options.view = p->zoom;
  p->drawing = mhar_drawing_new (p->set, kind, &options, &error);
  if (p->drawing == NULL)
    p->lack = g_strdup (error->message);
}

MharDrawing *
mhar_figure_view_place (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  int width = gtk_widget_get_width (GTK_WIDGET (self)), height = gtk_widget_get_height (GTK_WIDGET (self));
  g_autofree char *family = NULL;
  double size;

  read_font (self, &family, &size);
  if (size != p->font_size || g_strcmp0 (family, p->family) != 0) {
    g_free (p->family);
    p->family = g_steal_pointer (&family);
    p->font_size = size;
    forget_drawing (p);
    mhar_figure_view_drop_node (self);
  }
  if (!p->tried) {
    make_drawing (self);
    p->width = p->height = 0;
  }
  if (p->drawing != NULL && width > 0 && height > 0 && (width != p->width || height != p->height)) {
    mhar_drawing_place (p->drawing, width, height);
    p->width = width;
    p->height = height;
    mhar_figure_view_drop_node (self);
  }
  return p->drawing;
}

guint
mhar_figure_view_columns (const MharDrawing *drawing, guint panel)
{
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);

  return layout->panels[panel].n_columns > 0 ? layout->panels[panel].n_columns : layout->n_columns;
}

guint
mhar_figure_view_panel (MharFigureView *self, const MharDrawing *drawing)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharFigureViewClass *class = MHAR_FIGURE_VIEW_GET_CLASS (self);
  guint panel = class->panel != NULL ? class->panel (self, drawing) : p->panel;

  return MIN (panel, mhar_drawing_layout (drawing)->n_panels - 1);
}

gboolean
mhar_figure_view_locate (MharFigureView *self, const MharDrawing *drawing, guint panel, MharCell *cell)
{
  *cell = (MharCell){ .panel = panel };
  return MHAR_FIGURE_VIEW_GET_CLASS (self)->locate (self, drawing, cell)
         && cell->row < mhar_drawing_layout (drawing)->n_rows
         && cell->column < mhar_figure_view_columns (drawing, panel);
}

void
mhar_figure_view_choose (MharFigureView *self, const MharDrawing *drawing, const MharCell *cell)
{
  mhar_figure_view_private (self)->panel = cell->panel;
  MHAR_FIGURE_VIEW_GET_CLASS (self)->choose (self, drawing, cell);
  /* Not every cell is something to select, and the selection may have been it already. */
  mhar_figure_view_refresh_description (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
set_description (MharFigureView *self, char *text)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  if (g_strcmp0 (text, p->description) == 0) {
    g_free (text);
    return;
  }
  g_free (p->description);
  p->description = text;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DESCRIPTION]);
}

void
mhar_figure_view_refresh_description (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharDrawing *drawing = p->set != NULL ? mhar_figure_view_place (self) : NULL;
  char *text = NULL;
  MharCell cell;

  mhar_figure_view_hover_again (self);
  if (drawing != NULL && p->hovering)
    text = MHAR_FIGURE_VIEW_GET_CLASS (self)->describe (self, drawing, &p->hover);
  else if (drawing != NULL && mhar_figure_view_locate (self, drawing, mhar_figure_view_panel (self, drawing), &cell))
    text = MHAR_FIGURE_VIEW_GET_CLASS (self)->describe (self, drawing, &cell);
  else if (p->lack != NULL)
    text = g_strdup (p->lack);
  else if (drawing != NULL && MHAR_FIGURE_VIEW_GET_CLASS (self)->idle != NULL)
    text = MHAR_FIGURE_VIEW_GET_CLASS (self)->idle (self);
  set_description (self, text != NULL ? text : g_strdup (""));
}

/* The class's own ways. */
static void
choose_point (MharFigureView *self, const MharDrawing *drawing, const MharCell *cell)
{
  MharSelection *selection = mhar_figure_view_private (self)->selection;
  MharPoint at = MHAR_FIGURE_VIEW_GET_CLASS (self)->point (self, drawing, cell);

  mhar_selection_set_cell (selection, at.site >= 0 ? at.site : mhar_selection_get_site (selection), at.head,
                           at.source >= 0 ? at.source : mhar_selection_get_source (selection));
}

static char *
describe_point (MharFigureView *self, const MharDrawing *drawing, const MharCell *cell)
{
  MharPoint at = MHAR_FIGURE_VIEW_GET_CLASS (self)->point (self, drawing, cell);

  return mhar_sentence (mhar_figure_view_private (self)->set, NULL, FALSE, &at);
}

static void
on_selection (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharFigureViewClass *class = MHAR_FIGURE_VIEW_GET_CLASS (self);
  int site = mhar_selection_get_site (p->selection), head = mhar_selection_get_head (p->selection);
  MharDrawing *drawing;
  MharCell cell;

  if ((class->by_site && site != p->site) || (class->by_head && head != p->head))
    mhar_figure_view_invalidate (self);
  p->site = site;
  p->head = head;
  drawing = mhar_figure_view_place (self);
  if (drawing != NULL && mhar_figure_view_locate (self, drawing, mhar_figure_view_panel (self, drawing), &cell))
    mhar_figure_view_reveal (self, &cell);
  mhar_figure_view_refresh_description (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Over a cell what it says, with full names; over a label, which may be cut short, all of it. */
static gboolean
on_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  MharFigureView *self = MHAR_FIGURE_VIEW (widget);
  gboolean over = keyboard || mhar_figure_view_private (self)->hovering;
  const char *text = over ? mhar_figure_view_get_description (self) : mhar_figure_view_label_at (self, x, y);

  gtk_tooltip_set_text (tooltip, text);
  return text != NULL && *text != '\0';
}

static void
measure (GtkWidget *widget G_GNUC_UNUSED, GtkOrientation orientation, int for_size G_GNUC_UNUSED, int *minimum,
         int *natural, int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : 180;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 640 : 420;
  *minimum_baseline = *natural_baseline = -1;
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_DESCRIPTION)
    g_value_set_string (value, mhar_figure_view_get_description (MHAR_FIGURE_VIEW (object)));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
}

static void
dispose (GObject *object)
{
  MharFigureView *self = MHAR_FIGURE_VIEW (object);
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  if (p->selection != NULL)
    g_signal_handlers_disconnect_by_data (p->selection, self);
  g_clear_object (&p->selection);
  mhar_figure_view_drop_node (self);
  forget_drawing (p);
  g_clear_pointer (&p->set, mhar_dataset_unref);
  G_OBJECT_CLASS (mhar_figure_view_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (MHAR_FIGURE_VIEW (object));

  g_free (p->family);
  g_free (p->description);
  g_rc_box_release_full (p->spare, mhar_figure_view_clear_spare);
  G_OBJECT_CLASS (mhar_figure_view_parent_class)->finalize (object);
}

static void
mhar_figure_view_class_init (MharFigureViewClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->get_property = get_property;
  object_class->dispose = dispose;
  object_class->finalize = finalize;
  widget_class->measure = measure;
  widget_class->snapshot = mhar_figure_view_snapshot;
  widget_class->focus = mhar_figure_view_focus;
  widget_class->query_tooltip = on_tooltip;
  class->choose = choose_point;
  class->describe = describe_point;
  properties[PROP_DESCRIPTION]
      = g_param_spec_string ("description", NULL, NULL, "", G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_set_css_name (widget_class, "figureview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
mhar_figure_view_init (MharFigureView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  mhar_display_init (&mhar_figure_view_private (self)->display);
  mhar_figure_view_private (self)->spare = g_rc_box_new0 (cairo_surface_t *);
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_hexpand (widget, TRUE);
  gtk_widget_set_vexpand (widget, TRUE);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  mhar_figure_view_add_controllers (self);
  g_signal_connect (self, "notify::scale-factor", G_CALLBACK (mhar_figure_view_drop_node), NULL);
}

void
mhar_figure_view_set_selection (MharFigureView *self, MharSelection *selection)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  g_return_if_fail (p->selection == NULL);
  p->selection = g_object_ref (selection);
  p->site = mhar_selection_get_site (selection);
  p->head = mhar_selection_get_head (selection);
  g_signal_connect_object (selection, "changed", G_CALLBACK (on_selection), self, G_CONNECT_SWAPPED);
}

void
mhar_figure_view_invalidate (MharFigureView *self)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  forget_drawing (p);
  mhar_figure_view_drop_node (self);
  p->hover_stale = p->hovering || p->hover_stale;
  p->hovering = FALSE;
}

void
mhar_figure_view_set_dataset (MharFigureView *self, MharDataset *set)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  gsize before = p->set != NULL ? mhar_look_n_sites (p->set) : 0;

  mhar_figure_view_invalidate (self); /* the drawing borrows the old one */
  if (set != NULL)
    mhar_dataset_ref (set);
  if (p->set != NULL)
    mhar_dataset_unref (p->set);
  p->set = set;
  if (set == NULL || mhar_look_n_sites (set) != before)
    p->zoom = (MharFigureRect){ 0 };
  mhar_figure_view_refresh_description (self);
}

MharDataset *
mhar_figure_view_get_dataset (MharFigureView *self)
{
  return mhar_figure_view_private (self)->set;
}

void
mhar_figure_view_set_display (MharFigureView *self, const MharDisplay *display)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);

  if (mhar_display_equal (&p->display, display))
    return;
  p->display = *display;
  mhar_figure_view_invalidate (self);
  mhar_figure_view_refresh_description (self);
}

const MharDisplay *
mhar_figure_view_get_display (MharFigureView *self)
{
  return &mhar_figure_view_private (self)->display;
}

MharSelection *
mhar_figure_view_get_selection (MharFigureView *self)
{
  return mhar_figure_view_private (self)->selection;
}

gboolean
mhar_figure_view_get_figure (MharFigureView *self, MharFigureKind *kind, MharFigureOptions *options)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  g_autofree char *lack = NULL;

  mhar_display_to_options (&p->display, options);
  if (p->set == NULL || !MHAR_FIGURE_VIEW_GET_CLASS (self)->figure (self, kind, options, &lack))
    return FALSE;
  set_ends (&p->display, *kind, options);
  options->view = p->zoom;
  options->room_above = 0;
  return TRUE;
}

const char *
mhar_figure_view_get_description (MharFigureView *self)
{
  const char *text = mhar_figure_view_private (self)->description;

  return text != NULL ? text : "";
}

const MharDrawing *
mhar_figure_view_get_drawing (MharFigureView *self)
{
  return mhar_figure_view_place (self);
}

void
mhar_figure_view_set_zoom (MharFigureView *self, const MharFigureRect *zoom)
{
  MharFigureViewPrivate *p = mhar_figure_view_private (self);
  MharDrawing *drawing = mhar_figure_view_place (self);
  const MharFigureLayout *layout;

  p->zoom = *zoom;
  if (drawing == NULL)
    return;
  layout = mhar_drawing_layout (drawing);
  mhar_drawing_set_view (drawing, zoom);
  p->zoom = layout->view;
  if (layout->view.width >= layout->n_columns && layout->view.height >= layout->n_rows)
    p->zoom = (MharFigureRect){ 0 };
  mhar_drawing_place (drawing, p->width, p->height);
  mhar_figure_view_drop_node (self);
}
