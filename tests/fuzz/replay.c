/* SPDX-License-Identifier: MIT */
/* Drives a fuzz target without libFuzzer: every file named, and every file of the folders named, once as it is and, with
 * -m N, after each of N random edits (the same ones every time); every other edit with the checksums set right. */
#include "fuzz.h"
#include "tests/unit/scratch.h"

#include <stdlib.h>

#pragma weak fuzz_repair

static guint edits, runs;

static void
run_one (const char *bytes, gsize length)
{
  /* Of exactly this size, so that reading beyond it is seen. */
  uint8_t *exact = malloc (MAX (length, 1));
  memcpy (exact, bytes, length);
  LLVMFuzzerTestOneInput (exact, length);
  free (exact);
  runs++;
}

static void
run_file (const char *path)
{
  g_autofree char *bytes = NULL;
  gsize length;
  g_autoptr (GError) error = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  if (!g_file_get_contents (path, &bytes, &length, &error))
    g_error ("%s", error->message);
  run_one (bytes, length);
  for (guint i = 0; i < edits && length > 0; i++) {
    g_autoptr (GString) changed = scratch_mutate (rand, bytes, length);
    if (fuzz_repair != NULL && i % 2 == 1)
      fuzz_repair ((uint8_t *)changed->str, changed->len);
    run_one (changed->str, changed->len);
  }
}

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static void
run_folder (const char *folder, GDir *dir)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (names, by_name);
  for (guint i = 0; i < names->len; i++)
    run_file (g_ptr_array_index (names, i));
}

int
main (int argc, char **argv)
{
  int first = 1;
  if (argc > 2 && strcmp (argv[1], "-m") == 0) {
    edits = (guint)atoi (argv[2]);
    first = 3;
  }
  for (int i = first; i < argc; i++) {
    g_autoptr (GDir) dir = g_dir_open (argv[i], 0, NULL);
    if (dir != NULL)
      run_folder (argv[i], dir);
    else
      run_file (argv[i]);
  }
  g_print ("%u inputs\n", runs);
  return runs > 0 ? 0 : 1;
}
