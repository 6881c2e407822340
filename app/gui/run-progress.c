/* SPDX-License-Identifier: MIT */
#include "app/gui/run-progress.h"

#define INTERVAL_MS 100

struct _MharRunPost {
  MharRunProgressFunc func;
  gpointer user;
  GMutex lock;
  MharRunProgress latest;
  gboolean pending, closed;
  gint64 shown; /* when `func` was last called, µs */
};

static void
clear (gpointer data)
{
  MharRunPost *post = data;
  mhar_dataset_unref (post->latest.partial);
  g_mutex_clear (&post->lock);
}

MharRunPost *
mhar_run_post_new (MharRunProgressFunc func, gpointer user)
{
  MharRunPost *post = g_atomic_rc_box_new0 (MharRunPost);

  g_mutex_init (&post->lock);
  post->func = func;
  post->user = user;
  return post;
}

void
mhar_run_post_unref (MharRunPost *post)
{
  g_atomic_rc_box_release_full (post, clear);
}

static gboolean
deliver (gpointer data)
{
  MharRunPost *post = data;
  MharRunProgress progress;

  g_mutex_lock (&post->lock);
  gboolean closed = post->closed;
  progress = post->latest;
  post->latest.partial = NULL;
  post->pending = FALSE;
  post->shown = g_get_monotonic_time ();
  g_mutex_unlock (&post->lock);
  if (!closed && post->func != NULL)
    post->func (&progress, post->user);
  mhar_dataset_unref (progress.partial);
  return G_SOURCE_REMOVE;
}

/* With the lock held: one delivery at most is on its way. */
static void
schedule (MharRunPost *post)
{
  gint64 passed = (g_get_monotonic_time () - post->shown) / 1000;

  if (post->pending || post->closed)
    return;
  post->pending = TRUE;
  g_timeout_add_full (G_PRIORITY_DEFAULT_IDLE, (guint) CLAMP (INTERVAL_MS - passed, 0, INTERVAL_MS), deliver,
                      g_atomic_rc_box_acquire (post), (GDestroyNotify) mhar_run_post_unref);
}

void
mhar_run_post_progress (MharRunPost *post, guint index, guint64 done, guint64 total, double rate)
{
  g_mutex_lock (&post->lock);
  post->latest.index = index;
  post->latest.done = done;
  post->latest.total = total;
  post->latest.rate = rate;
  schedule (post);
  g_mutex_unlock (&post->lock);
}

void
mhar_run_post_partial (MharRunPost *post, MharDataset *partial)
{
  g_mutex_lock (&post->lock);
  mhar_dataset_unref (post->latest.partial);
  post->latest.partial = mhar_dataset_ref (partial);
  schedule (post);
  g_mutex_unlock (&post->lock);
}

void
mhar_run_post_close (MharRunPost *post)
{
  g_mutex_lock (&post->lock);
  post->closed = TRUE;
  g_mutex_unlock (&post->lock);
}
