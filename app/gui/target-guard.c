/* SPDX-License-Identifier: MIT */
#include "app/gui/target-guard.h"

#include "core/error.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>

static gboolean
same_file (const char *a, const char *b)
{
  GStatBuf sa, sb;
  return g_stat (a, &sa) == 0 && g_stat (b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static gboolean
refuse (const char *path, GError **error)
{
  g_autofree char *name = g_filename_display_basename (path);

  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, _("%s is open here and would be lost; choose another name"), name);
  return FALSE;
}

gboolean
mhar_target_is_not (const char *path, const char *input, GError **error)
{
  return input != NULL && same_file (path, input) ? refuse (path, error) : TRUE;
}

gboolean
mhar_target_is_free (const char *path, const MharOpened *opened, GError **error)
{
  static const char *const endings[] = { ".json", ".safetensors", ".bin", ".pt", ".pth", ".ckpt" };
  const MharCheckpoint *checkpoint = opened != NULL ? mhar_opened_checkpoint (opened) : NULL;
  const char *folder = checkpoint != NULL ? mhar_checkpoint_folder (checkpoint) : NULL;
  g_autoptr (GDir) dir = folder != NULL ? g_dir_open (folder, 0, NULL) : NULL;

  if (opened == NULL)
    return TRUE;
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *part = g_build_filename (folder, name, NULL);
    for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
      if (g_str_has_suffix (name, endings[i]) && same_file (path, part))
        return refuse (path, error);
  }
  return mhar_target_is_not (path, mhar_opened_path (opened), error);
}
