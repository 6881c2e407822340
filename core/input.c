/* SPDX-License-Identifier: MIT */
#include "core/input.h"

#include "core/error.h"
#include "core/file-guard.h"
#include "core/json-limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUOTE_MAX 100
#define LFS_POINTER "version https://git-lfs.github.com/spec/"

/* A descriptor of the regular file at `path`, or -1. O_NONBLOCK: opening a FIFO would wait for its writer. */
static int
open_regular (const char *path, const char *shown, guint64 *size, GError **error)
{
  int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    mhar_bad_input (error, "%s: there is no such file; check the path, or fetch the file again", shown);
    return -1;
  }
  if (fd < 0 && errno != ENXIO) { /* ENXIO: a socket */
    mhar_bad_input (error, "%s: cannot be opened: %s", shown, g_strerror (errno));
    return -1;
  }
  struct stat st;
  if (fd < 0 || fstat (fd, &st) != 0 || !S_ISREG (st.st_mode)) {
    mhar_bad_input (error, "%s: is not a regular file; give a file on disk", shown);
    if (fd >= 0)
      close (fd);
    return -1;
  }
  *size = (guint64)st.st_size;
  return fd;
}

GMappedFile *
mhar_input_map (const char *path, guint64 limit, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  guint64 size = 0;
  int fd = open_regular (path, shown, &size, error);
  if (fd < 0)
    return NULL;
  if (limit > 0 && size > limit) {
    close (fd);
    mhar_bad_input (error,
                    "%s: has %" G_GUINT64_FORMAT " bytes, more than the %" G_GUINT64_FORMAT
                    " such a file may have; it is not what its name says",
                    shown, size, limit);
    return NULL;
  }
  g_autoptr (GError) failure = NULL;
  g_autoptr (GMappedFile) map = g_mapped_file_new_from_fd (fd, FALSE, &failure);
  close (fd);
  if (map == NULL) {
    mhar_bad_input (error, "%s: cannot be mapped: %s", shown, failure->message);
    return NULL;
  }
  gsize length = g_mapped_file_get_length (map);
  if (length == 0) {
    mhar_bad_input (error, "%s: is empty (0 bytes); write it, or fetch it, again", shown);
    return NULL;
  }
  mhar_guard_map (path, g_mapped_file_get_contents (map), length);
  if (length >= strlen (LFS_POINTER)
      && memcmp (g_mapped_file_get_contents (map), LFS_POINTER, strlen (LFS_POINTER)) == 0) {
    mhar_bad_input (error, "%s: is a git-lfs pointer, not the file itself; run 'git lfs pull' in its folder", shown);
    return NULL;
  }
  return g_steal_pointer (&map);
}

/* Whether an allocation of the JSON reader failed in this thread: it calls that bad JSON. */
static _Thread_local gboolean starved;

static void *
json_alloc (size_t size)
{
  void *memory = malloc (size);
  starved = starved || memory == NULL;
  return memory;
}

static gpointer
set_json_alloc (gpointer data G_GNUC_UNUSED)
{
  json_set_alloc_funcs (json_alloc, free);
  return NULL;
}

json_t *
mhar_input_json (const char *text, gsize length, const char *path, const char *part, GError **error)
{
  json_error_t failure;
  g_autofree char *shown = g_filename_display_name (path);
  const char *excess = mhar_json_excess (text, length);
  if (excess != NULL) {
    mhar_bad_input (error, "%s: %s has %s; it is not what its name says, fetch the file again", shown, part, excess);
    return NULL;
  }
  static GOnce once = G_ONCE_INIT;
  g_once (&once, set_json_alloc, NULL);
  starved = FALSE;
  json_auto_t *root = json_loadb (text, length, JSON_REJECT_DUPLICATES, &failure);
  if (root == NULL && starved) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "%s: there is no memory to read it; end other programs first",
                 shown);
    return NULL;
  }
  if (root == NULL) {
    g_autofree char *reason = mhar_input_quote (failure.text);
    mhar_bad_input (error, "%s: %s is not valid JSON at line %d: %s; mend it or fetch the file again", shown, part,
                    failure.line, reason);
    return NULL;
  }
  if (!json_is_object (root)) {
    mhar_bad_input (error, "%s: %s is JSON but not an object; fetch the file again", shown, part);
    return NULL;
  }
  return g_steal_pointer (&root);
}

char *
mhar_input_quote (const char *text)
{
  /* Room for QUOTE_MAX characters of four bytes and one more, so that a cut never shows inside what is printed. */
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)strnlen (text, 4 * (QUOTE_MAX + 1)));
  GString *line = g_string_new (NULL);
  guint n = 0;
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);
    if (n++ == QUOTE_MAX) {
      g_string_append (line, "…");
      break;
    }
    g_string_append_unichar (line, g_unichar_isprint (c) ? c : '?');
  }
  return g_string_free (line, FALSE);
}
