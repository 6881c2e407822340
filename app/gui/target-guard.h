/* SPDX-License-Identifier: MIT */
/* A slip of the hand must not cost a checkpoint: a file dialog asks before a file is replaced, but not which file. */
#pragma once

#include "app/gui/opened.h"

G_BEGIN_DECLS

/* MHAR_ERROR_USAGE where `path` is a file that `opened` is or is made of (a saved run, a folder's config, tokenizer and
 * tensors, an archive); TRUE where `opened` is NULL or `path` is not there yet. */
gboolean mhar_target_is_free (const char *path, const MharOpened *opened, GError **error);
/* Likewise of one file that is read; `input` may be NULL. */
gboolean mhar_target_is_not (const char *path, const char *input, GError **error);

G_END_DECLS
