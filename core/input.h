/* SPDX-License-Identifier: MIT */
/* Files that are not trusted: opened without waiting on them, parsed strictly, quoted safely in messages. */
#pragma once

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

/* Maps `path`, of at most `limit` bytes (0: any size); contents are read only when looked at. MHAR_ERROR_INPUT naming
 * the file where it is absent, not a regular file (a FIFO does not block), empty, too large or a git-lfs pointer. Free
 * with g_mapped_file_unref. core/file-guard.h has what follows where another program shortens it meanwhile. */
GMappedFile *mhar_input_map (const char *path, guint64 limit, GError **error);

/* The JSON object in `length` bytes of `text`; `path` and `part` ("the header") name it in messages. MHAR_ERROR_INPUT
 * where it is not JSON (RFC 8259: no NaN, no number beyond int64 or double), is beyond the limits of
 * core/json-limits.h, has the same key twice, or is not an object; MHAR_ERROR_RUN where memory runs out. Free with json_decref. */
json_t *mhar_input_json (const char *text, gsize length, const char *path, const char *part, GError **error);

/* `text` from a file as one printable line of at most 100 characters, for messages; free with g_free. */
char *mhar_input_quote (const char *text);

G_END_DECLS
