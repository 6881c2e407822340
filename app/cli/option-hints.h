/* SPDX-License-Identifier: MIT */
/* What somebody may have meant who typed something near it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "Unknown option --drop; --ablate may be meant, see mhar-probe --help": of what GOption says of a line; g_free. */
char *mhar_hint_unknown (const char *message);

/* MHAR_ERROR_USAGE where the word after an option whose value has to follow "=" is no checkpoint, but may be that
 * value. `words`: the command line. */
gboolean mhar_check_detached_values (char *const *words, GError **error);

G_END_DECLS
