/* SPDX-License-Identifier: MIT */
/* Weights by what reads. */
#include "app/gui/reads-view.h"

#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

#define PANELS_MAX 5

struct _MharReadsView {
  MharFigureView parent;
  int source;                /* drawn */
  guint panel;               /* where the cursor is, */
  guint columns[PANELS_MAX]; /* and was in each panel */
};

G_DEFINE_FINAL_TYPE (MharReadsView, mhar_reads_view, MHAR_TYPE_FIGURE_VIEW)

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options, char **lack)
{
  MharSelection *selection = mhar_figure_view_get_selection (view);
  MharDataset *set = mhar_figure_view_get_dataset (view);
  int head = mhar_selection_get_head (selection), site = MAX (mhar_selection_get_site (selection), 0);

  *kind = MHAR_FIGURE_READS;
  MHAR_READS_VIEW (view)->source = mhar_selection_get_source (selection);
  options->cell = TRUE;
  options->site = (guint)site;
  options->head = head >= 0 ? MIN (head, MAX (mhar_look_n_heads (set, site), 1) - 1) : MHAR_FIGURE_CONSENSUS;
  options->source = (guint)MAX (MHAR_READS_VIEW (view)->source, 0);
  if (mhar_figure_available (set, *kind))
    return TRUE;
  *lack = g_strdup (_("This run holds no reads."));
  return FALSE;
}

/* The panel of the logit: the only one whose columns are sources. */
static gboolean
is_logit (MharFigureView *view, const MharDrawing *drawing, guint panel)
{
  MharDataset *set = mhar_figure_view_get_dataset (view);
  const MharDataset *reads = set != NULL ? mhar_dataset_find_child (set, "reads") : NULL;
  guint weights = 2 + (reads != NULL && mhar_dataset_get (reads, "weight_by_class") != NULL ? 2 : 0);

  return panel >= weights && panel < mhar_drawing_layout (drawing)->n_panels;
}

static MharPoint
point (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharSelection *selection = mhar_figure_view_get_selection (view);
  MharPoint at = { MHAR_PAGE_READS, MAX (mhar_selection_get_site (selection), 0), mhar_selection_get_head (selection),
                   mhar_selection_get_source (selection) };

  if (is_logit (view, drawing, cell->panel))
    at.source = (int)cell->column;
  return at;
}

static guint
panel (MharFigureView *view, const MharDrawing *drawing)
{
  return MIN (MHAR_READS_VIEW (view)->panel, mhar_drawing_layout (drawing)->n_panels - 1);
}

/* The selected source; of bins, which are nothing to select, where the cursor was left. */
static gboolean
locate (MharFigureView *view, const MharDrawing *drawing, MharCell *cell)
{
  int source = mhar_selection_get_source (mhar_figure_view_get_selection (view));
  gboolean logit = is_logit (view, drawing, cell->panel);

  if (cell->panel >= PANELS_MAX || (!logit && cell->panel != panel (view, drawing)))
    return FALSE;
  cell->row = 0;
  cell->column = logit ? (guint)MAX (source, 0)
                       : MIN (MHAR_READS_VIEW (view)->columns[cell->panel],
                              mhar_drawing_layout (drawing)->panels[cell->panel].n_columns - 1);
  return TRUE;
}

static void
choose (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MHAR_READS_VIEW (view)->panel = cell->panel;
  if (cell->panel < PANELS_MAX)
    MHAR_READS_VIEW (view)->columns[cell->panel] = cell->column;
  if (is_logit (view, drawing, cell->panel))
    mhar_selection_set_source (mhar_figure_view_get_selection (view), (int)cell->column);
}

/* "L3.mlp, head 1". */
static char *
reader (MharDataset *set, const MharPoint *at)
{
  if (mhar_look_n_heads (set, at->site) < 2)
    return g_strdup (mhar_look_site (set, at->site));
  return at->head >= 0 ? g_strdup_printf (_("%s, head %d"), mhar_look_site (set, at->site), at->head)
                       : g_strdup_printf (_("%s, mean over heads,"), mhar_look_site (set, at->site));
}

/* How many tokens a bin has; −1: not known. */
static int
tokens_of (MharDataset *set, guint panel, guint column)
{
  static const char *const names[] = { "position_tokens", "document_position_tokens", "class_tokens", "piece_tokens" };
  const MharDataset *reads = mhar_dataset_find_child (set, "reads");
  const MharField *field = panel < G_N_ELEMENTS (names) ? mhar_dataset_get (reads, names[panel]) : NULL;

  return field != NULL && field->type == MHAR_FIELD_I32 && column < mhar_field_length (field) ? field->data.i32[column]
                                                                                              : -1;
}

static char *
describe (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  static const char *const where[] = { N_("at position %s of the window"), N_("%s tokens into the document"),
                                       N_("where the token is %s"), N_("where the token is %s") };
  MharDataset *set = mhar_figure_view_get_dataset (view);
  MharPoint at = point (view, drawing, cell);
  double value = mhar_drawing_value (drawing, cell->panel, 0, cell->column);
  const char *label = mhar_drawing_label (drawing, cell->panel, TRUE, cell->column);
  g_autofree char *who = reader (set, &at);
  int tokens = tokens_of (set, cell->panel, cell->column);

  if (is_logit (view, drawing, cell->panel))
    return g_strdup_printf (
        _ ("%s: what it reads of %s adds %+.3f to the logit of the next token, less the vocabulary’s mean"), who, label,
        value);
  if (!isfinite (value) || label == NULL || cell->panel >= G_N_ELEMENTS (where))
    return g_strdup_printf (_("%s: the text has no such token"), label != NULL ? label : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  g_autofree char *place = g_strdup_printf (_(where[cell->panel]), label);
#pragma GCC diagnostic pop
  return g_strdup_printf (ngettext ("%s reads %.1f %% of %s %s (%d token)", "%s reads %.1f %% of %s %s (%d tokens)",
                                    (gulong)MAX (tokens, 0)),
                          who, 100 * value, mhar_look_source (set, at.site, MAX (at.source, 0)), place, tokens);
}

/* The class draws anew for another site or head by itself. */
static void
on_selection (MharReadsView *self)
{
  MharSelection *selection = mhar_figure_view_get_selection (MHAR_FIGURE_VIEW (self));

  if (mhar_selection_get_source (selection) != self->source)
    mhar_figure_view_invalidate (MHAR_FIGURE_VIEW (self));
}

static void
dispose (GObject *object)
{
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (object), NULL);
  G_OBJECT_CLASS (mhar_reads_view_parent_class)->dispose (object);
}

static void
mhar_reads_view_class_init (MharReadsViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  view_class->page = MHAR_PAGE_READS;
  view_class->by_site = view_class->by_head = TRUE;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
  view_class->panel = panel;
  view_class->choose = choose;
  view_class->describe = describe;
}

static void
mhar_reads_view_init (MharReadsView *self)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Weight by position, class and piece of the token that reads"), -1);
}

GtkWidget *
mhar_reads_view_new (MharSelection *selection)
{
  MharReadsView *self = g_object_new (MHAR_TYPE_READS_VIEW, NULL);

  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  g_signal_connect_object (selection, "changed", G_CALLBACK (on_selection), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
