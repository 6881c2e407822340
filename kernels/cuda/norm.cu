/* SPDX-License-Identifier: MIT */
/* out = x / sqrt (mean x² + eps) ⊙ gain, a row by a warp or, when it is wide, by a block. The row is read once, by 16
 * bytes, and stays in registers; rows that cannot be read so, or are wider still, are read twice by elements. */
#include "kernels/cuda/cuda-private.cuh"
#include "kernels/cuda/pack.cuh"

#define BLOCK 256

/* The sum over the THREADS (32, or the whole block) of a row, in each of them, always in the same order. */
template <int THREADS>
static __device__ __forceinline__ float
row_sum (float x)
{
  x = mhar_lanes_sum (x, 32);
  if constexpr (THREADS > 32) {
    __shared__ float of_warp[THREADS / 32];

    if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = x;
    __syncthreads ();
    x = 0.0f;
    for (int i = 0; i < THREADS / 32; i++)
      x += of_warp[i];
  }
  return x;
}

template <typename Real, int THREADS, int CHUNKS>
static __global__ void __launch_bounds__ (BLOCK)
rms_norm_kernel (const Real *x, const float *gain, float eps, size_t T, int D, Real *out)
{
  constexpr int n = 16 / sizeof (Real);
  const size_t row = (size_t) blockIdx.x * (BLOCK / THREADS) + threadIdx.x / THREADS;
  const int lane = threadIdx.x % THREADS, chunks = row < T ? D / n : 0;
  const uint4 *from = (const uint4 *) (x + row * D);
  uint4 *to = (uint4 *) (out + row * D);
  uint4 kept[CHUNKS];
  float v[n], g[n], sum = 0.0f;

#pragma unroll
  for (int i = 0; i < CHUNKS; i++)
    kept[i] = lane + i * THREADS < chunks ? from[lane + i * THREADS] : make_uint4 (0, 0, 0, 0);
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    mhar_unpack (kept[i], v);
#pragma unroll
    for (int k = 0; k < n; k++)
      sum = fmaf (v[k], v[k], sum);
  }
  const float scale = 1.0f / sqrtf (row_sum<THREADS> (sum) / (float) D + eps);
#pragma unroll
  for (int i = 0; i < CHUNKS; i++)
    if (lane + i * THREADS < chunks) {
      mhar_unpack (kept[i], v);
      mhar_load_floats (gain + (lane + i * THREADS) * n, g);
#pragma unroll
      for (int k = 0; k < n; k++)
        v[k] = v[k] * scale * g[k];
      to[lane + i * THREADS] = mhar_pack (v);
    }
}

/* A thread writes only elements it alone reads, so `out` may be `x` here too. */
template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
rms_norm_plain_kernel (const Real *x, const float *gain, float eps, size_t D, Real *out)
{
  const Real *from = x + (size_t) blockIdx.x * D;
  Real *to = out + (size_t) blockIdx.x * D;
  float sum = 0.0f;

  for (size_t i = threadIdx.x; i < D; i += BLOCK) {
    const float v = mhar_to_float (from[i]);

    sum = fmaf (v, v, sum);
  }
  const float scale = 1.0f / sqrtf (row_sum<BLOCK> (sum) / (float) D + eps);
  for (size_t i = threadIdx.x; i < D; i += BLOCK)
    to[i] = mhar_from_float<Real> (mhar_to_float (from[i]) * scale * gain[i]);
}

template <typename Real, int THREADS, int CHUNKS>
static void
launch (MharContext *c, const Real *x, const float *gain, double eps, size_t T, size_t D, Real *out)
{
  const size_t rows = BLOCK / THREADS;
  const unsigned blocks = (unsigned) ((T + rows - 1) / rows);

  rms_norm_kernel<Real, THREADS, CHUNKS><<<blocks, BLOCK, 0, c->stream>>> (x, gain, (float) eps, T, (int) D, out);
}

template <typename Real>
static int
rms_norm (MharContext *c, MharRows x, const float *gain, double eps, size_t T, size_t D, MharRows out)
{
  const Real *from = mhar_cuda_at<Real> (x);
  Real *to = mhar_cuda_at<Real> (out);
  const size_t n = 16 / sizeof (Real), lanes = (D / n + 31) / 32; /* chunks of each lane of a warp */

  if (D % n != 0 || !mhar_cuda_aligned (from) || !mhar_cuda_aligned (to) || lanes > 64)
    rms_norm_plain_kernel<<<(unsigned) T, BLOCK, 0, c->stream>>> (from, gain, (float) eps, D, to);
  else if (lanes <= 1)
    launch<Real, 32, 1> (c, from, gain, eps, T, D, to);
  else if (lanes == 2)
    launch<Real, 32, 2> (c, from, gain, eps, T, D, to);
  else if (lanes == 3)
    launch<Real, 32, 3> (c, from, gain, eps, T, D, to);
  else if (lanes == 4)
    launch<Real, 32, 4> (c, from, gain, eps, T, D, to);
  else if (lanes == 5)
    launch<Real, 32, 5> (c, from, gain, eps, T, D, to);
  else if (lanes <= 8)
    launch<Real, 32, 8> (c, from, gain, eps, T, D, to);
  else if (lanes <= 16)
    launch<Real, BLOCK, 2> (c, from, gain, eps, T, D, to);
  else if (lanes <= 32)
    launch<Real, BLOCK, 4> (c, from, gain, eps, T, D, to);
  else
    launch<Real, BLOCK, 8> (c, from, gain, eps, T, D, to);
  MHAR_CUDA_LAUNCHED (c, rms_norm);
  return MHAR_OK;
}

int
mhar_cuda_rms_norm (MharContext *c, MharRows x, const MharWeight *gain, double eps, size_t T, size_t D, MharRows out)
{
  const float *g = (const float *) gain->data;

  MHAR_CUDA_ENTER (c);
  if (T == 0 || D == 0)
    return MHAR_OK;
  if (T > INT32_MAX)
    return mhar_cuda_unsupported (c, "rms_norm: more than %d rows", INT32_MAX);
  if (c->precision == MHAR_PRECISION_BF16)
    return rms_norm<__nv_bfloat16> (c, x, g, eps, T, D, out);
  return rms_norm<float> (c, x, g, eps, T, D, out);
}
