/* SPDX-License-Identifier: MIT */
#include "core/paths.h"

#include "build-config.h"

/* The folder of the running program; NULL where the system does not tell. */
static char *
program_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  return program != NULL ? g_path_get_dirname (program) : NULL;
}

/* The first of `folders` (NULL-ended; relative ones count from the program's folder) that holds the regular file `name`. */
static char *
find_in (const char *const *folders, const char *name)
{
  g_autofree char *program = program_folder ();

  for (guint i = 0; folders[i] != NULL; i++) {
    if (!g_path_is_absolute (folders[i]) && program == NULL)
      continue;
    g_autofree char *path = g_path_is_absolute (folders[i])
                              ? g_build_filename (folders[i], name, NULL)
                              : g_build_filename (program, folders[i], name, NULL);
    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return g_canonicalize_filename (path, NULL);
  }
  return NULL;
}

char *
mhar_path_data (const char *name)
{
  const char *own = g_getenv ("MHAR_DATA_DIR");
  const char *const given[] = { own, NULL };
  const char *const usual[] = { "../share/mhar-probe", MHAR_DATADIR, MHAR_SOURCE_DATADIR, NULL };

  return find_in (own != NULL && g_path_is_absolute (own) ? given : usual, name);
}

char *
mhar_path_plugin (const char *name)
{
  const char *own = g_getenv ("MHAR_BACKEND_DIR");
  const char *const given[] = { own, NULL };
  const char *const usual[] = { "../" MHAR_LIBDIR_NAME "/mhar-probe", MHAR_PLUGINDIR, "../../kernels/cuda", NULL };

  if (own != NULL)
    return g_path_is_absolute (own) ? find_in (given, name) : NULL;
  return find_in (usual, name);
}

char *
mhar_path_program (const char *name)
{
  const char *const usual[] = { "../" MHAR_LIBDIR_NAME "/mhar-probe", "../../app/reader", MHAR_PLUGINDIR, NULL };

  return find_in (usual, name);
}
