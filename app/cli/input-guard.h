/* SPDX-License-Identifier: MIT */
/* A slip of the tongue must not cost a checkpoint. */
#pragma once

#include "app/cli/options.h"

G_BEGIN_DECLS

/* Whether both paths name one existing file; either may be NULL. */
gboolean mhar_same_file (const char *a, const char *b);

/* MHAR_ERROR_USAGE where `output` is a file that is read: one of the line's, or one that a checkpoint of `names`
 * (MharSeriesName *) is made of. TRUE where it is NULL. */
gboolean mhar_check_not_input (const MharCliOptions *options, const GPtrArray *names, const char *output,
                               GError **error);

G_END_DECLS
