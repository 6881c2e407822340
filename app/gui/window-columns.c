/* SPDX-License-Identifier: MIT */
/* The three columns of a window and what stands in them. */
#include "app/gui/window-private.h"

#include <glib/gi18n.h>

static GtkWidget *
new_column (const char *label)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);

  gtk_widget_add_css_class (box, "side");
  gtk_accessible_update_property (GTK_ACCESSIBLE (box), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return box;
}

/* A side that is higher than the window scrolls. */
static GtkWidget *
scrolling (GtkWidget *column)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), column);
  return scroller;
}

static void
on_result (MharWindow *self)
{
  mhar_window_show_saved (self, gtk_drop_down_get_selected (self->result_drop));
}

/* Which checkpoint of a saved run of several. */
static void
add_result_choice (MharWindow *self, GtkWidget *box)
{
  self->result_names = gtk_string_list_new (NULL);
  self->result_drop = GTK_DROP_DOWN (gtk_drop_down_new (G_LIST_MODEL (self->result_names), NULL));
  gtk_widget_set_visible (GTK_WIDGET (self->result_drop), FALSE);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->result_drop), _("Which checkpoint of the saved run"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->result_drop), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Checkpoint of the saved run"), -1);
  g_signal_connect_object (self->result_drop, "notify::selected", G_CALLBACK (on_result), self, G_CONNECT_SWAPPED);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->result_drop));
}

static GtkWidget *
build_left (MharWindow *self)
{
  GtkWidget *box = new_column (_("Checkpoint, sites and text"));

  self->checkpoint_panel = MHAR_CHECKPOINT_PANEL (mhar_checkpoint_panel_new ());
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->checkpoint_panel));
  add_result_choice (self, box);
  self->sites = MHAR_SITES_VIEW (mhar_sites_view_new (self->selection));
  gtk_widget_set_vexpand (GTK_WIDGET (self->sites), TRUE);
  gtk_widget_set_size_request (GTK_WIDGET (self->sites), -1, 150);
  gtk_widget_add_css_class (GTK_WIDGET (self->sites), "sites");
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->sites));
  self->prompt = MHAR_PROMPT_PANEL (mhar_prompt_panel_new ());
  gtk_widget_set_size_request (GTK_WIDGET (self->prompt), -1, 170);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->prompt));
  return box;
}

static GtkWidget *
build_right (MharWindow *self)
{
  GtkWidget *box = new_column (_("Selection and probe"));
  GtkWidget *heading = gtk_label_new (_("Selection"));

  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_widget_add_css_class (heading, "heading");
  gtk_box_append (GTK_BOX (box), heading);
  self->selection_panel = MHAR_SELECTION_PANEL (mhar_selection_panel_new (self->selection));
  gtk_widget_set_vexpand (GTK_WIDGET (self->selection_panel), TRUE);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->selection_panel));
  self->probe = MHAR_PROBE_PANEL (mhar_probe_panel_new ());
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->probe));
  return box;
}

void
mhar_window_build_columns (MharWindow *self)
{
  GtkWidget *left = build_left (self), *right = build_right (self);

  self->centre = MHAR_CENTRE (mhar_centre_new (self->selection));
  self->columns = MHAR_COLUMNS (mhar_columns_new (scrolling (left), GTK_WIDGET (self->centre), scrolling (right)));
  gtk_widget_set_vexpand (GTK_WIDGET (self->columns), TRUE);
  gtk_box_append (GTK_BOX (self->work_slot), GTK_WIDGET (self->columns));
}
