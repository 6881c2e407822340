/* SPDX-License-Identifier: MIT */
#include "probes/random-query.h"

#include <math.h>

static void
philox4x32 (guint32 c[4], guint32 k0, guint32 k1)
{
  for (int round = 0; round < 10; round++) {
    guint64 p0 = (guint64) 0xD2511F53u * c[0], p1 = (guint64) 0xCD9E8D57u * c[2];
    guint32 c0 = (guint32) (p1 >> 32) ^ c[1] ^ k0, c2 = (guint32) (p0 >> 32) ^ c[3] ^ k1;
    c[0] = c0;
    c[1] = (guint32) p1;
    c[2] = c2;
    c[3] = (guint32) p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

void
mhar_random_normals (guint64 seed, guint32 site, guint32 draw, gsize n, double *z)
{
  for (gsize block = 0; 4 * block < n; block++) {
    guint32 c[4] = { (guint32) block, draw, site, 0 };
    double four[4];
    philox4x32 (c, (guint32) seed, (guint32) (seed >> 32));
    for (int pair = 0; pair < 2; pair++) {
      double u0 = (c[2 * pair] + 0.5) / 4294967296.0, u1 = (c[2 * pair + 1] + 0.5) / 4294967296.0;
      double r = sqrt (-2 * log (u0)), a = 2 * G_PI * u1;
      four[2 * pair] = r * cos (a);
      four[2 * pair + 1] = r * sin (a);
    }
    for (gsize i = 0; i < 4 && 4 * block + i < n; i++)
      z[4 * block + i] = four[i];
  }
}

/* Rescales the coordinates first, first + step … (count of them) of z to the norm that q has there. */
static void
rescale (const double *q, double *z, gsize first, gsize step, gsize count)
{
  double qq = 0, zz = 0;

  for (gsize i = 0, at = first; i < count; i++, at += step) {
    qq += q[at] * q[at];
    zz += z[at] * z[at];
  }
  double factor = sqrt (qq) / sqrt (zz);
  for (gsize i = 0, at = first; i < count; i++, at += step)
    z[at] *= factor;
}

void
mhar_random_query (guint64 seed, guint32 site, guint32 draw, const double *query, gsize rows, gsize width,
                   const MharNullNorm *norm, double *z)
{
  gsize slices = MAX (norm->slices, 1), length = width / slices;

  mhar_random_normals (seed, site, draw, rows * width, z);
  for (gsize r = 0; r < rows; r++)
    for (gsize s = 0; s < slices; s++)
      rescale (query + r * width, z + r * width, norm->interleaved ? s : s * length, norm->interleaved ? slices : 1, length);
}
