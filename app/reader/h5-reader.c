/* SPDX-License-Identifier: MIT */
/* mhar-h5-reader: reads the results file that is its standard input and writes it to its standard output as
 * core/h5child.c takes it: mhar-h5-reader NAME [GROUP …], the name for messages, the groups to be left out. Started by
 * mhar_h5_read, so that a file on which HDF5 breaks down ends this and nothing else. */
#include "app/reader/confine.h"
#include "core/h5file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_SECONDS 600 /* of processor time: HDF5 can be led in circles */

static gboolean done;

/* HDF5 calls exit where it cannot get memory. */
static void
on_exit_early (void)
{
  if (!done)
    _exit (MHAR_H5_READER_NO_MEMORY);
}

/* No core file of a stranger's making, an end to circles, and no life after the program that asks; it blocks signals
 * that are for this one too. */
static void
restrain (void)
{
  const struct rlimit none = { 0, 0 }, time = { MOST_SECONDS, MOST_SECONDS };
  sigset_t all;
  setrlimit (RLIMIT_CORE, &none);
  setrlimit (RLIMIT_CPU, &time);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  sigfillset (&all);
  sigprocmask (SIG_UNBLOCK, &all, NULL);
}

int
main (int argc, char **argv)
{
  if (argc < 2)
    return EXIT_FAILURE;
  restrain ();
  atexit (on_exit_early);
  mhar_confine (); /* where it can: what comes back is not believed either way */
  gboolean served = mhar_h5_serve (STDIN_FILENO, argv[1], (const char *const *)argv + 2, stdout);
  done = TRUE;
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}
