/* SPDX-License-Identifier: MIT */
#include "app/gui/start-page.h"

#include "core/paths.h"

#include <glib/gi18n.h>

#define THUMBNAIL_WIDTH 300
#define THUMBNAIL_HEIGHT 150

static const struct {
  const char *folder, *title, *text;
} demos[] = {
  { "mhar", N_("Four heads a read"),
    N_("Demo: 13 reads over depth, four routing heads each. Do the heads differ by more than chance?") },
  { "single", N_("One head a read"),
    N_("Demo: the same model with one routing head. Which parts of a query disagree?") },
};

struct _MharStartPage {
  GtkBox parent;
  GtkFlowBox *cards;
  GtkWidget *recent_box, *folder_button;
  GtkListBox *recent_list;
  GtkPicture *pictures[G_N_ELEMENTS (demos)];
};

G_DEFINE_FINAL_TYPE (MharStartPage, mhar_start_page, GTK_TYPE_BOX)

static GtkWidget *
text_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_width_chars (GTK_LABEL (label), 36);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 36);
  gtk_widget_add_css_class (label, class);
  return label;
}

/* The picture in a frame of its own size, which the picture's own pixels do not stretch. */
static GtkWidget *
new_thumbnail (MharStartPage *self, guint i)
{
  GtkWidget *overlay = gtk_overlay_new (), *room = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  self->pictures[i] = GTK_PICTURE (gtk_picture_new ());
  gtk_picture_set_content_fit (self->pictures[i], GTK_CONTENT_FIT_CONTAIN);
  gtk_widget_set_size_request (room, THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), room);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), GTK_WIDGET (self->pictures[i]));
  return overlay;
}

static GtkWidget *
new_card (MharStartPage *self, guint i, const char *uri)
{
  GtkWidget *button = gtk_button_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  gtk_box_append (GTK_BOX (box), new_thumbnail (self, i));
  gtk_box_append (GTK_BOX (box), text_label (_(demos[i].title), "card-title"));
  gtk_box_append (GTK_BOX (box), text_label (_(demos[i].text), "caption-label"));
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "card");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open-uri");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", uri);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, _(demos[i].title),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, _(demos[i].text), -1);
  return button;
}

/* Beside the other, or below it where there is no room. The button has the focus, not its place. */
static void
add_card (MharStartPage *self, guint i, const char *uri)
{
  GtkWidget *card = new_card (self, i, uri);

  gtk_flow_box_insert (self->cards, card, -1);
  gtk_widget_set_focusable (gtk_widget_get_parent (card), FALSE);
}

static void
dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), MHAR_TYPE_START_PAGE);
  G_OBJECT_CLASS (mhar_start_page_parent_class)->dispose (object);
}

static void
mhar_start_page_class_init (MharStartPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/mhar_probe/Viewer/ui/start-page.ui");
  gtk_widget_class_bind_template_child (widget_class, MharStartPage, cards);
  gtk_widget_class_bind_template_child (widget_class, MharStartPage, folder_button);
  gtk_widget_class_bind_template_child (widget_class, MharStartPage, recent_box);
  gtk_widget_class_bind_template_child (widget_class, MharStartPage, recent_list);
}

static void
mhar_start_page_init (MharStartPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  for (guint i = 0; i < G_N_ELEMENTS (demos); i++) {
    g_autofree char *name = g_build_filename ("demo", demos[i].folder, "config.json", NULL);
    g_autofree char *config = mhar_path_data (name);
    if (config == NULL)
      continue;
    g_autofree char *folder = g_path_get_dirname (config);
    g_autofree char *uri = g_filename_to_uri (folder, NULL, NULL);
    if (uri != NULL)
      add_card (self, i, uri);
  }
  mhar_start_page_set_dark (self, FALSE);
}

GtkWidget *
mhar_start_page_new (void)
{
  return g_object_new (MHAR_TYPE_START_PAGE, NULL);
}

void
mhar_start_page_set_dark (MharStartPage *self, gboolean dark)
{
  for (guint i = 0; i < G_N_ELEMENTS (demos); i++) {
    g_autofree char *path
        = g_strdup_printf ("/io/github/mhar_probe/Viewer/thumbnails/%s%s.png", demos[i].folder, dark ? "-dark" : "");
    if (self->pictures[i] != NULL)
      gtk_picture_set_resource (self->pictures[i], path);
  }
}

static void
add_recent (MharStartPage *self, const char *uri)
{
  g_autoptr (GFile) file = g_file_new_for_uri (uri);
  g_autofree char *path = g_file_get_path (file);

  if (path == NULL || !g_file_test (path, G_FILE_TEST_EXISTS))
    return;
  g_autofree char *shown = g_filename_display_name (path), *base = g_filename_display_basename (path);
  GtkWidget *button = gtk_button_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *name = gtk_label_new (base), *folder = gtk_label_new (shown);

  gtk_label_set_ellipsize (GTK_LABEL (folder), PANGO_ELLIPSIZE_START);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_xalign (GTK_LABEL (folder), 1);
  gtk_widget_set_hexpand (folder, TRUE);
  gtk_widget_add_css_class (folder, "caption-label");
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), folder);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, shown);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, base, -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open-uri");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", uri);
  gtk_list_box_append (self->recent_list, button);
}

void
mhar_start_page_show_recent (MharStartPage *self, const MharSettings *settings)
{
  g_auto (GStrv) recent = mhar_settings_get_recent (settings);
  GtkWidget *row;

  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->recent_list))) != NULL)
    gtk_list_box_remove (self->recent_list, row);
  for (guint i = 0; recent[i] != NULL; i++)
    add_recent (self, recent[i]);
  for (row = gtk_widget_get_first_child (GTK_WIDGET (self->recent_list)); row != NULL;
       row = gtk_widget_get_next_sibling (row)) {
    gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
    gtk_widget_set_focusable (row, FALSE);
  }
  gtk_widget_set_visible (self->recent_box, gtk_widget_get_first_child (GTK_WIDGET (self->recent_list)) != NULL);
}
