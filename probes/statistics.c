/* SPDX-License-Identifier: MIT */
#include "probes/statistics.h"

#include <math.h>

double
mhar_pearson (const double *a, const double *b, gsize n)
{
  double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;

  for (gsize i = 0; i < n; i++) {
    ma += a[i] / (double) n;
    mb += b[i] / (double) n;
  }
  for (gsize i = 0; i < n; i++) {
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
    ab += (a[i] - ma) * (b[i] - mb);
  }
  return ab / sqrt (aa * bb);
}
