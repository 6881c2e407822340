/* SPDX-License-Identifier: MIT */
#include "app/cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 24

void
mhar_progress_start (MharProgress *progress, const MharCliOptions *options, const char *what)
{
  const char *term = g_getenv ("TERM");
  gboolean terminal = isatty (STDERR_FILENO) && term != NULL && strcmp (term, "dumb") != 0;

  progress->shown = options->progress == MHAR_PROGRESS_ALWAYS ||
                    (options->progress == MHAR_PROGRESS_AUTO && terminal && !options->quiet);
  progress->what = what;
  progress->started = g_get_monotonic_time ();
}

void
mhar_progress_update (guint64 done, guint64 total, MharProgress *progress)
{
  double seconds = (double) (g_get_monotonic_time () - progress->started) / G_USEC_PER_SEC;
  int filled = (int) (done * BAR_WIDTH / MAX (total, 1));
  char bar[BAR_WIDTH + 1];

  if (!progress->shown)
    return;
  for (int i = 0; i < BAR_WIDTH; i++)
    bar[i] = i < filled ? '#' : '.';
  bar[BAR_WIDTH] = '\0';
  fprintf (stderr, "\r%s [%s] %3d %%, %.0f tokens/s\033[K", progress->what, bar, (int) (done * 100 / MAX (total, 1)),
           seconds > 0 ? (double) done / seconds : 0.0);
  fflush (stderr);
}

void
mhar_progress_finish (MharProgress *progress)
{
  if (progress->shown)
    fputs ("\r\033[K", stderr);
}
