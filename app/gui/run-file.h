/* SPDX-License-Identifier: MIT */
/* A run as an HDF5 file, the one that mhar-probe -o writes, made in a worker thread. */
#pragma once

#include "app/gui/run-job.h"

G_BEGIN_DECLS

/* `source` is what the callback gets; the result need not outlive the call. */
void mhar_run_save_async (GObject *source, const MharRunResult *result, const char *path, GAsyncReadyCallback callback,
                          gpointer user);
/* A saved run that is open, saved again: a copy. */
void mhar_run_copy_async (GObject *source, const char *from, const char *path, GAsyncReadyCallback callback,
                          gpointer user);
/* Errors as mhar_h5_writer_new, …_append, …_write and …_commit, or of g_file_copy. */
gboolean mhar_run_save_finish (GAsyncResult *result, GError **error);

G_END_DECLS
