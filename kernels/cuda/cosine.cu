/* SPDX-License-Identifier: MIT */
/* Cosines between every pair of rows, token by token, summed over the tokens of each window: the products of 96 by 96
 * rows at a time, on tensor cores in bf16 (rows are exact, sums float32), with fused multiply-adds in float32. A thread
 * block goes through the tokens of one piece of a window; it brings a token's rows to shared memory some channels at a
 * time, and keeps the sums over tokens in registers. */
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/route-private.cuh"

#include <math.h>
#include <string.h>

#define COSINE_SIDE 96 /* rows along each side of a block's square */
#define COSINE_M (COSINE_SIDE / 16)
#define COSINE_N (COSINE_SIDE / 8)
#define COSINE_THREADS 256
#define COSINE_TILES (COSINE_M * COSINE_N / (COSINE_THREADS / 32)) /* 16×8 products a warp */
#define COSINE_CHANNELS 128
#define COSINE_TOKENS 16 /* a piece */

/* Items in shared memory at a time. */
template <typename Real> struct CosineStages {
  static const int n = sizeof (Real) == 2 ? 4 : 2;
};

template <typename Real> struct CosineArgs {
  const Real *history;
  size_t row_elements, stride;
  const float *squares;
  size_t squares_row; /* floats from row to row */
  const int32_t *rows;
  int n, width, sides, pieces;
  MharSpan span;
  float *sum;      /* [pieces of all windows, n, n]: upper triangle */
  float *absolute; /* [pieces of all windows, squares]: Σ |cos| over i < j */
  int *zero;
};

template <typename Real>
static __host__ __device__ __forceinline__ int
cosine_pitch (void)
{
  return COSINE_CHANNELS + 16 / (int) sizeof (Real);
}

/* Square k of the upper triangle of sides × sides: its row and column. */
static __device__ __forceinline__ void
cosine_square (int k, int sides, int *i, int *j)
{
  for (*i = 0; k >= sides - *i; ++*i)
    k -= sides - *i;
  *j = *i + k;
}

/* Starts bringing channels [channel, + COSINE_CHANNELS) of one token: rows i0… then, if `second`, rows j0…; zeros past
 * the last row and the width. */
template <typename Real, int VEC>
static __device__ void
cosine_fetch (const CosineArgs<Real> &a, size_t token, int channel, int i0, int j0, bool second, Real *stage)
{
  const int units = COSINE_CHANNELS / VEC, pitch = cosine_pitch<Real> ();
  for (int u = threadIdx.x; u < (second ? 2 : 1) * COSINE_SIDE * units; u += COSINE_THREADS) {
    const int side = u / units, at = channel + u % units * VEC;
    const int row = side < COSINE_SIDE ? i0 + side : j0 + side - COSINE_SIDE;
    const bool there = row < a.n && at < a.width;
    const Real *from = a.history + (there ? a.rows[row] * a.row_elements + token * a.width + at : 0);
    Real *to = stage + side * pitch + u % units * VEC;
    if constexpr (VEC > 1)
      mhar_copy_start (mhar_shared_address (to), from, there);
    else
      *to = there ? *from : mhar_from_float<Real> (0.0f);
  }
}

/* acc += x·y over the channels of a stage, x rows 16m…, y rows 8n…. */
static __device__ __forceinline__ void
cosine_product (const __nv_bfloat16 *x, const __nv_bfloat16 *y, float (&acc)[4])
{
  const int lane = threadIdx.x % 32, pitch = cosine_pitch<__nv_bfloat16> ();
  x += lane % 16 * pitch + lane / 16 * 8;
  y += lane % 8 * pitch + lane / 8 * 8;
#pragma unroll
  for (int k = 0; k < COSINE_CHANNELS; k += 32) {
    uint32_t a[4], b[4], more[4];
    mhar_matrix_load (a, mhar_shared_address (x + k));
    mhar_matrix_load (more, mhar_shared_address (x + k + 16));
    mhar_matrix_load (b, mhar_shared_address (y + k));
    mhar_mma (acc, a, b[0], b[1]);
    mhar_mma (acc, more, b[2], b[3]);
  }
}

static __device__ __forceinline__ void
cosine_product (const float *x, const float *y, float (&acc)[4])
{
  const int lane = threadIdx.x % 32, pitch = cosine_pitch<float> ();
  x += lane / 4 * pitch;
  y += lane % 4 * 2 * pitch;
#pragma unroll 2
  for (int k = 0; k < COSINE_CHANNELS; k += 4) {
    const float4 a[2] = { *(const float4 *) (x + k), *(const float4 *) (x + 8 * pitch + k) };
    const float4 b[2] = { *(const float4 *) (y + k), *(const float4 *) (y + pitch + k) };
#pragma unroll
    for (int i = 0; i < 4; i++) {
      acc[i] = fmaf (a[i / 2].x, b[i % 2].x, acc[i]);
      acc[i] = fmaf (a[i / 2].y, b[i % 2].y, acc[i]);
      acc[i] = fmaf (a[i / 2].z, b[i % 2].z, acc[i]);
      acc[i] = fmaf (a[i / 2].w, b[i % 2].w, acc[i]);
    }
  }
}

/* 1/‖row‖ of the square's rows and columns at a token; 0, and *zero set, for a row of zeros. */
template <typename Real>
static __device__ void
cosine_inverses (const CosineArgs<Real> &a, size_t token, int i0, int j0, float *inverse)
{
  for (int u = threadIdx.x; u < 2 * COSINE_SIDE; u += COSINE_THREADS) {
    const int row = u < COSINE_SIDE ? i0 + u : j0 + u - COSINE_SIDE;
    const float square = row < a.n ? a.squares[a.rows[row] * a.squares_row + token] : 1.0f;
    if (square == 0)
      *a.zero = 1; /* whoever comes first: all write the same */
    inverse[u] = square > 0 ? 1.0f / sqrtf (square) : 0.0f;
  }
}

/* Whether product `tile` of the square lies in the triangle i ≤ j, and where its rows and columns begin. */
static __device__ __forceinline__ bool
cosine_tile (int tile, int n, int i0, int j0, int *m, int *at)
{
  *m = tile / COSINE_N * 16;
  *at = tile % COSINE_N * 8;
  return j0 + *at + 7 >= i0 + *m && i0 + *m < n && j0 + *at < n;
}

/* A finished token: its cosines into the sums, and their absolute values above the diagonal. */
static __device__ __forceinline__ void
cosine_take (int row, int column, int i0, int j0, int n, const float *inverse, float (&acc)[4], float (&sum)[4],
             float *absolute)
{
#pragma unroll
  for (int e = 0; e < 4; e++) {
    const int r = row + threadIdx.x % 32 / 4 + e / 2 * 8, c = column + threadIdx.x % 4 * 2 + e % 2;
    const float cosine = acc[e] * inverse[r] * inverse[COSINE_SIDE + c];
    sum[e] += cosine;
    *absolute += i0 + r < j0 + c && j0 + c < n ? fabsf (cosine) : 0.0f;
    acc[e] = 0;
  }
}

/* Sum of x over the block, in thread 0. */
static __device__ float
cosine_block_sum (float x)
{
  __shared__ float part[COSINE_THREADS / 32];
  x = mhar_lanes_sum (x, 32);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = x;
  __syncthreads ();
  x = 0;
  for (float p : part)
    x += p;
  return x;
}

/* Grid [pieces of all windows, squares]. */
template <typename Real, int VEC>
__global__ void __launch_bounds__ (COSINE_THREADS, 1)
cosine_kernel (const __grid_constant__ CosineArgs<Real> a)
{
  MHAR_SHARED (shared);
  __shared__ float inverse[2][2 * COSINE_SIDE]; /* of this token and the next */
  const int stages = CosineStages<Real>::n, pitch = cosine_pitch<Real> (), warp = threadIdx.x / 32;
  int i0, j0, m, n;
  cosine_square (blockIdx.y, a.sides, &i0, &j0);
  const bool second = i0 != j0;
  i0 *= COSINE_SIDE;
  j0 *= COSINE_SIDE;
  const int window = blockIdx.x / a.pieces, from = max ((int) blockIdx.x % a.pieces * COSINE_TOKENS, a.span.skip);
  const int to = min (((int) blockIdx.x % a.pieces + 1) * COSINE_TOKENS,
                      a.span.skip + mhar_span_count (a.span, window));
  const int chunks = (a.width + COSINE_CHANNELS - 1) / COSINE_CHANNELS, items = max (0, to - from) * chunks;
  const int stage = (second ? 2 : 1) * COSINE_SIDE * pitch;
  const size_t token0 = (size_t) window * a.span.length + from;
  float acc[COSINE_TILES][4] = {}, sum[COSINE_TILES][4] = {}, absolute = 0;
  for (int i = 1 - stages; i < items; i++) {
    const int next = i + stages - 1;
    if (i >= 0) {
      mhar_copy_groups<CosineStages<Real>::n - 2> ();
      if (i % chunks == 0)
        cosine_inverses (a, token0 + i / chunks, i0, j0, inverse[i / chunks % 2]);
      __syncthreads ();
    }
    if (next < items)
      cosine_fetch<Real, VEC> (a, token0 + next / chunks, next % chunks * COSINE_CHANNELS, i0, j0, second,
                               (Real *) shared + next % stages * stage);
    mhar_copy_close ();
    const Real *x = (const Real *) shared + (i + stages) % stages * stage, *y = x + (second ? COSINE_SIDE * pitch : 0);
#pragma unroll
    for (int k = 0; k < COSINE_TILES; k++) {
      if (i < 0 || !cosine_tile (warp + k * (COSINE_THREADS / 32), a.n, i0, j0, &m, &n))
        continue;
      cosine_product (x + m * pitch, y + n * pitch, acc[k]);
      if (i % chunks == chunks - 1)
        cosine_take (m, n, i0, j0, a.n, inverse[i / chunks % 2], acc[k], sum[k], &absolute);
    }
  }
#pragma unroll
  for (int k = 0; k < COSINE_TILES; k++)
    if (cosine_tile (warp + k * (COSINE_THREADS / 32), a.n, i0, j0, &m, &n))
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int r = i0 + m + threadIdx.x % 32 / 4 + e / 2 * 8, c = j0 + n + threadIdx.x % 4 * 2 + e % 2;
        if (r <= c && c < a.n)
          a.sum[((size_t) blockIdx.x * a.n + r) * a.n + c] = sum[k][e];
      }
  absolute = cosine_block_sum (absolute);
  if (threadIdx.x == 0)
    a.absolute[(size_t) blockIdx.x * gridDim.y + blockIdx.y] = absolute;
}

/* to[w, i] = Σ over a window's pieces, in double and in order: i < n² both triangles of the cosines, i = n² the mean
 * absolute value. Grid [·, windows]. */
__global__ void
cosine_add_kernel (const float *sum, const float *absolute, int n, int pieces, int squares, double *to)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t first = (size_t) blockIdx.y * pieces;
  if (i > n * n)
    return;
  double x = 0;
  if (i < n * n) {
    const int r = min (i / n, i % n), c = max (i / n, i % n);
    for (int piece = 0; piece < pieces; piece++)
      x += sum[((first + piece) * n + r) * n + c];
  } else {
    for (int k = 0; k < pieces * squares; k++)
      x += absolute[first * squares + k];
    x = n > 1 ? x / (0.5 * n * (n - 1.0)) : 0;
  }
  to[(size_t) blockIdx.y * (n * n + 1) + i] = x;
}

/* ---- launching ---- */

template <typename Real>
static int
cosine_launch (MharContext *c, const MharRoute *r, CosineArgs<Real> a, unsigned squares)
{
  a.history = (const Real *) r->history.data;
  a.row_elements = r->max_tokens * r->width;
  const size_t side = COSINE_SIDE * cosine_pitch<Real> () * sizeof (Real);
  const size_t shared = CosineStages<Real>::n * (squares > 1 ? 2 : 1) * side;
  const bool wide = r->width % MharWide<Real>::n == 0;
  return mhar_cuda_launch (c, "cosines", wide ? cosine_kernel<Real, MharWide<Real>::n> : cosine_kernel<Real, 1>,
                           dim3 ((unsigned) (a.span.windows * a.pieces), squares), COSINE_THREADS, shared, false, a);
}

static int
cosine_run (MharContext *c, const MharRoute *r, CosineArgs<float> shape, const int32_t *rows, double *cosine,
            double *mean_abs, int *zero)
{
  const size_t n = shape.n, pieces = (size_t) shape.span.windows * shape.pieces, results = n * n + 1;
  const size_t squares = (size_t) shape.sides * (shape.sides + 1) / 2;
  const size_t down = shape.span.windows * results * sizeof (double);
  void *scratch, *host;
  int status = mhar_cuda_scratch (c, down + 16 + (n + pieces * (n * n + squares)) * sizeof (float), &scratch);
  status = status ? status : mhar_cuda_pinned (c, down + 16, &host);
  if (status)
    return status;
  shape.zero = (int *) ((char *) scratch + down);
  int32_t *list = (int32_t *) ((char *) scratch + down + 16);
  shape.rows = list;
  shape.sum = (float *) (list + n);
  shape.absolute = shape.sum + pieces * n * n;
  MHAR_CUDA_TRY (c, cudaMemsetAsync (shape.zero, 0, 16, c->stream));
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (list, rows, n * sizeof (int32_t), cudaMemcpyHostToDevice, c->stream));
  if (c->precision == MHAR_PRECISION_BF16) {
    CosineArgs<__nv_bfloat16> a = { NULL,        0,           shape.stride, shape.squares, shape.squares_row,
                                    shape.rows,  shape.n,     shape.width,  shape.sides,   shape.pieces,
                                    shape.span,  shape.sum,   shape.absolute, shape.zero };
    status = cosine_launch (c, r, a, (unsigned) squares);
  } else {
    status = cosine_launch (c, r, shape, (unsigned) squares);
  }
  const dim3 grid ((unsigned) (results + 127) / 128, shape.span.windows);
  status = status ? status
                  : mhar_cuda_launch (c, "cosines", cosine_add_kernel, grid, 128, 0, false, (const float *) shape.sum,
                                      (const float *) shape.absolute, (int) n, shape.pieces, (int) squares,
                                      (double *) scratch);
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (host, scratch, down + 16, cudaMemcpyDeviceToHost, c->stream));
  MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
  for (int w = 0; w < shape.span.windows; w++) {
    const double *from = (const double *) host + w * results;
    if (cosine)
      memcpy (cosine + w * n * n, from, n * n * sizeof (double));
    if (mean_abs)
      mean_abs[w] = from[n * n];
  }
  if (zero && *(const int *) ((const char *) host + down))
    *zero = 1;
  return MHAR_OK;
}

int
mhar_cuda_cosines (MharContext *c, MharRoute *r, const int32_t *rows, size_t n, MharSpan span, double *cosine,
                   double *mean_abs, int *zero)
{
  if (span.windows < 1 || span.length < 1 || (size_t) span.windows * span.length > r->tokens || n < 1 || n > 4096)
    return mhar_cuda_unsupported (c, "cosines of %zu rows over %d windows of %d tokens in a batch of %zu", n,
                                  (int) span.windows, (int) span.length, r->tokens);
  for (size_t i = 0; i < n; i++)
    if (rows[i] < 0 || rows[i] >= r->n_rows)
      return mhar_cuda_unsupported (c, "cosines of row %d of %d", (int) rows[i], (int) r->n_rows);
  const int status = mhar_route_settle (c, r);
  if (status)
    return status;
  CosineArgs<float> a = {};
  a.stride = r->stride;
  a.squares = r->squares;
  a.squares_row = r->plan.n_norms * r->stride;
  a.n = (int) n;
  a.width = (int) r->width;
  a.sides = (int) ((n + COSINE_SIDE - 1) / COSINE_SIDE);
  a.pieces = (span.length + COSINE_TOKENS - 1) / COSINE_TOKENS;
  a.span = span;
  return cosine_run (c, r, a, rows, cosine, mean_abs, zero);
}
