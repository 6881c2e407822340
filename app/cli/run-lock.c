/* SPDX-License-Identifier: MIT */
#include "app/cli/run-lock.h"

#include "core/error.h"
#include "core/output-target.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "lock"
#define TRIES 100 /* against a process that removes the folder meanwhile */

/* Not a link, and made by the same user: in a folder that many can write to, its name can be guessed. */
static gboolean
is_own_folder (const char *path)
{
  struct stat status;
  return g_lstat (path, &status) == 0 && S_ISDIR (status.st_mode) && status.st_uid == geteuid ();
}

static gboolean
make_folder (const char *folder, GError **error)
{
  if (g_mkdir (folder, 0777) != 0 && errno != EEXIST)
    return mhar_cannot_write (folder, error, g_strerror (errno));
  return is_own_folder (folder)
         || mhar_cannot_write (folder, error,
                               "it is not a folder of your own; remove it, or name another file with -o");
}

/* A new file, or the one that is there: nobody's link is followed. */
static int
open_lock (const char *path)
{
  int fd = g_open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return fd >= 0 || errno != EEXIST ? fd : g_open (path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
}

static gboolean
is_still_there (int fd, const char *path)
{
  struct stat open_one, named;
  return fstat (fd, &open_one) == 0 && g_stat (path, &named) == 0 && open_one.st_dev == named.st_dev
         && open_one.st_ino == named.st_ino;
}

int
mhar_run_lock_take (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, NAME, NULL), *shown = g_filename_display_name (folder);

  for (guint i = 0; i < TRIES && make_folder (folder, error); i++) {
    int fd = open_lock (path);
    if (fd < 0 && errno == ENOENT)
      continue; /* the folder went away */
    if (fd < 0) {
      mhar_cannot_write (path, error, g_strerror (errno));
      return -1;
    }
    if (flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close (fd);
      mhar_bad_input (
          error, "%s is another process's, which still runs; wait for its end, or name another file with -o", shown);
      return -1;
    }
    if (is_still_there (fd, path))
      return fd;
    close (fd);
  }
  if (error != NULL && *error == NULL)
    mhar_cannot_write (folder, error, "it goes away again and again; look for another process that removes it");
  return -1;
}

void
mhar_run_lock_remove (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, NAME, NULL);
  g_unlink (path);
}
