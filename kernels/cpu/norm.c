/* SPDX-License-Identifier: MIT */
/* RMSNorm of rows; the mean square is summed in double. */
#include "kernels/cpu/cpu-private.h"

#include <math.h>

MHAR_CLONES void
mhar_cpu_norm_row (const float *x, const float *gain, double eps, size_t D, float *out)
{
  double square = 0.0;
#pragma omp simd reduction(+ : square)
  for (size_t i = 0; i < D; i++)
    square += (double) x[i] * (double) x[i];
  double inverse = 1.0 / sqrt (square / (double) D + eps);
#pragma omp simd
  for (size_t i = 0; i < D; i++)
    out[i] = (float) ((double) x[i] * inverse * (double) gain[i]);
}

int
mhar_cpu_rms_norm (MharContext *c, MharRows x, const MharWeight *gain, double eps, size_t T, size_t D, MharRows out)
{
  const float *g;
  int status = mhar_cpu_gain (c, 0, gain, 0, D, &g);
  if (status != MHAR_OK)
    return status;
  const float *from = mhar_cpu_at (x);
  float *to = mhar_cpu_at (out);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < T; i++)
    mhar_cpu_norm_row (from + i * D, g, eps, D, to + i * D);
  return MHAR_OK;
}
