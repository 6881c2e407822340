/* SPDX-License-Identifier: MIT */
/* --from: a saved run printed and drawn again, without the model. */
#include "app/cli/jobs.h"

#include "app/cli/report.h"

#include "core/error.h"
#include "core/h5file.h"
#include "probes/results.h"
#include "probes/weights-only.h"

#include <glib/gstdio.h>

static gboolean
write_report (const char *folder, const MharDataset *root, GError **error)
{
  gboolean made = FALSE;
  g_autoptr (MharReportFiles) files = NULL;

  if (mhar_report_folder (folder, &made, error))
    files = mhar_report_stage (root, folder, error);
  if (files != NULL && mhar_report_publish (files, error))
    return TRUE;
  if (made)
    g_rmdir (folder);
  return FALSE;
}

int
mhar_job_from (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  static const char *const skip[] = { "sums", "capture", NULL };
  g_autoptr (MharDataset) root = mhar_h5_read (options->from, skip, error);

  if (root == NULL || !mhar_results_check (root, options->from, error))
    return -1;
  g_autoptr (GPtrArray) sets = mhar_results_checkpoints (root);
  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *set = g_ptr_array_index (sets, c);
    if (mhar_weights_only_is (set) && options->report != NULL) {
      mhar_bad_input (error, "%s was made by --weights-only and holds no run to write up; make a run for --report",
                      options->from);
      return -1;
    }
    if (mhar_weights_only_is (set) && !mhar_weights_only_check (set, options->from, error))
      return -1;
  }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return -1;
  if (options->figure != NULL &&
      !mhar_figure_save (options->figure, sets, options->kind, &options->figure_options, error))
    return -1;
  if (options->report != NULL && !write_report (options->report, root, error))
    return -1;
  return mhar_print_results (options, root, error) ? 0 : -1;
}
