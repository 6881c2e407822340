/* SPDX-License-Identifier: MIT */
/* Two checkpoints. */
#include "app/gui/compare-view.h"

#include "app/figure/pairing.h"
#include "app/gui/comparison-words.h"
#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

enum { PANEL_A, PANEL_DIFFERENCE, PANEL_B };

struct _MharCompareView {
  MharFigureView parent;
  MharDataset *other;
  int row, column; /* the cell the cursor is on: B may have it alone; −1: none */
};

G_DEFINE_FINAL_TYPE (MharCompareView, mhar_compare_view, MHAR_TYPE_FIGURE_VIEW)

/* Whether the maps are of deviations, at that head. */
static gboolean
shows_deviation (MharCompareView *self, int head)
{
  MharFigureView *view = MHAR_FIGURE_VIEW (self);

  return mhar_figure_view_get_display (view)->deviation && self->other != NULL
         && mhar_comparison_no_deviation (mhar_figure_view_get_dataset (view), self->other, head) == NULL;
}

static gboolean
figure (MharFigureView *view, MharFigureKind *kind, MharFigureOptions *options, char **lack)
{
  MharCompareView *self = MHAR_COMPARE_VIEW (view);
  MharDataset *set = mhar_figure_view_get_dataset (view);
  int head = mhar_selection_get_head (mhar_figure_view_get_selection (view));

  *kind = MHAR_FIGURE_COMPARE;
  options->other = self->other;
  /* A head that only one of them has cannot be compared; the mean over heads always can. */
  options->head = self->other != NULL && mhar_look_shares_head (set, self->other, head) ? head : MHAR_FIGURE_CONSENSUS;
  options->deviation = shows_deviation (self, options->head);
  if (self->other == NULL)
    *lack = g_strdup (_("Open a second checkpoint or result to compare with this one."));
  else if (!mhar_figure_available (set, *kind) || !mhar_figure_available (self->other, *kind))
    *lack = g_strdup (_("One of the two has no depth maps: nothing reads over depth there."));
  return *lack == NULL;
}

/* A's site and source behind a cell; −1 where A has none. */
static MharPoint
point (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  const MharPairing *p = mhar_drawing_pairing (drawing);
  guint site = p->sites[0][cell->row], source = p->sources[0][(gsize)cell->row * p->n_columns + cell->column];

  return (MharPoint){ MHAR_PAGE_COMPARE, site < G_MAXUINT ? (int)site : -1,
                      mhar_selection_get_head (mhar_figure_view_get_selection (view)),
                      source < G_MAXUINT ? (int)source : -1 };
}

static gboolean
locate (MharFigureView *view, const MharDrawing *drawing, MharCell *cell)
{
  MharCompareView *self = MHAR_COMPARE_VIEW (view);
  MharSelection *selection = mhar_figure_view_get_selection (view);
  int site = mhar_selection_get_site (selection), source = mhar_selection_get_source (selection);

  if (self->row >= 0 && self->column >= 0) {
    cell->row = (guint)self->row;
    cell->column = (guint)self->column;
    return TRUE;
  }
  return site >= 0 && source >= 0
         && mhar_pairing_find (mhar_drawing_pairing (drawing), 0, (guint)site, (guint)source, &cell->row,
                               &cell->column);
}

static gboolean
is_source (const MharPairing *p, guint row, guint column)
{
  gsize at = (gsize)row * p->n_columns + column;

  return p->sources[0][at] < G_MAXUINT || p->sources[1][at] < G_MAXUINT;
}

/* The cell's column, or the nearest whose source the row's site has in one of the two: further on, where the cursor comes
 * from the left by one. */
static guint
nearest_source (const MharPairing *p, const MharCell *cell, gboolean onwards)
{
  for (guint i = cell->column; onwards && i < p->n_columns; i++)
    if (is_source (p, cell->row, i))
      return i;
  for (guint away = 0; away < p->n_columns; away++) {
    if (away <= cell->column && is_source (p, cell->row, cell->column - away))
      return cell->column - away;
    if (cell->column + away < p->n_columns && is_source (p, cell->row, cell->column + away))
      return cell->column + away;
  }
  return cell->column;
}

/* What A has becomes the selection; what B has alone only moves the cursor. */
static void
choose (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharCompareView *self = MHAR_COMPARE_VIEW (view);
  MharCell to = *cell, from = *cell;
  gboolean onwards = locate (view, drawing, &from) && from.row == to.row && from.column + 1 == to.column;

  to.column = nearest_source (mhar_drawing_pairing (drawing), cell, onwards);
  MharPoint at = point (view, drawing, &to);
  if (at.site >= 0 && at.source >= 0)
    mhar_selection_set_cell (mhar_figure_view_get_selection (view), at.site, at.head, at.source);
  self->row = (int)to.row;
  self->column = (int)to.column;
}

/* Whatever moves the selection takes the cursor along. */
static void
on_selection (MharCompareView *self)
{
  self->row = self->column = -1;
}

static void
append_value (GString *text, double value, gboolean deviation, const char *where)
{
  g_autofree char *points = mhar_display_number (100 * value, 1, TRUE);

  if (!isfinite (value))
    g_string_append_printf (text, _("nothing in %s"), where);
  else if (deviation)
    g_string_append_printf (text, _("%s points in %s"), points, where);
  else
    g_string_append_printf (text, _("%.1f %% in %s"), 100 * value, where);
}

/* What one of the two lacks; mhar_sentence has words for what they both have. */
static char *
describe (MharFigureView *view, const MharDrawing *drawing, const MharCell *cell)
{
  MharCompareView *self = MHAR_COMPARE_VIEW (view);
  MharDataset *set = mhar_figure_view_get_dataset (view);
  const MharPairing *p = mhar_drawing_pairing (drawing);
  double a = mhar_drawing_value (drawing, PANEL_A, cell->row, cell->column);
  double b = mhar_drawing_value (drawing, PANEL_B, cell->row, cell->column);
  gboolean deviation = shows_deviation (self, mhar_drawing_layout (drawing)->panels[0].head);
  MharPoint at = point (view, drawing, cell);

  if (isfinite (a) && isfinite (b))
    return mhar_sentence (set, self->other, deviation, &at);
  int head = mhar_pairing_head (set, p->sites[0][cell->row], self->other, p->sites[1][cell->row],
                                mhar_drawing_layout (drawing)->panels[0].head);
  g_autoptr (GString) text = g_string_new (p->rows[cell->row]);
  if (head >= 0)
    g_string_append_printf (text, _(", head %d"), head);
  if (!isfinite (a) && !isfinite (b)) {
    g_string_append_printf (text, _(" reads no %s in either"), p->columns[cell->column]);
    return g_strdup (text->str);
  }
  g_string_append_printf (text, deviation ? _(" reads %s off the head mean: ") : _(" reads %s: "),
                          p->columns[cell->column]);
  append_value (text, a, deviation, "A");
  g_string_append (text, ", ");
  append_value (text, b, deviation, "B");
  return g_strdup (text->str);
}

static void
dispose (GObject *object)
{
  MharCompareView *self = MHAR_COMPARE_VIEW (object);

  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self), NULL); /* the drawing borrows the other */
  g_clear_pointer (&self->other, mhar_dataset_unref);
  G_OBJECT_CLASS (mhar_compare_view_parent_class)->dispose (object);
}

static void
mhar_compare_view_class_init (MharCompareViewClass *class)
{
  MharFigureViewClass *view_class = MHAR_FIGURE_VIEW_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  view_class->page = MHAR_PAGE_COMPARE;
  view_class->by_head = TRUE;
  view_class->figure = figure;
  view_class->point = point;
  view_class->locate = locate;
  view_class->choose = choose;
  view_class->describe = describe;
}

static void
mhar_compare_view_init (MharCompareView *self)
{
  self->row = self->column = -1;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Two checkpoints and their difference"), -1);
}

GtkWidget *
mhar_compare_view_new (MharSelection *selection)
{
  MharCompareView *self = g_object_new (MHAR_TYPE_COMPARE_VIEW, NULL);

  /* Before the base class looks where the selection is. */
  g_signal_connect_object (selection, "changed", G_CALLBACK (on_selection), self, G_CONNECT_SWAPPED);
  mhar_figure_view_set_selection (MHAR_FIGURE_VIEW (self), selection);
  return GTK_WIDGET (self);
}

void
mhar_compare_view_set_datasets (MharCompareView *self, MharDataset *a, MharDataset *b)
{
  MharDataset *old = self->other;

  self->other = b != NULL ? mhar_dataset_ref (b) : NULL;
  self->row = self->column = -1;
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self), a);
  if (old != NULL)
    mhar_dataset_unref (old);
}

void
mhar_compare_view_set_display (MharCompareView *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self), display);
}
