/* SPDX-License-Identifier: MIT */
/* A run of the viewer as the command line that does the same. */
#pragma once

#include "app/gui/run-job.h"

G_BEGIN_DECLS

/* "mhar-probe demo/mhar --context 256 …", quoted for a shell; only what differs from that program's defaults. g_free.
 */
char *mhar_run_command (const MharRunRequest *request);

G_END_DECLS
