/* SPDX-License-Identifier: MIT */
/* A results file from its unfinished name to its own. */
#include "core/h5-private.h"

#include "core/file-guard.h"
#include "core/output-target.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char *
mhar_h5_version (void)
{
  /* Of the headers: H5open sees to it that the library is of the same. */
  static const char version[]
      = G_STRINGIFY (H5_VERS_MAJOR) "." G_STRINGIFY (H5_VERS_MINOR) "." G_STRINGIFY (H5_VERS_RELEASE);
  return version;
}

static gboolean
open_temp (MharH5Writer *writer, GError **error)
{
  int fd = mhar_output_temporary (writer->path, writer->target, writer->mode, &writer->temp, error);

  if (fd < 0)
    return FALSE;
  writer->lock = fcntl (fd, F_DUPFD_CLOEXEC, 0); /* the disk closes its own before the file has its name */
  writer->disk = mhar_h5_disk_new (fd, TRUE);
  return TRUE;
}

MharH5Writer *
mhar_h5_writer_new (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  mhar_h5_enter ();
  g_autoptr (MharH5Writer) writer = g_new0 (MharH5Writer, 1);
  writer->path = g_strdup (path);
  writer->shown = g_filename_display_name (path);
  writer->file = H5I_INVALID_HID;
  writer->lock = -1;
  writer->streams = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, mhar_h5_stream_free);
  writer->target = mhar_output_target (path, &writer->mode, error);
  if (writer->target == NULL || !open_temp (writer, error))
    return NULL;
  writer->file = mhar_h5_disk_open_file (writer->disk);
  if (writer->file < 0) {
    mhar_h5_write_failed (writer, error, "the file's head");
    return NULL;
  }
  return g_steal_pointer (&writer);
}

/* The unfinished file is no more: it has its name, where HDF5 will want to lock it, or was removed. */
static void
forget_temp (MharH5Writer *writer)
{
  mhar_guard_forget (writer->temp);
  g_clear_pointer (&writer->temp, g_free);
  if (writer->lock >= 0)
    close (g_steal_fd (&writer->lock));
}

/* Removes what is not to become the file. Returns FALSE. */
static gboolean
discard (MharH5Writer *writer)
{
  g_unlink (writer->temp);
  forget_temp (writer);
  return FALSE;
}

/* Flushes and closes the HDF5 file and the descriptor. */
static gboolean
finish (MharH5Writer *writer, GError **error)
{
  g_hash_table_remove_all (writer->streams); /* the last chunks */
  if (H5Fflush (writer->file, H5F_SCOPE_GLOBAL) < 0)
    return mhar_h5_write_failed (writer, error, "its last part");
  herr_t closed = H5Fclose (writer->file);
  writer->file = H5I_INVALID_HID;
  if (closed < 0 || mhar_h5_disk_errno (writer->disk) != 0 || !mhar_h5_disk_sync (writer->disk))
    return mhar_h5_write_failed (writer, error, "its last part");
  return TRUE;
}

gboolean
mhar_h5_writer_commit (MharH5Writer *writer, GError **error)
{
  mhar_h5_enter ();
  if (writer->temp == NULL)
    return mhar_h5_write_refused (writer, error, "it was committed before");
  if (writer->failed) {
    mhar_h5_write_refused (writer, error, "an earlier part of it failed");
    return discard (writer);
  }
  if (!finish (writer, error))
    return discard (writer);
  if (g_rename (writer->temp, writer->target) != 0) {
    mhar_h5_write_refused (writer, error, "%s", g_strerror (errno));
    return discard (writer);
  }
  forget_temp (writer);
  /* The new file is whole and the old one gone: it stays, though a crash now might still undo the rename. */
  if (!mhar_output_sync_folder (writer->target))
    return mhar_h5_write_refused (writer, error, "its folder cannot be synchronised (%s)", g_strerror (errno));
  return TRUE;
}

void
mhar_h5_writer_free (MharH5Writer *writer)
{
  if (writer == NULL)
    return;
  mhar_h5_enter ();
  if (writer->temp != NULL)
    discard (writer);
  if (writer->disk != NULL)
    mhar_h5_disk_abandon (writer->disk);
  g_hash_table_unref (writer->streams);
  if (writer->file >= 0)
    H5Fclose (writer->file);
  mhar_h5_disk_free (writer->disk);
  g_free (writer->target);
  g_free (writer->shown);
  g_free (writer->path);
  g_free (writer);
}
