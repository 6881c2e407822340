/* SPDX-License-Identifier: MIT */
#include "app/gui/numbers-view.h"

#include "app/gui/number-rows.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharNumbersView {
  GtkWidget parent;
  GtkColumnView *table;
  MharNumbers *numbers;
};

G_DEFINE_FINAL_TYPE (MharNumbersView, mhar_numbers_view, GTK_TYPE_WIDGET)

typedef struct {
  MharNumbers *numbers;
  guint column;
} Column;

static void
column_free (gpointer data, GClosure *closure G_GNUC_UNUSED)
{
  Column *column = data;
  mhar_numbers_unref (column->numbers);
  g_free (column);
}

static void
on_setup (GtkSignalListItemFactory *factory G_GNUC_UNUSED, GtkListItem *item, Column *column)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), mhar_numbers_is_text (column->numbers, column->column) ? 0 : 1);
  gtk_widget_add_css_class (label, "number");
  gtk_list_item_set_child (item, label);
}

static void
on_bind (GtkSignalListItemFactory *factory G_GNUC_UNUSED, GtkListItem *item, Column *column)
{
  guint row = mhar_number_row_index (gtk_list_item_get_item (item));
  GtkLabel *label = GTK_LABEL (gtk_list_item_get_child (item));

  if (mhar_numbers_is_text (column->numbers, column->column)) {
    gtk_label_set_label (label, mhar_numbers_text (column->numbers, row, column->column));
    return;
  }
  double value = mhar_numbers_value (column->numbers, row, column->column);
  g_autofree char *text = isnan (value)           ? g_strdup ("–")
                          : value == rint (value) ? g_strdup_printf ("%.0f", value)
                                                  : g_strdup_printf ("%.5f", value);
  gtk_label_set_label (label, text);
}

static void
add_column (MharNumbersView *self, guint c)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *column = gtk_column_view_column_new (mhar_numbers_title (self->numbers, c), factory);

  for (int i = 0; i < 2; i++) {
    Column *data = g_new (Column, 1);
    *data = (Column){ mhar_numbers_ref (self->numbers), c };
    g_signal_connect_data (factory, i == 0 ? "setup" : "bind", i == 0 ? G_CALLBACK (on_setup) : G_CALLBACK (on_bind),
                           data, column_free, 0);
  }
  gtk_column_view_column_set_expand (column, TRUE);
  gtk_column_view_append_column (self->table, column);
  g_object_unref (column);
}

static void
clear (MharNumbersView *self)
{
  GListModel *columns = gtk_column_view_get_columns (self->table);

  gtk_column_view_set_model (self->table, NULL);
  while (g_list_model_get_n_items (columns) > 0) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, 0);
    gtk_column_view_remove_column (self->table, column);
  }
  g_clear_pointer (&self->numbers, mhar_numbers_unref);
}

static void
dispose (GObject *object)
{
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (object));

  g_clear_pointer (&child, gtk_widget_unparent);
  g_clear_pointer (&MHAR_NUMBERS_VIEW (object)->numbers, mhar_numbers_unref);
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
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->table = GTK_COLUMN_VIEW (gtk_column_view_new (NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->table), "data-table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->table), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Numbers shown"), -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->table));
  gtk_widget_set_hexpand (scroller, TRUE);
  gtk_widget_set_parent (scroller, GTK_WIDGET (self));
}

GtkWidget *
mhar_numbers_view_new (void)
{
  return g_object_new (MHAR_TYPE_NUMBERS_VIEW, NULL);
}

void
mhar_numbers_view_show (MharNumbersView *self, MharNumbers *numbers)
{
  clear (self);
  if (numbers == NULL)
    return;
  self->numbers = mhar_numbers_ref (numbers);
  for (guint c = 0; c < mhar_numbers_n_columns (numbers); c++)
    add_column (self, c);
  GtkSelectionModel *rows = GTK_SELECTION_MODEL (gtk_single_selection_new (mhar_number_rows_new (numbers)));
  gtk_column_view_set_model (self->table, rows);
  g_object_unref (rows);
}
