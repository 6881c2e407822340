/* SPDX-License-Identifier: MIT */
#include "app/cli/base-names.h"

#include <string.h>

/* Without the slashes at its end. */
static char *
trim (const char *path)
{
  gsize n = strlen (path);

  while (n > 1 && path[n - 1] == '/')
    n--;
  return g_strndup (path, n);
}

static char *
base_of (const char *path)
{
  g_autofree char *whole = trim (path);
  return strchr (whole, '/') != NULL ? g_path_get_basename (whole) : g_strdup (whole);
}

char *
mhar_base_name_of_word (const char *word)
{
  const char *value = g_str_has_prefix (word, "--") ? strchr (word, '=') : NULL;

  if (value == NULL)
    return base_of (word);
  g_autofree char *before = g_strndup (word, (gsize)(value + 1 - word)), *base = base_of (value + 1);
  return g_strconcat (before, base, NULL);
}

/* ---- what was made ---- */

/* The folder of a path and a slash; nothing of a path without one. */
static void
add_folder (GPtrArray *folders, const char *path)
{
  g_autofree char *whole = path != NULL ? trim (path) : NULL;
  const char *slash = whole != NULL ? strrchr (whole, '/') : NULL;

  if (slash == NULL || slash == whole)
    return;
  g_autofree char *folder = g_strndup (whole, (gsize)(slash + 1 - whole));
  g_ptr_array_add (folders, g_filename_display_name (folder));
}

static gint
longer_first (gconstpointer a, gconstpointer b)
{
  gsize x = strlen (*(char *const *)a), y = strlen (*(char *const *)b);
  return (x < y) - (x > y);
}

static GPtrArray *
list_folders (const MharCliOptions *o)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *here = g_get_current_dir ();
  g_autofree char *in_here = g_build_filename (here, "x", NULL),
                  *in_home = g_build_filename (g_get_home_dir (), "x", NULL);
  const char *const files[]
      = { o->text, o->tokens, o->config, o->map, o->output, o->figure, o->from, in_here, in_home };

  for (guint i = 0; o->checkpoints[i] != NULL; i++) {
    g_autofree char *within = g_build_filename (o->checkpoints[i], "x", NULL); /* a message may name a file in it */
    add_folder (folders, o->checkpoints[i]);
    add_folder (folders, within);
  }
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    add_folder (folders, files[i]);
  g_ptr_array_sort (folders, longer_first);
  return folders;
}

static char *
reduce (const GPtrArray *folders, const char *text)
{
  GString *to = g_string_new (text);

  for (guint i = 0; i < folders->len; i++)
    g_string_replace (to, g_ptr_array_index ((GPtrArray *)folders, i), "", 0);
  return g_string_free (to, FALSE);
}

static gboolean
is_path (const char *name)
{
  static const char *const names[] = { "path", "a", "b", NULL };
  return g_strv_contains (names, name);
}

static void
reduce_attribute (const GPtrArray *folders, const MharAttribute *attribute, MharDataset *set)
{
  if (attribute->type == MHAR_ATTRIBUTE_STRING) {
    g_autofree char *text
        = is_path (attribute->name) ? base_of (attribute->string) : reduce (folders, attribute->string);
    mhar_dataset_set_string (set, attribute->name, text);
  } else if (attribute->type == MHAR_ATTRIBUTE_STRINGS) {
    g_auto (GStrv) texts = g_strdupv (attribute->strings);
    for (guint i = 0; texts[i] != NULL; i++) {
      char *text = reduce (folders, texts[i]);
      g_free (texts[i]);
      texts[i] = text;
    }
    mhar_dataset_set_strings (set, attribute->name, (const char *const *)texts);
  }
}

static void
reduce_set (const GPtrArray *folders, MharDataset *set)
{
  MharField *paths = mhar_dataset_get (set, "path"); /* of a series */

  for (guint a = 0; a < mhar_dataset_n_attributes (set); a++)
    reduce_attribute (folders, mhar_dataset_attribute (set, a), set);
  for (gsize i = 0; paths != NULL && paths->type == MHAR_FIELD_STRING && i < mhar_field_length (paths); i++) {
    char *base = base_of (paths->data.str[i]);
    g_free (paths->data.str[i]);
    paths->data.str[i] = base;
  }
  for (guint c = 0; c < mhar_dataset_n_children (set); c++)
    reduce_set (folders, mhar_dataset_child (set, c));
}

void
mhar_base_names_only (const MharCliOptions *options, MharDataset *root)
{
  if (!options->base_names)
    return;
  g_autoptr (GPtrArray) folders = list_folders (options);
  reduce_set (folders, root);
}
