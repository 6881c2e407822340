/* SPDX-License-Identifier: MIT */
/* Depth maps. */
#include "app/gui/map-view.h"

#include "app/figure/figure-data.h"
#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

#define ROOM_FOR_BUTTON 16.0 /* beside the title, which has room of its own */

struct _MharMapView {
  MharFigureView parent;
  GtkWidget *back; /* leaves the enlarged map */
  gboolean enlarged;
  guint row, column; /* of coefficients, which are no reads: where the cursor is */
};

G_DEFINE_FINAL_TYPE (MharMapView, mhar_map_view, MHAR_TYPE_FIGURE_VIEW)

/* A hyper-connected model has these in place of maps. */
static gboolean
is_coefficients (const MharDataset *set)
{
  return set != NULL && !mhar_figure_available (set, MHAR_FIGURE_DEPTH_MAP)
         && mhar_figure_available (set, MHAR_FIGURE_COEFFICIENTS);
}

static gboolean
coefficients (MharFigureKind *kind, MharFigureOptions *options)
{
  *kind = MHAR_FIGURE_COEFFICIENTS;
  options->deviation = FALSE;
  /* The scale's ends belong to weights and deviations. */
  if (options->scale == MHAR_FIGURE_SCALE_FIXED)
    options->scale = MHAR_FIGURE_SCALE_AUTO;
  return TRUE;
}

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options, char **lack)
{
  MharMapView *self = MHAR_MAP_VIEW (view);
  MharDataset *set = mhar_figure_view_get_dataset (view);
  int head = mhar_selection_get_head (mhar_figure_view_get_selection (view));
  gboolean deviation = options->deviation && mhar_figure_available (set, MHAR_FIGURE_DEVIATION);

  if (is_coefficients (set))
    return coefficients (kind, options);
  if (self->enlarged) {
    options->head = head >= 0 ? head : MHAR_FIGURE_CONSENSUS;
    options->room_above = ROOM_FOR_BUTTON;
  }
  /* The mean over heads does not deviate from itself. */
  deviation = deviation && options->head != MHAR_FIGURE_CONSENSUS;
  options->deviation = deviation;
  *kind = deviation ? MHAR_FIGURE_DEVIATION : MHAR_FIGURE_DEPTH_MAP;
  if (mhar_figure_available (set, *kind))
    return TRUE;
  if (mhar_dataset_integer (set, "heads", -1) == 0)
    *lack = g_strdup (_("A plain Transformer: nothing reads over depth, so there is no map."));
  else
    *lack = g_strdup (_("This run holds no depth maps."));
  return FALSE;
}

static MharPoint
point (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);

  if (is_coefficients (mhar_figure_view_get_dataset (view)))
    return (MharPoint){ MHAR_PAGE_MAPS, -1, -1, -1 };

  return (MharPoint){ MHAR_PAGE_MAPS, (int)layout->rows[cell->row],
                      MAX (layout->panels[cell->panel].head, MHAR_SELECTION_CONSENSUS),
                      (int)layout->columns[cell->column] };
}

static gboolean
locate (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, MharCell *cell)
{
  MharSelection *selection = mhar_figure_view_get_selection (view);
  int site = mhar_selection_get_site (selection), source = mhar_selection_get_source (selection);

  if (is_coefficients (mhar_figure_view_get_dataset (view))) {
    cell->row = MHAR_MAP_VIEW (view)->row;
    cell->column = MHAR_MAP_VIEW (view)->column;
    return TRUE;
  }
  if (site < 0)
    return FALSE;
  cell->row = (guint)site;
  cell->column = (guint)MAX (source, 0);
  return TRUE;
}

static guint
panel (MharFigureView *view, const MharDrawing *drawing)
{
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  int head = mhar_selection_get_head (mhar_figure_view_get_selection (view));

  for (guint i = 0; i < layout->n_panels; i++)
    if (MAX (layout->panels[i].head, MHAR_SELECTION_CONSENSUS) == head)
      return i;
  return 0;
}

/* Coefficients are nothing that the selection knows. */
static void
choose (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharMapView *self = MHAR_MAP_VIEW (view);

  self->row = cell->row;
  self->column = cell->column;
  if (!is_coefficients (mhar_figure_view_get_dataset (view)))
    MHAR_FIGURE_VIEW_CLASS (mhar_map_view_parent_class)->choose (view, drawing, cell);
}

static char *
describe_coefficient (MharDataset *set, const MharDrawing *drawing, const MharCell *cell)
{
  g_autofree char *input = mhar_figure_label (set, "input_label", cell->row, 0);
  g_autofree char *output = mhar_figure_label (set, "output_label", cell->column, 0);
  double value = mhar_drawing_value (drawing, cell->panel, cell->row, cell->column);
  g_autofree char *number = mhar_display_number (value, 3, FALSE);
  const char *into = input != NULL ? input : "?", *of = output != NULL ? output : "?";

  if (!isfinite (value))
    return g_strdup_printf (_("%s comes after the input of %s: there is nothing of it to take"), of, into);
  return g_strdup_printf (_("The input of %s takes the output of %s %s times, whatever the text; a plain residual stream "
                            "takes everything once"),
                          into, of, number);
}

static char *
describe (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);
  if (is_coefficients (set))
    return describe_coefficient (set, drawing, cell);
  MharPoint at = point (view, drawing, cell);
  int sources = mhar_look_n_sources (set, at.site);

  if (at.source >= sources)
    return g_strdup_printf (ngettext ("%s has %d source; there is nothing here for it to read yet",
                                      "%s has %d sources; there is nothing here for it to read yet",
                                      (gulong)MAX (sources, 0)),
                            mhar_look_site (set, at.site), sources);
  if (!isfinite (mhar_drawing_value (drawing, cell->panel, cell->row, cell->column)))
    return g_strdup_printf (_("%s has no head %d"), mhar_look_site (set, at.site), at.head);
  return mhar_sentence (set, NULL, FALSE, &at);
}

static gboolean
enlarge (MharFigureView *view, const MharCell *cell)
{
  MharMapView *self = MHAR_MAP_VIEW (view);

  if ((cell != NULL) == self->enlarged || is_coefficients (mhar_figure_view_get_dataset (view)))
    return FALSE;
  mhar_map_view_set_enlarged (self, cell != NULL);
  return TRUE;
}

static void
on_head (MharMapView *self)
{
  if (self->enlarged)
    mhar_figure_view_invalidate (MHAR_FIGURE_VIEW (self));
}

static void
on_back (MharMapView *self)
{
  mhar_map_view_set_enlarged (self, FALSE);
  gtk_widget_grab_focus (GTK_WIDGET (self));
}

/* In the room that the figure leaves above a single map. */
static void
size_allocate (GtkWidget *widget, int width G_GNUC_UNUSED, int height G_GNUC_UNUSED, int baseline G_GNUC_UNUSED)
{
  MharMapView *self = MHAR_MAP_VIEW (widget);
  GtkRequisition size;

  if (!gtk_widget_should_layout (self->back))
    return;
  gtk_widget_get_preferred_size (self->back, NULL, &size);
  gtk_widget_size_allocate (self->back, &(GtkAllocation){ 3, 3, size.width, size.height }, -1);
}

static void
dispose (GObject *object)
{
  g_clear_pointer (&MHAR_MAP_VIEW (object)->back, gtk_widget_unparent);
  G_OBJECT_CLASS (mhar_map_view_parent_class)->dispose (object);
}

static void
mhar_map_view_class_init (MharMapViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  GTK_WIDGET_CLASS (class)->size_allocate = size_allocate;
  view_class->page = MHAR_PAGE_MAPS;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
  view_class->panel = panel;
  view_class->choose = choose;
  view_class->describe = describe;
  view_class->enlarge = enlarge;
}

static void
mhar_map_view_init (MharMapView *self)
{
  self->back = gtk_button_new_with_mnemonic (_("‹ _All heads"));
  gtk_widget_set_tooltip_text (self->back, _("Back to a map per head (Escape)"));
  gtk_widget_set_visible (self->back, FALSE);
  gtk_widget_set_parent (self->back, GTK_WIDGET (self));
  g_signal_connect_swapped (self->back, "clicked", G_CALLBACK (on_back), self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Depth maps"), -1);
}

GtkWidget *
mhar_map_view_new (MharSelection *selection)
{
  MharMapView *self = g_object_new (MHAR_TYPE_MAP_VIEW, NULL);

  g_signal_connect_object (selection, "notify::head", G_CALLBACK (on_head), self, G_CONNECT_SWAPPED);
  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}

void
mhar_map_view_set_dataset (MharMapView *self, MharDataset *set)
{
  self->row = self->column = 0;
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self), set);
}

void
mhar_map_view_set_display (MharMapView *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self), display);
}

void
mhar_map_view_set_enlarged (MharMapView *self, gboolean enlarged)
{
  if (self->enlarged == enlarged || (enlarged && is_coefficients (mhar_figure_view_get_dataset (MHAR_FIGURE_VIEW (self)))))
    return;
  self->enlarged = enlarged;
  gtk_widget_set_visible (self->back, enlarged);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  mhar_figure_view_invalidate (MHAR_FIGURE_VIEW (self));
}

gboolean
mhar_map_view_get_enlarged (MharMapView *self)
{
  return self->enlarged;
}
