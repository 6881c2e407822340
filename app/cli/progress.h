/* SPDX-License-Identifier: MIT */
/* The progress line on standard error, where a person is watching. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

typedef struct {
  gboolean shown;
  const char *what; /* the checkpoint's name */
  gint64 started;   /* g_get_monotonic_time */
} MharProgress;

void mhar_progress_start (MharProgress *progress, const MharCliOptions *options, const char *what);
void mhar_progress_update (guint64 done, guint64 total, MharProgress *progress);
void mhar_progress_finish (MharProgress *progress);

G_END_DECLS
