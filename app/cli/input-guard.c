/* SPDX-License-Identifier: MIT */
#include "app/cli/input-guard.h"

#include "app/cli/series-names.h"
#include "core/error.h"

#include <glib/gstdio.h>

gboolean
mhar_same_file (const char *a, const char *b)
{
  GStatBuf sa, sb;
  return a != NULL && b != NULL && g_stat (a, &sa) == 0 && g_stat (b, &sb) == 0 && sa.st_dev == sb.st_dev
         && sa.st_ino == sb.st_ino;
}

/* Whether `output` is a file that the checkpoint is made of. */
static gboolean
is_part_of (const char *output, const char *checkpoint)
{
  static const char *const endings[] = { ".json", ".safetensors", ".bin", ".pt", ".pth" };
  g_autoptr (GDir) dir = g_dir_open (checkpoint, 0, NULL);

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (checkpoint, name, NULL);
    for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
      if (g_str_has_suffix (name, endings[i]) && mhar_same_file (output, path))
        return TRUE;
  }
  return mhar_same_file (output, checkpoint);
}

gboolean
mhar_check_not_input (const MharCliOptions *o, const GPtrArray *names, const char *output, GError **error)
{
  gboolean input = mhar_same_file (output, o->text) || mhar_same_file (output, o->tokens)
                   || mhar_same_file (output, o->config) || mhar_same_file (output, o->from);

  for (guint i = 0; !input && output != NULL && i < names->len; i++)
    input = is_part_of (output, ((const MharSeriesName *)names->pdata[i])->path);
  if (!input)
    return TRUE;
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE,
               "%s is an input of this run and would be overwritten; give another name", output);
  return FALSE;
}
