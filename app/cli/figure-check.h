/* SPDX-License-Identifier: MIT */
/* Whether the figure that was asked for can come of a run: asked before the run, since that may take hours. */
#pragma once

#include "app/cli/options.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* MHAR_ERROR_USAGE where the checkpoint at `path`, or the probes that were chosen, give nothing that --figure-kind
 * draws. TRUE without a figure. */
gboolean mhar_figure_check_plan (const MharCliOptions *options, const MharPlan *plan, const char *path, GError **error);

/* MHAR_ERROR_RUN where a file of a figure of `n` pages cannot be written, MHAR_ERROR_USAGE where it is another file of
 * the line. TRUE without a figure. */
gboolean mhar_figure_check_files (const MharCliOptions *options, guint n, GError **error);

G_END_DECLS
