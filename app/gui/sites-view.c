/* SPDX-License-Identifier: MIT */
#include "app/gui/sites-view.h"

#include "app/gui/dataset-look.h"
#include "app/gui/site-row.h"

#include <glib/gi18n.h>
#include <math.h>

struct _MharSitesView {
  GtkWidget parent;
  MharSelection *selection;
  GtkColumnView *table;
  GtkColumnViewColumn *trained_column;
  GListStore *rows;
  GtkSortListModel *sorted;
  GtkSingleSelection *chosen;
  gboolean following; /* the row follows the selection, not the other way */

  /* Rows take a run's numbers a few at a time: a deep model's would keep the window from answering. */
  MharDataset *numbers; /* what the rows show, or will; NULL: none yet */
  guint next, left; /* row to be updated next; rows still to do */
  guint updating;   /* source */
  GtkAdjustment *scroll; /* the scroller's */
  guint settling;        /* source */
};

#define ROWS_AT_ONCE 12

G_DEFINE_FINAL_TYPE (MharSitesView, mhar_sites_view, GTK_TYPE_WIDGET)

static const char *const titles[MHAR_SITE_N_COLUMNS]
    = { N_("site"), N_("N"), N_("entr."), N_("JS"), N_("null"), N_("excess"), N_("p") };

/* Made when it is asked for: rows are many and change often. */
static gboolean
on_tooltip (GtkWidget *label G_GNUC_UNUSED, int x G_GNUC_UNUSED, int y G_GNUC_UNUSED,
            gboolean keyboard G_GNUC_UNUSED, GtkTooltip *tooltip, GtkListItem *item)
{
  MharSiteRow *row = gtk_list_item_get_item (item);
  g_autofree char *text = row != NULL ? mhar_site_row_details (row) : NULL;

  gtk_tooltip_set_text (tooltip, text);
  return text != NULL;
}

static void
on_setup (GtkSignalListItemFactory *factory G_GNUC_UNUSED, GtkListItem *item, gpointer column)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), GPOINTER_TO_INT (column) == MHAR_SITE_LABEL ? 0 : 1);
  gtk_widget_add_css_class (label, "number");
  gtk_widget_set_has_tooltip (label, TRUE);
  g_signal_connect_object (label, "query-tooltip", G_CALLBACK (on_tooltip), item, 0);
  gtk_list_item_set_child (item, label);
}

static void
show_value (MharSiteRow *row, GtkListItem *item)
{
  gpointer column = g_object_get_data (G_OBJECT (item), "column");
  g_autofree char *text = mhar_site_row_text (row, (MharSiteColumn) GPOINTER_TO_INT (column));
  GtkLabel *label = GTK_LABEL (gtk_list_item_get_child (item));

  if (g_strcmp0 (gtk_label_get_label (label), text) != 0)
    gtk_label_set_label (label, text);
}

static void
on_bind (GtkSignalListItemFactory *factory G_GNUC_UNUSED, GtkListItem *item, gpointer column)
{
  MharSiteRow *row = gtk_list_item_get_item (item);

  g_object_set_data (G_OBJECT (item), "column", column);
  g_signal_connect (row, "changed", G_CALLBACK (show_value), item);
  show_value (row, item);
}

static void
on_unbind (GtkSignalListItemFactory *factory G_GNUC_UNUSED, GtkListItem *item, gpointer column G_GNUC_UNUSED)
{
  g_signal_handlers_disconnect_by_func (gtk_list_item_get_item (item), show_value, item);
}

/* What has no number counts as the least: with the largest first, which is what one looks for, it goes last. */
static int
compare (gconstpointer a, gconstpointer b, gpointer column)
{
  double x = mhar_site_row_value ((MharSiteRow *) a, (MharSiteColumn) GPOINTER_TO_INT (column));
  double y = mhar_site_row_value ((MharSiteRow *) b, (MharSiteColumn) GPOINTER_TO_INT (column));

  if (isnan (x) || isnan (y))
    return isnan (y) - isnan (x);
  return (x > y) - (x < y);
}

static void
add_column (MharSitesView *self, MharSiteColumn c)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *column = gtk_column_view_column_new (_(titles[c]), factory);
  GtkSorter *sorter = GTK_SORTER (gtk_custom_sorter_new (compare, GINT_TO_POINTER (c), NULL));

  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), GINT_TO_POINTER (c));
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), GINT_TO_POINTER (c));
  g_signal_connect (factory, "unbind", G_CALLBACK (on_unbind), GINT_TO_POINTER (c));
  gtk_column_view_column_set_sorter (column, sorter);
  gtk_column_view_column_set_expand (column, c == MHAR_SITE_LABEL);
  gtk_column_view_append_column (self->table, column);
  if (c == MHAR_SITE_TRAINED)
    self->trained_column = column;
  g_object_unref (sorter);
  g_object_unref (column);
}

static void
on_row_selected (MharSitesView *self)
{
  MharSiteRow *row = gtk_single_selection_get_selected_item (self->chosen);

  if (row != NULL && !self->following)
    mhar_selection_set_site (self->selection, (int) mhar_site_row_index (row));
}

/* Scrolling to a row has no call of its own in GTK 4.8; the list's action does it. */
static void
scroll_to (MharSitesView *self, guint position)
{
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->table));

  while (child != NULL && g_strcmp0 (G_OBJECT_TYPE_NAME (child), "GtkColumnListView") != 0)
    child = gtk_widget_get_next_sibling (child);
  if (child != NULL)
    gtk_widget_activate_action (child, "list.scroll-to-item", "u", position);
}

static void
on_selection_changed (MharSitesView *self)
{
  int site = mhar_selection_get_site (self->selection);
  MharSiteRow *row = gtk_single_selection_get_selected_item (self->chosen);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->sorted));

  if (row != NULL && (int) mhar_site_row_index (row) == site)
    return;
  self->following = TRUE;
  if (site < 0)
    gtk_single_selection_set_selected (self->chosen, GTK_INVALID_LIST_POSITION);
  for (guint i = 0; site >= 0 && i < n; i++) {
    g_autoptr (MharSiteRow) at = g_list_model_get_item (G_LIST_MODEL (self->sorted), i);
    if ((int) mhar_site_row_index (at) != site)
      continue;
    gtk_single_selection_set_selected (self->chosen, i);
    scroll_to (self, i);
  }
  self->following = FALSE;
}

/* A list that has become lower stays where it was, a part of a row up; from the top it need not. */
static gboolean
settle (gpointer data)
{
  MharSitesView *self = data;
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->sorted)), at = gtk_single_selection_get_selected (self->chosen);
  double row = gtk_adjustment_get_upper (self->scroll) / MAX (n, 1), value = gtk_adjustment_get_value (self->scroll);
  gboolean seen = at == GTK_INVALID_LIST_POSITION || (at + 1) * row <= gtk_adjustment_get_page_size (self->scroll);

  self->settling = 0;
  if (value > 0 && value < 2 * row && seen)
    gtk_adjustment_set_value (self->scroll, 0);
  return G_SOURCE_REMOVE;
}

static void
on_page_size (MharSitesView *self)
{
  if (self->settling == 0)
    self->settling = g_idle_add (settle, self);
}

static void
dispose (GObject *object)
{
  MharSitesView *self = MHAR_SITES_VIEW (object);
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self));

  g_clear_handle_id (&self->updating, g_source_remove);
  if (self->scroll != NULL)
    g_signal_handlers_disconnect_by_data (self->scroll, self);
  g_clear_handle_id (&self->settling, g_source_remove);
  g_clear_pointer (&self->numbers, mhar_dataset_unref);
  g_clear_object (&self->scroll);
  g_clear_pointer (&child, gtk_widget_unparent);
  g_clear_object (&self->selection);
  g_clear_object (&self->rows);
  G_OBJECT_CLASS (mhar_sites_view_parent_class)->dispose (object);
}

static void
mhar_sites_view_class_init (MharSitesViewClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
}

static void
mhar_sites_view_init (MharSitesView *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->rows = g_list_store_new (MHAR_TYPE_SITE_ROW);
  self->table = GTK_COLUMN_VIEW (gtk_column_view_new (NULL));
  for (int c = 0; c < MHAR_SITE_N_COLUMNS; c++)
    add_column (self, (MharSiteColumn) c);
  self->sorted = gtk_sort_list_model_new (G_LIST_MODEL (g_object_ref (self->rows)),
                                          g_object_ref (gtk_column_view_get_sorter (self->table)));
  self->chosen = gtk_single_selection_new (G_LIST_MODEL (self->sorted));
  gtk_single_selection_set_autoselect (self->chosen, FALSE);
  gtk_single_selection_set_can_unselect (self->chosen, TRUE);
  gtk_column_view_set_model (self->table, GTK_SELECTION_MODEL (self->chosen));
  g_object_unref (self->chosen);
  g_signal_connect_swapped (self->chosen, "notify::selected-item", G_CALLBACK (on_row_selected), self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->table), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Sites"), -1);
  gtk_widget_add_css_class (GTK_WIDGET (self->table), "data-table");
  gtk_scrolled_window_set_overlay_scrolling (GTK_SCROLLED_WINDOW (scroller), FALSE); /* it would lie over the last column */
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->table));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_AUTOMATIC, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_parent (scroller, GTK_WIDGET (self));
  self->scroll = g_object_ref (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller)));
  g_signal_connect_swapped (self->scroll, "notify::page-size", G_CALLBACK (on_page_size), self);
}

GtkWidget *
mhar_sites_view_new (MharSelection *selection)
{
  MharSitesView *self = g_object_new (MHAR_TYPE_SITES_VIEW, NULL);

  self->selection = g_object_ref (selection);
  g_signal_connect_object (selection, "changed", G_CALLBACK (on_selection_changed), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

static gboolean
update_some (gpointer data)
{
  MharSitesView *self = data;
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->rows));

  for (guint i = 0; i < ROWS_AT_ONCE && self->left > 0; i++, self->left--) {
    g_autoptr (MharSiteRow) row = g_list_model_get_item (G_LIST_MODEL (self->rows), self->next);
    mhar_site_row_update (row, self->numbers);
    self->next = (self->next + 1) % n;
  }
  if (self->left > 0)
    return G_SOURCE_CONTINUE;
  self->updating = 0;
  gtk_sorter_changed (gtk_column_view_get_sorter (self->table), GTK_SORTER_CHANGE_DIFFERENT);
  return G_SOURCE_REMOVE;
}

static gboolean
same_site (MharSitesView *self, guint i, const char *label, int sources)
{
  g_autoptr (MharSiteRow) row = g_list_model_get_item (G_LIST_MODEL (self->rows), i);
  g_autofree char *shown = mhar_site_row_text (row, MHAR_SITE_LABEL);

  return g_str_equal (shown, label) && mhar_site_row_value (row, MHAR_SITE_SOURCES) == sources;
}

/* Whether the rows are of the sites of `set`, or of the plan where there is none, and only their numbers may differ. */
static gboolean
same_sites (MharSitesView *self, const MharPlan *plan, const MharDataset *set)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->rows)), wanted = 0;

  if (set != NULL)
    wanted = (guint) mhar_look_n_sites (set);
  else if (plan != NULL && self->numbers == NULL)
    wanted = plan->sites->len;
  if (n == 0 || n != wanted)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const MharSite *site = set == NULL ? mhar_plan_site (plan, i) : NULL;
    if (!same_site (self, i, site != NULL ? site->label : mhar_look_site (set, (int) i),
                    site != NULL ? site->n_sources : mhar_look_n_sources (set, (int) i)))
      return FALSE;
  }
  return TRUE;
}

static void
update_rows (MharSitesView *self, MharDataset *set)
{
  g_clear_pointer (&self->numbers, mhar_dataset_unref);
  self->numbers = mhar_dataset_ref (set);
  self->left = g_list_model_get_n_items (G_LIST_MODEL (self->rows));
  if (self->updating == 0)
    self->updating = g_idle_add (update_some, self);
}

static void
replace_rows (MharSitesView *self, const MharPlan *plan, MharDataset *set)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);
  guint n = set != NULL ? (guint) mhar_look_n_sites (set) : plan != NULL ? plan->sites->len : 0;

  g_clear_handle_id (&self->updating, g_source_remove);
  g_clear_pointer (&self->numbers, mhar_dataset_unref);
  self->numbers = set != NULL ? mhar_dataset_ref (set) : NULL;
  self->next = self->left = 0;
  for (guint s = 0; s < n; s++)
    g_ptr_array_add (rows, set != NULL ? mhar_site_row_new (set, s) : mhar_site_row_new_planned (plan, s));
  self->following = TRUE;
  g_list_store_splice (self->rows, 0, g_list_model_get_n_items (G_LIST_MODEL (self->rows)), rows->pdata, rows->len);
  self->following = FALSE;
}

void
mhar_sites_view_show (MharSitesView *self, const MharPlan *plan, MharDataset *set)
{
  if (!same_sites (self, plan, set))
    replace_rows (self, plan, set);
  else if (set != NULL)
    update_rows (self, set);
  gtk_column_view_column_set_title (self->trained_column,
                                    set != NULL && !mhar_look_many_heads (set) ? _("KL") : _("JS"));
  on_selection_changed (self);
}
