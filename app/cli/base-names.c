/* SPDX-License-Identifier: MIT */
#include "app/cli/base-names.h"

#include "app/cli/path-names.h"
#include "probes/results.h"

#include <string.h>

/* ---- command lines ---- */

/* The base name of one word, and what stands before it in "--option=PATH" or "-oPATH". */
static char *
base_of_word (const char *word)
{
  gsize before = 0;

  if (g_str_has_prefix (word, "--") && strchr (word, '=') != NULL)
    before = (gsize)(strchr (word, '=') + 1 - word);
  else if (word[0] == '-' && g_ascii_isalpha (word[1]))
    before = 2;
  g_autofree char *option = g_strndup (word, before), *base = mhar_path_base (word + before);
  return g_strconcat (option, base, NULL);
}

static gboolean
is_prompt (char *const *words, guint i)
{
  return g_str_has_prefix (words[i], "--prompt=") || g_str_has_prefix (words[i], "-p")
         || (i > 0 && (strcmp (words[i - 1], "--prompt") == 0 || strcmp (words[i - 1], "-p") == 0));
}

char *
mhar_command_word (const char *given)
{
  const char *safe = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_=+,./:@%";
  gboolean plain = given[0] != '\0' && given[strspn (given, safe)] == '\0';
  g_autofree char *word = plain ? g_strdup (given) : g_shell_quote (given);

  return g_utf8_make_valid (word, -1);
}

char *
mhar_command_line (char *const *words, gboolean base_names)
{
  GString *line = g_string_new ("mhar-probe");

  for (guint i = 1; words[0] != NULL && words[i] != NULL; i++) {
    if (strcmp (words[i], "--resume") == 0)
      continue;
    g_autofree char *given = base_names && !is_prompt (words, i) ? base_of_word (words[i]) : g_strdup (words[i]);
    g_autofree char *word = mhar_command_word (given);
    g_string_append_printf (line, " %s", word);
  }
  return g_string_free (line, FALSE);
}

/* ---- folders ---- */

/* The folder of a path and a slash; nothing of a path without one. */
static void
add_folder (GPtrArray *folders, const char *path)
{
  gsize n = path != NULL ? strlen (path) : 0;

  while (n > 1 && path[n - 1] == '/')
    n--;
  while (n > 0 && path[n - 1] != '/')
    n--;
  if (n < 2)
    return;
  g_autofree char *folder = g_strndup (path, n);
  g_ptr_array_add (folders, g_filename_display_name (folder));
}

/* A checkpoint's, and what may be named in it. */
static void
add_checkpoint (GPtrArray *folders, const char *path)
{
  g_autofree char *within = path != NULL ? g_build_filename (path, "x", NULL) : NULL;

  add_folder (folders, path);
  add_folder (folders, within);
}

static gint
longer_first (gconstpointer a, gconstpointer b)
{
  gsize x = strlen (*(char *const *)a), y = strlen (*(char *const *)b);
  return (x < y) - (x > y);
}

static GPtrArray *
list_folders (const MharCliOptions *o, const GPtrArray *sets)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *here = g_get_current_dir ();
  g_autofree char *in_here = g_build_filename (here, "x", NULL),
                  *in_home = g_build_filename (g_get_home_dir (), "x", NULL);
  const char *const files[] = { o->text,   o->tokens, o->config, o->map,  o->output, o->figure,
                                o->report, o->from,   o->verify, in_here, in_home };

  for (guint i = 0; o->checkpoints[i] != NULL; i++)
    add_checkpoint (folders, o->checkpoints[i]);
  for (guint c = 0; sets != NULL && c < sets->len; c++)
    add_checkpoint (folders, mhar_dataset_string (g_ptr_array_index ((GPtrArray *)sets, c), "path"));
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    add_folder (folders, files[i]);
  g_ptr_array_sort (folders, longer_first);
  return folders;
}

/* The end of the path that begins at a slash; `start` itself where it is none, but a slash between words. */
static const char *
end_of_path (const char *text, const char *start)
{
  static const char *const stops = " \t\n\"'`,;:()<>|";
  const char *end = start;

  if (start > text && (g_ascii_isalnum (start[-1]) || strchr ("._-/~", start[-1]) != NULL || (start[-1] & 0x80) != 0))
    return start;
  while (*end != '\0' && strchr (stops, *end) == NULL && !g_str_has_prefix (end, "”") && !g_str_has_prefix (end, "’"))
    end++;
  return end;
}

/* Without the folders, and without those of whatever else is a whole path. */
static char *
reduce (const GPtrArray *folders, const char *text)
{
  g_autoptr (GString) known = g_string_new (text);
  GString *to = g_string_new (NULL);

  for (guint i = 0; i < folders->len; i++)
    g_string_replace (known, g_ptr_array_index ((GPtrArray *)folders, i), "", 0);
  for (const char *at = known->str; *at != '\0';) {
    const char *end = *at == '/' ? end_of_path (known->str, at) : at;
    if (end - at < 2) {
      g_string_append_c (to, *at++);
      continue;
    }
    g_autofree char *path = g_strndup (at, (gsize)(end - at)), *base = mhar_path_base (path);
    g_string_append (to, base);
    at = end;
  }
  return g_string_free (to, FALSE);
}

/* ---- what was made ---- */

/* A command that a file has recorded, perhaps behind the time. */
static char *
reduce_command (const GPtrArray *folders, const char *text)
{
  const char *start = strstr (text, "mhar-probe");
  g_auto (GStrv) words = NULL;

  if (start == NULL || strchr (text, '\n') != NULL || !g_shell_parse_argv (start, NULL, &words, NULL))
    return reduce (folders, text);
  g_autofree char *before = g_strndup (text, (gsize)(start - text)), *line = mhar_command_line (words, TRUE);
  return g_strconcat (before, line, NULL);
}

static void
reduce_attribute (const GPtrArray *folders, const MharAttribute *attribute, MharDataset *set)
{
  static const char *const paths[] = { "path", "a", "b", NULL }, *const commands[] = { "command", "history", NULL };

  if (attribute->type == MHAR_ATTRIBUTE_STRING) {
    g_autofree char *text = g_strv_contains (paths, attribute->name)      ? mhar_path_base (attribute->string)
                            : g_strv_contains (commands, attribute->name) ? reduce_command (folders, attribute->string)
                                                                          : reduce (folders, attribute->string);
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
  for (guint a = 0; a < mhar_dataset_n_attributes (set); a++)
    reduce_attribute (folders, mhar_dataset_attribute (set, a), set);
  for (guint c = 0; c < mhar_dataset_n_children (set); c++)
    reduce_set (folders, mhar_dataset_child (set, c));
}

/* Base names, each once; the same wherever a checkpoint is called by its path. */
static char **
names_of (const char *const *paths, guint n)
{
  g_auto (GStrv) bases = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    bases[i] = mhar_path_base (paths[i] != NULL ? paths[i] : "");
  return mhar_path_names ((const char *const *)bases, n);
}

static void
name_checkpoints (MharDataset *root, const GPtrArray *sets, char **names)
{
  MharDataset *compare = mhar_dataset_find_child (root, "compare"), *series = mhar_dataset_find_child (root, "series");
  MharField *paths = series != NULL ? mhar_dataset_get (series, "path") : NULL;

  for (guint c = 0; c < sets->len; c++)
    mhar_dataset_set_string (g_ptr_array_index ((GPtrArray *)sets, c), "path", names[c]);
  if (compare != NULL && sets->len == 2) {
    mhar_dataset_set_string (compare, "a", names[0]);
    mhar_dataset_set_string (compare, "b", names[1]);
  }
  for (gsize i = 0; paths != NULL && paths->type == MHAR_FIELD_STRING && i < mhar_field_length (paths); i++) {
    char *name
        = i < sets->len ? g_strdup (names[i]) : mhar_path_base (paths->data.str[i] != NULL ? paths->data.str[i] : "");
    g_free (paths->data.str[i]);
    paths->data.str[i] = name;
  }
}

void
mhar_base_names_only (const MharCliOptions *options, MharDataset *root)
{
  if (!options->base_names)
    return;
  g_autoptr (GPtrArray) sets = mhar_results_checkpoints (root), paths = g_ptr_array_new ();
  g_autoptr (GPtrArray) folders = list_folders (options, sets);
  for (guint c = 0; c < sets->len; c++)
    g_ptr_array_add (paths, (gpointer)mhar_dataset_string (g_ptr_array_index (sets, c), "path"));
  g_auto (GStrv) names = names_of ((const char *const *)paths->pdata, paths->len);
  reduce_set (folders, root);
  name_checkpoints (root, sets, names);
}

char **
mhar_base_names_shown (const MharCliOptions *o)
{
  return o->base_names ? names_of ((const char *const *)o->checkpoints, g_strv_length (o->checkpoints))
                       : g_strdupv (o->checkpoints);
}

char *
mhar_base_names_in (const MharCliOptions *o, const char *text)
{
  if (!o->base_names)
    return g_strdup (text);
  g_autoptr (GPtrArray) folders = list_folders (o, NULL);
  return reduce (folders, text);
}
