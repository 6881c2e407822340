/* SPDX-License-Identifier: MIT */
#include "app/gui/settings.h"

#define GROUP "viewer"
#define RECENT "recent"

struct _MharSettings {
  GKeyFile *file;
  char *path;
  gboolean changed;
};

MharSettings *
mhar_settings_load (void)
{
  MharSettings *settings = g_new0 (MharSettings, 1);

  settings->file = g_key_file_new ();
  settings->path = g_build_filename (g_get_user_config_dir (), "mhar-probe", "settings.ini", NULL);
  g_key_file_load_from_file (settings->file, settings->path, G_KEY_FILE_KEEP_COMMENTS, NULL);
  return settings;
}

void
mhar_settings_free (MharSettings *settings)
{
  if (settings == NULL)
    return;
  g_key_file_unref (settings->file);
  g_free (settings->path);
  g_free (settings);
}

void
mhar_settings_save (MharSettings *settings)
{
  g_autofree char *folder = g_path_get_dirname (settings->path);
  gsize length = 0;
  g_autofree char *text = settings->changed ? g_key_file_to_data (settings->file, &length, NULL) : NULL;

  if (text == NULL || g_mkdir_with_parents (folder, 0700) != 0)
    return;
  if (g_file_set_contents_full (settings->path, text, (gssize) length, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL))
    settings->changed = FALSE;
}

int
mhar_settings_get_integer (const MharSettings *settings, const char *key, int otherwise)
{
  g_autoptr (GError) error = NULL;
  int value = g_key_file_get_integer (settings->file, GROUP, key, &error);
  return error == NULL ? value : otherwise;
}

void
mhar_settings_set_integer (MharSettings *settings, const char *key, int value)
{
  g_key_file_set_integer (settings->file, GROUP, key, value);
  settings->changed = TRUE;
}

double
mhar_settings_get_real (const MharSettings *settings, const char *key, double otherwise)
{
  g_autoptr (GError) error = NULL;
  double value = g_key_file_get_double (settings->file, GROUP, key, &error);
  return error == NULL ? value : otherwise;
}

void
mhar_settings_set_real (MharSettings *settings, const char *key, double value)
{
  g_key_file_set_double (settings->file, GROUP, key, value);
  settings->changed = TRUE;
}

char *
mhar_settings_get_string (const MharSettings *settings, const char *key)
{
  return g_key_file_get_string (settings->file, GROUP, key, NULL);
}

void
mhar_settings_set_string (MharSettings *settings, const char *key, const char *value)
{
  g_key_file_set_string (settings->file, GROUP, key, value);
  settings->changed = TRUE;
}

char **
mhar_settings_get_recent (const MharSettings *settings)
{
  char **list = g_key_file_get_string_list (settings->file, GROUP, RECENT, NULL, NULL);
  return list != NULL ? list : g_new0 (char *, 1);
}

void
mhar_settings_add_recent (MharSettings *settings, GFile *file)
{
  g_auto (GStrv) old = mhar_settings_get_recent (settings);
  g_autofree char *uri = g_file_get_uri (file);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  g_ptr_array_add (list, uri);
  for (guint i = 0; old[i] != NULL && list->len < MHAR_RECENT_MAX; i++)
    if (!g_str_equal (old[i], uri))
      g_ptr_array_add (list, old[i]);
  g_key_file_set_string_list (settings->file, GROUP, RECENT, (const char *const *) list->pdata, list->len);
  settings->changed = TRUE;
}

void
mhar_settings_clear_recent (MharSettings *settings)
{
  g_key_file_remove_key (settings->file, GROUP, RECENT, NULL);
  settings->changed = TRUE;
}
