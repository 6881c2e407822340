/* SPDX-License-Identifier: MIT */
/* The figure of a run, or of a saved one. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

/* Draws into --figure what `root` holds, a run's root dataset with its checkpoints and perhaps "compare" or "series"
 * (checked): with a comparison, the maps of both and their difference, and then the same of each pair of matched heads;
 * of a series its curves; else, or where another kind is asked for, a page a checkpoint. TRUE without a figure. Errors
 * as mhar_figure_save. */
gboolean mhar_figure_write (const MharCliOptions *options, const MharDataset *root, GError **error);

/* Whether it can: asked of what a saved run holds, before anything is printed or put together. Errors as
 * mhar_figure_save, mhar_figure_check_files. TRUE without a figure. */
gboolean mhar_figure_check_results (const MharCliOptions *options, const MharDataset *root, GError **error);

G_END_DECLS
