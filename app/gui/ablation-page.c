/* SPDX-License-Identifier: MIT */
#include "app/gui/ablation-page.h"

#include "app/gui/ablation-view.h"
#include "app/gui/dataset-look.h"

#include <glib/gi18n.h>
#include <math.h>

#define TOKENS 1024 /* every token goes through the model once a cell */

struct _MharAblationPage {
  GtkBox parent;
  GtkWidget *bar, *measure, *tokens, *note, *stack, *view;
};

G_DEFINE_FINAL_TYPE (MharAblationPage, mhar_ablation_page, GTK_TYPE_BOX)

static void
mhar_ablation_page_class_init (MharAblationPageClass *class G_GNUC_UNUSED)
{
}

static void
make_bar (MharAblationPage *self)
{
  GtkWidget *label = gtk_label_new_with_mnemonic (_("to_kens, at most"));

  self->bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->measure = gtk_button_new_with_label (_("Measure"));
  self->tokens = gtk_spin_button_new_with_range (32, 1e6, 256);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->measure), "win.measure");
  gtk_widget_set_tooltip_text (self->measure, _("Runs the text once for each source of each site, without it (Ctrl+Shift+Enter)"));
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->tokens), TOKENS);
  gtk_editable_set_width_chars (GTK_EDITABLE (self->tokens), 5);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), self->tokens);
  gtk_accessible_update_relation (GTK_ACCESSIBLE (self->tokens), GTK_ACCESSIBLE_RELATION_LABELLED_BY, label, NULL, -1);
  gtk_widget_add_css_class (label, "caption-label");
  gtk_widget_set_halign (self->bar, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->bar, "page-bar");
  gtk_box_append (GTK_BOX (self->bar), self->measure);
  gtk_box_append (GTK_BOX (self->bar), label);
  gtk_box_append (GTK_BOX (self->bar), self->tokens);
}

static void
mhar_ablation_page_init (MharAblationPage *self)
{
  GtkWidget *empty
      = gtk_label_new (_("Does the model need what its heads read? Measure leaves each source out of each site in turn and "
                         "shows what that adds to the loss, beside the weight that the source has."));

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  make_bar (self);
  self->note = gtk_label_new (NULL);
  gtk_label_set_ellipsize (GTK_LABEL (self->note), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (self->note, "caption-label");
  gtk_widget_set_margin_bottom (self->note, 6);
  gtk_label_set_wrap (GTK_LABEL (empty), TRUE);
  gtk_label_set_justify (GTK_LABEL (empty), GTK_JUSTIFY_CENTER);
  gtk_label_set_max_width_chars (GTK_LABEL (empty), 44);
  gtk_widget_add_css_class (empty, "empty");
  self->stack = gtk_stack_new ();
  gtk_widget_set_vexpand (self->stack, TRUE);
  gtk_stack_add_named (GTK_STACK (self->stack), empty, "empty");
  gtk_box_append (GTK_BOX (self), self->bar);
  gtk_box_append (GTK_BOX (self), self->note);
  gtk_box_append (GTK_BOX (self), self->stack);
}

GtkWidget *
mhar_ablation_page_new (MharSelection *selection)
{
  MharAblationPage *self = g_object_new (MHAR_TYPE_ABLATION_PAGE, NULL);

  self->view = mhar_ablation_view_new (selection);
  gtk_stack_add_named (GTK_STACK (self->stack), self->view, "view");
  return GTK_WIDGET (self);
}

/* What was measured, and what the two maps have to do with each other. */
static char *
describe (const MharDataset *set)
{
  double rank = mhar_dataset_real (mhar_dataset_find_child (set, "ablation_map"), "rank_correlation", NAN);
  int windows = (int)mhar_dataset_integer (set, "windows", 0);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (text, ngettext ("%d tokens in %d window", "%d tokens in %d windows", (gulong)MAX (windows, 0)),
                   (int)mhar_dataset_integer (set, "tokens", 0), windows);
  if (isfinite (rank))
    g_string_append_printf (text, _("; rank correlation of change and weight %.2f"), rank);
  return g_strdup (text->str);
}

void
mhar_ablation_page_show (MharAblationPage *self, MharDataset *set, gboolean measurable)
{
  gboolean there = set != NULL && mhar_figure_available (set, MHAR_FIGURE_ABLATION);
  g_autofree char *note = there ? describe (set) : g_strdup ("");

  gtk_widget_set_visible (self->bar, measurable);
  gtk_widget_set_visible (self->note, there);
  gtk_label_set_label (GTK_LABEL (self->note), note);
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self->view), there ? set : NULL);
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), there ? "view" : "empty");
}

void
mhar_ablation_page_set_display (MharAblationPage *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self->view), display);
}

MharFigureView *
mhar_ablation_page_get_view (MharAblationPage *self)
{
  return MHAR_FIGURE_VIEW (self->view);
}

int
mhar_ablation_page_get_tokens (MharAblationPage *self)
{
  return gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->tokens));
}
