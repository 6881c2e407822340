/* SPDX-License-Identifier: MIT */
#include "app/gui/numbers-view.h"

#include "app/gui/number-rows.h"

#include <glib/gi18n.h>

/* Cells that are made or changed before a frame: some milliseconds. As many again are taken away in a quarter of that. */
#define CELLS_AT_ONCE 60
#define GONE_AT_ONCE (4 * CELLS_AT_ONCE)
/* Rows that may go at once. */
#define SURPLUS 12

/* A table of other columns is first taken apart column by column, unseen, and then built row by row. */
struct _MharNumbersView {
  GtkWidget parent;
  GtkWidget *scroller;
  GtkColumnView *table;
  MharNumberRows *rows;
  MharNumbers *columns; /* that the table has the columns of; NULL: it has none */
  MharNumbers *numbers; /* what it shows, or will */
  guint ticks;          /* the callback that brings the table there; 0: it is */
};

G_DEFINE_FINAL_TYPE (MharNumbersView, mhar_numbers_view, GTK_TYPE_WIDGET)

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer align)
{
  GtkWidget *label = gtk_label_new (NULL);

  g_object_set_data (G_OBJECT (item), "column", g_object_get_data (G_OBJECT (factory), "column"));
  gtk_label_set_xalign (GTK_LABEL (label), (float) GPOINTER_TO_INT (align));
  gtk_widget_add_css_class (label, "number");
  gtk_list_item_set_child (item, label);
}

static void
show_text (MharNumberRow *row, GtkListItem *item)
{
  GtkLabel *label = GTK_LABEL (gtk_list_item_get_child (item));
  g_autofree char *text = mhar_number_row_text (row, GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (item), "column")));

  if (g_strcmp0 (gtk_label_get_label (label), text) != 0)
    gtk_label_set_label (label, text);
}

static void
on_bind (GtkSignalListItemFactory *factory G_GNUC_UNUSED, GtkListItem *item)
{
  MharNumberRow *row = gtk_list_item_get_item (item);

  g_signal_connect (row, "changed", G_CALLBACK (show_text), item);
  show_text (row, item);
}

static void
on_unbind (GtkSignalListItemFactory *factory G_GNUC_UNUSED, GtkListItem *item)
{
  g_signal_handlers_disconnect_by_func (gtk_list_item_get_item (item), show_text, item);
}

static void
add_column (MharNumbersView *self, guint c)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *column = gtk_column_view_column_new (mhar_numbers_title (self->numbers, c), factory);

  g_object_set_data (G_OBJECT (factory), "column", GUINT_TO_POINTER (c));
  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), GINT_TO_POINTER (!mhar_numbers_is_text (self->numbers, c)));
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), NULL);
  g_signal_connect (factory, "unbind", G_CALLBACK (on_unbind), NULL);
  gtk_column_view_column_set_expand (column, TRUE);
  gtk_column_view_append_column (self->table, column);
  g_object_unref (column);
}

static gboolean
same_columns (const MharNumbers *a, const MharNumbers *b)
{
  if (mhar_numbers_n_columns (a) != mhar_numbers_n_columns (b))
    return FALSE;
  for (guint c = 0; c < mhar_numbers_n_columns (a); c++)
    if (mhar_numbers_is_text (a, c) != mhar_numbers_is_text (b, c)
        || !g_str_equal (mhar_numbers_title (a, c), mhar_numbers_title (b, c)))
      return FALSE;
  return TRUE;
}

/* Whether the table can become that of self->numbers as it stands. */
static gboolean
fits (MharNumbersView *self)
{
  guint rows = MIN (g_list_model_get_n_items (G_LIST_MODEL (self->rows)), MHAR_NUMBER_ROWS_WITH_WIDGETS);

  return self->columns != NULL && same_columns (self->columns, self->numbers)
         && rows <= mhar_numbers_n_rows (self->numbers) + SURPLUS;
}

/* Takes away some columns; the rows with the last one. */
static void
take_apart (MharNumbersView *self)
{
  GListModel *columns = gtk_column_view_get_columns (self->table);
  guint rows = MIN (g_list_model_get_n_items (G_LIST_MODEL (self->rows)), MHAR_NUMBER_ROWS_WITH_WIDGETS);
  guint left = g_list_model_get_n_items (columns);

  for (guint n = MAX (GONE_AT_ONCE / MAX (rows, 1), 1); n > 0 && left > 0; n--, left--) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, left - 1);
    gtk_column_view_remove_column (self->table, column);
  }
  if (left > 0)
    return;
  mhar_number_rows_replace (self->rows, NULL);
  g_clear_pointer (&self->columns, mhar_numbers_unref);
}

static void
build (MharNumbersView *self)
{
  self->columns = mhar_numbers_ref (self->numbers);
  for (guint c = 0; c < mhar_numbers_n_columns (self->numbers); c++)
    add_column (self, c);
  mhar_number_rows_replace (self->rows, self->numbers);
  gtk_widget_set_visible (self->scroller, TRUE);
}

static gboolean
advance (GtkWidget *widget, GdkFrameClock *clock G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  MharNumbersView *self = MHAR_NUMBERS_VIEW (widget);

  if (self->columns != NULL && !gtk_widget_get_visible (self->scroller)) {
    take_apart (self);
    return G_SOURCE_CONTINUE;
  }
  if (self->columns == NULL)
    build (self);
  if (mhar_number_rows_advance (self->rows, MAX (CELLS_AT_ONCE / MAX (mhar_numbers_n_columns (self->numbers), 1), 1)))
    return G_SOURCE_CONTINUE;
  self->ticks = 0;
  return G_SOURCE_REMOVE;
}

static void
stop (MharNumbersView *self)
{
  if (self->ticks != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->ticks);
  self->ticks = 0;
}

static void
dispose (GObject *object)
{
  MharNumbersView *self = MHAR_NUMBERS_VIEW (object);

  stop (self);
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_pointer (&self->columns, mhar_numbers_unref);
  g_clear_pointer (&self->numbers, mhar_numbers_unref);
  g_clear_object (&self->rows);
  G_OBJECT_CLASS (mhar_numbers_view_parent_class)->dispose (object);
}

static void
mhar_numbers_view_class_init (MharNumbersViewClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
}

static void
mhar_numbers_view_init (MharNumbersView *self)
{
  self->scroller = gtk_scrolled_window_new ();
  self->rows = mhar_number_rows_new ();
  GtkSingleSelection *chosen = gtk_single_selection_new (g_object_ref (G_LIST_MODEL (self->rows)));
  gtk_single_selection_set_autoselect (chosen, FALSE); /* a row chosen by nobody looks like the selection */
  gtk_single_selection_set_can_unselect (chosen, TRUE);
  self->table = GTK_COLUMN_VIEW (gtk_column_view_new (GTK_SELECTION_MODEL (chosen)));
  gtk_widget_add_css_class (GTK_WIDGET (self->table), "data-table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->table), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Numbers shown"), -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), GTK_WIDGET (self->table));
  gtk_widget_set_hexpand (self->scroller, TRUE);
  gtk_widget_set_parent (self->scroller, GTK_WIDGET (self));
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE); /* who comes from the picture finds it before its rows are there */
}

GtkWidget *
mhar_numbers_view_new (void)
{
  return g_object_new (MHAR_TYPE_NUMBERS_VIEW, NULL);
}

void
mhar_numbers_view_show (MharNumbersView *self, MharNumbers *numbers)
{
  MharNumbers *old = self->numbers;

  self->numbers = numbers != NULL ? mhar_numbers_ref (numbers) : NULL;
  mhar_numbers_unref (old);
  if (numbers == NULL) {
    stop (self);
    gtk_widget_set_visible (self->scroller, FALSE);
    return;
  }
  gboolean stays = fits (self);
  gtk_widget_set_visible (self->scroller, stays);
  if (stays)
    mhar_number_rows_replace (self->rows, numbers);
  if (self->ticks == 0)
    self->ticks = gtk_widget_add_tick_callback (GTK_WIDGET (self), advance, NULL, NULL);
}
