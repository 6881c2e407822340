/* SPDX-License-Identifier: MIT */
/* Progress on its way from a worker thread to the main context: what is not yet shown is replaced, never queued. */
#pragma once

#include "app/gui/run-job.h"

G_BEGIN_DECLS

typedef struct _MharRunPost MharRunPost;

/* Calls `func` from the default main context, ten times a second at most. `func` may be NULL. */
MharRunPost *mhar_run_post_new (MharRunProgressFunc func, gpointer user);
void mhar_run_post_unref (MharRunPost *post);

/* From the worker. */
void mhar_run_post_progress (MharRunPost *post, guint index, guint64 done, guint64 total, double rate);
void mhar_run_post_partial (MharRunPost *post, MharDataset *partial);
/* Nothing is delivered any more, but for a call that runs now. */
void mhar_run_post_close (MharRunPost *post);

G_END_DECLS
