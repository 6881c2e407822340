/* SPDX-License-Identifier: MIT */
#include "app/gui/application.h"

#include "app/gui/window.h"
#include "core/provenance.h"

#include <glib/gi18n.h>

struct _MharApplication {
  GtkApplication parent;
  MharSettings *settings;
  gboolean desktop_dark; /* what the desktop asked for before anything was chosen here */
};

G_DEFINE_FINAL_TYPE (MharApplication, mhar_application, GTK_TYPE_APPLICATION)

static const struct {
  const char *action;
  const char *keys[4]; /* NULL-ended */
} shortcuts[] = {
  { "win.open-folder", { "<Control>o" } },
  { "win.open-file", { "<Control><Shift>o" } },
  { "win.open-menu", { "<Control>r" } },
  { "win.open-text", { "<Control><Shift>t" } },
  { "win.bundled-text", { "<Control><Shift>b" } },
  { "win.start-page", { "<Alt>Home" } },
  { "win.compare-folder", { "<Control>m" } },
  { "win.compare-file", { "<Control><Shift>m" } },
  { "win.compare-close", { "<Control><Alt>m" } },
  { "win.run", { "<Control>Return", "<Control>KP_Enter", "F5" } },
  { "win.measure", { "<Control><Shift>Return", "<Control><Shift>KP_Enter" } },
  { "win.stop", { "Escape" } },
  { "win.export-menu", { "<Control><Shift>s" } },
  { "win.export-picture", { "<Control>e" } },
  { "win.export-numbers", { "<Control><Shift>e" } },
  { "win.export-run", { "<Control>s" } },
  { "win.copy-picture", { "<Control><Alt>c" } },
  { "win.copy-value", { "<Control><Shift>c" } },
  { "win.copy-command", { "<Control><Shift>l" } },
  { "win.focus-text", { "<Control>l" } },
  { "win.focus-view", { "F6" } },
  { "win.page::maps", { "<Alt>1" } },
  { "win.page::disagreement", { "<Alt>2" } },
  { "win.page::collinearity", { "<Alt>3" } },
  { "win.page::tokens", { "<Alt>4" } },
  { "win.page::sources", { "<Alt>5" } },
  { "win.page::compare", { "<Alt>6" } },
  { "win.page::reads", { "<Alt>7" } },
  { "win.page::ablation", { "<Alt>8" } },
  { "win.page::series", { "<Alt>9" } },
  { "win.table", { "<Control>t" } },
  { "win.other-quantity", { "<Control>d" } },
  { "win.enlarge", { "F11" } },
  { "win.left-column", { "F9" } },
  { "win.right-column", { "<Shift>F9" } },
  { "win.show-help-overlay", { "<Control>question", "F1" } },
  { "window.close", { "<Control>w" } },
  { "app.new-window", { "<Control>n" } },
  { "app.appearance::dark", { "<Control><Alt>d" } },
  { "app.appearance::light", { "<Control><Alt>l" } },
  { "app.appearance::desktop", { "<Control><Alt>a" } },
  { "app.about", { "<Shift>F1" } },
  { "app.quit", { "<Control>q" } },
};

MharSettings *
mhar_application_settings (MharApplication *self)
{
  return self->settings;
}

static void
on_new_window (GSimpleAction *action G_GNUC_UNUSED, GVariant *parameter G_GNUC_UNUSED, gpointer self)
{
  gtk_window_present (GTK_WINDOW (mhar_window_new (self)));
}

/* Closes the windows one by one, so that each remembers what it has to. */
static void
on_quit (GSimpleAction *action G_GNUC_UNUSED, GVariant *parameter G_GNUC_UNUSED, gpointer self)
{
  g_autoptr (GList) windows = g_list_copy (gtk_application_get_windows (self));

  for (GList *at = windows; at != NULL; at = at->next)
    gtk_window_close (at->data);
}

static void
on_about (GSimpleAction *action G_GNUC_UNUSED, GVariant *parameter G_GNUC_UNUSED, gpointer self)
{
  gtk_show_about_dialog (gtk_application_get_active_window (self), "program-name", _("Depth routing viewer"),
                         "version", mhar_version (), "comments",
                         _("What a Transformer’s attention over depth has learned (arXiv 2607.27230), and whether it "
                            "is more than chance"),
                         "license-type", GTK_LICENSE_MIT_X11, "logo-icon-name", MHAR_APPLICATION_ID, NULL);
}

static void
apply_appearance (MharApplication *self, const char *name)
{
  gboolean dark = g_str_equal (name, "dark") || (!g_str_equal (name, "light") && self->desktop_dark);
  g_object_set (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", dark, NULL);
}

static void
on_appearance (GSimpleAction *action, GVariant *value, gpointer data)
{
  MharApplication *self = data;
  const char *name = g_variant_get_string (value, NULL);

  g_simple_action_set_state (action, value);
  mhar_settings_set_string (self->settings, "appearance", name);
  mhar_settings_save (self->settings);
  apply_appearance (self, name);
}

static const GActionEntry actions[] = {
  { .name = "new-window", .activate = on_new_window },
  { .name = "quit", .activate = on_quit },
  { .name = "about", .activate = on_about },
  { .name = "appearance", .parameter_type = "s", .state = "'desktop'", .change_state = on_appearance },
};

/* "prefer-dark" and "prefer-light" of the desktop's portal; GTK 4.8 does not follow it by itself. */
static gboolean
ask_portal (void)
{
  g_autoptr (GDBusConnection) bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, NULL);
  g_autoptr (GVariant) reply = NULL, inner = NULL, value = NULL;

  if (bus == NULL)
    return FALSE;
  reply = g_dbus_connection_call_sync (bus, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop",
                                       "org.freedesktop.portal.Settings", "Read",
                                       g_variant_new ("(ss)", "org.freedesktop.appearance", "color-scheme"),
                                       G_VARIANT_TYPE ("(v)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, 200, NULL, NULL);
  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(v)", &inner);
  value = g_variant_is_of_type (inner, G_VARIANT_TYPE_VARIANT) ? g_variant_get_variant (inner) : g_variant_ref (inner);
  return g_variant_is_of_type (value, G_VARIANT_TYPE_UINT32) && g_variant_get_uint32 (value) == 1;
}

static void
on_portal (GDBusConnection *bus G_GNUC_UNUSED, const char *sender G_GNUC_UNUSED, const char *path G_GNUC_UNUSED,
           const char *interface G_GNUC_UNUSED, const char *signal G_GNUC_UNUSED, GVariant *parameters, gpointer data)
{
  MharApplication *self = data;
  const char *space, *key;
  g_autoptr (GVariant) value = NULL;
  g_autoptr (GVariant) state = g_action_group_get_action_state (G_ACTION_GROUP (self), "appearance");

  if (!g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(ssv)")))
    return;
  g_variant_get (parameters, "(&s&sv)", &space, &key, &value);
  if (!g_str_equal (key, "color-scheme") || !g_variant_is_of_type (value, G_VARIANT_TYPE_UINT32))
    return;
  self->desktop_dark = g_variant_get_uint32 (value) == 1;
  apply_appearance (self, g_variant_get_string (state, NULL));
}

static void
follow_desktop (MharApplication *self)
{
  GDBusConnection *bus = g_application_get_dbus_connection (G_APPLICATION (self));
  gboolean preset = FALSE;

  g_object_get (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", &preset, NULL);
  self->desktop_dark = preset || ask_portal ();
  if (bus != NULL)
    g_dbus_connection_signal_subscribe (bus, "org.freedesktop.portal.Desktop", "org.freedesktop.portal.Settings",
                                        "SettingChanged", "/org/freedesktop/portal/desktop",
                                        "org.freedesktop.appearance", G_DBUS_SIGNAL_FLAGS_NONE, on_portal, self, NULL);
}

static void
load_style (void)
{
  g_autoptr (GtkCssProvider) provider = gtk_css_provider_new ();

  gtk_css_provider_load_from_resource (provider, "/io/github/mhar_probe/Viewer/style.css");
  gtk_style_context_add_provider_for_display (gdk_display_get_default (), GTK_STYLE_PROVIDER (provider),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
}

static void
startup (GApplication *application)
{
  MharApplication *self = MHAR_APPLICATION (application);

  G_APPLICATION_CLASS (mhar_application_parent_class)->startup (application);
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (self), shortcuts[i].action, shortcuts[i].keys);
  load_style ();
  gtk_window_set_default_icon_name (MHAR_APPLICATION_ID);
  follow_desktop (self);
  g_autofree char *appearance = mhar_settings_get_string (self->settings, "appearance");
  if (appearance != NULL)
    g_action_group_change_action_state (G_ACTION_GROUP (self), "appearance", g_variant_new_string (appearance));
  else
    apply_appearance (self, "desktop");
}

static void
activate (GApplication *application)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));
  gtk_window_present (window != NULL ? window : GTK_WINDOW (mhar_window_new (MHAR_APPLICATION (application))));
}

static void
open_files (GApplication *application, GFile **files, int n, const char *hint G_GNUC_UNUSED)
{
  for (int i = 0; i < n; i++) {
    GtkWindow *active = gtk_application_get_active_window (GTK_APPLICATION (application));
    MharWindow *window = active != NULL && mhar_window_is_empty (MHAR_WINDOW (active))
                             ? MHAR_WINDOW (active)
                             : mhar_window_new (MHAR_APPLICATION (application));
    mhar_window_open (window, files[i]);
    gtk_window_present (GTK_WINDOW (window));
  }
}

static void
finalize (GObject *object)
{
  mhar_settings_free (MHAR_APPLICATION (object)->settings);
  G_OBJECT_CLASS (mhar_application_parent_class)->finalize (object);
}

static void
mhar_application_class_init (MharApplicationClass *class)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = finalize;
  application_class->startup = startup;
  application_class->activate = activate;
  application_class->open = open_files;
}

static void
mhar_application_init (MharApplication *self)
{
  self->settings = mhar_settings_load ();
}

MharApplication *
mhar_application_new (void)
{
  return g_object_new (MHAR_TYPE_APPLICATION, "application-id", MHAR_APPLICATION_ID, "flags",
                       G_APPLICATION_HANDLES_OPEN, "resource-base-path", "/io/github/mhar_probe/Viewer", NULL);
}
