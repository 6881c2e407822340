/* SPDX-License-Identifier: MIT */
/* What a confined process can and cannot do, in a child of its own. */
#include "app/reader/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_CONFINED 77

static gboolean
refused (long result)
{
  return result == -1 && errno == EPERM;
}

static gboolean
map_refused (int protection)
{
  errno = 0;
  return mmap (NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EPERM;
}

/* The number of the first thing that is not as it should be; 0: none. */
static int
try_everything (int ours)
{
  char *const words[] = { (char *)"true", NULL };
  char byte = 0;
  void *heap = malloc (1 << 22);
  gboolean good[] = {
    heap != NULL && memset (heap, 1, 1 << 22) != NULL,
    write (ours, "x", 1) == 1,
    pread (ours, &byte, 1, 0) == 1 && byte == 'x',
    map_refused (PROT_READ | PROT_EXEC),
    !map_refused (PROT_READ | PROT_WRITE),
    refused (open ("/etc/passwd", O_RDONLY)),
    refused (open ("mhar-confined", O_WRONLY | O_CREAT, 0600)),
    refused (unlink ("mhar-confined")),
    refused (socket (AF_UNIX, SOCK_STREAM, 0)),
    refused (fork ()),
    refused (execv ("/bin/true", words)),
    refused (kill (getppid (), 0)),
    refused (ftruncate (ours, 0)),
  };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    if (!good[i])
      return (int)i + 1;
  return 0;
}

static int
in_child (int (*what) (int), int ours)
{
  int status;
  pid_t child = fork ();

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    _exit (mhar_confine () ? what (ours) : NOT_CONFINED);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
}

static int
give_up (int ours G_GNUC_UNUSED)
{
  signal (SIGABRT, SIG_DFL);
  abort ();
}

static void
test_confined (void)
{
  g_autofree char *name = NULL;
  int ours = g_file_open_tmp ("mhar-confine-XXXXXX", &name, NULL), got;

  g_assert_cmpint (ours, >=, 0);
  unlink (name);
  got = in_child (try_everything, ours);
  if (got == NOT_CONFINED)
    g_test_skip ("this build, or this kernel, does not confine");
  else
    g_assert_cmpint (got, ==, 0);
  close (ours);
}

/* It still ends as its parent knows it from others. */
static void
test_aborts (void)
{
  int got = in_child (give_up, -1);

  if (got == NOT_CONFINED)
    g_test_skip ("this build, or this kernel, does not confine");
  else
    g_assert_cmpint (got, ==, -SIGABRT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/confine/confined", test_confined);
  g_test_add_func ("/confine/aborts", test_aborts);
  return g_test_run ();
}
