/* SPDX-License-Identifier: MIT */
/* Causal attention in float32 arithmetic, without the t×t scores, for any head width up to 256 at any alignment.
 *
 * A block of 16×16 threads takes BM queries of one head and walks over the keys they may see in tiles of BN. Thread
 * (y, x) scores the queries y + 16·i against the keys x + 16·j, and sums the outputs of the same queries in the columns
 * 64·k + 4·x…4·x + 3. Keys and values take turns in one tile of shared memory. Rows there are 4 floats longer than EP:
 * an odd number of 16-byte units, so that reads of one column in 8 rows lie in different banks. */
#include "kernels/cuda/cuda-private.cuh"

#include <cmath>

#define THREADS 256

typedef struct {
  int t, heads, shared; /* A; A / K heads share a key */
  int width;            /* E */
  int row;              /* (A + 2K)·E, the stride of a token */
  int sliding;          /* 1..t */
  float scale;
} PlainShape;

/* `rows` rows of `width` elements, `row` apart, as float32; zeros up to EP and ROWS. */
template <typename Real, int EP, int ROWS>
static __device__ __forceinline__ void
load_tile (float *to, const Real *from, int row, int rows, int width)
{
  for (int r = threadIdx.x / 32; r < ROWS; r += THREADS / 32)
    for (int e = threadIdx.x % 32; e < EP; e += 32)
      to[r * (EP + 4) + e] = r < rows && e < width ? mhar_to_float (from[(int64_t) r * row + e]) : 0.0f;
}

static __device__ __forceinline__ float
dot4 (float4 a, float4 b, float sum)
{
  return fmaf (a.x, b.x, fmaf (a.y, b.y, fmaf (a.z, b.z, fmaf (a.w, b.w, sum))));
}

/* score[i][j] = scale · q·k, or −∞ where the query does not see the key. `query` and `first` are those of the tiles. */
template <int EP, int RM, int RN>
static __device__ __forceinline__ void
plain_scores (float (&score)[RM][RN], const float *q, const float *k, int query, int first, const PlainShape &s)
{
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;

#pragma unroll
  for (int i = 0; i < RM; i++)
#pragma unroll
    for (int j = 0; j < RN; j++)
      score[i][j] = 0.0f;
  for (int e = 0; e < s.width; e += 4) {
    float4 a[RM], b[RN];

#pragma unroll
    for (int i = 0; i < RM; i++)
      a[i] = *(const float4 *) (q + (y + 16 * i) * (EP + 4) + e);
#pragma unroll
    for (int j = 0; j < RN; j++)
      b[j] = *(const float4 *) (k + (x + 16 * j) * (EP + 4) + e);
#pragma unroll
    for (int i = 0; i < RM; i++)
#pragma unroll
      for (int j = 0; j < RN; j++)
        score[i][j] = dot4 (a[i], b[j], score[i][j]);
  }
#pragma unroll
  for (int i = 0; i < RM; i++)
#pragma unroll
    for (int j = 0; j < RN; j++) {
      const int row = query + y + 16 * i, key = first + x + 16 * j;

      score[i][j] = key > row || key <= row - s.sliding ? -INFINITY : score[i][j] * s.scale;
    }
}

/* Scores become weights, put down in `p` [BM][BN + 4]; `most` and `sum` are the running ones of each query, the same in
 * the 16 threads that share it, and `shrink` what the outputs so far are to be multiplied by. */
template <int BN, int RM, int RN>
static __device__ __forceinline__ void
plain_weights (const float (&score)[RM][RN], float *p, float (&most)[RM], float (&sum)[RM], float (&shrink)[RM])
{
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;

#pragma unroll
  for (int i = 0; i < RM; i++) {
    float top = most[i], total = 0.0f;

#pragma unroll
    for (int j = 0; j < RN; j++)
      top = fmaxf (top, score[i][j]);
    for (int step = 8; step > 0; step /= 2)
      top = fmaxf (top, __shfl_xor_sync (0xffffffffu, top, step));

    const float base = top == -INFINITY ? 0.0f : top; /* no key seen yet: no ∞ − ∞ */
    shrink[i] = expf (most[i] - base);
#pragma unroll
    for (int j = 0; j < RN; j++) {
      const float w = expf (score[i][j] - base);

      p[(y + 16 * i) * (BN + 4) + x + 16 * j] = w;
      total += w;
    }
    for (int step = 8; step > 0; step /= 2)
      total += __shfl_xor_sync (0xffffffffu, total, step);
    most[i] = top;
    sum[i] = fmaf (sum[i], shrink[i], total);
  }
}

/* out = out·shrink + p·v. */
template <int EP, int BN, int RM>
static __device__ __forceinline__ void
plain_values (float4 (&out)[RM][EP / 64], const float *p, const float *v, const float (&shrink)[RM], int width)
{
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;

#pragma unroll
  for (int k = 0; k < EP / 64; k++) {
    if (64 * k >= width)
      continue;
#pragma unroll
    for (int i = 0; i < RM; i++) {
      out[i][k].x *= shrink[i];
      out[i][k].y *= shrink[i];
      out[i][k].z *= shrink[i];
      out[i][k].w *= shrink[i];
    }
#pragma unroll 4
    for (int key = 0; key < BN; key++) {
      const float4 b = *(const float4 *) (v + key * (EP + 4) + 64 * k + 4 * x);

#pragma unroll
      for (int i = 0; i < RM; i++) {
        const float w = p[(y + 16 * i) * (BN + 4) + key];

        out[i][k].x = fmaf (w, b.x, out[i][k].x);
        out[i][k].y = fmaf (w, b.y, out[i][k].y);
        out[i][k].z = fmaf (w, b.z, out[i][k].z);
        out[i][k].w = fmaf (w, b.w, out[i][k].w);
      }
    }
  }
}

/* `out` is the place of the tile's first query, `rows` how many there are. */
template <typename Real, int EP, int RM>
static __device__ __forceinline__ void
plain_store (const float4 (&out)[RM][EP / 64], const float (&sum)[RM], Real *to, int rows, const PlainShape &s)
{
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;

#pragma unroll
  for (int i = 0; i < RM; i++) {
    Real *row = to + (int64_t) (y + 16 * i) * s.heads * s.width;

    if (y + 16 * i >= rows)
      continue;
#pragma unroll
    for (int k = 0; k < EP / 64; k++) {
      const float four[4] = { out[i][k].x, out[i][k].y, out[i][k].z, out[i][k].w };

#pragma unroll
      for (int l = 0; l < 4; l++)
        if (64 * k + 4 * x + l < s.width)
          row[64 * k + 4 * x + l] = mhar_from_float<Real> (four[l] / sum[i]);
    }
  }
}

template <typename Real, int EP, int BM, int BN>
static __global__ void __launch_bounds__ (THREADS)
plain_kernel (const Real *qkv, Real *out, PlainShape s)
{
  constexpr int RM = BM / 16, RN = BN / 16;
  extern __shared__ __align__ (16) float plain_shared[];
  float *q = plain_shared, *kv = q + BM * (EP + 4), *p = kv + BN * (EP + 4);
  const int head = blockIdx.x, window = blockIdx.y, block = (gridDim.z - 1 - blockIdx.z) * BM;
  const int end = min (block + BM, s.t), begin = max (block - s.sliding + 1, 0) / BN * BN;
  const Real *tokens = qkv + (int64_t) window * s.t * s.row;
  const Real *keys = tokens + (s.heads + head / s.shared) * s.width;
  const Real *values = keys + s.heads / s.shared * s.width;
  float4 sums[RM][EP / 64] = {};
  float score[RM][RN], most[RM], sum[RM] = {}, shrink[RM];

#pragma unroll
  for (int i = 0; i < RM; i++)
    most[i] = -INFINITY;
  load_tile<Real, EP, BM> (q, tokens + (int64_t) block * s.row + head * s.width, s.row, s.t - block, s.width);
  for (int first = begin; first < end; first += BN) {
    load_tile<Real, EP, BN> (kv, keys + (int64_t) first * s.row, s.row, s.t - first, s.width);
    __syncthreads ();
    plain_scores<EP, RM, RN> (score, q, kv, block, first, s);
    plain_weights<BN, RM, RN> (score, p, most, sum, shrink);
    __syncthreads ();
    load_tile<Real, EP, BN> (kv, values + (int64_t) first * s.row, s.row, s.t - first, s.width);
    __syncthreads ();
    plain_values<EP, BN, RM> (sums, p, kv, shrink, s.width);
    __syncthreads ();
  }
  plain_store<Real, EP, RM> (sums, sum, out + ((int64_t) (window * s.t + block) * s.heads + head) * s.width,
                             s.t - block, s);
}

template <typename Real, int EP, int BM, int BN>
static int
launch (MharContext *c, const Real *qkv, Real *out, size_t W, const PlainShape &s)
{
  const size_t bytes = ((BM + BN) * (EP + 4) + BM * (BN + 4)) * sizeof (float);
  const dim3 grid (s.heads, (unsigned) W, (unsigned) ((s.t + BM - 1) / BM));

  MHAR_CUDA_TRY (c, cudaFuncSetAttribute (plain_kernel<Real, EP, BM, BN>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int) bytes));
  plain_kernel<Real, EP, BM, BN><<<grid, THREADS, bytes, c->stream>>> (qkv, out, s);
  MHAR_CUDA_LAUNCHED (c, attention);
  return MHAR_OK;
}

template <typename Real>
static int
launch_width (MharContext *c, const Real *qkv, Real *out, size_t W, const PlainShape &s)
{
  if (s.width <= 64)
    return launch<Real, 64, 64, 64> (c, qkv, out, W, s);
  if (s.width <= 128)
    return launch<Real, 128, 64, 64> (c, qkv, out, W, s);
  return launch<Real, 256, 32, 32> (c, qkv, out, W, s);
}

int
mhar_cuda_attention_plain (MharContext *c, MharRows qkv, double scale, size_t sliding, size_t W, size_t t, size_t A,
                           size_t K, size_t E, MharRows out)
{
  PlainShape s;

  s.t = (int) t;
  s.heads = (int) A;
  s.shared = (int) (A / K);
  s.width = (int) E;
  s.row = (int) ((A + 2 * K) * E);
  s.sliding = (int) sliding;
  s.scale = (float) scale;
  if (c->precision == MHAR_PRECISION_BF16)
    return launch_width (c, mhar_cuda_at<__nv_bfloat16> (qkv), mhar_cuda_at<__nv_bfloat16> (out), W, s);
  return launch_width (c, mhar_cuda_at<float> (qkv), mhar_cuda_at<float> (out), W, s);
}
