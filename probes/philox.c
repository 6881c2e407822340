/* SPDX-License-Identifier: MIT */
#include "probes/philox.h"

static void
philox4x32 (guint32 c[4], guint32 k0, guint32 k1)
{
  for (int round = 0; round < 10; round++) {
    guint64 p0 = (guint64)0xD2511F53u * c[0], p1 = (guint64)0xCD9E8D57u * c[2];
    guint32 c0 = (guint32)(p1 >> 32) ^ c[1] ^ k0, c2 = (guint32)(p0 >> 32) ^ c[3] ^ k1;
    c[0] = c0;
    c[1] = (guint32)p1;
    c[2] = c2;
    c[3] = (guint32)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

void
mhar_random_words (guint64 seed, guint32 one, guint32 two, MharStream stream, gsize n, guint32 *words)
{
  for (gsize block = 0; 4 * block < n; block++) {
    guint32 c[4] = { (guint32)block, one, two, (guint32)stream };
    philox4x32 (c, (guint32)seed, (guint32)(seed >> 32));
    for (gsize i = 0; i < 4 && 4 * block + i < n; i++)
      words[4 * block + i] = c[i];
  }
}
