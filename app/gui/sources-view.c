/* SPDX-License-Identifier: MIT */
/* Entropy and contribution. */
#include "app/gui/sources-view.h"

#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharSourcesView {
  MharFigureView parent;
  GtkWidget *check; /* above the lower plot */
};

G_DEFINE_FINAL_TYPE (MharSourcesView, mhar_sources_view, MHAR_TYPE_FIGURE_VIEW)

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options, char **lack)
{
  MharSelection *selection = mhar_figure_view_get_selection (view);
  int head = mhar_selection_get_head (selection);

  *kind = MHAR_FIGURE_SOURCES;
  options->site = (guint)MAX (mhar_selection_get_site (selection), 0);
  options->head = head >= 0 ? head : MHAR_FIGURE_CONSENSUS;
  options->sorted = gtk_check_button_get_active (GTK_CHECK_BUTTON (MHAR_SOURCES_VIEW (view)->check));
  if (mhar_figure_available (mhar_figure_view_get_dataset (view), *kind))
    return TRUE;
  *lack = g_strdup (_("This run holds no entropies."));
  return FALSE;
}

static MharPoint
point (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  MharSelection *selection = mhar_figure_view_get_selection (view);
  MharPoint at
      = { MHAR_PAGE_SOURCES, MAX (mhar_selection_get_site (selection), 0), mhar_selection_get_head (selection), -1 };

  if (cell->panel == 0)
    at.site = (int)layout->columns[cell->column];
  else
    at.source = (int)layout->panels[1].columns[cell->column];
  return at;
}

static gboolean
locate (MharFigureView *view, const MharDrawing *drawing, MharCell *cell)
{
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  MharSelection *selection = mhar_figure_view_get_selection (view);
  guint n = cell->panel == 0 ? layout->n_columns : layout->panels[1].n_columns;
  const guint *columns = cell->panel == 0 ? layout->columns : layout->panels[1].columns;
  int wanted = cell->panel == 0 ? mhar_selection_get_site (selection) : mhar_selection_get_source (selection);

  for (guint i = 0; i < n; i++)
    if ((int)columns[i] == wanted) {
      cell->column = i;
      return TRUE;
    }
  return FALSE;
}

/* At the right above the lower plot, where there is one. */
static void
size_allocate (GtkWidget *widget, int width, int height, int baseline G_GNUC_UNUSED)
{
  MharSourcesView *self = MHAR_SOURCES_VIEW (widget);
  const MharDrawing *drawing = mhar_figure_view_get_drawing (MHAR_FIGURE_VIEW (self));
  const MharFigureLayout *layout = drawing != NULL ? mhar_drawing_layout (drawing) : NULL;
  gboolean lower = layout != NULL && layout->n_panels > 1;
  GtkRequisition size;
  int y;

  gtk_widget_set_child_visible (self->check, lower);
  if (!lower)
    return;
  gtk_widget_get_preferred_size (self->check, NULL, &size);
  y = (int)(layout->panels[1].cells.y - size.height - 2);
  gtk_widget_size_allocate (self->check,
                            &(GtkAllocation){ MAX (width - size.width - 12, 0),
                                              CLAMP (y, 0, MAX (height - size.height, 0)), size.width, size.height },
                            -1);
}

static void
on_sorted (MharSourcesView *self)
{
  mhar_figure_view_invalidate (MHAR_FIGURE_VIEW (self));
}

static void
dispose (GObject *object)
{
  MharSourcesView *self = MHAR_SOURCES_VIEW (object);

  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self), NULL);
  g_clear_pointer (&self->check, gtk_widget_unparent);
  G_OBJECT_CLASS (mhar_sources_view_parent_class)->dispose (object);
}

static void
mhar_sources_view_class_init (MharSourcesViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  GTK_WIDGET_CLASS (class)->size_allocate = size_allocate;
  view_class->page = MHAR_PAGE_SOURCES;
  view_class->by_site = view_class->by_head = TRUE;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
}

static void
mhar_sources_view_init (MharSourcesView *self)
{
  self->check = gtk_check_button_new_with_mnemonic (_("_Largest first"));
  gtk_widget_set_parent (self->check, GTK_WIDGET (self));
  g_signal_connect_swapped (self->check, "toggled", G_CALLBACK (on_sorted), self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Effective number of sources by site, and contribution by source"), -1);
}

GtkWidget *
mhar_sources_view_new (MharSelection *selection)
{
  MharSourcesView *self = g_object_new (MHAR_TYPE_SOURCES_VIEW, NULL);

  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}

void
mhar_sources_view_set_dataset (MharSourcesView *self, MharDataset *set)
{
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self), set);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

void
mhar_sources_view_set_display (MharSourcesView *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self), display);
}

void
mhar_sources_view_set_sorted (MharSourcesView *self, gboolean sorted)
{
  gtk_check_button_set_active (GTK_CHECK_BUTTON (self->check), sorted);
}
