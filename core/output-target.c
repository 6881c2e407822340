/* SPDX-License-Identifier: MIT */
#include "core/output-target.h"

#include "core/error.h"
#include "core/file-guard.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

gboolean
mhar_cannot_write (const char *path, GError **error, const char *why)
{
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "cannot write %s: %s", shown, why);
  return FALSE;
}

/* Why what is at `path` cannot be replaced; NULL: it can. */
static const char *
objection (const char *path, const struct stat *status)
{
  if (S_ISDIR (status->st_mode))
    return "it is a folder; name a file in it";
  if (!S_ISREG (status->st_mode))
    return "it is not a regular file (a device, pipe or socket); name another";
  if (g_access (path, W_OK) != 0)
    return "it is there and read-only; name another file or allow writing";
  return NULL;
}

char *
mhar_output_target (const char *path, guint *mode, GError **error)
{
  struct stat status;

  *mode = 0;
  if (*path == '\0' || g_str_has_suffix (path, "/")) {
    mhar_cannot_write (path, error, "that is not the name of a file; add one");
    return NULL;
  }
  if (g_lstat (path, &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return g_strdup (path);
    mhar_cannot_write (path, error, g_strerror (errno));
    return NULL;
  }
  const char *nowhere = "it is a symbolic link that leads nowhere; remove it";
  const char *why = g_stat (path, &status) != 0 ? nowhere : objection (path, &status);
  char *real = why == NULL ? realpath (path, NULL) : NULL;
  if (real == NULL) {
    mhar_cannot_write (path, error, why != NULL ? why : nowhere);
    return NULL;
  }
  char *target = g_strdup (real);
  free (real);
  *mode = status.st_mode & 0777;
  return target;
}

/* ---- files that are not finished: .NAME.mhar-XXXXXX, locked by whoever writes them ---- */

#define MARK ".mhar-"
#define RANDOM "XXXXXX"
#define TRIES 100 /* against processes that take a new file for a dead one's before it is locked */

gboolean
mhar_output_is_unfinished (const char *name)
{
  gsize length = strlen (name), tail = strlen (MARK RANDOM);

  if (name[0] != '.' || length <= tail || strncmp (name + length - tail, MARK, strlen (MARK)) != 0)
    return FALSE;
  for (const char *c = name + length - strlen (RANDOM); *c != '\0'; c++)
    if (!g_ascii_isalnum (*c))
      return FALSE;
  return TRUE;
}

/* Removes the file if it is the user's own and nobody holds its lock. Where locks cannot be had, nothing is removed. */
static void
remove_if_dead (const char *path)
{
  struct stat status;

  if (g_lstat (path, &status) != 0 || !S_ISREG (status.st_mode) || status.st_uid != geteuid ())
    return;
  int fd = g_open (path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0)
    return;
  if (flock (fd, LOCK_EX | LOCK_NB) == 0)
    g_unlink (path);
  close (fd);
}

/* What processes that were killed left of the file whose unfinished names begin with `start`. */
static void
remove_leftovers (const char *folder, const char *start)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (strlen (name) == strlen (start) + strlen (RANDOM) && g_str_has_prefix (name, start)
        && mhar_output_is_unfinished (name))
      remove_if_dead (path);
  }
}

/* A new file, locked; -1 and errno. */
static int
make_locked (const char *folder, const char *start, char **made)
{
  for (guint i = 0; i < TRIES; i++) {
    g_autofree char *name = g_strconcat (start, RANDOM, NULL), *path = g_build_filename (folder, name, NULL);
    struct stat status;
    int fd = g_mkstemp_full (path, O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0)
      return -1;
    /* A file system without locks is no reason to fail: there nobody removes what is left. */
    gboolean taken = flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && g_lstat (path, &status) == 0) {
      *made = g_steal_pointer (&path);
      return fd;
    }
    close (fd);
  }
  errno = EAGAIN;
  return -1;
}

int
mhar_output_temporary (const char *path, const char *target, guint mode, char **temporary, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (target), *name = g_path_get_basename (target);
  /* Cut, because a name may already be as long as a file system allows. */
  g_autofree char *start = g_strdup_printf (".%.200s" MARK, name);

  remove_leftovers (folder, start);
  int fd = make_locked (folder, start, temporary);
  if (fd >= 0) {
    mhar_guard_temp (*temporary);
    if (mode != 0)
      (void)!fchmod (fd, mode); /* some file systems have no permissions: no reason to fail */
    return fd;
  }
  int code = errno;
  g_autofree char *shown = g_filename_display_name (folder);
  g_autofree char *why
      = g_file_test (folder, G_FILE_TEST_IS_DIR)
            ? g_strdup_printf ("no file can be made in folder %s (%s); choose another folder", shown, g_strerror (code))
            : g_strdup_printf ("there is no folder %s; make it first", shown);
  mhar_cannot_write (path, error, why);
  return -1;
}

const char *
mhar_write_remedy (int code)
{
  switch (code) {
  case ENOSPC:
  case EDQUOT:
    return "; free some space or choose another folder";
  case EFBIG:
    return "; raise the file size limit (ulimit -f)";
  case EROFS:
  case EACCES:
    return "; choose another folder";
  default:
    return "";
  }
}

gboolean
mhar_output_fill (int fd, const void *data, gsize length)
{
  for (gsize done = 0; done < length;) {
    gssize n = write (fd, (const char *)data + done, MIN (length - done, 1u << 30));
    if (n < 0 && errno != EINTR)
      return FALSE;
    done += (gsize)MAX (n, 0);
  }
  return fsync (fd) == 0;
}

gboolean
mhar_output_sync_folder (const char *target)
{
  g_autofree char *folder = g_path_get_dirname (target);
  int fd = g_open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0)
    return TRUE;
  gboolean good = fsync (fd) == 0 || errno == EINVAL || errno == ENOTSUP;
  int code = errno;
  close (fd);
  errno = code;
  return good;
}

gboolean
mhar_output_write (const char *path, const void *data, gsize length, GError **error)
{
  guint mode;
  g_autofree char *target = mhar_output_target (path, &mode, error), *temporary = NULL;
  int fd = target != NULL ? mhar_output_temporary (path, target, mode, &temporary, error) : -1;

  if (fd < 0)
    return FALSE;
  gboolean good = mhar_output_fill (fd, data, length) && g_rename (temporary, target) == 0;
  int code = errno;
  if (!good)
    g_unlink (temporary);
  mhar_guard_forget (temporary);
  close (fd);
  if (good && !mhar_output_sync_folder (target)) {
    code = errno;
    good = FALSE;
  }
  g_autofree char *why = good ? NULL : g_strconcat (g_strerror (code), mhar_write_remedy (code), NULL);
  return good || mhar_cannot_write (path, error, why);
}

gboolean
mhar_output_check (const char *path, GError **error)
{
  guint mode;
  g_autofree char *target = mhar_output_target (path, &mode, error), *temporary = NULL;
  int fd = target != NULL ? mhar_output_temporary (path, target, mode, &temporary, error) : -1;

  if (fd < 0)
    return FALSE;
  g_unlink (temporary);
  mhar_guard_forget (temporary);
  close (fd);
  return TRUE;
}
