/* SPDX-License-Identifier: MIT */
/* The folder of a run that is not finished, for one process at a time. The system forgets the lock when its process
 * ends, however it ends: none is ever stale. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Makes the folder where it is not there and locks the file "lock" in it. A descriptor, which holds the lock until it
 * is closed; −1 with MHAR_ERROR_INPUT where another process holds it, MHAR_ERROR_RUN where the folder cannot be made or
 * is not one of the user's own. Where the file system knows no locks nothing is held. */
int mhar_run_lock_take (const char *folder, GError **error);

/* Removes the file, of a folder that is to go, by who holds the lock. */
void mhar_run_lock_remove (const char *folder);

G_END_DECLS
