/* SPDX-License-Identifier: MIT */
/* --report: everything that can be measured of a run, written up as the appendix of a paper. What it says comes from
 * the results alone, so that a saved run gives the same report. */
#pragma once

#include "app/cli/options.h"
#include "app/figure/document.h"
#include "core/checkpoint.h"
#include "core/plan.h"

G_BEGIN_DECLS

/* One checkpoint to measure. All borrowed. */
typedef struct {
  const MharCliOptions *options;
  const GPtrArray *devices; /* MharDevice * */
  const MharCheckpoint *checkpoint;
  const MharPlan *plan;
  const GArray *ids; /* gint32 */
  const char *name;
  const MharRunHooks *hooks;                       /* of the main pass; progress of all */
  void (*stage) (const char *what, gpointer user); /* a pass begins, `what` in words; hooks->user */
  GCancellable *cancellable;
} MharReportTask;

/* The results of a checkpoint, as mhar_probe_run gives them, with every control, and with interventions and an ablation
 * map where they are not too dear: each a pass of its own, over less text. What the command line asks for itself is
 * done as it says. Errors as mhar_probe_run. */
MharDataset *mhar_report_run (const MharReportTask *task, GError **error);

/* The report of a run's root dataset, which it borrows; it lies in `file`, which is named where the recorded command
 * names none. mhar_document_free. */
MharDocument *mhar_report_document (const MharDataset *root, const char *file);

/* Makes the folder where it is not there, and says so in `*made`. MHAR_ERROR_RUN, naming it, where that fails, or where
 * report.html, report.pdf or report.h5 cannot be written there. */
gboolean mhar_report_folder (const char *folder, gboolean *made, GError **error);

/* The end of the job that made the folder: removes it where nothing is in it. What ends the program before
 * (file-guard.h) does that too. */
void mhar_report_folder_done (const char *folder);

/* Path of the i-th file of a report in its folder: 0 and 1 are of the two that are always written, 2 is report.h5,
 * which a run writes beside them; NULL from 3 on. g_free. */
char *mhar_report_file (const char *folder, guint i);

/* report.html and report.pdf of a run that lies in `file`, written in full under other names in the folder; they take
 * their own in mhar_report_publish, or go away when freed. MHAR_ERROR_RUN. */
typedef struct _MharReportFiles MharReportFiles;
MharReportFiles *mhar_report_stage (const MharDataset *root, const char *file, const char *folder, GError **error);
gboolean mhar_report_publish (MharReportFiles *files, GError **error);
void mhar_report_files_free (MharReportFiles *files);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharReportFiles, mhar_report_files_free)

G_END_DECLS
