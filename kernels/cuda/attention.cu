/* SPDX-License-Identifier: MIT */
/* Causal attention in bfloat16 on tensor cores, without the t×t scores (FlashAttention-2: Dao, arXiv 2307.08691).
 *
 * A block takes BM queries of one head, 16·MT to each of its 4 warps, and walks over the keys they may see in tiles of
 * BN, the next tile's keys and values being copied to shared memory while this one is used. Scores, the running maximum
 * and sum of every query, and the outputs stay in registers. Rows in shared memory are 16 bytes longer than EP, an odd
 * number of 16-byte units, so that the 8 rows of a matrix load lie in different banks. Heads narrower than EP are
 * filled up with zeros there, which changes neither scores nor outputs.
 *
 * Blocks of the latest queries, which see the most keys, start first. */
#include "kernels/cuda/cuda-private.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/pack.cuh"

#include <cmath>

#define WARPS 4
#define THREADS (32 * WARPS)
#define LOG2_E 1.4426950408889634

typedef struct {
  int t, heads, shared; /* A; A / K heads share a key */
  int width;            /* E */
  int row;              /* (A + 2K)·E, the stride of a token */
  int sliding;          /* 1..t */
  float scale;          /* times log2 e: weights are powers of two */
} AttentionShape;

/* What a warp keeps of its 16·MT queries. Of a row of the scores or outputs four neighbouring lanes hold the elements;
 * index [m][h] is the row 16·m + 8·h + lane / 4. */
template <int EP, int MT>
struct Queries {
  float out[MT][EP / 8][4];
  float most[MT][2]; /* of the scores so far, before the scale */
  float sum[MT][2];  /* of the weights so far, this lane's share */
};

/* Starts copying ROWS rows of `width` elements, `row` apart; zeros up to EP, and for rows from `rows` on. A thread has
 * the same 16 bytes of every row that it copies, which leaves a few threads idle where a row is no power of two. */
template <int EP, int ROWS>
static __device__ __forceinline__ void
copy_tile (uint32_t to, const __nv_bfloat16 *from, int row, int rows, int width)
{
  constexpr int units = EP / 8, pitch = 2 * (EP + 8), step = THREADS / units;
  const int r = threadIdx.x / units, e = threadIdx.x % units * 8;

  if (r >= step)
    return;
  to += r * pitch + e * 2;
  from += (int64_t) r * row + e;
#pragma unroll
  for (int i = 0; i < ROWS; i += step)
    if (ROWS % step == 0 || r + i < ROWS)
      mhar_copy_start (to + i * pitch, from + (int64_t) i * row, r + i < rows && e < width);
}

/* Keys first, then values, which stand `apart` elements behind the keys in memory. */
template <int EP, int BN>
static __device__ __forceinline__ void
copy_keys (uint32_t to, const __nv_bfloat16 *keys, int apart, int first, const AttentionShape &s)
{
  const __nv_bfloat16 *from = keys + (int64_t) first * s.row;

  copy_tile<EP, BN> (to, from, s.row, s.t - first, s.width);
  copy_tile<EP, BN> (to + BN * 2 * (EP + 8), from + apart, s.row, s.t - first, s.width);
}

/* score = q·kᵀ for the warp's queries and the BN keys of a tile. */
template <int EP, int MT, int BN>
static __device__ __forceinline__ void
score_tile (float (&score)[MT][BN / 8][4], uint32_t q_tile, uint32_t k_tile)
{
  constexpr int pitch = 2 * (EP + 8);
  const int lane = threadIdx.x % 32;
  const uint32_t q_at = q_tile + lane % 16 * pitch + lane / 16 * 16;
  const uint32_t k_at = k_tile + (lane % 8 + lane / 16 * 8) * pitch + lane / 8 % 2 * 16;

#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int n = 0; n < BN / 8; n++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        score[m][n][i] = 0.0f;
#pragma unroll
  for (int e = 0; e < EP / 16; e++) {
    uint32_t q[MT][4], k[4];

#pragma unroll
    for (int m = 0; m < MT; m++)
      mhar_matrix_load (q[m], q_at + m * 16 * pitch + e * 32);
#pragma unroll
    for (int n = 0; n < BN / 16; n++) {
      mhar_matrix_load (k, k_at + n * 16 * pitch + e * 32);
#pragma unroll
      for (int m = 0; m < MT; m++) {
        mhar_mma (score[m][2 * n], q[m], k[0], k[1]);
        mhar_mma (score[m][2 * n + 1], q[m], k[2], k[3]);
      }
    }
  }
}

/* −∞ where key `first` + column is newer than the query or has slid out of its sight. `query` is the warp's first. */
template <int MT, int BN>
static __device__ __forceinline__ void
mask_tile (float (&score)[MT][BN / 8][4], int query, int first, int sliding)
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int n = 0; n < BN / 8; n++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int row = query + m * 16 + i / 2 * 8 + lane / 4, key = first + n * 8 + lane % 4 * 2 + i % 2;

        if (key > row || key <= row - sliding)
          score[m][n][i] = -INFINITY;
      }
}

/* Scores become weights 2^(scale·(score − maximum)); what was summed under an older maximum is scaled down to this
 * one. A row that has seen no key yet keeps the maximum −∞, and takes 0 in its place so that no ∞ − ∞ arises. */
template <int EP, int MT, int BN>
static __device__ __forceinline__ void
weigh_tile (Queries<EP, MT> &q, float (&score)[MT][BN / 8][4], float scale)
{
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float most = q.most[m][h], sum = 0.0f;

#pragma unroll
      for (int n = 0; n < BN / 8; n++)
        most = fmaxf (most, fmaxf (score[m][n][2 * h], score[m][n][2 * h + 1]));
      most = fmaxf (most, __shfl_xor_sync (0xffffffffu, most, 1));
      most = fmaxf (most, __shfl_xor_sync (0xffffffffu, most, 2));

      const float base = most == -INFINITY ? 0.0f : most * scale;
      const float shrink = mhar_exp2 (fmaf (q.most[m][h], scale, -base));
#pragma unroll
      for (int n = 0; n < BN / 8; n++)
#pragma unroll
        for (int i = 2 * h; i < 2 * h + 2; i++) {
          score[m][n][i] = mhar_exp2 (fmaf (score[m][n][i], scale, -base));
          sum += score[m][n][i];
        }
      q.most[m][h] = most;
      q.sum[m][h] = fmaf (q.sum[m][h], shrink, sum);
#pragma unroll
      for (int n = 0; n < EP / 8; n++) {
        q.out[m][n][2 * h] *= shrink;
        q.out[m][n][2 * h + 1] *= shrink;
      }
    }
}

/* out += weight·v. The weights of 16 keys, as the scores left them, are an operand A already. */
template <int EP, int MT, int BN>
static __device__ __forceinline__ void
add_values (Queries<EP, MT> &q, const float (&weight)[MT][BN / 8][4], uint32_t v_tile)
{
  constexpr int pitch = 2 * (EP + 8);
  const int lane = threadIdx.x % 32;
  const uint32_t v_at = v_tile + lane % 16 * pitch + lane / 16 * 16;

#pragma unroll
  for (int k = 0; k < BN / 16; k++) {
    uint32_t w[MT][4], v[4];

#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        w[m][i] = mhar_pack_pair (weight[m][2 * k + i / 2][i % 2 * 2], weight[m][2 * k + i / 2][i % 2 * 2 + 1]);
#pragma unroll
    for (int n = 0; n < EP / 16; n++) {
      mhar_matrix_load_transposed (v, v_at + k * 16 * pitch + n * 32);
#pragma unroll
      for (int m = 0; m < MT; m++) {
        mhar_mma (q.out[m][2 * n], w[m], v[0], v[1]);
        mhar_mma (q.out[m][2 * n + 1], w[m], v[2], v[3]);
      }
    }
  }
}

/* One tile of keys for one warp, whose first query is `query`; a tile that none of its queries sees is passed over. */
template <int EP, int MT, int BN>
static __device__ __forceinline__ void
take_tile (Queries<EP, MT> &q, uint32_t q_tile, uint32_t tile, int query, int first, const AttentionShape &s)
{
  const int last_query = query + 16 * MT - 1, last = first + BN - 1;
  float score[MT][BN / 8][4];

  if (first > last_query || last <= query - s.sliding)
    return;
  score_tile<EP, MT, BN> (score, q_tile, tile);
  if (last > query || first <= last_query - s.sliding)
    mask_tile<MT, BN> (score, query, first, s.sliding);
  weigh_tile<EP, MT, BN> (q, score, s.scale);
  add_values<EP, MT, BN> (q, score, tile + BN * 2 * (EP + 8));
}

/* Outputs over the sums, by way of the shared memory of the warp's own queries, so that they are written by 16 bytes.
 * `out` is the first query's place, `rows` how many of the queries there are. */
template <int EP, int MT>
static __device__ __forceinline__ void
store_queries (const Queries<EP, MT> &q, __nv_bfloat16 *tile, __nv_bfloat16 *out, int rows, const AttentionShape &s)
{
  constexpr int units = EP / 8, pitch = EP + 8;
  const int lane = threadIdx.x % 32;

  __syncwarp ();
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const float inverse = 1.0f / mhar_lanes_sum (q.sum[m][h], 4);
      unsigned *row = (unsigned *) (tile + (m * 16 + h * 8 + lane / 4) * pitch + lane % 4 * 2);

#pragma unroll
      for (int n = 0; n < EP / 8; n++)
        row[n * 4] = mhar_pack_pair (q.out[m][n][2 * h] * inverse, q.out[m][n][2 * h + 1] * inverse);
    }
  __syncwarp ();
#pragma unroll
  for (int i = lane; i < 16 * MT * units; i += 32) {
    const int r = i / units, e = i % units * 8;

    if (r < rows && e < s.width)
      *(uint4 *) (out + (int64_t) r * s.heads * s.width + e) = *(const uint4 *) (tile + r * pitch + e);
  }
}

template <int EP, int MT, int BN>
static __global__ void __launch_bounds__ (THREADS)
attention_kernel (const __nv_bfloat16 *qkv, __nv_bfloat16 *out, AttentionShape s)
{
  constexpr int pitch = EP + 8, BM = 16 * MT * WARPS, stage = 2 * BN * pitch * 2;
  extern __shared__ __align__ (16) __nv_bfloat16 attention_shared[];
  const int head = blockIdx.x, window = blockIdx.y, warp = threadIdx.x / 32;
  const int block = (gridDim.z - 1 - blockIdx.z) * BM, query = block + warp * 16 * MT;
  const int apart = s.heads / s.shared * s.width;
  const int end = min (block + BM, s.t), begin = max (block - s.sliding + 1, 0) / BN * BN;
  const __nv_bfloat16 *tokens = qkv + (int64_t) window * s.t * s.row;
  const __nv_bfloat16 *keys = tokens + (s.heads + head / s.shared) * s.width;
  __nv_bfloat16 *tile = attention_shared + warp * 16 * MT * pitch;
  const uint32_t q_tile = mhar_shared_address (attention_shared), stages = q_tile + BM * pitch * 2;
  Queries<EP, MT> q = {};
  int turn = 0;

#pragma unroll
  for (int m = 0; m < MT; m++)
    q.most[m][0] = q.most[m][1] = -INFINITY;
  copy_tile<EP, BM> (q_tile, tokens + (int64_t) block * s.row + head * s.width, s.row, s.t - block, s.width);
  copy_keys<EP, BN> (stages, keys, apart, begin, s);
  for (int first = begin; first < end; first += BN) {
    mhar_copy_wait ();
    __syncthreads (); /* this tile has come, and no warp is at the last one any more: its place is free */
    if (first + BN < end)
      copy_keys<EP, BN> (stages + (turn ^ 1) * stage, keys, apart, first + BN, s);
    take_tile<EP, MT, BN> (q, q_tile + warp * 16 * MT * pitch * 2, stages + turn * stage, query, first, s);
    turn ^= 1;
  }
  if (query < s.t)
    store_queries<EP, MT> (q, tile, out + ((int64_t) (window * s.t + query) * s.heads + head) * s.width, s.t - query,
                           s);
}

template <int EP, int MT, int BN>
static int
launch (MharContext *c, const __nv_bfloat16 *qkv, __nv_bfloat16 *out, size_t W, const AttentionShape &s)
{
  constexpr size_t rows = 16 * MT * WARPS, bytes = (rows + 4 * BN) * (EP + 8) * sizeof (__nv_bfloat16);
  const dim3 grid (s.heads, (unsigned) W, (unsigned) ((s.t + rows - 1) / rows));

  MHAR_CUDA_TRY (c, cudaFuncSetAttribute (attention_kernel<EP, MT, BN>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int) bytes));
  attention_kernel<EP, MT, BN><<<grid, THREADS, bytes, c->stream>>> (qkv, out, s);
  MHAR_CUDA_LAUNCHED (c, attention);
  return MHAR_OK;
}

/* Two query tiles a warp use every key and value loaded from shared memory twice, which the tensor cores of Hopper
 * need; heads wider than 128 leave registers for one. Tiles are as long as registers, and the 99 KB of shared memory of
 * sm_86, allow. */
static int
launch_width (MharContext *c, const __nv_bfloat16 *qkv, __nv_bfloat16 *out, size_t W, const AttentionShape &s)
{
  switch ((s.width + 15) / 16) {
  case 1:
    return launch<16, 2, 64> (c, qkv, out, W, s);
  case 2:
    return launch<32, 2, 64> (c, qkv, out, W, s);
  case 3:
    return launch<48, 2, 64> (c, qkv, out, W, s);
  case 4:
    return launch<64, 2, 64> (c, qkv, out, W, s);
  case 5:
    return launch<80, 2, 64> (c, qkv, out, W, s);
  case 6:
    return launch<96, 2, 64> (c, qkv, out, W, s);
  case 7:
    return launch<112, 2, 48> (c, qkv, out, W, s);
  case 8:
    return launch<128, 2, 48> (c, qkv, out, W, s);
  case 9:
  case 10:
    return launch<160, 1, 32> (c, qkv, out, W, s);
  case 11:
  case 12:
    return launch<192, 1, 32> (c, qkv, out, W, s);
  default:
    return launch<256, 1, 32> (c, qkv, out, W, s);
  }
}

int
mhar_cuda_attention (MharContext *c, MharRows qkv, double scale, size_t sliding, size_t W, size_t t, size_t A, size_t K,
                     size_t E, MharRows out)
{
  AttentionShape s;

  MHAR_CUDA_ENTER (c);
  if (W * t == 0 || A * E == 0)
    return MHAR_OK;
  if (K == 0 || A % K != 0 || E > 256)
    return mhar_cuda_unsupported (c, "attention: %zu heads of %zu on %zu key heads", A, E, K);
  if (W * t > INT32_MAX || A > INT32_MAX || W > 65535 || (t + 31) / 32 > 65535 || (A + 2 * K) * E > INT32_MAX)
    return mhar_cuda_unsupported (c, "attention: %zu windows of %zu tokens, %zu heads", W, t, A);
  if (sliding == 0 || sliding > t)
    sliding = t;
  /* The tensor-core kernel takes the maximum before it applies the scale, which must be positive for that. */
  if (c->precision != MHAR_PRECISION_BF16 || E % 8 != 0 || !(scale > 0.0)
      || !mhar_cuda_aligned (mhar_cuda_at<__nv_bfloat16> (qkv))
      || !mhar_cuda_aligned (mhar_cuda_at<__nv_bfloat16> (out)))
    return mhar_cuda_attention_plain (c, qkv, scale, sliding, W, t, A, K, E, out);
  s.t = (int) t;
  s.heads = (int) A;
  s.shared = (int) (A / K);
  s.width = (int) E;
  s.row = (int) ((A + 2 * K) * E);
  s.sliding = (int) sliding;
  s.scale = (float) (scale * LOG2_E);
  return launch_width (c, mhar_cuda_at<__nv_bfloat16> (qkv), mhar_cuda_at<__nv_bfloat16> (out), W, s);
}
