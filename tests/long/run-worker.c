/* SPDX-License-Identifier: MIT */
/* The window's runs without the window, for ThreadSanitizer: run-worker CHECKPOINT DEVICE. Runs to the end, runs stopped
 * half-way, one that uses the last one's sums again, two checkpoints, and two runs at once whose results a third thread
 * still holds. Or run-worker race: two threads and a variable, which the sanitizer has to find. */
#include "app/gui/run-job.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  GCancellable *cancellable; /* cancelled at the first progress; NULL: never */
  guint progress;
  MharRunResult *result;
  GError *error;
  gboolean done;
} Watch;

static const char *device;

static void
on_progress (const MharRunProgress *progress, gpointer user)
{
  Watch *watch = user;

  g_assert_false (watch->done);
  g_assert_cmpuint (progress->done, <=, progress->total);
  watch->progress++;
  if (progress->partial != NULL)
    g_assert_cmpuint (mhar_dataset_n_fields (progress->partial), >, 0);
  if (watch->cancellable != NULL)
    g_cancellable_cancel (watch->cancellable);
}

static void
on_done (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer user)
{
  Watch *watch = user;

  watch->result = mhar_run_finish (result, &watch->error);
  watch->done = TRUE;
}

static MharRunRequest *
request_new (MharOpened *opened, MharOpened *other, GBytes *text, MharRunResult *previous)
{
  MharRunRequest *request = mhar_run_request_new ();

  request->opened = mhar_opened_ref (opened);
  request->other = other != NULL ? mhar_opened_ref (other) : NULL;
  request->text = g_bytes_ref (text);
  request->text_name = g_strdup ("prompt");
  request->device = g_strdup (device);
  request->previous = previous != NULL ? mhar_run_result_ref (previous) : NULL;
  request->options.context = 32;
  request->options.batch = 1;
  request->options.null_draws = 2;
  request->options.max_tokens = 160;
  return request;
}

static void
wait_for (Watch *watch)
{
  while (!watch->done)
    g_main_context_iteration (NULL, TRUE);
}

static void
clear (Watch *watch)
{
  g_clear_pointer (&watch->result, mhar_run_result_unref);
  g_clear_error (&watch->error);
  g_clear_object (&watch->cancellable);
  *watch = (Watch){ 0 };
}

static void
run_to_the_end (MharOpened *opened, MharOpened *other, GBytes *text)
{
  Watch first = { 0 }, again = { 0 };

  mhar_run_async (request_new (opened, other, text, NULL), NULL, on_progress, on_done, &first);
  wait_for (&first);
  g_assert_no_error (first.error);
  g_assert_cmpuint (first.result->sets->len, ==, other != NULL ? 2 : 1);
  mhar_run_async (request_new (opened, other, text, first.result), NULL, on_progress, on_done, &again);
  wait_for (&again);
  g_assert_no_error (again.error);
  g_assert_true (again.result->again);
  clear (&first);
  clear (&again);
}

static void
stop_half_way (MharOpened *opened, GBytes *text)
{
  Watch watch = { .cancellable = g_cancellable_new () };
  MharRunRequest *request = request_new (opened, NULL, text, NULL);

  request->options.max_tokens = 0; /* all: there is time to see progress */
  mhar_run_async (request, watch.cancellable, on_progress, on_done, &watch);
  wait_for (&watch);
  g_assert_cmpuint (watch.progress, >, 0);
  g_assert_true (watch.result == NULL || watch.result->stopped || watch.result->sets->len == 1);
  clear (&watch);
}

static gpointer
drop (gpointer result)
{
  mhar_run_result_unref (result);
  return NULL;
}

static void
two_at_once (MharOpened *opened, GBytes *text)
{
  Watch watch[2] = { 0 };

  for (guint i = 0; i < 2; i++)
    mhar_run_async (request_new (opened, NULL, text, NULL), NULL, on_progress, on_done, &watch[i]);
  for (guint i = 0; i < 2; i++) {
    wait_for (&watch[i]);
    g_assert_no_error (watch[i].error);
  }
  GThread *thread = g_thread_new ("drop", drop, mhar_run_result_ref (watch[0].result));
  clear (&watch[0]);
  clear (&watch[1]);
  g_thread_join (thread);
}

static gpointer
count (gpointer counted)
{
  for (guint i = 0; i < 1000; i++)
    ++*(volatile int *) counted;
  return NULL;
}

static int
race (void)
{
  int counted = 0;
  GThread *threads[2];

  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("race", count, &counted);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  return 0;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;

  if (argc == 2 && g_str_equal (argv[1], "race"))
    return race ();
  if (argc != 3) {
    fputs ("usage: run-worker CHECKPOINT DEVICE\n", stderr);
    return 2;
  }
  device = argv[2];
  MharOpened *opened = mhar_opened_new (argv[1], &error), *other = error == NULL ? mhar_opened_new (argv[1], &error) : NULL;
  g_assert_no_error (error);
  GString *words = g_string_new (NULL);
  for (guint i = 0; i < 200; i++)
    g_string_append_printf (words, "line %u of a text that is long enough\n", i);
  GBytes *text = g_string_free_to_bytes (words);
  run_to_the_end (opened, NULL, text);
  run_to_the_end (opened, other, text);
  stop_half_way (opened, text);
  two_at_once (opened, text);
  g_bytes_unref (text);
  mhar_opened_unref (other);
  mhar_opened_unref (opened);
  puts ("done");
  return 0;
}
