/* SPDX-License-Identifier: MIT */
/* Sums of activations: residual streams, gates, hyper-connections. Each element is rounded once. */
#include "kernels/cpu/cpu-private.h"

#include <math.h>

/* Elements one thread takes at a time. */
#define COMBINE_BLOCK ((size_t) 1 << 14)

/* out may be x or y: element i is written after both were read. */
static MHAR_CLONES void
combine_block (double a, const float *x, double b, const float *y, size_t n, float *out)
{
  if (b == 0.0) {
#pragma omp simd
    for (size_t i = 0; i < n; i++)
      out[i] = (float) (a * (double) x[i]);
  } else {
#pragma omp simd
    for (size_t i = 0; i < n; i++)
      out[i] = (float) (a * (double) x[i] + b * (double) y[i]);
  }
}

int
mhar_cpu_combine (MharContext *c, double a, MharRows x, double b, MharRows y, size_t count, MharRows out)
{
  (void) c;
  const float *from = mhar_cpu_at (x), *other = b == 0.0 ? NULL : mhar_cpu_at (y);
  float *to = mhar_cpu_at (out);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; i += COMBINE_BLOCK) {
    size_t n = count - i < COMBINE_BLOCK ? count - i : COMBINE_BLOCK;
    combine_block (a, from + i, b, other == NULL ? NULL : other + i, n, to + i);
  }
  return MHAR_OK;
}

int
mhar_cpu_blend (MharContext *c, MharRows p, MharRows z, MharRows h, size_t count, MharRows out)
{
  (void) c;
  const float *base = mhar_cpu_at (p), *logit = mhar_cpu_at (z), *read = mhar_cpu_at (h);
  float *to = mhar_cpu_at (out);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; i++) {
    double a = 1.0 / (1.0 + exp (-(double) logit[i])), from = (double) base[i];
    to[i] = (float) (from + a * ((double) read[i] - from));
  }
  return MHAR_OK;
}
