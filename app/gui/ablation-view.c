/* SPDX-License-Identifier: MIT */
#include "app/gui/ablation-view.h"

#include "app/gui/dataset-look.h"
#include "app/gui/verdict-words.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharAblationView {
  MharFigureView parent;
};

G_DEFINE_FINAL_TYPE (MharAblationView, mhar_ablation_view, MHAR_TYPE_FIGURE_VIEW)

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options, char **lack)
{
  MharFigureOptions plain;

  *kind = MHAR_FIGURE_ABLATION;
  /* Scale and colours belong to weights and deviations; changes of a loss have their own. */
  mhar_figure_options_init (&plain);
  options->scale = plain.scale;
  options->map = plain.map;
  options->deviation = FALSE;
  if (mhar_figure_available (mhar_figure_view_get_dataset (view), *kind))
    return TRUE;
  *lack = g_strdup (_("This run holds no ablation map."));
  return FALSE;
}

static const MharDataset *
map_of (MharFigureView *view)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);

  return set != NULL ? mhar_dataset_find_child (set, "ablation_map") : NULL;
}

/* Rows are counted without the sites that have one source. */
static MharPoint
point (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, const MharCell *cell)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);
  int site = mhar_look_site_named (set, mhar_look_site (map_of (view), (int)cell->row));

  return (MharPoint){ MHAR_PAGE_ABLATION, site, mhar_selection_get_head (mhar_figure_view_get_selection (view)),
                      (int)cell->column };
}

static gboolean
locate (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, MharCell *cell)
{
  MharSelection *selection = mhar_figure_view_get_selection (view);
  MharDataset *set = mhar_figure_view_get_dataset (view);
  int row = mhar_look_site_named (map_of (view), mhar_look_site (set, mhar_selection_get_site (selection)));

  if (row < 0)
    return FALSE;
  cell->row = (guint)row;
  cell->column = (guint)MAX (mhar_selection_get_source (selection), 0);
  return TRUE;
}

static double
value_at (const MharDataset *map, const char *name, int site, int source, int bound)
{
  const MharField *field = mhar_dataset_get (map, name);
  gsize width = field != NULL && field->n_dims > 1 ? field->shape[1] : 0, last = field != NULL && field->n_dims > 2 ? field->shape[2] : 1;

  if (site < 0 || source < 0 || (gsize)source >= width || (gsize)site >= field->shape[0] || (gsize)bound >= last)
    return NAN;
  return mhar_field_value (field, ((gsize)site * width + (gsize)source) * last + (gsize)bound);
}

/* So many decimals that two digits of the value are seen. */
static int
decimals_of (double value)
{
  int decimals = 3;

  for (double least = 0.01; fabs (value) < least && value != 0 && decimals < 7; least /= 10)
    decimals++;
  return decimals;
}

char *
mhar_ablation_sentence (const MharDataset *map, int site, int source)
{
  double change = value_at (map, "delta_loss", site, source, 0), mass = value_at (map, "mass", site, source, 0);
  double low = value_at (map, "delta_loss_interval", site, source, 0);
  double high = value_at (map, "delta_loss_interval", site, source, 1);
  const char *who = mhar_look_site (map, site), *of = mhar_look_source (map, site, source);

  if (!isfinite (change))
    return g_strdup_printf (ngettext ("%s has %d source; there is nothing here to leave out",
                                      "%s has %d sources; there is nothing here to leave out",
                                      (gulong)MAX (mhar_look_n_sources (map, site), 0)),
                            who, mhar_look_n_sources (map, site));
  g_autofree char *number = mhar_interval_shown (change, low, high, decimals_of (change), TRUE);
  gboolean unsure = isfinite (low) && isfinite (high) && low <= 0 && high >= 0;
  if (unsure)
    return g_strdup_printf (_("%s without %s, which has %.1f %% of its weight: loss %s nat a token — not "
                              "distinguishable from no change"),
                            who, of, 100 * mass, number);
  return g_strdup_printf (_("%s without %s, which has %.1f %% of its weight: loss %s nat a token"), who, of, 100 * mass,
                          number);
}

static char *
describe (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, const MharCell *cell)
{
  return mhar_ablation_sentence (map_of (view), (int)cell->row, (int)cell->column);
}

static void
mhar_ablation_view_class_init (MharAblationViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  view_class->page = MHAR_PAGE_ABLATION;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
  view_class->describe = describe;
}

static void
mhar_ablation_view_init (MharAblationView *self)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Change of the loss without each source, and its routing mass"), -1);
}

GtkWidget *
mhar_ablation_view_new (MharSelection *selection)
{
  MharAblationView *self = g_object_new (MHAR_TYPE_ABLATION_VIEW, NULL);

  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}
