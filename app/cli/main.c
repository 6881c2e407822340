/* SPDX-License-Identifier: MIT */
/* mhar-probe: the command line. */
#include "app/cli/jobs.h"

#include "app/cli/file-clash.h"
#include "app/cli/run-part.h"
#include "core/error.h"
#include "core/file-guard.h"
#include "core/provenance.h"

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define EXIT_INTERRUPTED 130
#define PATIENCE 5 /* seconds from a signal to the end, however slowly a disk or a network answers */

/* Keeps 0, 1 and 2 from being given to a file that is opened later and then written to as standard output: what was
 * closed becomes a descriptor on which reading or writing fails. */
static void
hold_standard_streams (void)
{
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl (fd, F_GETFD) < 0)
      (void)!open ("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Those that ask the program to stop, but for what its parent had it ignore (nohup, a script's background job). */
static void
stop_signals (sigset_t *set)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action;

  sigemptyset (set);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (sigaction (numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset (set, numbers[i]);
}

/* Waits for a signal in a thread of its own and cancels: a handler could not, since cancelling takes locks. Later ones
 * stay blocked, so that nothing disturbs the tidying up. A thread that waits for a page of a mapped file sees no cancelling:
 * when there is no end after a while, this makes one. */
static void *
wait_for_signal (void *cancellable)
{
  sigset_t set;
  int number;

  stop_signals (&set);
  if (sigwait (&set, &number) != 0)
    return NULL;
  g_cancellable_cancel (cancellable);
  for (guint left = PATIENCE; left > 0;)
    left = sleep (left);
  mhar_guard_leave (EXIT_INTERRUPTED, "interrupted, and ended while it waited for a disk or computed; unfinished files were removed");
  return NULL;
}

/* Before any other thread is made, so that all of them leave the signals to the one that waits. A closed pipe, or a
 * file that grows beyond `ulimit -f`, is an error of writing and not the end: unfinished files have to be removed
 * first. */
static void
watch_signals (GCancellable *cancellable)
{
  sigset_t set;
  pthread_t thread;

  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
  stop_signals (&set);
  pthread_sigmask (SIG_BLOCK, &set, NULL);
  if (pthread_create (&thread, NULL, wait_for_signal, cancellable) == 0)
    pthread_detach (thread);
}

static int
print_help (GError **error)
{
  g_autofree char *text = mhar_cli_help ();
  return mhar_print (text, error) ? 0 : -1;
}

static int
print_version (GError **error)
{
  g_autofree char *line = g_strconcat (mhar_version (), "\n", NULL);
  return mhar_print (line, error) ? 0 : -1;
}

static int
run (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  if (options->help)
    return print_help (error);
  if (options->version)
    return print_version (error);
  if (options->devices)
    return mhar_job_devices (options, error);
  if (!mhar_check_clashes (options, 1, error))
    return -1;
  if (options->info)
    return mhar_job_info (options, error);
  if (options->sites)
    return mhar_job_sites (options, error);
  watch_signals (cancellable);
  if (options->weights_only)
    return mhar_job_weights (options, cancellable, error);
  if (options->verify != NULL)
    return mhar_job_verify (options, cancellable, error);
  if (options->save_reference != NULL)
    return mhar_job_save_reference (options, cancellable, error);
  if (options->merge)
    return mhar_job_merge (options, cancellable, error);
  if (options->from != NULL)
    return mhar_job_from (options, cancellable, error);
  return mhar_job_run (options, cancellable, error);
}

static int
exit_status (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return EXIT_INTERRUPTED;
  return error->domain == MHAR_ERROR && error->code <= MHAR_ERROR_INPUT ? error->code : MHAR_ERROR_RUN;
}

/* One line, whatever names and words from files are in the message. */
static void
complain (const MharCliOptions *options, const GError *error)
{
  gboolean interrupted = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  gboolean saved = options != NULL && options->checkpoint_every > 0 && mhar_run_part_is_saved (options->output);
  const char *end = saved ? "interrupted; the same command with --resume goes on from what was saved" : "interrupted; nothing was written";
  g_autofree char *message = mhar_printable (interrupted ? end : error->message);
  fprintf (stderr, "mhar-probe: %s\n", message);
}

int
main (int argc G_GNUC_UNUSED, char **argv)
{
  g_autoptr (GError) error = NULL;
  static GCancellable *cancellable; /* not freed: the signal thread may hold it to the end */

  cancellable = g_cancellable_new ();
  hold_standard_streams ();
  mhar_guard_install ("mhar-probe");
  setlocale (LC_CTYPE, ""); /* and no more: numbers are data, and messages are in one language */
  g_autoptr (MharCliOptions) options = mhar_cli_options_parse (argv, &error);
  int status = options != NULL ? run (options, cancellable, &error) : -1;
  mhar_guard_done ();
  if (error == NULL)
    return status;
  complain (options, error);
  return exit_status (error);
}
