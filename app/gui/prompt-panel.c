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
  gboolean setting;  /* the buffer is not being edited */
  gboolean ran;      /* the note is of a run of the text as it is */
  GBytes *inserted;  /* a text too long to be edited, until `taking` has taken it */
  guint taking;      /* source */
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
show_note (MharPromptPanel *self, const char *note)
{
  gtk_label_set_label (self->note_label, note);
  gtk_widget_set_visible (GTK_WIDGET (self->note_label), note[0] != '\0');
}

static void
on_edited (GtkTextBuffer *buffer G_GNUC_UNUSED, MharPromptPanel *self)
{
  if (self->ran && !self->setting)
    show_note (self, _("edited since it was run"));
  self->ran = FALSE;
  if (self->given == NULL)
    return;
  g_clear_pointer (&self->given, g_bytes_unref);
  g_free (self->name);
  self->name = g_strdup ("prompt");
  show_name (self);
}

/* What an insertion makes of the text, where it becomes too long for the view; NULL: it does not. */
static GBytes *
too_long (GtkTextBuffer *buffer, const GtkTextIter *at, const char *text, int length)
{
  GtkTextIter start, end;

  /* Asked at every key, so first without a copy: a character is at most 4 bytes. */
  if (4 * (gsize) gtk_text_buffer_get_char_count (buffer) + (gsize) length <= EDITABLE_MAX)
    return NULL;
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  g_autofree char *before = gtk_text_buffer_get_text (buffer, &start, at, TRUE), *after = gtk_text_buffer_get_text (buffer, at, &end, TRUE);
  if (strlen (before) + (gsize) length + strlen (after) <= EDITABLE_MAX)
    return NULL;
  GString *whole = g_string_new (before);
  g_string_append_len (whole, text, length);
  g_string_append (whole, after);
  return g_string_free_to_bytes (whole);
}

static gboolean
take_long (gpointer data)
{
  MharPromptPanel *self = data;
  g_autoptr (GBytes) text = g_steal_pointer (&self->inserted);

  self->taking = 0;
  mhar_prompt_panel_set_text (self, text, "prompt");
  return G_SOURCE_REMOVE;
}

/* A long text that is pasted or dropped is run whole, but shown as a long file is; in a moment, for who inserts still uses
 * the buffer. */
static void
on_insert (GtkTextBuffer *buffer, const GtkTextIter *at, const char *text, int length, MharPromptPanel *self)
{
  GBytes *whole = self->setting ? NULL : too_long (buffer, at, text, length);

  if (whole == NULL)
    return;
  g_signal_stop_emission_by_name (buffer, "insert-text");
  g_clear_pointer (&self->inserted, g_bytes_unref);
  self->inserted = whole;
  if (self->taking == 0)
    self->taking = g_idle_add (take_long, self);
}

/* What is pasted over a text too long to be edited takes its place. */
static void
on_paste (MharPromptPanel *self)
{
  g_autoptr (GBytes) nothing = g_bytes_new_static ("", 0);

  if (!gtk_text_view_get_editable (self->view))
    mhar_prompt_panel_set_text (self, nothing, "prompt");
}

static gboolean
takes (GtkDropTarget *target, GdkDrop *drop, gpointer data G_GNUC_UNUSED)
{
  GdkContentFormats *offered = gdk_drop_get_formats (drop);

  return !gdk_content_formats_contain_gtype (offered, GDK_TYPE_FILE_LIST)
         && !gdk_content_formats_contain_mime_type (offered, "text/uri-list")
         && gdk_content_formats_match (offered, gtk_drop_target_get_formats (target));
}

/* Files are the window's to take. To the view they are words, which it waits for with a timer that never ends when the
 * window has them. */
static void
leave_files (GtkWidget *view)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (view);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GObject) controller = g_list_model_get_item (controllers, i);
    if (GTK_IS_DROP_TARGET (controller))
      g_signal_connect (controller, "accept", G_CALLBACK (takes), NULL);
  }
}

static void
dispose (GObject *object)
{
  g_clear_handle_id (&MHAR_PROMPT_PANEL (object)->taking, g_source_remove);
  gtk_widget_dispose_template (GTK_WIDGET (object), MHAR_TYPE_PROMPT_PANEL);
  G_OBJECT_CLASS (mhar_prompt_panel_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  MharPromptPanel *self = MHAR_PROMPT_PANEL (object);

  g_clear_pointer (&self->given, g_bytes_unref);
  g_clear_pointer (&self->inserted, g_bytes_unref);
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
  leave_files (GTK_WIDGET (self->view));
  g_signal_connect_object (gtk_text_view_get_buffer (self->view), "changed", G_CALLBACK (on_edited), self, 0);
  g_signal_connect_object (gtk_text_view_get_buffer (self->view), "insert-text", G_CALLBACK (on_insert), self, 0);
  g_signal_connect_object (self->view, "paste-clipboard", G_CALLBACK (on_paste), self, G_CONNECT_SWAPPED);
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
  self->setting = TRUE;
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (self->view), shown, -1);
  self->setting = FALSE;
  gtk_text_view_set_editable (self->view, whole);
  self->given = g_bytes_ref (text); /* last: setting the buffer is not an edit */
  show_name (self);
  mhar_prompt_panel_forget_run (self);
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
  self->ran = TRUE;
  show_note (self, note);
}

void
mhar_prompt_panel_forget_run (MharPromptPanel *self)
{
  gboolean whole = gtk_text_view_get_editable (self->view);

  self->ran = FALSE;
  show_note (self, whole ? "" : _("Long text: only its beginning is shown here, all of it is run"));
}

void
mhar_prompt_panel_focus (MharPromptPanel *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->view));
}
