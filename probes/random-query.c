/* SPDX-License-Identifier: MIT */
#include "probes/random-query.h"

#include "probes/philox.h"

#include <math.h>
#include <string.h>

void
mhar_random_normals (guint64 seed, guint32 site, guint32 draw, gsize n, double *z)
{
  gsize blocks = (n + 3) / 4;
  g_autofree guint32 *words = g_new (guint32, 4 * blocks);

  mhar_random_words (seed, draw, site, MHAR_STREAM_NORMALS, 4 * blocks, words);
  for (gsize pair = 0; 2 * pair < n; pair++) {
    double u0 = (words[2 * pair] + 0.5) / 4294967296.0, u1 = (words[2 * pair + 1] + 0.5) / 4294967296.0;
    double r = sqrt (-2 * log (u0)), a = 2 * G_PI * u1;
    z[2 * pair] = r * cos (a);
    if (2 * pair + 1 < n)
      z[2 * pair + 1] = r * sin (a);
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
  double factor = zz > 0 ? sqrt (qq) / sqrt (zz) : 0;
  for (gsize i = 0, at = first; i < count; i++, at += step)
    z[at] *= factor;
}

void
mhar_rescale_query (const double *query, gsize rows, gsize width, const MharNullNorm *norm, double *z)
{
  gsize slices = MAX (norm->slices, 1), length = width / slices;

  for (gsize r = 0; r < rows; r++)
    for (gsize s = 0; s < slices; s++)
      rescale (query + r * width, z + r * width, norm->interleaved ? s : s * length, norm->interleaved ? slices : 1, length);
}

void
mhar_random_query (guint64 seed, guint32 site, guint32 draw, const double *query, gsize rows, gsize width,
                   const MharNullNorm *norm, double *z)
{
  mhar_random_normals (seed, site, draw, rows * width, z);
  mhar_rescale_query (query, rows, width, norm, z);
}

void
mhar_shuffled_query (guint64 seed, guint32 site, guint32 draw, const double *query, gsize rows, gsize width,
                     const MharNullNorm *norm, double *z)
{
  g_autofree guint32 *words = g_new (guint32, rows * width);

  mhar_random_words (seed, draw, site, MHAR_STREAM_SHUFFLE, rows * width, words);
  memcpy (z, query, rows * width * sizeof *z);
  for (gsize r = 0; r < rows; r++)
    for (gsize i = width - 1, t = 0; i > 0; i--, t++) {
      gsize j = mhar_random_below (words[r * width + t], i + 1);
      double held = z[r * width + i];
      z[r * width + i] = z[r * width + j];
      z[r * width + j] = held;
    }
  if (norm->slices > 0)
    mhar_rescale_query (query, rows, width, norm, z);
}

void
mhar_swapped_order (guint64 seed, guint32 first_site, guint32 draw, gsize n, guint *to)
{
  g_autofree guint32 *words = g_new (guint32, n);

  mhar_random_words (seed, draw, first_site, MHAR_STREAM_SWAP, n, words);
  for (gsize i = 0; i < n; i++)
    to[i] = (guint)i;
  for (gsize i = n - 1, t = 0; n > 1 && i > 0; i--, t++) {
    gsize j = mhar_random_below (words[t], i);
    guint held = to[i];
    to[i] = to[j];
    to[j] = held;
  }
}
