/* SPDX-License-Identifier: MIT */
/* A process that can do nothing any more but read and write what it has open. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* From here on the kernel refuses every call of this process, its other threads included, but those that read, write and
 * close descriptors which are open, ask for memory that is not code, wait, and end the process. FALSE where that was not to
 * be had: a kernel, a container or a build without it. For good; nothing is owned. */
gboolean mhar_confine (void);

G_END_DECLS
