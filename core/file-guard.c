/* SPDX-License-Identifier: MIT */
#include "core/file-guard.h"

#include "core/error.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPS 64
#define EXIT_RUN 1
#define EXIT_INPUT 3
#define WHY ": was shortened, or its disk failed, while it was open; fetch it again and run anew"

/* One mapped file; newer ones first, since the place of one that was unmapped may be taken by another. */
typedef struct Mapped Mapped;
struct Mapped {
  Mapped *next;
  char *path;
  guintptr start, end;
  dev_t device;
  ino_t inode;
};

static Mapped *newest;    /* atomic */
static char *temp[TEMPS]; /* atomic */
static const char *program_name;
static gint done; /* atomic */

void
mhar_guard_map (const char *path, const void *start, gsize bytes)
{
  struct stat status = { 0 };
  Mapped *mapped = g_new0 (Mapped, 1);
  mapped->path = g_strdup (path);
  mapped->start = (guintptr)start;
  mapped->end = mapped->start + bytes;
  if (stat (path, &status) == 0) {
    mapped->device = status.st_dev;
    mapped->inode = status.st_ino;
  }
  do
    mapped->next = g_atomic_pointer_get (&newest);
  while (!g_atomic_pointer_compare_and_exchange (&newest, mapped->next, mapped));
}

void
mhar_guard_temp (const char *path)
{
  char *copy = g_strdup (path);
  for (guint i = 0; i < TEMPS; i++)
    if (g_atomic_pointer_compare_and_exchange (&temp[i], NULL, copy))
      return;
  g_free (copy);
}

void
mhar_guard_forget (const char *path)
{
  for (guint i = 0; i < TEMPS; i++) {
    char *noted = g_atomic_pointer_get (&temp[i]);
    if (noted == NULL || strcmp (noted, path) != 0 || !g_atomic_pointer_compare_and_exchange (&temp[i], noted, NULL))
      continue;
    g_free (noted);
    return;
  }
}

gboolean
mhar_guard_check (GError **error)
{
  for (const Mapped *m = g_atomic_pointer_get (&newest); m != NULL; m = m->next) {
    struct stat status;
    if (stat (m->path, &status) != 0 || status.st_dev != m->device || status.st_ino != m->inode
        || (guint64)status.st_size >= m->end - m->start)
      continue;
    g_autofree char *shown = g_filename_display_name (m->path);
    return mhar_bad_input (error, "%s%s", shown, WHY);
  }
  return TRUE;
}

/* ---- in the handler: calls that POSIX lets one make there, and no others ---- */

static void
say (const char *text)
{
  gsize length = strlen (text);
  (void)!write (STDERR_FILENO, text, length);
}

/* A path may hold what a terminal obeys. */
static void
say_path (const char *path)
{
  char plain[512];
  gsize n = 0;
  for (; n < sizeof plain - 1 && path[n] != '\0'; n++)
    plain[n] = (guint8)path[n] < 0x20 || path[n] == 0x7f ? '?' : path[n];
  plain[n] = '\0';
  say (plain);
}

static void
remove_temps (void)
{
  for (guint i = 0; i < TEMPS; i++) {
    const char *unfinished = g_atomic_pointer_get (&temp[i]);
    if (unfinished != NULL)
      unlink (unfinished);
  }
  for (guint i = 0; i < TEMPS; i++) { /* folders, which have to be empty */
    const char *unfinished = g_atomic_pointer_get (&temp[i]);
    if (unfinished != NULL)
      rmdir (unfinished);
  }
}

/* GLib's end of the program, after its message. */
static void
on_abort (int number)
{
  remove_temps ();
  signal (number, SIG_DFL);
  raise (number);
}

static void
on_bus_error (int number, siginfo_t *info, void *context)
{
  (void)context;
  guintptr at = (guintptr)info->si_addr;
  const Mapped *m = g_atomic_pointer_get (&newest);
  while (m != NULL && (at < m->start || at >= m->end))
    m = m->next;
  if (m == NULL) { /* the instruction fails again, without us */
    signal (number, SIG_DFL);
    return;
  }
  remove_temps ();
  say (program_name);
  say (": ");
  say_path (m->path);
  say (WHY "\n");
  _exit (EXIT_INPUT);
}

void
mhar_guard_leave (int status, const char *why)
{
  if (g_atomic_int_get (&done))
    return;
  remove_temps ();
  say (program_name);
  say (": ");
  say (why);
  say ("\n");
  _exit (status);
}

/* HDF5 calls exit where it cannot get memory. */
static void
on_exit_early (void)
{
  mhar_guard_leave (EXIT_RUN,
                    "a library ended the program, most likely for want of memory; end other programs and run anew");
}

void
mhar_guard_install (const char *program)
{
  struct sigaction bus = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
  struct sigaction abortion = { .sa_handler = on_abort };
  program_name = program;
  sigemptyset (&bus.sa_mask);
  sigemptyset (&abortion.sa_mask);
  sigaction (SIGBUS, &bus, NULL);
  sigaction (SIGABRT, &abortion, NULL);
  sigaction (SIGTRAP, &abortion, NULL);
  atexit (on_exit_early);
}

void
mhar_guard_done (void)
{
  g_atomic_int_set (&done, TRUE);
}
