/* SPDX-License-Identifier: MIT */
#include "app/gui/numbers-job.h"

#include "app/gui/page-views.h"

typedef struct {
  MharNumbersSource source;
  GBytes *text;
  GArray *tokens;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  mhar_dataset_unref ((MharDataset *) job->source.set);
  mhar_dataset_unref ((MharDataset *) job->source.other);
  mhar_dataset_unref ((MharDataset *) job->source.capture);
  g_clear_pointer (&job->text, g_bytes_unref);
  g_clear_pointer (&job->tokens, g_array_unref);
  g_free (job);
}

static const MharDataset *
keep (const MharDataset *set)
{
  return set != NULL ? mhar_dataset_ref ((MharDataset *) set) : NULL;
}

static void
make_in_thread (GTask *task, gpointer source G_GNUC_UNUSED, gpointer data, GCancellable *cancellable G_GNUC_UNUSED)
{
  Job *job = data;
  g_autoptr (GPtrArray) texts = mhar_token_texts (job->text, job->tokens);

  job->source.texts = texts;
  g_task_return_pointer (task, mhar_numbers_new (&job->source), (GDestroyNotify) mhar_numbers_unref);
}

void
mhar_numbers_new_async (const MharNumbersSource *source, GBytes *text, GArray *tokens, GAsyncReadyCallback callback,
                        gpointer user)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, callback, user);
  Job *job = g_new0 (Job, 1);

  job->source = *source;
  job->source.set = keep (source->set);
  job->source.other = keep (source->other);
  job->source.capture = keep (source->capture);
  job->text = text != NULL ? g_bytes_ref (text) : NULL;
  job->tokens = tokens != NULL ? g_array_ref (tokens) : NULL;
  g_task_set_task_data (task, job, job_free);
  g_task_run_in_thread (task, make_in_thread);
}

MharNumbers *
mhar_numbers_new_finish (GAsyncResult *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}
