/* SPDX-License-Identifier: MIT */
/* What ends a program at a place where it cannot return an error.
 *
 * Files that another program shortens while they are mapped: beyond the new end the system answers a look with SIGBUS,
 * and gives zeros for the rest of the last page; a network disk that fails answers likewise. The first ends the program
 * in one sentence, with no unfinished file left; the second is found before results are written.
 *
 * What is noted here is kept to the end of the process: a handler of signals can neither lock nor wait. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Notes that the file `path`, `bytes` long, is mapped at `start`. Any thread. */
void mhar_guard_map (const char *path, const void *start, gsize bytes);
/* Notes an unfinished file, which a SIGBUS removes, or a folder that was made for what is not there yet, which it
 * removes where that is empty; until it is forgotten. Any thread; beyond 64 of them nothing is noted. `path` is copied.
 */
void mhar_guard_temp (const char *path);
void mhar_guard_forget (const char *path);

/* From here on a SIGBUS within a mapped file prints "PROGRAM: FILE: …" on standard error, removes unfinished files and
 * exits with status 3; any other SIGBUS is what it was. Where a library ends the program for want of memory, GLib by
 * SIGABRT or SIGTRAP, HDF5 by exit, unfinished files are removed, and the exit is told of and made status 1. Once, from
 * the main thread; `program` stays where it is. */
void mhar_guard_install (const char *program);
/* The end of main: an exit from here on is no library's. */
void mhar_guard_done (void);

/* Removes unfinished files, prints "PROGRAM: WHY" and ends the program with `status` at once, whatever its other threads wait
 * for. Returns where the end of main was reached: that is near. After mhar_guard_install; any thread. */
void mhar_guard_leave (int status, const char *why);

/* MHAR_ERROR_INPUT naming a mapped file that has fewer bytes now: what was read of it may have been zeros. One that was
 * replaced by another of its name is as it was for us. */
gboolean mhar_guard_check (GError **error);

G_END_DECLS
