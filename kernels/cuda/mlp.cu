/* SPDX-License-Identifier: MIT */
/* out = silu (gate) ⊙ up, in one pass over x [T, 2F]. */
#include "kernels/cuda/cuda-private.cuh"
#include "kernels/cuda/pack.cuh"

#define BLOCK 256

/* g / (1 + e^−g) times u. What is rounded to bfloat16 afterwards takes the hardware's exponential and division, whose
 * error of a few float32 ulp it cannot see and which keep the pass as short as its memory traffic. */
template <typename Real> static __device__ __forceinline__ float gated (float g, float u);

template <>
__device__ __forceinline__ float
gated<float> (float g, float u)
{
  return g / (1.0f + expf (-g)) * u;
}

template <>
__device__ __forceinline__ float
gated<__nv_bfloat16> (float g, float u)
{
  return __fdividef (g, 1.0f + __expf (-g)) * u;
}

/* blockIdx.x is the token; `chunks` of 16 bytes make F. */
template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
swiglu_kernel (const Real *x, size_t chunks, Real *out)
{
  constexpr int n = 16 / sizeof (Real);
  const uint4 *gate = (const uint4 *) x + (size_t) blockIdx.x * 2 * chunks;
  uint4 *to = (uint4 *) out + (size_t) blockIdx.x * chunks;
  const size_t i = (size_t) blockIdx.y * blockDim.x + threadIdx.x;
  float g[n], u[n];

  if (i >= chunks)
    return;
  const uint4 gate_bits = gate[i], up_bits = gate[chunks + i];
  mhar_unpack (gate_bits, g);
  mhar_unpack (up_bits, u);
#pragma unroll
  for (int k = 0; k < n; k++)
    g[k] = gated<Real> (g[k], u[k]);
  to[i] = mhar_pack (g);
}

template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
swiglu_plain_kernel (const Real *x, size_t F, Real *out)
{
  const Real *gate = x + (size_t) blockIdx.x * 2 * F;
  Real *to = out + (size_t) blockIdx.x * F;

  for (size_t i = threadIdx.x; i < F; i += blockDim.x)
    to[i] = mhar_from_float<Real> (gated<Real> (mhar_to_float (gate[i]), mhar_to_float (gate[F + i])));
}

template <typename Real>
static int
swiglu (MharContext *c, const Real *x, size_t T, size_t F, Real *out)
{
  const size_t n = 16 / sizeof (Real), chunks = F / n, parts = (chunks + BLOCK - 1) / BLOCK;

  if (F % n == 0 && mhar_cuda_aligned (x) && mhar_cuda_aligned (out) && parts <= 65535) {
    const size_t threads = ((chunks + parts - 1) / parts + 31) / 32 * 32; /* parts of even length */

    swiglu_kernel<<<dim3 ((unsigned) T, (unsigned) parts), (unsigned) threads, 0, c->stream>>> (x, chunks, out);
  } else
    swiglu_plain_kernel<<<(unsigned) T, BLOCK, 0, c->stream>>> (x, F, out);
  MHAR_CUDA_LAUNCHED (c, swiglu);
  return MHAR_OK;
}

int
mhar_cuda_swiglu (MharContext *c, MharRows x, size_t T, size_t F, MharRows out)
{
  MHAR_CUDA_ENTER (c);
  if (T == 0 || F == 0)
    return MHAR_OK;
  if (T > INT32_MAX)
    return mhar_cuda_unsupported (c, "swiglu: more than %d tokens", INT32_MAX);
  if (c->precision == MHAR_PRECISION_BF16)
    return swiglu (c, mhar_cuda_at<__nv_bfloat16> (x), T, F, mhar_cuda_at<__nv_bfloat16> (out));
  return swiglu (c, mhar_cuda_at<float> (x), T, F, mhar_cuda_at<float> (out));
}
