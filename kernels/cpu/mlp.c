/* SPDX-License-Identifier: MIT */
/* The gate of the feed-forward layer: silu (gate) ⊙ up. */
#include "kernels/cpu/cpu-private.h"
#include "kernels/cpu/vexp.h"

static MHAR_CLONES void
gate_row (const float *gate, const float *up, size_t F, float *out)
{
#pragma omp simd
  for (size_t i = 0; i < F; i++)
    out[i] = gate[i] / (1.0f + mhar_expf (-gate[i])) * up[i];
}

int
mhar_cpu_swiglu (MharContext *c, MharRows x, size_t T, size_t F, MharRows out)
{
  (void) c;
  const float *from = mhar_cpu_at (x);
  float *to = mhar_cpu_at (out);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < T; i++)
    gate_row (from + i * 2 * F, from + i * 2 * F + F, F, to + i * F);
  return MHAR_OK;
}
