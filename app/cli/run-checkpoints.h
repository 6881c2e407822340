/* SPDX-License-Identifier: MIT */
/* The checkpoints of a run: found, opened, and checked, alone and together, before anything runs. */
#pragma once

#include "app/cli/options.h"

#include "core/checkpoint.h"
#include "core/plan.h"

G_BEGIN_DECLS

typedef struct {
  MharCheckpoint *checkpoint;
  MharPlan *plan;
  gint32 step; /* of a series, else 0 */
} MharOpened;

typedef struct {
  const MharCliOptions *options;
  GPtrArray *names;   /* MharSeriesName *: what the command line stands for, in the order of the run */
  GPtrArray *opened;  /* MharOpened *, of those that can be read */
  GPtrArray *skipped; /* char *: steps of a series that cannot be read, and why */
} MharRunCheckpoints;

/* Finds the names; errors as mhar_series_names. */
gboolean mhar_run_checkpoints_find (MharRunCheckpoints *checkpoints, const MharCliOptions *options, GError **error);
/* Opens them, and checks that what is asked for can come of them. */
gboolean mhar_run_checkpoints_open (MharRunCheckpoints *checkpoints, GError **error);
void mhar_run_checkpoints_clear (MharRunCheckpoints *checkpoints);

/* Whether a step can be left out that cannot be read for the reason given, because it is still being written, say:
 * notes and says so, and clears the reason. Else the reason becomes the error. */
gboolean mhar_run_checkpoints_skip (MharRunCheckpoints *checkpoints, const char *path, GError **reason, GError **error);

/* How many pages, or files, the figure has. */
guint mhar_run_checkpoints_pages (const MharRunCheckpoints *checkpoints);

G_END_DECLS
