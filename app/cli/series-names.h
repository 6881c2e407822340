/* SPDX-License-Identifier: MIT */
/* The checkpoints of a training run: which there are, and of what step each is, by their names. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  char *path;
  gint32 step;
} MharSeriesName;

/* What `paths` (NULL-ended) stand for, in the order of the steps: a folder with checkpoints of several steps in it
 * (step-N, step_N, stepN, likewise checkpoint-N, iter-N, global_stepN; folders, or files as torch.save writes them) for
 * those, any other for itself, which has to end in a number (and .pt, .pth or .bin). g_ptr_array_unref.
 * MHAR_ERROR_USAGE where a name says no step or two say the same, MHAR_ERROR_INPUT where a folder cannot be read. */
GPtrArray *mhar_series_names (char *const *paths, GError **error);

/* Each for itself, in the order given, of step 0: what stands on the line where no series is meant. */
GPtrArray *mhar_series_names_of (char *const *paths);

G_END_DECLS
