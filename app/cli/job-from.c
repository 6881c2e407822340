/* SPDX-License-Identifier: MIT */
/* --from: a saved run printed and drawn again, without the model. */
#include "app/cli/jobs.h"

#include "app/cli/base-names.h"
#include "app/cli/figure-write.h"
#include "app/cli/report.h"
#include "core/error.h"
#include "core/h5file.h"
#include "probes/compare.h"
#include "probes/results.h"
#include "probes/series.h"
#include "probes/weights-only.h"

#include <stdio.h>

static gboolean
write_report (const MharCliOptions *options, const MharDataset *root, GError **error)
{
  const char *folder = options->report;
  gboolean made = FALSE;
  g_autoptr (MharReportFiles) files = NULL;

  if (mhar_report_folder (folder, &made, error))
    files = mhar_report_stage (root, options->from, folder, error);
  gboolean good = files != NULL && mhar_report_publish (files, error);
  g_clear_pointer (&files, mhar_report_files_free);
  if (made)
    mhar_report_folder_done (folder);
  return good;
}

/* What stands beside the checkpoints. */
static gboolean
check_together (const MharDataset *root, const char *path, GError **error)
{
  const MharDataset *compare = mhar_dataset_find_child (root, "compare"),
                    *series = mhar_dataset_find_child (root, "series");

  return (compare == NULL || mhar_comparison_check (compare, path, error))
         && (series == NULL || mhar_series_check (series, path, error));
}

static void
repeat_skipped (const MharCliOptions *options, const MharDataset *root)
{
  const MharDataset *series = mhar_dataset_find_child (root, "series");
  const char *const *skipped = series != NULL ? mhar_dataset_strings (series, "skipped") : NULL;

  for (guint i = 0; !options->quiet && skipped != NULL && skipped[i] != NULL; i++) {
    g_autofree char *text = mhar_printable (skipped[i]);
    fprintf (stderr, "mhar-probe: warning: skipped %s\n", text);
  }
}

int
mhar_job_from (const MharCliOptions *options, GCancellable *cancellable, GError **error)
{
  static const char *const skip[] = { "sums", "pooled", "capture", NULL };
  g_autoptr (MharDataset) root = mhar_h5_read (options->from, skip, error);

  if (root == NULL || !mhar_results_check (root, options->from, error) || !check_together (root, options->from, error))
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
  if (g_cancellable_set_error_if_cancelled (cancellable, error) || !mhar_figure_check_results (options, root, error))
    return -1;
  mhar_base_names_only (options, root);
  if (options->report != NULL && !write_report (options, root, error))
    return -1;
  repeat_skipped (options, root);
  return mhar_show_results (options, root, error) ? 0 : -1;
}
