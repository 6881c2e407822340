/* SPDX-License-Identifier: MIT */
#include "app/gui/compare-page.h"

#include "app/gui/compare-view.h"
#include "app/gui/comparison-words.h"

#include <glib/gi18n.h>

struct _MharComparePage {
  GtkWidget parent;
  GtkStack *stack;
  GtkLabel *caution; /* what speaks against comparing the two */
  GtkLabel *words;   /* what mhar-probe --compare found, where it did */
  MharCompareView *view;
};

G_DEFINE_FINAL_TYPE (MharComparePage, mhar_compare_page, GTK_TYPE_WIDGET)

static void
dispose (GObject *object)
{
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (object));

  g_clear_pointer (&child, gtk_widget_unparent);
  G_OBJECT_CLASS (mhar_compare_page_parent_class)->dispose (object);
}

static void
mhar_compare_page_class_init (MharComparePageClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
}

static GtkWidget *
action_button (const char *label, const char *action)
{
  GtkWidget *button = gtk_button_new_with_label (label);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  return button;
}

static GtkWidget *
new_invitation (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12), *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label
      = gtk_label_new (_("Choose a second checkpoint: it runs the same text, and both are drawn on one colour scale, "
                          "with the difference between them."));

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_CENTER);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 44);
  gtk_widget_add_css_class (label, "empty");
  gtk_widget_set_halign (buttons, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (buttons), action_button (_("Compare with a checkpoint folder…"), "win.compare-folder"));
  gtk_box_append (GTK_BOX (buttons), action_button (_("Compare with a saved run…"), "win.compare-file"));
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), buttons);
  return box;
}

static GtkLabel *
new_words (void)
{
  GtkLabel *words = GTK_LABEL (gtk_label_new (NULL));

  gtk_label_set_wrap (words, TRUE);
  gtk_label_set_xalign (words, 0);
  gtk_widget_add_css_class (GTK_WIDGET (words), "page-words");
  return words;
}

static void
mhar_compare_page_init (MharComparePage *self)
{
  self->stack = GTK_STACK (gtk_stack_new ());
  self->caution = new_words ();
  self->words = new_words ();
  gtk_stack_add_named (self->stack, new_invitation (), "invitation");
  gtk_widget_set_parent (GTK_WIDGET (self->stack), GTK_WIDGET (self));
}

GtkWidget *
mhar_compare_page_new (MharSelection *selection)
{
  MharComparePage *self = g_object_new (MHAR_TYPE_COMPARE_PAGE, NULL);

  self->view = MHAR_COMPARE_VIEW (mhar_compare_view_new (selection));
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->caution));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->words));
  gtk_widget_set_vexpand (GTK_WIDGET (self->view), TRUE);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->view));
  gtk_stack_add_named (self->stack, box, "view");
  return GTK_WIDGET (self);
}

void
mhar_compare_page_show (MharComparePage *self, MharDataset *a, MharDataset *b, const MharDataset *compared, const char *caution)
{
  g_autofree char *words = compared != NULL && b != NULL ? mhar_comparison_words (compared) : NULL;

  gtk_label_set_label (self->words, words != NULL ? words : "");
  gtk_widget_set_visible (GTK_WIDGET (self->words), words != NULL);
  gtk_label_set_label (self->caution, caution != NULL ? caution : "");
  gtk_widget_set_visible (GTK_WIDGET (self->caution), caution != NULL && b != NULL);
  mhar_compare_view_set_datasets (self->view, a, b);
  gtk_stack_set_visible_child_name (self->stack, a != NULL && b != NULL ? "view" : "invitation");
}

void
mhar_compare_page_set_display (MharComparePage *self, const MharDisplay *display)
{
  mhar_compare_view_set_display (self->view, display);
}

MharFigureView *
mhar_compare_page_get_view (MharComparePage *self)
{
  return MHAR_FIGURE_VIEW (self->view);
}
