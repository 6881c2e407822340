/* SPDX-License-Identifier: MIT */
#include "core/output-target.h"

#include "core/error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
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

int
mhar_output_temporary (const char *path, const char *target, guint mode, char **temporary, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (target), *name = g_path_get_basename (target);
  /* Cut, because a name may already be as long as a file system allows. */
  g_autofree char *hidden = g_strdup_printf (".%.200s.XXXXXX", name);
  g_autofree char *made = g_build_filename (folder, hidden, NULL);
  int fd = g_mkstemp_full (made, O_RDWR | O_CLOEXEC, 0666);

  if (fd >= 0) {
    if (mode != 0)
      (void)!fchmod (fd, mode); /* some file systems have no permissions: no reason to fail */
    *temporary = g_steal_pointer (&made);
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

gboolean
mhar_output_check (const char *path, GError **error)
{
  guint mode;
  g_autofree char *target = mhar_output_target (path, &mode, error), *temporary = NULL;
  int fd = target != NULL ? mhar_output_temporary (path, target, mode, &temporary, error) : -1;

  if (fd < 0)
    return FALSE;
  close (fd);
  g_unlink (temporary);
  return TRUE;
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

/* GLib names the file that is written beside, which is nobody's business: only the reason behind it is kept. */
static gboolean
fail (const char *path, const GError *local, GError **error)
{
  const char *last = g_strrstr (local->message, ": ");
  gboolean of_file = local->domain == G_FILE_ERROR;
  int code = !of_file                                    ? 0
             : local->code == (int) G_FILE_ERROR_NOSPC ? ENOSPC
             : local->code == (int) G_FILE_ERROR_ROFS  ? EROFS
             : local->code == (int) G_FILE_ERROR_ACCES ? EACCES
                                                         : 0;
  g_autofree char *why = g_strconcat (last != NULL ? last + 2 : local->message, mhar_write_remedy (code), NULL);

  return mhar_cannot_write (path, error, why);
}

gboolean
mhar_output_write (const char *path, const void *data, gsize length, GError **error)
{
  g_autoptr (GError) local = NULL;
  guint mode;
  g_autofree char *target = mhar_output_target (path, &mode, error);

  if (target == NULL)
    return FALSE;
  if (!g_file_set_contents_full (target, data, (gssize) length, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                 mode != 0 ? (int) mode : 0666, &local))
    return fail (path, local, error);
  if (mode != 0) /* which the umask may have cut */
    (void) !g_chmod (target, (int) mode);
  return TRUE;
}
