/* SPDX-License-Identifier: MIT */
/* Every file that a line reads or writes goes into one list, each known by device and inode or, where it is not there
 * yet, by the real path of its folder; then no two may meet of which one is written. */
#include "app/cli/file-clash.h"

#include "app/cli/report.h"
#include "app/cli/series-names.h"
#include "core/error.h"
#include "core/paths.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  const char *what; /* "-o", "--text", "the checkpoint's" */
  char *path;       /* as it is named */
  gboolean written;
  char *identity; /* the same for the same file */
} Entry;

static void
entry_clear (gpointer data)
{
  Entry *entry = data;

  g_free (entry->path);
  g_free (entry->identity);
}

/* Where a file that is not there would be: the real path of the nearest folder that is there, and what follows it. */
static char *
place_of (const char *path)
{
  g_autofree char *whole = g_canonicalize_filename (path, NULL), *start = g_strdup (path);

  while (g_access (start, F_OK) != 0 && strcmp (start, ".") != 0 && strcmp (start, "/") != 0) {
    char *above = g_path_get_dirname (start);
    g_free (start);
    start = above;
  }
  char *real = realpath (start, NULL);
  g_autofree char *canonical = g_canonicalize_filename (start, NULL);
  const char *rest = g_str_has_prefix (whole, canonical) ? whole + strlen (canonical) : whole;
  char *place = real != NULL ? g_build_filename (real, rest, NULL) : g_strdup (whole);
  free (real);
  return place;
}

static char *
identity_of_inode (const struct stat *status)
{
  return g_strdup_printf ("%ju:%ju", (uintmax_t)status->st_dev, (uintmax_t)status->st_ino);
}

/* Devices, pipes and sockets can be read and written by many, and are refused for other reasons: NULL. */
static char *
identity_of (const char *path)
{
  struct stat status;

  if (g_stat (path, &status) != 0)
    return place_of (path);
  return S_ISREG (status.st_mode) || S_ISDIR (status.st_mode) ? identity_of_inode (&status) : NULL;
}

static void
add (GArray *entries, const char *what, const char *path, gboolean written)
{
  char *identity = path != NULL ? identity_of (path) : NULL;

  if (identity == NULL)
    return;
  Entry entry = { what, g_strdup (path), written, identity };
  g_array_append_val (entries, entry);
}

static void
add_stream (GArray *entries, const char *what, int fd, gboolean written)
{
  struct stat status;

  if (fstat (fd, &status) != 0 || !S_ISREG (status.st_mode))
    return;
  Entry entry = { what, g_strdup ("a file"), written, identity_of_inode (&status) };
  g_array_append_val (entries, entry);
}

/* ---- what is read ---- */

/* The files that a checkpoint is made of: of a folder those called like one, and what lies beside an archive. */
static void
add_checkpoint (GArray *entries, const char *path)
{
  static const char *const endings[] = { ".json", ".safetensors", ".bin", ".pt", ".pth" };
  gboolean folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  g_autoptr (GDir) dir = folder ? g_dir_open (path, 0, NULL) : NULL;

  add (entries, "the checkpoint", path, FALSE);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *part = g_build_filename (path, name, NULL);
    for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
      if (g_str_has_suffix (name, endings[i]))
        add (entries, "the checkpoint's", part, FALSE);
  }
  if (folder)
    return;
  g_autofree char *beside = g_path_get_dirname (path);
  g_autofree char *config = g_build_filename (beside, "config.json", NULL),
                  *tokenizer = g_build_filename (beside, "tokenizer.json", NULL);
  add (entries, "the checkpoint's", config, FALSE);
  add (entries, "the checkpoint's", tokenizer, FALSE);
}

static void
add_checkpoints (GArray *entries, const MharCliOptions *o)
{
  /* What is no series is told of later. */
  g_autoptr (GPtrArray) names = o->series ? mhar_series_names (o->checkpoints, NULL) : NULL;

  if (names == NULL)
    names = mhar_series_names_of (o->checkpoints);
  for (guint i = 0; i < names->len; i++) {
    const char *path = ((const MharSeriesName *)g_ptr_array_index (names, i))->path;
    if (o->merge)
      add (entries, "--merge", path, FALSE);
    else
      add_checkpoint (entries, path);
  }
}

static void
add_inputs (GArray *entries, const MharCliOptions *o)
{
  gboolean standard_input = g_strcmp0 (o->text, "-") == 0;
  g_autofree char *bundled
      = o->text == NULL && o->prompt == NULL && o->tokens == NULL ? mhar_path_data ("demo/text.txt") : NULL;

  if (standard_input)
    add_stream (entries, "standard input,", STDIN_FILENO, FALSE);
  else
    add (entries, "--text", o->text, FALSE);
  add (entries, "the bundled text", bundled, FALSE);
  add (entries, "--tokens", o->tokens, FALSE);
  add (entries, "--config", o->config, FALSE);
  add (entries, "--map", o->map, FALSE);
  add (entries, "--verify", o->verify, FALSE);
  add (entries, "--from", o->from, FALSE);
  add_checkpoints (entries, o);
}

/* ---- what is written ---- */

static void
add_outputs (GArray *entries, const MharCliOptions *o, guint pages)
{
  if (o->report == NULL)
    add (entries, "-o", o->output, TRUE);
  add (entries, "--save-reference", o->save_reference, TRUE);
  for (guint i = 0; o->figure != NULL && i < pages; i++) {
    g_autofree char *name = mhar_figure_file_name (o->figure, i, pages);
    if (i == 0 || strcmp (name, o->figure) != 0) /* all pages of a PDF are in one */
      add (entries, "--figure", name, TRUE);
  }
  for (guint i = 0; o->report != NULL; i++) {
    g_autofree char *name = mhar_report_file (o->report, i);
    if (name == NULL)
      break;
    if (o->from == NULL || !g_str_has_suffix (name, ".h5"))
      add (entries, "--report's", name, TRUE);
  }
}

/* ---- whether they meet ---- */

static gboolean
check_pair (const Entry *a, const Entry *b, GError **error)
{
  const Entry *to = a->written ? a : b, *other = a->written ? b : a;
  g_autofree char *name = g_filename_display_name (to->path), *its = g_filename_display_name (other->path);

  if (!to->written || strcmp (a->identity, b->identity) != 0)
    return TRUE;
  if (!other->written)
    return mhar_bad_usage (error, "%s %s is %s %s, which is read and would be overwritten; give another name", to->what,
                           name, other->what, its);
  return mhar_bad_usage (error, "%s %s and %s %s name the same file; give each its own", to->what, name, other->what,
                         its);
}

/* Nothing else is in the folder of a run that is not finished, which goes away with it. */
static gboolean
check_part (const MharCliOptions *o, const GArray *entries, GError **error)
{
  g_autofree char *part = g_strconcat (o->output != NULL ? o->output : "", ".part", NULL), *folder = identity_of (part);

  if (o->checkpoint_every == 0 || o->output == NULL || folder == NULL)
    return TRUE;
  for (guint i = 0; i < entries->len; i++) {
    const Entry *entry = &g_array_index (entries, Entry, i);
    g_autofree char *above = g_path_get_dirname (entry->path), *its = identity_of (above);
    if (strcmp (folder, entry->identity) != 0 && g_strcmp0 (folder, its) != 0)
      continue;
    g_autofree char *name = g_filename_display_name (entry->path), *shown = g_filename_display_name (part);
    return mhar_bad_usage (error, "%s %s lies in %s, where --checkpoint-every saves what is not finished; %s",
                           entry->what, name, shown,
                           entry->written ? "give another name" : "name another file with -o");
  }
  return TRUE;
}

gboolean
mhar_check_clashes (const MharCliOptions *o, guint pages, GError **error)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));

  g_array_set_clear_func (entries, entry_clear);
  add_outputs (entries, o, pages);
  guint files = entries->len;
  add_stream (entries, "standard output,", STDOUT_FILENO, TRUE); /* whatever of an input it leads to is lost already */
  add_inputs (entries, o);
  for (guint i = 0; i < files; i++)
    for (guint k = i + 1; k < entries->len; k++)
      if (!check_pair (&g_array_index (entries, Entry, i), &g_array_index (entries, Entry, k), error))
        return FALSE;
  return check_part (o, entries, error);
}
