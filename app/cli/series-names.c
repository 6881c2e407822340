/* SPDX-License-Identifier: MIT */
#include "app/cli/series-names.h"

#include "app/cli/options.h"
#include "core/error.h"

#include <stdlib.h>
#include <string.h>

/* Everything before the number, for what is looked for in a folder. */
static const char *const stems[] = { "step", "checkpoint", "iter", "global_step" };
static const char *const endings[] = { ".pt", ".pth", ".bin" };

static void
name_free (gpointer data)
{
  MharSeriesName *name = data;
  g_free (name->path);
  g_free (name);
}

/* The number that a base name ends in, before an ending of torch's; FALSE where there is none below 2^31. *stem_length:
 * what stands before it. */
static gboolean
parse_step (const char *base, gint32 *step, gsize *stem_length)
{
  gsize end = strlen (base), start;
  guint64 value = 0;

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (base, endings[i]))
      end = strlen (base) - strlen (endings[i]);
  for (start = end; start > 0 && g_ascii_isdigit (base[start - 1]); start--)
    ;
  g_autofree char *digits = g_strndup (base + start, end - start);
  if (!g_ascii_string_to_unsigned (digits, 10, 0, G_MAXINT32, &value, NULL))
    return FALSE;
  *step = (gint32)value;
  *stem_length = start;
  return TRUE;
}

/* Whether an entry of a folder is called as trainers call a checkpoint. */
static gboolean
is_step (const char *base, gint32 *step)
{
  gsize length;

  if (!parse_step (base, step, &length))
    return FALSE;
  if (length > 0 && strchr ("-_", base[length - 1]) != NULL)
    length--;
  for (guint i = 0; i < G_N_ELEMENTS (stems); i++)
    if (length == strlen (stems[i]) && strncmp (base, stems[i], length) == 0)
      return TRUE;
  return FALSE;
}

static void
add (GPtrArray *names, char *path, gint32 step)
{
  MharSeriesName *name = g_new (MharSeriesName, 1);

  *name = (MharSeriesName){ path, step };
  g_ptr_array_add (names, name);
}

/* The steps in a folder; how many. */
static guint
add_folder (GPtrArray *names, const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  guint n = 0;

  for (const char *base; dir != NULL && (base = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *whole = g_build_filename (path, base, NULL);
    gboolean folder = g_file_test (whole, G_FILE_TEST_IS_DIR), file = FALSE;
    gint32 step;
    for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
      file = file || g_str_has_suffix (base, endings[i]);
    if ((folder || file) && is_step (base, &step)) {
      add (names, g_steal_pointer (&whole), step);
      n++;
    }
  }
  return n;
}

static gboolean
add_path (GPtrArray *names, const char *path, GError **error)
{
  g_autofree char *base = g_path_get_basename (path);
  gsize length;
  gint32 step;

  if (add_folder (names, path) > 0)
    return TRUE;
  if (parse_step (base, &step, &length)) {
    add (names, g_strdup (path), step);
    return TRUE;
  }
  g_autofree char *config = g_build_filename (path, "config.json", NULL);
  if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (config, G_FILE_TEST_EXISTS))
    return mhar_bad_input (
        error, "%s: there is no checkpoint step-N in it; give the folder that holds those of a training run", path);
  return mhar_bad_usage (
      error, "--series takes the folder of a training run, or checkpoints whose names end in their step, not “%s”",
      path);
}

static int
compare_steps (gconstpointer a, gconstpointer b)
{
  const MharSeriesName *one = *(MharSeriesName *const *)a, *other = *(MharSeriesName *const *)b;
  return one->step != other->step ? (one->step > other->step) - (one->step < other->step)
                                  : strcmp (one->path, other->path);
}

GPtrArray *
mhar_series_names (char *const *paths, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (name_free);

  for (guint i = 0; paths[i] != NULL; i++)
    if (!add_path (names, paths[i], error))
      return NULL;
  g_ptr_array_sort (names, compare_steps);
  for (guint i = 1; i < names->len; i++) {
    const MharSeriesName *before = g_ptr_array_index (names, i - 1), *name = g_ptr_array_index (names, i);
    if (before->step == name->step) {
      mhar_bad_usage (error, "%s and %s are both of step %d; leave one of them out", before->path, name->path,
                      name->step);
      return NULL;
    }
  }
  return g_steal_pointer (&names);
}

GPtrArray *
mhar_series_names_of (char *const *paths)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (name_free);

  for (guint i = 0; paths[i] != NULL; i++)
    add (names, g_strdup (paths[i]), 0);
  return names;
}
