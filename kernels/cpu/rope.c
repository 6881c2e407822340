/* SPDX-License-Identifier: MIT */
/* Query and key heads: RMSNorm where the model has it, then the rotary embedding in half-split pairs. */
#include "kernels/cpu/cpu-private.h"

/* heads [n, E] of one token; cos_sin [E] of its position. */
static MHAR_CLONES void
rotate (float *heads, size_t n, size_t E, const float *cos_sin)
{
  size_t half = E / 2;
  const float *cosine = cos_sin, *sine = cos_sin + half;
  for (size_t h = 0; h < n; h++) {
    float *a = heads + h * E, *b = a + half;
#pragma omp simd
    for (size_t i = 0; i < half; i++) {
      float x = a[i], y = b[i];
      a[i] = x * cosine[i] - y * sine[i];
      b[i] = y * cosine[i] + x * sine[i];
    }
  }
}

static void
norm_heads (float *heads, size_t n, size_t E, const float *gain, double eps)
{
  for (size_t h = 0; gain != NULL && h < n; h++)
    mhar_cpu_norm_row (heads + h * E, gain, eps, E, heads + h * E);
}

int
mhar_cpu_rope (MharContext *c, MharRows qkv, const MharWeight *q_gain, const MharWeight *k_gain, double eps,
               const MharBuffer *cos_sin, size_t W, size_t t, size_t A, size_t K, size_t E)
{
  if (E % 2 != 0)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "rotary embedding of an odd head width, %zu", E);
  const float *q, *k;
  int status = mhar_cpu_gain (c, 0, q_gain, 0, E, &q);
  if (status == MHAR_OK)
    status = mhar_cpu_gain (c, 1, k_gain, 0, E, &k);
  if (status != MHAR_OK)
    return status;
  float *rows = mhar_cpu_at (qkv);
  const float *angles = cos_sin->data;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < W * t; i++) {
    float *row = rows + i * (A + 2 * K) * E;
    norm_heads (row, A, E, q, eps);
    norm_heads (row + A * E, K, E, k, eps);
    rotate (row, A + K, E, angles + i % t * E);
  }
  return MHAR_OK;
}
