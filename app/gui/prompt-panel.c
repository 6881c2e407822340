/* SPDX-License-Identifier: MIT */
#include "app/gui/prompt-panel.h"

#include <glib/gi18n.h>

/* A text view is slow with more than this. */
#define EDITABLE_MAX (256 << 10) /* bytes */
#define SHOWN_OF_LONG (32 << 10)

struct _MharPromptPanel {
  GtkBox parent;
  GtkLabel *name_label, *note_label;
  GtkTextView *view;
  GBytes *given; /* as set, until edited */
  char *name;
};

G_DEFINE_FINAL_TYPE (MharPromptPanel, mhar_prompt_panel, GTK_TYPE_BOX)

static void
show_name (MharPromptPanel *self)
{
  g_autofree char *size = self->given != NULL ? g_format_size (g_bytes_get_size (self->given)) : NULL;
  g_autofree char *label = size != NULL ? g_strdup_printf ("%s, %s", self->name, size) : g_strdup (self->name);

  gtk_label_set_label (self->name_label, label);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->name_label), label);
}

static void
on_edited (GtkTextBuffer *buffer G_GNUC_UNUSED, MharPromptPanel *self)
{
  if (self->given == NULL)
    return;
  g_clear_pointer (&self->given, g_bytes_unref);
  g_free (self->name);
  self->name = g_strdup ("prompt");
  show_name (self);
}

static void
dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), MHAR_TYPE_PROMPT_PANEL);
  G_OBJECT_CLASS (mhar_prompt_panel_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  MharPromptPanel *self = MHAR_PROMPT_PANEL (object);

  g_clear_pointer (&self->given, g_bytes_unref);
  g_free (self->name);
  G_OBJECT_CLASS (mhar_prompt_panel_parent_class)->finalize (object);
}

static void
mhar_prompt_panel_class_init (MharPromptPanelClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/mhar_probe/Viewer/ui/prompt-panel.ui");
  gtk_widget_class_bind_template_child (widget_class, MharPromptPanel, name_label);
  gtk_widget_class_bind_template_child (widget_class, MharPromptPanel, note_label);
  gtk_widget_class_bind_template_child (widget_class, MharPromptPanel, view);
}

static void
mhar_prompt_panel_init (MharPromptPanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->name = g_strdup ("prompt");
  g_signal_connect_object (gtk_text_view_get_buffer (self->view), "changed", G_CALLBACK (on_edited), self, 0);
}

GtkWidget *
mhar_prompt_panel_new (void)
{
  return g_object_new (MHAR_TYPE_PROMPT_PANEL, NULL);
}

void
mhar_prompt_panel_set_text (MharPromptPanel *self, GBytes *text, const char *name)
{
  gsize length = 0;
  const char *data = g_bytes_get_data (text, &length);
  gboolean whole = length <= EDITABLE_MAX;
  const char *end = data + length;

  if (!whole)
    end = g_utf8_find_prev_char (data, data + SHOWN_OF_LONG);
  g_clear_pointer (&self->given, g_bytes_unref);
  g_free (self->name);
  self->name = g_strdup (name);
  /* A copy that ends in a zero: GTK 4.8 reads on to one whatever length it is given. */
  g_autofree char *shown = data != NULL ? g_strndup (data, (gsize) (end - data)) : g_strdup ("");
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->view), shown, -1);
  gtk_text_view_set_editable (self->view, whole);
  self->given = g_bytes_ref (text); /* last: setting the buffer is not an edit */
  show_name (self);
  mhar_prompt_panel_set_note (self, whole ? "" : _("Long text: only its beginning is shown here, all of it is run"));
}

GBytes *
mhar_prompt_panel_get_text (MharPromptPanel *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->view);
  GtkTextIter start, end;

  if (self->given != NULL)
    return g_bytes_ref (self->given);
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  char *text = gtk_text_buffer_get_text (buffer, &start, &end, TRUE);
  return g_bytes_new_take (text, strlen (text));
}

const char *
mhar_prompt_panel_get_name (MharPromptPanel *self)
{
  return self->name;
}

void
mhar_prompt_panel_set_note (MharPromptPanel *self, const char *note)
{
  gtk_label_set_label (self->note_label, note);
  gtk_widget_set_visible (GTK_WIDGET (self->note_label), note[0] != '\0');
}

void
mhar_prompt_panel_focus (MharPromptPanel *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->view));
}
