/* SPDX-License-Identifier: MIT */
/* A slip of the tongue must not cost a checkpoint, nor one result another. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

/* MHAR_ERROR_USAGE where a file that the line writes is one that it reads, or is written twice, or lies in the folder
 * in which --checkpoint-every saves: whatever the names, by links or another spelling. `pages` is how many the figure
 * has, which may be files of their own. Looks at what is there now and changes nothing. */
gboolean mhar_check_clashes (const MharCliOptions *options, guint pages, GError **error);

G_END_DECLS
