/* SPDX-License-Identifier: MIT */
/* What the program can be asked to do, one file a job. Each returns the exit status of the job itself (0, or 1 where a
 * verification fails), or a negative number and an error. Data goes to standard output, notes to standard error. */
#pragma once

#include "app/cli/options.h"

#include "core/checkpoint.h"
#include "core/plan.h"

#include <gio/gio.h>
#include <jansson.h>

G_BEGIN_DECLS

int mhar_job_run (const MharCliOptions *options, GCancellable *cancellable, GError **error);
int mhar_job_info (const MharCliOptions *options, GError **error);
int mhar_job_sites (const MharCliOptions *options, GError **error);
int mhar_job_weights (const MharCliOptions *options, GCancellable *cancellable, GError **error);
int mhar_job_verify (const MharCliOptions *options, GCancellable *cancellable, GError **error);
int mhar_job_save_reference (const MharCliOptions *options, GCancellable *cancellable, GError **error);
int mhar_job_devices (const MharCliOptions *options, GError **error);
int mhar_job_merge (const MharCliOptions *options, GCancellable *cancellable, GError **error);
int mhar_job_from (const MharCliOptions *options, GCancellable *cancellable, GError **error);

/* Table or JSON of a run, on standard output; warnings on standard error. MHAR_ERROR_RUN where the former fails. */
gboolean mhar_print_results (const MharCliOptions *options, const MharDataset *root, GError **error);
/* The figure, where one is asked for, and then that, which does not go without what the figure may want for: the error
 * is the figure's where both fail. */
gboolean mhar_show_results (const MharCliOptions *options, const MharDataset *root, GError **error);
/* Writes `text` to standard output and flushes it. MHAR_ERROR_RUN where that fails. */
gboolean mhar_print (const char *text, GError **error);
/* `text` as one line of valid UTF-8 without control characters, for terminals; it may come from a file. g_free. */
char *mhar_printable (const char *text);
/* A checkpoint and its plan, with the options of the command line. */
gboolean mhar_open_checkpoint (const MharCliOptions *options, const char *path, MharCheckpoint **checkpoint,
                               MharPlan **plan, GError **error);

/* What is said of a checkpoint: lines of text, or an object (a new reference) whose "path", the first key, is filled
 * in. */
typedef struct {
  void (*describe) (GString *out, const MharCheckpoint *checkpoint, const MharPlan *plan);
  json_t *(*as_json) (const MharCheckpoint *checkpoint, const MharPlan *plan);
} MharDescription;

/* Opens every checkpoint of the command line and prints its path and what is said of it, or with --json the array of
 * the objects. */
int mhar_describe_checkpoints (const MharCliOptions *options, const MharDescription *how, GError **error);

G_END_DECLS
