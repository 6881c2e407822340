/* SPDX-License-Identifier: MIT */
/* Pairs of outputs. */
#include "app/gui/collinearity-view.h"

#include "app/figure/figure-data.h"
#include "app/figure/ticks.h"
#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharCollinearityView {
  MharFigureView parent;
  int row, column;   /* the pair; −1: none */
  gboolean choosing; /* the selection follows the pair, not the other way */
};

G_DEFINE_FINAL_TYPE (MharCollinearityView, mhar_collinearity_view, MHAR_TYPE_FIGURE_VIEW)

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options G_GNUC_UNUSED, char **lack)
{
  *kind = MHAR_FIGURE_COLLINEARITY;
  if (mhar_figure_available (mhar_figure_view_get_dataset (view), *kind))
    return TRUE;
  *lack = g_strdup (_("This run holds no collinearity."));
  return FALSE;
}

static char *
output_label (MharDataset *set, guint i)
{
  char *label = mhar_figure_label (set, "output_label", i, 0);

  return label != NULL ? label : g_strdup_printf ("%u", i);
}

/* The read whose site is the later output and whose source is the earlier one; −1 where there is none. */
static MharPoint
point (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, const MharCell *cell)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);
  const char *later = mhar_figure_raw_label (set, "output_label", MAX (cell->row, cell->column), 0);
  const char *earlier = mhar_figure_raw_label (set, "output_label", MIN (cell->row, cell->column), 0);
  MharPoint at = { MHAR_PAGE_COLLINEARITY, -1, mhar_selection_get_head (mhar_figure_view_get_selection (view)), -1 };

  if (later != NULL && earlier != NULL && cell->row != cell->column) {
    at.site = mhar_look_site_named (set, later);
    at.source = at.site >= 0 ? mhar_look_source_named (set, at.site, earlier) : -1;
  }
  return at;
}

static int
output_named (MharDataset *set, const char *label)
{
  const MharField *field = mhar_dataset_get (set, "output_label");

  for (gsize i = 0; field != NULL && i < mhar_field_length (field); i++)
    if (g_strcmp0 (mhar_figure_raw_label (set, "output_label", i, 0), label) == 0)
      return (int)i;
  return -1;
}

/* The selection changed elsewhere: the pair that its site and source are. */
static void
follow_selection (MharCollinearityView *self)
{
  MharFigureView *view = MHAR_FIGURE_VIEW (self);
  MharDataset *set = mhar_figure_view_get_dataset (view);
  MharSelection *selection = mhar_figure_view_get_selection (view);
  int site = mhar_selection_get_site (selection), source = mhar_selection_get_source (selection), row, column;

  if (self->choosing || set == NULL || site < 0 || source < 0)
    return;
  row = output_named (set, mhar_look_site (set, site));
  column = output_named (set, mhar_look_source (set, site, source));
  if (row >= 0 && column >= 0) {
    self->row = row;
    self->column = column;
  }
}

static gboolean
locate (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, MharCell *cell)
{
  MharCollinearityView *self = MHAR_COLLINEARITY_VIEW (view);

  if (self->row < 0 || self->column < 0)
    return FALSE;
  cell->row = (guint)self->row;
  cell->column = (guint)self->column;
  return TRUE;
}

static void
choose (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharCollinearityView *self = MHAR_COLLINEARITY_VIEW (view);
  MharPoint at = point (view, drawing, cell);

  self->row = (int)cell->row;
  self->column = (int)cell->column;
  self->choosing = TRUE;
  if (at.site >= 0 && at.source >= 0)
    mhar_selection_set_cell (mhar_figure_view_get_selection (view), at.site, at.head, at.source);
  self->choosing = FALSE;
}

static char *
describe (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);
  g_autofree char *a = output_label (set, cell->row), *b = output_label (set, cell->column);
  double value = mhar_drawing_value (drawing, 0, cell->row, cell->column);
  double mean = mhar_dataset_real (set, "collinearity_mean", NAN);

  if (cell->row == cell->column)
    return g_strdup_printf (_("%s with itself: a cosine of 1 by definition"), a);
  if (!isfinite (value))
    return g_strdup_printf (_("The outputs of %s and %s: this run holds no cosine"), a, b);
  if (!isfinite (mean))
    return g_strdup_printf (_("The outputs of %s and %s have a cosine of %.3f"), a, b, value);
  return g_strdup_printf (_("The outputs of %s and %s have a cosine of %.3f; all pairs a mean of %.3f"), a, b, value,
                          mean);
}

static void
mhar_collinearity_view_class_init (MharCollinearityViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  view_class->page = MHAR_PAGE_COLLINEARITY;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
  view_class->choose = choose;
  view_class->describe = describe;
}

static void
mhar_collinearity_view_init (MharCollinearityView *self)
{
  self->row = self->column = -1;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Collinearity of sublayer outputs"), -1);
}

GtkWidget *
mhar_collinearity_view_new (MharSelection *selection)
{
  MharCollinearityView *self = g_object_new (MHAR_TYPE_COLLINEARITY_VIEW, NULL);

  /* Before the base class looks where the selection is. */
  g_signal_connect_object (selection, "changed", G_CALLBACK (follow_selection), self, G_CONNECT_SWAPPED);
  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}

void
mhar_collinearity_view_set_dataset (MharCollinearityView *self, MharDataset *set)
{
  self->row = self->column = -1;
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self), set);
  follow_selection (self);
}

void
mhar_collinearity_view_set_display (MharCollinearityView *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self), display);
}
