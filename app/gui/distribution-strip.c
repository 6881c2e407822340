/* SPDX-License-Identifier: MIT */
/* The strip is a depth map whose rows are heads: a small dataset is made for the figure to draw. */
#include "app/gui/distribution-strip.h"

#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharDistributionStrip {
  MharFigureView parent;
  MharDataset *names; /* the run's */
  const MharTokenWeights *weights;
  int token;
  char *quote;
};

G_DEFINE_FINAL_TYPE (MharDistributionStrip, mhar_distribution_strip, MHAR_TYPE_FIGURE_VIEW)

static MharField *
add_field (MharDataset *set, const char *name, MharFieldType type, guint n_dims, const gsize *shape)
{
  static const char *const map[] = { "head", "one", "source" }, *const labels[] = { "head", "source" };

  return mhar_dataset_add (set, mhar_field_new (name, name, "", type, n_dims, n_dims == 3 ? map : labels, shape));
}

/* One row a head: weight, or deviation, [head, 1, source], with names. */
static MharDataset *
strip_dataset (MharDistributionStrip *self, int site, gboolean deviation)
{
  int heads = MAX (mhar_look_n_heads (self->names, site), 1),
      sources = MAX (mhar_look_n_sources (self->names, site), 1);
  gsize map[] = { (gsize)heads, 1, (gsize)sources }, labels[] = { (gsize)heads, (gsize)sources };
  MharDataset *set = mhar_dataset_new ("token");
  MharField *value = add_field (set, "weight", MHAR_FIELD_F32, 3, map),
            *head = add_field (set, "site_label", MHAR_FIELD_STRING, 1, labels);
  MharField *source = add_field (set, "source_label", MHAR_FIELD_STRING, 2, labels);

  for (int h = 0; h < heads; h++) {
    head->data.str[h] = g_strdup_printf (_("head %d"), h);
    for (int n = 0; n < sources; n++) {
      value->data.f32[h * sources + n]
          = (float)mhar_token_weights_get (self->weights, self->token, site, h, n, deviation);
      source->data.str[h * sources + n] = g_strdup (mhar_look_source (self->names, site, n));
    }
  }
  return set;
}

static gboolean
is_deviation (MharFigureView *view)
{
  MharDistributionStrip *self = MHAR_DISTRIBUTION_STRIP (view);

  return mhar_figure_view_get_display (view)->deviation && self->weights != NULL
         && mhar_token_weights_n_heads (self->weights) > 1;
}

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options, char **lack)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);

  *kind = MHAR_FIGURE_DEPTH_MAP;
  options->head = 0;
  options->fill = TRUE;
  options->deviation = is_deviation (view);
  if (is_deviation (view)) { /* depth maps start at 0 */
    options->scale = options->scale == MHAR_FIGURE_SCALE_AUTO ? MHAR_FIGURE_SCALE_SYMMETRIC : options->scale;
    options->map = options->map == MHAR_MAP_OWN ? MHAR_MAP_DIVERGING : options->map;
  }
  if (mhar_figure_available (set, *kind))
    return TRUE;
  *lack = g_strdup (_("The weights of this token were not kept."));
  return FALSE;
}

static MharPoint
point (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, const MharCell *cell)
{
  return (MharPoint){ MHAR_PAGE_TOKENS, mhar_selection_get_site (mhar_figure_view_get_selection (view)), (int)cell->row,
                      (int)cell->column };
}

static gboolean
locate (MharFigureView *view, const MharDrawing *drawing G_GNUC_UNUSED, MharCell *cell)
{
  MharSelection *selection = mhar_figure_view_get_selection (view);
  int head = mhar_selection_get_head (selection), source = mhar_selection_get_source (selection);

  if (head < 0 || source < 0)
    return FALSE;
  cell->row = (guint)head;
  cell->column = (guint)source;
  return TRUE;
}

static char *
describe (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharDistributionStrip *self = MHAR_DISTRIBUTION_STRIP (view);
  MharPoint at = point (view, drawing, cell);
  const char *site = mhar_look_site (self->names, at.site),
             *source = mhar_look_source (self->names, at.site, at.source);
  double value = mhar_token_weights_get (self->weights, self->token, at.site, at.head, at.source, FALSE);

  return g_strdup_printf (_("Token %d, “%s”: %s, head %d reads %.1f %% of %s"), self->token, self->quote, site,
                          at.head, 100 * value, source);
}

static void
refresh (MharDistributionStrip *self)
{
  MharFigureView *view = MHAR_FIGURE_VIEW (self);
  int site = mhar_selection_get_site (mhar_figure_view_get_selection (view));
  g_autoptr (MharDataset) set = NULL;

  if (self->names != NULL && self->weights != NULL && site >= 0 && self->token >= 0)
    set = strip_dataset (self, site, is_deviation (view));
  mhar_figure_view_set_dataset (view, set);
}

static void
measure (GtkWidget *widget G_GNUC_UNUSED, GtkOrientation orientation, int for_size G_GNUC_UNUSED, int *minimum,
         int *natural, int *minimum_baseline, int *natural_baseline)
{
  MharDistributionStrip *self = MHAR_DISTRIBUTION_STRIP (widget);
  int heads = self->weights != NULL ? (int)mhar_token_weights_n_heads (self->weights) : 4;

  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : CLAMP (90 + 14 * heads, 120, 240);
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 640 : CLAMP (110 + 16 * heads, 150, 300);
  *minimum_baseline = *natural_baseline = -1;
}

static void
dispose (GObject *object)
{
  MharDistributionStrip *self = MHAR_DISTRIBUTION_STRIP (object);

  self->weights = NULL;
  g_clear_pointer (&self->names, mhar_dataset_unref);
  g_clear_pointer (&self->quote, g_free);
  G_OBJECT_CLASS (mhar_distribution_strip_parent_class)->dispose (object);
}

static void
mhar_distribution_strip_class_init (MharDistributionStripClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  GTK_WIDGET_CLASS (class)->measure = measure;
  view_class->page = MHAR_PAGE_TOKENS;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
  view_class->describe = describe;
}

static void
mhar_distribution_strip_init (MharDistributionStrip *self)
{
  self->token = -1;
  gtk_widget_set_vexpand (GTK_WIDGET (self), FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("What one token reads, head by head"), -1);
}

GtkWidget *
mhar_distribution_strip_new (MharSelection *selection)
{
  MharDistributionStrip *self = g_object_new (MHAR_TYPE_DISTRIBUTION_STRIP, NULL);

  /* Before the base class looks where the selection is. */
  g_signal_connect_object (selection, "notify::site", G_CALLBACK (refresh), self, G_CONNECT_SWAPPED);
  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}

void
mhar_distribution_strip_show (MharDistributionStrip *self, MharDataset *set, const MharTokenWeights *weights, int token,
                              const char *quote)
{
  MharDataset *old = self->names;

  self->names = set != NULL ? mhar_dataset_ref (set) : NULL;
  self->weights = weights;
  self->token = token;
  g_free (self->quote);
  self->quote = g_strdup (quote != NULL ? quote : "");
  refresh (self);
  if (old != NULL)
    mhar_dataset_unref (old);
}

void
mhar_distribution_strip_set_display (MharDistributionStrip *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self), display);
  refresh (self);
}
