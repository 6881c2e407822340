/* SPDX-License-Identifier: MIT */
/* RMSNorm of the query and key heads and their rotary embedding, in place and in one pass.
 *
 * A head is held by a group of lanes: lane i has the i-th 16 bytes of its first half and of its second, which are the
 * two sides of its pairs. A group takes up to HEADS heads of one token, whose cosines and sines it reads once. */
#include "kernels/cuda/cuda-private.cuh"
#include "kernels/cuda/pack.cuh"

#define BLOCK 256
#define HEADS 4

typedef struct {
  unsigned items, batches; /* groups of work: T · batches; head batches a token */
  unsigned t;
  int queries, heads; /* A; A + K */
  int width;          /* E */
  int lanes;          /* of a group: a power of two, at least E / 2 over what 16 bytes hold */
  size_t row;         /* (A + 2K)·E */
  float eps;
} RopeShape;

/* One head in registers: a and b are 16 bytes of either half, g the gain (NULL: no norm). Every lane of the warp comes
 * here, whatever its head needs, because the sum is taken by the whole warp. */
template <int N>
static __device__ __forceinline__ void
turn_head (uint4 &a_bits, uint4 &b_bits, const float *gain, int half, const float (&cosine)[N], const float (&sine)[N],
           const RopeShape &s)
{
  float a[N], b[N], sum = 0.0f;

  mhar_unpack (a_bits, a);
  mhar_unpack (b_bits, b);
#pragma unroll
  for (int k = 0; k < N; k++)
    sum = fmaf (a[k], a[k], fmaf (b[k], b[k], sum));
  sum = mhar_lanes_sum (sum, s.lanes);
  if (gain != NULL) {
    const float scale = 1.0f / sqrtf (sum / (float) s.width + s.eps);
    float g[N];

    mhar_load_floats (gain, g);
#pragma unroll
    for (int k = 0; k < N; k++)
      a[k] = a[k] * scale * g[k];
    mhar_load_floats (gain + half, g);
#pragma unroll
    for (int k = 0; k < N; k++)
      b[k] = b[k] * scale * g[k];
  }
#pragma unroll
  for (int k = 0; k < N; k++) {
    const float x = a[k], y = b[k];

    a[k] = x * cosine[k] - y * sine[k];
    b[k] = y * cosine[k] + x * sine[k];
  }
  a_bits = mhar_pack (a);
  b_bits = mhar_pack (b);
}

template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
rope_kernel (Real *qkv, const float *q_gain, const float *k_gain, const float *cos_sin, RopeShape s)
{
  constexpr int n = 16 / sizeof (Real);
  const unsigned item = blockIdx.x * (BLOCK / s.lanes) + threadIdx.x / s.lanes;
  const unsigned token = item / s.batches, batch = item % s.batches;
  const int half = s.width / 2, at = (int) (threadIdx.x % s.lanes) * n;
  const bool active = item < s.items && at < half;
  Real *row = qkv + token * s.row + at;
  uint4 a[HEADS], b[HEADS];
  float cosine[n] = {}, sine[n] = {};

  if (active) {
    const float *angle = cos_sin + (size_t) (token % s.t) * s.width + at;

    mhar_load_floats (angle, cosine);
    mhar_load_floats (angle + half, sine);
  }
#pragma unroll
  for (int i = 0; i < HEADS; i++) {
    const int head = (int) (batch + i * s.batches);
    const bool mine = active && head < s.heads;

    a[i] = mine ? *(const uint4 *) (row + head * s.width) : make_uint4 (0, 0, 0, 0);
    b[i] = mine ? *(const uint4 *) (row + head * s.width + half) : make_uint4 (0, 0, 0, 0);
  }
#pragma unroll
  for (int i = 0; i < HEADS; i++) {
    const int head = (int) (batch + i * s.batches);
    const float *gain = head < s.queries ? q_gain : k_gain;

    turn_head (a[i], b[i], active && gain != NULL ? gain + at : NULL, half, cosine, sine, s);
    if (active && head < s.heads) {
      *(uint4 *) (row + head * s.width) = a[i];
      *(uint4 *) (row + head * s.width + half) = b[i];
    }
  }
}

/* Any even E at any alignment: a warp a head, blockIdx.x the token. */
template <typename Real>
static __global__ void __launch_bounds__ (BLOCK)
rope_plain_kernel (Real *qkv, const float *q_gain, const float *k_gain, const float *cos_sin, RopeShape s)
{
  const int half = s.width / 2, lane = threadIdx.x % 32;
  const float *angle = cos_sin + (size_t) (blockIdx.x % s.t) * s.width;

  for (int head = threadIdx.x / 32; head < s.heads; head += BLOCK / 32) {
    Real *x = qkv + blockIdx.x * s.row + (size_t) head * s.width;
    const float *gain = head < s.queries ? q_gain : k_gain;
    float sum = 0.0f, scale = 1.0f;

    for (int i = lane; i < s.width; i += 32)
      sum = fmaf (mhar_to_float (x[i]), mhar_to_float (x[i]), sum);
    sum = mhar_lanes_sum (sum, 32);
    if (gain != NULL)
      scale = 1.0f / sqrtf (sum / (float) s.width + s.eps);
    for (int i = lane; i < half; i += 32) {
      const float a = mhar_to_float (x[i]) * scale * (gain != NULL ? gain[i] : 1.0f);
      const float b = mhar_to_float (x[i + half]) * scale * (gain != NULL ? gain[i + half] : 1.0f);

      x[i] = mhar_from_float<Real> (a * angle[i] - b * angle[i + half]);
      x[i + half] = mhar_from_float<Real> (b * angle[i] + a * angle[i + half]);
    }
  }
}

template <typename Real>
static int
rope (MharContext *c, Real *qkv, const float *q_gain, const float *k_gain, const float *cos_sin, size_t T, RopeShape s)
{
  const int n = 16 / sizeof (Real);
  const size_t items = T * s.batches;

  s.lanes = 1;
  while (s.lanes * n * 2 < s.width)
    s.lanes *= 2;
  s.items = (unsigned) items;
  if (s.width % (2 * n) == 0 && s.lanes <= 32 && mhar_cuda_aligned (qkv) && items <= INT32_MAX) {
    const unsigned groups = BLOCK / s.lanes;

    rope_kernel<<<(s.items + groups - 1) / groups, BLOCK, 0, c->stream>>> (qkv, q_gain, k_gain, cos_sin, s);
  } else
    rope_plain_kernel<<<(unsigned) T, BLOCK, 0, c->stream>>> (qkv, q_gain, k_gain, cos_sin, s);
  MHAR_CUDA_LAUNCHED (c, rope);
  return MHAR_OK;
}

int
mhar_cuda_rope (MharContext *c, MharRows qkv, const MharWeight *q_gain, const MharWeight *k_gain, double eps,
                const MharBuffer *cos_sin, size_t W, size_t t, size_t A, size_t K, size_t E)
{
  const float *q = q_gain != NULL ? (const float *) q_gain->data : NULL;
  const float *k = k_gain != NULL ? (const float *) k_gain->data : NULL;
  const float *angles = (const float *) cos_sin->data;
  RopeShape s = {};

  MHAR_CUDA_ENTER (c);
  if (W * t == 0 || A + K == 0 || E == 0)
    return MHAR_OK;
  if (E % 2 != 0 || W * t > INT32_MAX || (A + 2 * K) * E > INT32_MAX)
    return mhar_cuda_unsupported (c, "rope: %zu tokens, %zu + 2·%zu heads of %zu", W * t, A, K, E);
  s.t = (unsigned) t;
  s.queries = (int) A;
  s.heads = (int) (A + K);
  s.batches = (unsigned) ((A + K + HEADS - 1) / HEADS);
  s.width = (int) E;
  s.row = (A + 2 * K) * E;
  s.eps = (float) eps;
  if (c->precision == MHAR_PRECISION_BF16)
    return rope (c, mhar_cuda_at<__nv_bfloat16> (qkv), q, k, angles, W * t, s);
  return rope (c, mhar_cuda_at<float> (qkv), q, k, angles, W * t, s);
}
