/* SPDX-License-Identifier: MIT */
#include "app/gui/token-list.h"

#include "probes/reads.h"
#include "probes/token-kinds.h"

#include <glib/gi18n.h>

#define MOST_LINES 50
#define BEFORE_CHARS 17

struct _MharTokenList {
  GtkBox parent;
  MharSelection *selection;
  guint which;
  GtkListBox *lines;
};

G_DEFINE_FINAL_TYPE (MharTokenList, mhar_token_list, GTK_TYPE_BOX)

static void
dispose (GObject *object)
{
  g_clear_object (&MHAR_TOKEN_LIST (object)->selection);
  G_OBJECT_CLASS (mhar_token_list_parent_class)->dispose (object);
}

static void
mhar_token_list_class_init (MharTokenListClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
}

static void
mhar_token_list_init (MharTokenList *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
}

static void
on_chosen (GtkListBox *lines G_GNUC_UNUSED, GtkListBoxRow *row, MharTokenList *self)
{
  mhar_selection_set_token (self->selection, GPOINTER_TO_INT (g_object_get_data (G_OBJECT (row), "token")));
}

/* Line ends and tabs so that they can be seen; what shows nothing as it is called. */
static char *
visible (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *shown = g_string_new (NULL);

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (c == '\n' || c == '\t' || c == '\r')
      g_string_append (shown, c == '\n' ? "⏎" : c == '\t' ? "⇥" : "␍");
    else if (g_unichar_isprint (c) || c == 0x200d || c == 0x200c) /* joiners make one of several */
      g_string_append_unichar (shown, c);
    else
      g_string_append_printf (shown, "\\u%04X", c);
  }
  return g_string_free (shown, FALSE);
}

static char *
part (const MharDataset *reads, const char *name, int example)
{
  const MharField *field = mhar_dataset_get (reads, name);

  return visible (field != NULL && field->data.str[example] != NULL ? field->data.str[example] : "");
}

static GtkWidget *
new_label (const char *text, double align, PangoEllipsizeMode ellipsize)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_ellipsize (GTK_LABEL (label), ellipsize);
  gtk_label_set_xalign (GTK_LABEL (label), (float) align);
  return label;
}

/* The token between what is before it and what is after, tokens below each other; from right to left where it is
 * written so. */
static GtkWidget *
new_context (const char *before, const char *text, const char *after)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0), *left = new_label (before, 1, PANGO_ELLIPSIZE_START);
  GtkWidget *token = new_label (NULL, 0, PANGO_ELLIPSIZE_NONE), *right = new_label (after, 0, PANGO_ELLIPSIZE_END);
  g_autofree char *markup = g_markup_printf_escaped ("<span weight=\"bold\" underline=\"single\">%s</span>", text);
  g_autofree char *all = g_strconcat (before, text, after, NULL);

  gtk_label_set_width_chars (GTK_LABEL (left), BEFORE_CHARS);
  gtk_label_set_max_width_chars (GTK_LABEL (left), BEFORE_CHARS);
  gtk_label_set_markup (GTK_LABEL (token), markup);
  gtk_widget_set_hexpand (right, TRUE);
  gtk_box_append (GTK_BOX (box), left);
  gtk_box_append (GTK_BOX (box), token);
  gtk_box_append (GTK_BOX (box), right);
  if (mhar_text_runs_leftward (all))
    gtk_widget_set_direction (box, GTK_TEXT_DIR_RTL);
  return box;
}

static GtkWidget *
new_line (const MharDataset *reads, int example, gint32 token, double weight)
{
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 9);
  g_autofree char *before = part (reads, "example_before", example), *after = part (reads, "example_after", example);
  g_autofree char *text = mhar_dataset_get (reads, "example_text") != NULL
                            ? part (reads, "example_text", example)
                            : g_strdup_printf (_("id %d"), mhar_dataset_get (reads, "example_id")->data.i32[example]);
  g_autofree char *value = g_strdup_printf ("%.3f", weight);
  g_autofree char *tip
      = g_strdup_printf (_ ("Token %d, “%s”, in “%s%s%s”: %.4f"), token, text, before, text, after, weight);
  GtkWidget *number = gtk_label_new (value), *context = new_context (before, text, after);

  gtk_widget_add_css_class (number, "number");
  gtk_widget_set_hexpand (context, TRUE);
  gtk_box_append (GTK_BOX (box), number);
  gtk_box_append (GTK_BOX (box), context);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_widget_set_tooltip_text (row, tip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, tip, -1);
  g_object_set_data (G_OBJECT (row), "token", GINT_TO_POINTER (token));
  return row;
}

void
mhar_token_list_show (MharTokenList *self, const MharDataset *reads, int cell)
{
  const MharField *tokens = reads != NULL && cell >= 0 ? mhar_dataset_get (reads, "token") : NULL;
  const MharField *weights = tokens != NULL ? mhar_dataset_get (reads, "token_weight") : NULL;
  GtkListBoxRow *old;

  while ((old = gtk_list_box_get_row_at_index (self->lines, 0)) != NULL)
    gtk_list_box_remove (self->lines, GTK_WIDGET (old));
  for (gsize k = 0; weights != NULL && k < MIN (tokens->shape[2], MOST_LINES); k++) {
    gsize i = ((gsize) cell * 2 + self->which) * tokens->shape[2] + k;
    int example = mhar_reads_find_example (reads, tokens->data.i32[i]);
    if (example >= 0)
      gtk_list_box_append (self->lines, new_line (reads, example, tokens->data.i32[i], (double) weights->data.f32[i]));
  }
}

GtkWidget *
mhar_token_list_new (MharSelection *selection, guint which, const char *title)
{
  MharTokenList *self = g_object_new (MHAR_TYPE_TOKEN_LIST, NULL);
  GtkWidget *label = gtk_label_new (title), *scrolled = gtk_scrolled_window_new ();

  self->selection = g_object_ref (selection);
  self->which = which;
  self->lines = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "caption-label");
  gtk_widget_add_css_class (GTK_WIDGET (self->lines), "token-lines");
  gtk_list_box_set_activate_on_single_click (self->lines, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->lines), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  g_signal_connect_object (self->lines, "row-activated", G_CALLBACK (on_chosen), self, 0);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->lines));
  gtk_widget_set_vexpand (scrolled, TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_box_append (GTK_BOX (self), label);
  gtk_box_append (GTK_BOX (self), scrolled);
  return GTK_WIDGET (self);
}
