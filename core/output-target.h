/* SPDX-License-Identifier: MIT */
/* Where a file that is to be written really goes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The path that a file written beside it and renamed takes (symbolic links followed; g_free), and the permissions to keep:
 * those of the file that is replaced, 0 where there is none. MHAR_ERROR_RUN, naming the path, where it is no name of a
 * file, a link that leads nowhere, a folder, a device, pipe or socket, or read-only. */
char *mhar_output_target (const char *path, guint *mode, GError **error);

/* Makes an empty file beside `target` (of mhar_output_target, with its `mode`), under a hidden name that nothing else has,
 * .NAME.mhar-XXXXXX, and opens it: to be written, synced and renamed. What processes that were killed left under such a name
 * of the same target is removed: a live one holds a lock on its file, as long as the descriptor or a duplicate of it is open,
 * which has to be until it is renamed. It is noted by mhar_guard_temp, to be forgotten by the caller. The descriptor, and
 * *temporary its path (g_free); −1 and MHAR_ERROR_RUN, naming `path`, where the folder is not there or takes no file. */
int mhar_output_temporary (const char *path, const char *target, guint mode, char **temporary, GError **error);

/* Whether a file is named as those of mhar_output_temporary are; `name` without folders. */
gboolean mhar_output_is_unfinished (const char *name);

/* Writes all of `data`, `length` bytes, and syncs. FALSE and errno. */
gboolean mhar_output_fill (int fd, const void *data, gsize length);

/* Makes a new name last through a crash. A folder that cannot be read, or a file system that cannot sync one, is no reason to
 * fail. FALSE and errno. */
gboolean mhar_output_sync_folder (const char *target);

/* Writes `data`, `length` bytes, as the file that `path` is or leads to: there whole or not at all, its permissions kept.
 * MHAR_ERROR_RUN, naming the path. */
gboolean mhar_output_write (const char *path, const void *data, gsize length, GError **error);

/* Whether a file could be written at `path` now, found out by making another beside it and removing that: before work
 * whose result it is to take. Errors of the two above. */
gboolean mhar_output_check (const char *path, GError **error);

/* MHAR_ERROR_RUN, "cannot write PATH: WHY"; returns FALSE. */
gboolean mhar_cannot_write (const char *path, GError **error, const char *why);

/* What helps against the errno that writing failed with: "; free some space or choose another folder"; "" where nothing is
 * known. */
const char *mhar_write_remedy (int code);

G_END_DECLS
