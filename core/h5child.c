/* SPDX-License-Identifier: MIT */
/* A results file, read by a process of its own: HDF5 may break down on it, and this program does not. */
#include "core/dataset-stream.h"
#include "core/h5-private.h"
#include "core/input.h"
#include "core/paths.h"

#include "build-config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define READER "mhar-h5-reader"
#define DONE "done"

/* ---- the file's head, before anything is started for it ---- */

/* The first bytes of the file. FALSE where it is shorter (errno 0) or cannot be read. */
static gboolean
read_head (int fd, guint8 *head, gsize size)
{
  gsize done = 0;
  errno = 0;
  while (done < size) {
    ssize_t n = pread (fd, head + done, size - done, (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return FALSE;
    errno = 0;
    if (n == 0)
      return FALSE;
    done += (gsize)n;
  }
  return TRUE;
}

gboolean
mhar_h5_cannot_read (const char *shown, int code, GError **error)
{
  if (code == 0)
    return mhar_bad_input (error, "%s is not an HDF5 file; name a file that mhar-probe wrote with -o", shown);
  return mhar_bad_input (error, "%s cannot be read: %s; look after its disk, then try again", shown, g_strerror (code));
}

/* That the file begins as HDF5 does, and in a format whose heads have checksums (superblock 2 or 3): HDF5 reads beyond
 * the ends of damaged ones of the older. */
static gboolean
check_head (int fd, const char *shown, GError **error)
{
  static const guint8 signature[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
  guint8 head[sizeof signature + 1];
  if (!read_head (fd, head, sizeof head) || memcmp (head, signature, sizeof signature) != 0)
    return mhar_h5_cannot_read (shown, errno, error);
  guint8 version = head[sizeof signature];
  return version == 2 || version == 3
         || mhar_bad_input (error,
                            "%s is an HDF5 file but not one of mhar-probe's, which are of a newer format; name a file "
                            "that mhar-probe wrote with -o",
                            shown);
}

/* A descriptor of a regular file that begins as HDF5 does; -1 otherwise. O_NONBLOCK, because a pipe would wait for a
 * writer. */
static int
open_regular (const char *path, const char *shown, GError **error)
{
  struct stat status;
  int fd = g_open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0) {
    mhar_bad_input (error, "cannot open %s: %s", shown, g_strerror (errno));
    return -1;
  }
  if (fstat (fd, &status) != 0 || !S_ISREG (status.st_mode))
    mhar_bad_input (error, "%s is not a regular file; name a file that mhar-probe wrote with -o", shown);
  else if (status.st_size == 0)
    mhar_bad_input (error, "%s is empty (0 bytes); name a file that mhar-probe wrote with -o", shown);
  else if (check_head (fd, shown, error))
    return fd;
  close (fd);
  return -1;
}

/* ---- what the reader says: its version; a dataset, or no name, the error's code and text; that this is all ---- */

gboolean
mhar_h5_serve (int fd, const char *shown, const char *const *skip, FILE *to)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (MharDataset) root = mhar_h5_read_here (fd, shown, skip, &error);
  gboolean good = mhar_text_send (to, MHAR_VERSION) && mhar_text_send (to, root != NULL ? "" : error->message);
  if (root != NULL)
    good = good && mhar_dataset_send (to, root);
  return good && mhar_text_send (to, DONE) && fflush (to) == 0;
}

static gboolean
is_next (FILE *from, const char *text)
{
  g_autofree char *found = mhar_text_receive (from);
  return g_strcmp0 (found, text) == 0;
}

static gboolean
disagrees (const char *shown, const char *name, const char *dim, GError **error)
{
  g_autofree char *quoted = mhar_input_quote (name), *quoted_dim = mhar_input_quote (dim);
  return mhar_bad_input (error, "%s: variable %s disagrees with others on the length of %s; make the file anew", shown,
                         quoted, quoted_dim);
}

/* Fields of one dataset agree on the lengths of the dimensions they share; in its children too. */
static gboolean
check_dims (const char *shown, const MharDataset *set, GError **error)
{
  g_autoptr (GHashTable) lengths = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < mhar_dataset_n_fields (set); i++) {
    const MharField *field = mhar_dataset_field (set, i);
    for (guint j = 0; j < field->n_dims; j++) {
      gpointer known, length = GSIZE_TO_POINTER (field->shape[j]);
      if (!g_hash_table_lookup_extended (lengths, field->dims[j], NULL, &known))
        g_hash_table_insert (lengths, field->dims[j], length);
      else if (known != length)
        return disagrees (shown, field->name, field->dims[j], error);
    }
  }
  for (guint i = 0; i < mhar_dataset_n_children (set); i++)
    if (!check_dims (shown, mhar_dataset_child (set, i), error))
      return FALSE;
  return TRUE;
}

MharDataset *
mhar_h5_accept (FILE *from, const char *shown, GError **error)
{
  g_autofree char *failure = is_next (from, MHAR_VERSION) ? mhar_text_receive (from) : NULL;
  if (failure == NULL)
    return NULL;
  if (*failure != '\0') {
    if (is_next (from, DONE))
      mhar_bad_input (error, "%s", failure);
    return NULL;
  }
  /* Halves have become floats. */
  g_autoptr (MharDataset) root = mhar_dataset_receive (from, 2 * MHAR_H5_MAX_BYTES);
  if (root == NULL || !is_next (from, DONE) || !check_dims (shown, root, error))
    return NULL;
  return g_steal_pointer (&root);
}

/* ---- the reader ---- */

/* Starts the reader with the file as its standard input; `*out` is where it writes. FALSE where it cannot be. */
static gboolean
start (int fd, const char *shown, const char *const *skip, GPid *pid, int *out, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autofree char *program = mhar_path_program (READER);
  if (program == NULL) {
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN,
                 "%s cannot be read: the program " READER " is not installed; install mhar-probe whole", shown);
    return FALSE;
  }
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  g_ptr_array_add (words, program);
  g_ptr_array_add (words, (gpointer)shown);
  for (guint i = 0; skip != NULL && skip[i] != NULL; i++)
    g_ptr_array_add (words, (gpointer)skip[i]);
  g_ptr_array_add (words, NULL);
  /* All our descriptors close themselves when a program is started. */
  GSpawnFlags flags
      = G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_LEAVE_DESCRIPTORS_OPEN | G_SPAWN_STDERR_TO_DEV_NULL | G_SPAWN_CLOEXEC_PIPES;
  if (g_spawn_async_with_pipes_and_fds (NULL, (const char *const *)words->pdata, NULL, flags, NULL, NULL, fd, -1, -1,
                                        NULL, NULL, 0, pid, NULL, out, NULL, &failure))
    return TRUE;
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "%s cannot be read: %s cannot be started (%s)", shown, program,
               failure->message);
  return FALSE;
}

/* Why the reader said nothing that makes sense. */
static void
explain (int status, const char *shown, GError **error)
{
  int number = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  if (number == SIGINT || number == SIGTERM || number == SIGHUP)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "reading %s was interrupted", shown);
  else if (number == SIGKILL || number == SIGTRAP
           || (WIFEXITED (status) && WEXITSTATUS (status) == MHAR_H5_READER_NO_MEMORY))
    g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN,
                 "%s cannot be read, most likely for want of memory; end other programs and run anew", shown);
  else
    mhar_bad_input (error, "%s: HDF5 breaks down on it (%s): it is damaged or forged; make it anew", shown,
                    number != 0 ? g_strsignal (number) : "no sound answer");
}

MharDataset *
mhar_h5_read (const char *path, const char *const *skip, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (GError) told = NULL;
  GPid pid;
  int out, status = 0, fd = open_regular (path, shown, error);
  if (fd < 0)
    return NULL;
  gboolean started = start (fd, shown, skip, &pid, &out, error);
  close (fd);
  if (!started)
    return NULL;
  FILE *from = fdopen (out, "rb");
  MharDataset *root = from != NULL ? mhar_h5_accept (from, shown, &told) : NULL;
  if (from != NULL)
    fclose (from);
  else
    close (out);
  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (root == NULL && told == NULL)
    explain (status, shown, error);
  else if (told != NULL)
    g_propagate_error (error, g_steal_pointer (&told));
  return root;
}
