/* SPDX-License-Identifier: MIT */
/* Disagreement by site. */
#include "app/gui/disagreement-view.h"

#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharDisagreementView {
  MharFigureView parent;
};

G_DEFINE_FINAL_TYPE (MharDisagreementView, mhar_disagreement_view, MHAR_TYPE_FIGURE_VIEW)

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options G_GNUC_UNUSED, char **lack)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);

  *kind = MHAR_FIGURE_KL;
  if (mhar_figure_available (set, *kind))
    return TRUE;
  if (mhar_dataset_integer (set, "heads", -1) == 0)
    *lack = g_strdup (_("A plain Transformer: nothing reads over depth, so nothing can disagree."));
  else
    *lack = g_strdup (_("This run holds no disagreement."));
  return FALSE;
}

static MharPoint
point (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  return (MharPoint){ MHAR_PAGE_DISAGREEMENT, (int)mhar_drawing_layout (drawing)->columns[cell->column],
                      mhar_selection_get_head (mhar_figure_view_get_selection (view)), -1 };
}

static gboolean
locate (MharFigureView *view, const MharDrawing *drawing, MharCell *cell)
{
  const MharFigureLayout *layout = mhar_drawing_layout (drawing);
  int site = mhar_selection_get_site (mhar_figure_view_get_selection (view));

  for (guint i = 0; i < layout->n_columns; i++)
    if ((int)layout->columns[i] == site) {
      cell->column = i;
      return TRUE;
    }
  return FALSE;
}

static void
mhar_disagreement_view_class_init (MharDisagreementViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  view_class->page = MHAR_PAGE_DISAGREEMENT;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
}

static void
mhar_disagreement_view_init (MharDisagreementView *self)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Disagreement by site"), -1);
}

GtkWidget *
mhar_disagreement_view_new (MharSelection *selection)
{
  MharDisagreementView *self = g_object_new (MHAR_TYPE_DISAGREEMENT_VIEW, NULL);

  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}

void
mhar_disagreement_view_set_dataset (MharDisagreementView *self, MharDataset *set)
{
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self), set);
}

void
mhar_disagreement_view_set_display (MharDisagreementView *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self), display);
}
