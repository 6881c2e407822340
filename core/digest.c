/* SPDX-License-Identifier: MIT */
#include "core/digest.h"

/* A few milliseconds. Besides, GLib 2.74 counts a single update of 4 GiB or more wrongly (a 32-bit counter, one
 * carry). */
#define STEP ((gsize)1 << 20)

gboolean
mhar_digest_update (GChecksum *sum, const guint8 *data, gsize length, GCancellable *cancellable, GError **error)
{
  for (gsize n; length > 0; data += n, length -= n) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    n = MIN (length, STEP);
    g_checksum_update (sum, data, (gssize)n);
  }
  return TRUE;
}

char *
mhar_digest_bytes (GBytes *bytes, GCancellable *cancellable, GError **error)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize length;
  const guint8 *data = g_bytes_get_data (bytes, &length);

  if (!mhar_digest_update (sum, data, length, cancellable, error))
    return NULL;
  return g_strdup (g_checksum_get_string (sum));
}
