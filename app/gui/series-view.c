/* SPDX-License-Identifier: MIT */
#include "app/gui/series-view.h"

#include <glib/gi18n.h>

struct _MharSeriesView {
  MharFigureView parent;
};

G_DEFINE_FINAL_TYPE (MharSeriesView, mhar_series_view, MHAR_TYPE_FIGURE_VIEW)

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options G_GNUC_UNUSED, char **lack)
{
  *kind = MHAR_FIGURE_SERIES;
  if (mhar_figure_available (mhar_figure_view_get_dataset (view), *kind))
    return TRUE;
  *lack = g_strdup (_("This run holds no steps of a training run."));
  return FALSE;
}

static MharPoint
point (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, const MharCell *cell G_GNUC_UNUSED)
{
  return (MharPoint){ MHAR_PAGE_SERIES, -1, mhar_selection_get_head (mhar_figure_view_get_selection (view)), -1 };
}

static gboolean
locate (MharFigureView *view G_GNUC_UNUSED, const MharDrawing *drawing G_GNUC_UNUSED, MharCell *cell G_GNUC_UNUSED)
{
  return FALSE;
}

char *
mhar_series_sentence (const MharDataset *series)
{
  const MharField *step = mhar_dataset_get (series, "step");
  gsize n = step != NULL && step->n_dims == 1 ? step->shape[0] : 0;

  if (n == 0)
    return g_strdup (_("This run holds no steps of a training run."));
  return g_strdup_printf (_("%d checkpoints of one training run, steps %.0f to %.0f; shaded: 95 %% intervals, grey: the null"),
                          (int)n, mhar_field_value (step, 0), mhar_field_value (step, n - 1));
}

static char *
describe (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, const MharCell *cell)
{
  const MharDataset *series = mhar_figure_view_get_dataset (view);
  const MharField *step = mhar_dataset_get (series, "step"), *loss = mhar_dataset_get (series, "loss");

  if (step == NULL || loss == NULL || loss->n_dims != 1 || cell->column >= step->shape[0] || cell->column >= loss->shape[0])
    return mhar_series_sentence (series);
  return g_strdup_printf (_("Step %.0f: loss %.3f nat a token"), mhar_field_value (step, cell->column),
                          mhar_field_value (loss, cell->column));
}

/* There is nothing to select; where nothing is pointed at, what the picture shows is said. */
static char *
idle (MharFigureView *view)
{
  return mhar_series_sentence (mhar_figure_view_get_dataset (view));
}

static void
mhar_series_view_class_init (MharSeriesViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  view_class->page = MHAR_PAGE_SERIES;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
  view_class->describe = describe;
  view_class->idle = idle;
}

static void
mhar_series_view_init (MharSeriesView *self)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Scalars by step"), -1);
}

GtkWidget *
mhar_series_view_new (MharSelection *selection)
{
  MharSeriesView *self = g_object_new (MHAR_TYPE_SERIES_VIEW, NULL);

  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}
