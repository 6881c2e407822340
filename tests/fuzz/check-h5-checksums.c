/* SPDX-License-Identifier: MIT */
/* check-h5-checksums FILE …: that the checksums of files made by HDF5 itself are what we would set, and that one that
 * is spoilt is set again; prints how many blocks there were. */
#include "h5-checksums.h"

#include <string.h>

static guint
check (const char *path)
{
  g_autofree char *bytes = NULL;
  gsize size;
  g_autoptr (GError) error = NULL;
  if (!g_file_get_contents (path, &bytes, &size, &error))
    g_error ("%s", error->message);
  g_autofree guint8 *sealed = g_memdup2 (bytes, size);
  g_autoptr (GArray) blocks = fuzz_h5_seal (sealed, size);
  for (gsize i = 0; i < size; i++)
    if (sealed[i] != (guint8)bytes[i])
      g_error ("%s: a checksum near byte %" G_GSIZE_FORMAT " is set to something else", path, i);
  for (guint i = 0; i < blocks->len; i++) {
    const FuzzH5Block *block = &g_array_index (blocks, FuzzH5Block, i);
    if (memcmp (sealed + block->start, "FHDB", 4) != 0) /* has its own within */
      sealed[block->start + block->length - 1] ^= 1;
  }
  g_array_unref (fuzz_h5_seal (sealed, size));
  g_assert_true (memcmp (sealed, bytes, size) == 0);
  return blocks->len;
}

int
main (int argc, char **argv)
{
  guint blocks = 0;
  for (int i = 1; i < argc; i++)
    blocks += check (argv[i]);
  g_print ("%u blocks\n", blocks);
  return blocks > 0 ? 0 : 1;
}
