/* SPDX-License-Identifier: MIT */
#include "app/cli/path-names.h"

#include <string.h>

char *
mhar_path_base (const char *path)
{
  gsize n = strlen (path);

  while (n > 1 && path[n - 1] == '/')
    n--;
  g_autofree char *whole = g_strndup (path, n);
  return strchr (whole, '/') != NULL ? g_path_get_basename (whole) : g_strdup (whole);
}

static gboolean
is_alone (char *const *names, guint n, guint i)
{
  gboolean alone = TRUE;

  for (guint k = 0; k < n; k++)
    alone = alone && (k == i || strcmp (names[k], names[i]) != 0);
  return alone;
}

char **
mhar_path_names (const char *const *paths, guint n)
{
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i]
        = is_alone ((char *const *)paths, n, i) ? g_strdup (paths[i]) : g_strdup_printf ("%s (%u)", paths[i], i + 1);
  return names;
}

char **
mhar_path_short_names (const char *const *paths, guint n)
{
  g_auto (GStrv) whole = mhar_path_names (paths, n), bases = g_new0 (char *, n + 1);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    bases[i] = g_path_get_basename (paths[i]);
  for (guint i = 0; i < n; i++)
    names[i] = g_strdup (is_alone (bases, n, i) ? bases[i] : whole[i]);
  return names;
}
