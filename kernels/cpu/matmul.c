/* SPDX-License-Identifier: MIT */
/* Products of activations with weights: OpenBLAS, on weights made floats a chunk of rows at a time. */
#include "kernels/cpu/cpu-private.h"

#include <cblas.h>
#include <limits.h>

static void
add_bias (float *out, size_t ldo, const float *bias, size_t T, size_t count)
{
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < T; i++) {
    float *row = out + i * ldo;
#pragma omp simd
    for (size_t j = 0; j < count; j++)
      row[j] += bias[j];
  }
}

int
mhar_cpu_matmul (MharContext *c, MharRows x, size_t ldx, const MharWeight *w, size_t first, size_t count,
                 const MharWeight *bias, size_t T, MharRows out, size_t ldo)
{
  if (T > INT_MAX || count > INT_MAX || w->cols > INT_MAX || ldx > INT_MAX || ldo > INT_MAX)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "a product of %zu by %zu by %zu is too large for OpenBLAS", T, count,
                          w->cols);
  const float *b;
  int status = mhar_cpu_gain (c, 0, bias, first, count, &b);
  const float *from = mhar_cpu_at (x);
  float *to = mhar_cpu_at (out);
  for (size_t j = 0, n; status == MHAR_OK && j < count; j += n) {
    const float *rows;
    status = mhar_cpu_weight_chunk (c, w, first + j, count - j, &rows, &n);
    if (status == MHAR_OK && T > 0)
      cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasTrans, (int) T, (int) n, (int) w->cols, 1.0f, from, (int) ldx,
                   rows, (int) w->cols, 0.0f, to + j, (int) ldo);
  }
  if (status == MHAR_OK && b != NULL)
    add_bias (to, ldo, b, T, count);
  return status;
}
