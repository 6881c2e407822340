/* SPDX-License-Identifier: MIT */
/* The picture above, the two lists of tokens below. */
#include "app/gui/reads-page.h"

#include "app/gui/dataset-look.h"
#include "app/gui/reads-view.h"
#include "app/gui/token-list.h"
#include "probes/reads.h"

#include <glib/gi18n.h>

#define LISTS_HEIGHT 228
#define LEAST_HEIGHT 72 /* in a low window the lists scroll */

struct _MharReadsPage {
  GtkBox parent;
  MharSelection *selection;
  MharDataset *set;
  GtkWidget *what, *view, *stack, *lists_slot, *lists[2], *note;
};

G_DEFINE_FINAL_TYPE (MharReadsPage, mhar_reads_page, GTK_TYPE_BOX)

static const MharDataset *
reads_of (MharReadsPage *self)
{
  return self->set != NULL ? mhar_dataset_find_child (self->set, "reads") : NULL;
}

/* Why there are no tokens to list; NULL where there are. */
static char *
lack_of (MharReadsPage *self, int site, int head, int source, int cell)
{
  if (cell >= 0 || site < 0)
    return NULL;
  if (source < 0)
    return g_strdup (_("Select a source to see the tokens at which it is read most and least."));
  if (head < 0)
    return g_strdup (_("Select one head, with 1 to 9, to see the tokens at which it reads most and least."));
  return g_strdup_printf (
      _ ("This run lists no tokens of this head and source: they are what --reads=%s:%d:%d would list."),
      mhar_look_site (self->set, site), head, source);
}

/* What the cursor of the picture is at, in words. */
static void
refresh_what (MharReadsPage *self)
{
  gtk_label_set_label (GTK_LABEL (self->what), mhar_figure_view_get_description (MHAR_FIGURE_VIEW (self->view)));
}

static void
refresh (MharReadsPage *self)
{
  const MharDataset *reads = reads_of (self);
  int site = mhar_selection_get_site (self->selection), source = mhar_selection_get_source (self->selection);
  int head = mhar_selection_get_head (self->selection);

  if (head < 0 && mhar_look_n_heads (self->set, site) == 1)
    head = 0;
  int cell = reads != NULL ? mhar_reads_find_cell (reads, site, head, source) : -1;
  g_autofree char *lack = lack_of (self, site, head, source, cell);
  refresh_what (self);
  gtk_label_set_label (GTK_LABEL (self->note), lack != NULL ? lack : "");
  gtk_stack_set_visible_child_name (GTK_STACK (self->stack), lack != NULL ? "note" : "lists");
  for (guint which = 0; which < 2; which++)
    mhar_token_list_show (MHAR_TOKEN_LIST (self->lists[which]), reads, cell);
}

static void
on_selection (MharReadsPage *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    refresh (self);
}

static void
dispose (GObject *object)
{
  MharReadsPage *self = MHAR_READS_PAGE (object);

  g_clear_pointer (&self->set, mhar_dataset_unref);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (mhar_reads_page_parent_class)->dispose (object);
}

static void
mhar_reads_page_class_init (MharReadsPageClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
}

static void
mhar_reads_page_init (MharReadsPage *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
}

static void
make_lists (MharReadsPage *self)
{
  static const char *const titles[] = { N_("Most weight"), N_("Least weight") };
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 18);

  for (guint which = 0; which < 2; which++) {
    self->lists[which] = mhar_token_list_new (self->selection, which, _(titles[which]));
    gtk_box_append (GTK_BOX (row), self->lists[which]);
  }
  gtk_box_set_homogeneous (GTK_BOX (row), TRUE);
  self->note = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (self->note), TRUE);
  gtk_label_set_justify (GTK_LABEL (self->note), GTK_JUSTIFY_CENTER);
  gtk_label_set_max_width_chars (GTK_LABEL (self->note), 52);
  gtk_widget_add_css_class (self->note, "empty");
  self->stack = gtk_stack_new ();
  gtk_stack_add_named (GTK_STACK (self->stack), row, "lists");
  gtk_stack_add_named (GTK_STACK (self->stack), self->note, "note");
  gtk_widget_set_size_request (self->stack, -1, LISTS_HEIGHT);
  self->lists_slot = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->lists_slot), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (self->lists_slot), LEAST_HEIGHT);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (self->lists_slot), TRUE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->lists_slot), self->stack);
  gtk_widget_set_margin_start (self->stack, 18);
  gtk_widget_set_margin_end (self->stack, 18);
  gtk_widget_set_margin_top (self->stack, 6);
  gtk_widget_set_margin_bottom (self->stack, 6);
}

GtkWidget *
mhar_reads_page_new (MharSelection *selection)
{
  MharReadsPage *self = g_object_new (MHAR_TYPE_READS_PAGE, NULL);

  self->selection = g_object_ref (selection);
  self->what = gtk_label_new (NULL);
  self->view = mhar_reads_view_new (selection);
  make_lists (self);
  gtk_label_set_ellipsize (GTK_LABEL (self->what), PANGO_ELLIPSIZE_END);
  gtk_widget_set_vexpand (self->view, TRUE);
  gtk_box_append (GTK_BOX (self), self->what);
  gtk_box_append (GTK_BOX (self), self->view);
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (self), self->lists_slot);
  g_signal_connect_object (selection, "changed", G_CALLBACK (on_selection), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "notify::description", G_CALLBACK (refresh_what), self, G_CONNECT_SWAPPED);
  g_signal_connect_swapped (self, "map", G_CALLBACK (refresh), self);
  return GTK_WIDGET (self);
}

void
mhar_reads_page_set_dataset (MharReadsPage *self, MharDataset *set)
{
  MharDataset *old = self->set;

  self->set = set != NULL ? mhar_dataset_ref (set) : NULL;
  mhar_dataset_unref (old);
  mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (self->view), set);
  refresh (self);
}

void
mhar_reads_page_set_display (MharReadsPage *self, const MharDisplay *display)
{
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self->view), display);
}

MharFigureView *
mhar_reads_page_get_view (MharReadsPage *self)
{
  return MHAR_FIGURE_VIEW (self->view);
}
