/* SPDX-License-Identifier: MIT */
/* Sums of activations, element by element: out = a·x + b·y, and out = p + sigmoid (z) ⊙ (h − p). */
#include "kernels/cuda/cuda-private.cuh"
#include "kernels/cuda/pack.cuh"

#define BLOCK 256

/* y is NULL when b is 0. A thread reads only what it writes, so `out` may be x or y. */
template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
combine_kernel (float a, const uint4 *x, float b, const uint4 *y, size_t chunks, uint4 *out)
{
  constexpr int n = 16 / sizeof (Real);
  const size_t i = (size_t) blockIdx.x * BLOCK + threadIdx.x;
  float u[n], v[n] = {};

  if (i >= chunks)
    return;
  const uint4 x_bits = x[i], y_bits = y != NULL ? y[i] : make_uint4 (0, 0, 0, 0);
  mhar_unpack (x_bits, u);
  mhar_unpack (y_bits, v);
#pragma unroll
  for (int k = 0; k < n; k++)
    u[k] = y != NULL ? fmaf (a, u[k], b * v[k]) : a * u[k];
  out[i] = mhar_pack (u);
}

template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
combine_plain_kernel (float a, const Real *x, float b, const Real *y, size_t count, Real *out)
{
  const size_t i = (size_t) blockIdx.x * BLOCK + threadIdx.x;

  if (i < count) {
    const float u = mhar_to_float (x[i]);

    out[i] = mhar_from_float<Real> (y != NULL ? fmaf (a, u, b * mhar_to_float (y[i])) : a * u);
  }
}

template <typename Real>
static int
combine (MharContext *c, double a, const Real *x, double b, const Real *y, size_t count, Real *out)
{
  const size_t n = 16 / sizeof (Real);
  const bool whole = count % n == 0 && mhar_cuda_aligned (x) && mhar_cuda_aligned (y) && mhar_cuda_aligned (out);
  const size_t blocks = ((whole ? count / n : count) + BLOCK - 1) / BLOCK;

  if (blocks > INT32_MAX)
    return mhar_cuda_unsupported (c, "combine: %zu elements", count);
  if (whole)
    combine_kernel<Real><<<(unsigned) blocks, BLOCK, 0, c->stream>>> (
        (float) a, (const uint4 *) x, (float) b, (const uint4 *) y, count / n, (uint4 *) out);
  else
    combine_plain_kernel<<<(unsigned) blocks, BLOCK, 0, c->stream>>> ((float) a, x, (float) b, y, count, out);
  MHAR_CUDA_LAUNCHED (c, combine);
  return MHAR_OK;
}

int
mhar_cuda_combine (MharContext *c, double a, MharRows x, double b, MharRows y, size_t count, MharRows out)
{
  MHAR_CUDA_ENTER (c);
  if (count == 0)
    return MHAR_OK;
  if (c->precision == MHAR_PRECISION_BF16)
    return combine (c, a, mhar_cuda_at<__nv_bfloat16> (x), b, b != 0.0 ? mhar_cuda_at<__nv_bfloat16> (y) : NULL, count,
                    mhar_cuda_at<__nv_bfloat16> (out));
  return combine (c, a, mhar_cuda_at<float> (x), b, b != 0.0 ? mhar_cuda_at<float> (y) : NULL, count,
                  mhar_cuda_at<float> (out));
}

/* A thread reads only what it writes, so `out` may be any of the others. Gates are few: one element a thread will do. */
template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
blend_kernel (const Real *p, const Real *z, const Real *h, size_t count, Real *out)
{
  const size_t i = (size_t) blockIdx.x * BLOCK + threadIdx.x;

  if (i < count) {
    const float from = mhar_to_float (p[i]), a = 1.0f / (1.0f + expf (-mhar_to_float (z[i])));

    out[i] = mhar_from_float<Real> (fmaf (a, mhar_to_float (h[i]) - from, from));
  }
}

template <typename Real>
static int
blend (MharContext *c, const Real *p, const Real *z, const Real *h, size_t count, Real *out)
{
  const size_t blocks = (count + BLOCK - 1) / BLOCK;

  if (blocks > INT32_MAX)
    return mhar_cuda_unsupported (c, "blend: %zu elements", count);
  blend_kernel<<<(unsigned) blocks, BLOCK, 0, c->stream>>> (p, z, h, count, out);
  MHAR_CUDA_LAUNCHED (c, blend);
  return MHAR_OK;
}

int
mhar_cuda_blend (MharContext *c, MharRows p, MharRows z, MharRows h, size_t count, MharRows out)
{
  MHAR_CUDA_ENTER (c);
  if (count == 0)
    return MHAR_OK;
  if (c->precision == MHAR_PRECISION_BF16)
    return blend (c, mhar_cuda_at<const __nv_bfloat16> (p), mhar_cuda_at<const __nv_bfloat16> (z),
                  mhar_cuda_at<const __nv_bfloat16> (h), count, mhar_cuda_at<__nv_bfloat16> (out));
  return blend (c, mhar_cuda_at<const float> (p), mhar_cuda_at<const float> (z), mhar_cuda_at<const float> (h), count,
                mhar_cuda_at<float> (out));
}
