/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *folder;
static GHashTable *paths; /* name -> path of what was written */

static void
remove_folder (void)
{
  GHashTableIter iter;
  gpointer path;
  g_hash_table_iter_init (&iter, paths);
  while (g_hash_table_iter_next (&iter, NULL, &path))
    g_unlink (path);
  g_rmdir (folder);
  g_hash_table_unref (paths);
  g_free (folder);
}

const char *
fuzz_folder (void)
{
  if (folder != NULL)
    return folder;
  const char *place = g_access ("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir ();
  folder = g_build_filename (place, "mhar-fuzz-XXXXXX", NULL);
  if (g_mkdtemp (folder) == NULL)
    g_error ("no folder can be made in %s", place);
  paths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  atexit (remove_folder);
  return folder;
}

const char *
fuzz_file (const char *name, const uint8_t *data, size_t size)
{
  const char *place = fuzz_folder ();
  const char *path = g_hash_table_lookup (paths, name);
  if (path == NULL) {
    path = g_build_filename (place, name, NULL);
    g_hash_table_insert (paths, g_strdup (name), (gpointer)path);
  }
  int fd = g_open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write (fd, data, size) != (ssize_t)size || close (fd) != 0)
    g_error ("%s cannot be written", path);
  return path;
}

char *
fuzz_source (const char *name)
{
  const char *tests = g_getenv ("MHAR_TEST_DATA");
  return g_build_filename (tests != NULL ? tests : FUZZ_TESTS, name, NULL);
}

void
fuzz_check (gboolean loaded, GError *error)
{
  g_assert_true (loaded == (error == NULL));
  if (error == NULL)
    return;
  g_assert_true (error->domain == MHAR_ERROR);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  for (const char *p = error->message; *p != '\0'; p = g_utf8_next_char (p))
    g_assert_true (g_unichar_isprint (g_utf8_get_char (p)));
  g_assert_false (g_str_has_suffix (error->message, "."));
  g_error_free (error);
}

void
fuzz_touch (const void *bytes, size_t size)
{
  const volatile uint8_t *at = bytes;
  for (size_t i = 0; i < size; i++)
    (void)at[i];
}
