/* SPDX-License-Identifier: MIT */
/* SHA-256 of much data, which a user may not want to wait for. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Adds the bytes. FALSE and G_IO_ERROR_CANCELLED where `cancellable` (may be NULL) is cancelled meanwhile, which is
 * looked at every MiB. */
gboolean mhar_digest_update (GChecksum *sum, const guint8 *data, gsize length, GCancellable *cancellable,
                             GError **error);

/* The SHA-256 of `bytes` in hexadecimal; NULL likewise; g_free. */
char *mhar_digest_bytes (GBytes *bytes, GCancellable *cancellable, GError **error);

G_END_DECLS
