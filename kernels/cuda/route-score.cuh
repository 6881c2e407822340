/* SPDX-License-Identifier: MIT */
/* Look-ahead scoring: while a tile of a row is in shared memory, its logits against the queries of all later blocks.
 *
 * logit = q·s / sqrt (mean s² + eps), the product in float32: in bf16 contexts on tensor cores, the row exact
 * and the query as the sum of two bf16 numbers (16 bits of significand); in float32 contexts with fused multiply-adds,
 * by threads that own the same elements of the result. */
#pragma once

#include "kernels/cuda/vector.cuh"

#define MHAR_PARTS 8 /* different ways a history's sites may split a row into heads */

/* TT tokens a thread block of THREADS. */
template <int TT_, int THREADS_> struct MharTileShape {
  static const int TT = TT_, THREADS = THREADS_, WARPS = THREADS / 32;
  static const int MEMBERS = WARPS > TT ? WARPS / TT : 1; /* warps a token */
  static const int TEAMS = WARPS / MEMBERS;               /* tokens at a time */
  static const int M = TT < 16 ? 1 : TT / 16;             /* 16-token operands */
  static const int G = MHAR_GROUP;                        /* tiles at a time */
  static const int SPLIT_TILES = 16;                      /* tiles × parts of channels the scratch holds */
};

/* Rows of a launch. */
#define MHAR_SCORE_ROWS 64

struct MharRowList {
  int32_t row[MHAR_SCORE_ROWS];
};

template <typename Real> struct MharScoreArgs {
  const Real *history;
  size_t row_elements; /* from row to row */
  const MharRowPlan *rows;
  const MharTile *tiles;
  const MharTileGroup *groups;
  const uint4 *pack;
  float *logits, *squares;
  size_t stride;
  int tokens, width, n_norms;
  float eps;
  bool logits_too;
  int n_parts, part_heads[MHAR_PARTS], part_norm[MHAR_PARTS]; /* part 0: one head, plane 0 */
};

/* Elements from token to token of a tile in shared memory: whole steps of 16, and 16 bytes more against bank
 * conflicts. */
template <typename Real>
static __host__ __device__ __forceinline__ int
mhar_tile_pitch (int width)
{
  return (width + MHAR_STEP - 1) / MHAR_STEP * MHAR_STEP + 16 / (int) sizeof (Real);
}

/* Floats beside the tile: squares of every part, 1/rms, and what channels split among warps add up to. */
template <typename Shape>
static __host__ __device__ __forceinline__ int
mhar_score_scratch (int n_norms)
{
  return (n_norms + 1) * Shape::TT + Shape::SPLIT_TILES * MHAR_TILE * Shape::TT;
}

/* Tokens [first, first + TT) of a row; zeros past the last token and past the width. */
template <typename Real, int VEC, typename Shape>
static __device__ void
mhar_tile_load (Real *tile, const Real *row, int first, int tokens, int width)
{
  const int pitch = mhar_tile_pitch<Real> (width), padded = pitch - 16 / (int) sizeof (Real);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int t = warp / Shape::MEMBERS; t < Shape::TT; t += Shape::TEAMS) {
    const Real *from = row + (size_t) (first + t) * width;
    for (int i = (warp % Shape::MEMBERS * 32 + lane) * VEC; i < padded; i += Shape::MEMBERS * 32 * VEC) {
      Real *to = tile + t * pitch + i;
      if (first + t < tokens && i < width) {
        if constexpr (VEC > 1)
          mhar_copy_start (mhar_shared_address (to), from + i, true);
        else
          *to = from[i];
      } else {
#pragma unroll
        for (int j = 0; j < VEC; j++)
          to[j] = mhar_from_float<Real> (0.0f);
      }
    }
  }
  mhar_copy_wait ();
}

/* squares[(norm + h)·TT + t] = Σ s² over head h, by eight lanes each, in a fixed order. */
template <typename Real, int VEC, typename Shape>
static __device__ void
mhar_tile_squares (const Real *tile, int pitch, int width, int heads, float *squares)
{
  const int part = width / heads, lane = threadIdx.x % 8;
  for (int unit = threadIdx.x / 8; unit < heads * Shape::TT; unit += Shape::THREADS / 8) {
    const Real *x = tile + unit % Shape::TT * pitch + unit / Shape::TT * part;
    float sum = 0;
    for (int i = lane * VEC; i < part; i += 8 * VEC) {
      float v[VEC];
      mhar_vector_open<Real, VEC> (mhar_vector_get<Real, VEC> (x + i), v);
#pragma unroll
      for (int j = 0; j < VEC; j++)
        sum = fmaf (v[j], v[j], sum);
    }
    sum = mhar_lanes_sum (sum, 8);
    if (lane == 0)
      squares[unit] = sum;
  }
}

/* All norms of the tile, kept for the contributions, and 1/rms of each token. Ends with a barrier. */
template <typename Real, int VEC, typename Shape>
static __device__ void
mhar_tile_measure (const MharScoreArgs<Real> &a, const Real *tile, int row, int first, float *squares, float *inverse)
{
  const int pitch = mhar_tile_pitch<Real> (a.width);
  for (int p = a.n_parts > 1 ? 1 : 0; p < a.n_parts; p++)
    mhar_tile_squares<Real, VEC, Shape> (tile, pitch, a.width, a.part_heads[p], squares + a.part_norm[p] * Shape::TT);
  __syncthreads ();
  if (threadIdx.x < Shape::TT) {
    float total = 0;
    if (a.n_parts > 1)
      for (int h = 0; h < a.part_heads[1]; h++)
        total += squares[(a.part_norm[1] + h) * Shape::TT + threadIdx.x];
    else
      total = squares[threadIdx.x];
    squares[threadIdx.x] = total;
    inverse[threadIdx.x] = 1.0f / sqrtf (total / a.width + a.eps);
  }
  __syncthreads ();
  float *to = a.squares + (size_t) row * a.n_norms * a.stride;
  for (int i = threadIdx.x; i < a.n_norms * Shape::TT; i += Shape::THREADS)
    if (first + i % Shape::TT < a.tokens)
      to[i / Shape::TT * a.stride + first + i % Shape::TT] = squares[i];
}

/* acc[j][m] += tokens 16m… × queries of tile j over steps [from, to) of the group, on tensor cores. */
template <typename Shape>
static __device__ __forceinline__ void
mhar_score_product (const __nv_bfloat16 *tile, int pitch, const MharTileGroup &group, int from, int to,
                    const uint4 *const (&pack)[Shape::G], int n, float (&acc)[Shape::G][Shape::M][4])
{
  const int lane = threadIdx.x % 32;
  const int token = lane % 8 + (Shape::TT < 16 ? 0 : lane / 8 % 2 * 8); /* of 8 tokens the lower half is read twice */
  const __nv_bfloat16 *x = tile + token * pitch + (group.first_step + from) * MHAR_STEP + lane / 16 * 8;
  uint4 next[Shape::G];
#pragma unroll
  for (int j = 0; j < Shape::G; j++)
    next[j] = j < n && from < to ? pack[j][from * MHAR_STEP_UNITS + lane] : make_uint4 (0, 0, 0, 0);
#pragma unroll 2
  for (int step = from; step < to; step++) {
    uint4 q[Shape::G];
#pragma unroll
    for (int j = 0; j < Shape::G; j++) {
      q[j] = next[j];
      if (j < n && step + 1 < to)
        next[j] = pack[j][(step + 1) * MHAR_STEP_UNITS + lane];
    }
#pragma unroll
    for (int m = 0; m < Shape::M; m++) {
      uint32_t a[4];
      mhar_matrix_load (a, mhar_shared_address (x + m * 16 * pitch));
#pragma unroll
      for (int j = 0; j < Shape::G; j++)
        if (j < n) {
          mhar_mma (acc[j][m], a, q[j].x, q[j].y);
          mhar_mma (acc[j][m], a, q[j].z, q[j].w);
        }
    }
    x += MHAR_STEP;
  }
}

/* The same in float32. */
template <typename Shape>
static __device__ __forceinline__ void
mhar_score_product (const float *tile, int pitch, const MharTileGroup &group, int from, int to,
                    const uint4 *const (&pack)[Shape::G], int n, float (&acc)[Shape::G][Shape::M][4])
{
  const int lane = threadIdx.x % 32;
  const float *x = tile + lane / 4 * pitch + group.first_step * MHAR_STEP;
  const int column = lane % 4 * 2 * (MHAR_STEP / 4), lower = Shape::TT < 16 ? 0 : 8 * pitch;
  for (int u = from * (MHAR_STEP / 4); u < to * (MHAR_STEP / 4); u++) {
    const int at = u / (MHAR_STEP / 4) * MHAR_STEP_UNITS + column + u % (MHAR_STEP / 4);
    uint4 q[Shape::G][2];
#pragma unroll
    for (int j = 0; j < Shape::G; j++)
      if (j < n) {
        q[j][0] = pack[j][at];
        q[j][1] = pack[j][at + MHAR_STEP / 4];
      }
#pragma unroll
    for (int m = 0; m < Shape::M; m++) {
      const uint4 x0 = *(const uint4 *) (x + m * 16 * pitch + 4 * u);
      const uint4 x1 = *(const uint4 *) (x + m * 16 * pitch + 4 * u + lower);
#pragma unroll
      for (int j = 0; j < Shape::G; j++)
        if (j < n) {
          acc[j][m][0] = mhar_dot4 (x0, q[j][0], acc[j][m][0]);
          acc[j][m][1] = mhar_dot4 (x0, q[j][1], acc[j][m][1]);
          acc[j][m][2] = mhar_dot4 (x1, q[j][0], acc[j][m][2]);
          acc[j][m][3] = mhar_dot4 (x1, q[j][1], acc[j][m][3]);
        }
    }
  }
}

/* One logit, where the tile has that column. */
template <typename Real>
static __device__ __forceinline__ void
mhar_logit_put (const MharScoreArgs<Real> &a, const MharTile &tile, int column, int token, float product, float inverse)
{
  const int plane = tile.plane[column];
  if (plane >= 0 && token < a.tokens)
    a.logits[(size_t) plane * a.stride + token] = product * inverse;
}

/* A warp's products of one tile: to the logits, or to `sums` [8, TT] where they are a part of the channels. */
template <typename Real, typename Shape>
static __device__ __forceinline__ void
mhar_tile_emit (const MharScoreArgs<Real> &a, int tile, const float (&acc)[Shape::M][4], int first_token,
                const float *inverse, float *sums)
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < Shape::M; m++)
#pragma unroll
    for (int i = 0; i < (Shape::TT < 16 ? 2 : 4); i++) {
      const int token = m * 16 + i / 2 * 8 + lane / 4, column = lane % 4 * 2 + i % 2;
      if (sums)
        sums[column * Shape::TT + token] = acc[m][i];
      else
        mhar_logit_put (a, a.tiles[tile], column, first_token + token, acc[m][i], inverse[token]);
    }
}

/* `n` groups from `first`: a warp takes a group, or one of `split` parts of its channels where there are fewer groups
 * than warps. */
template <typename Real, typename Shape>
static __device__ void
mhar_tile_score (const MharScoreArgs<Real> &a, const Real *tile, int first, int n, int first_token,
                 const float *inverse, float *scratch)
{
  const int pitch = mhar_tile_pitch<Real> (a.width);
  const int tile0 = n ? a.groups[first].first_tile : 0;
  const int n_tiles = n ? a.groups[first + n - 1].first_tile + a.groups[first + n - 1].n_tiles - tile0 : 0;
  const int split = n ? max (1, min (Shape::WARPS / n, Shape::SPLIT_TILES / n_tiles)) : 1;
  for (int unit = threadIdx.x / 32; unit < n * split; unit += Shape::WARPS) {
    const MharTileGroup group = a.groups[first + unit / split];
    const int part = unit % split, from = group.n_steps * part / split, to = group.n_steps * (part + 1) / split;
    for (int sub = 0; sub < group.n_tiles; sub += Shape::G) {
      const int count = min (Shape::G, group.n_tiles - sub), at = group.first_tile + sub;
      const uint4 *pack[Shape::G];
#pragma unroll
      for (int j = 0; j < Shape::G; j++)
        pack[j] = a.pack + a.tiles[at + (j < count ? j : 0)].pack;
      float acc[Shape::G][Shape::M][4] = {};
      mhar_score_product<Shape> (tile, pitch, group, from, to, pack, count, acc);
#pragma unroll
      for (int j = 0; j < Shape::G; j++)
        if (j < count)
          mhar_tile_emit<Real, Shape> (
            a, at + j, acc[j], first_token, inverse,
            split > 1 ? scratch + (part * n_tiles + at + j - tile0) * MHAR_TILE * Shape::TT : NULL);
    }
  }
  if (split == 1)
    return;
  __syncthreads ();
  for (int i = threadIdx.x; i < n_tiles * MHAR_TILE * Shape::TT; i += Shape::THREADS) {
    float sum = 0;
    for (int part = 0; part < split; part++)
      sum += scratch[part * n_tiles * MHAR_TILE * Shape::TT + i];
    mhar_logit_put (a, a.tiles[tile0 + i / (MHAR_TILE * Shape::TT)], i / Shape::TT % MHAR_TILE,
                    first_token + i % Shape::TT, sum, inverse[i % Shape::TT]);
  }
}

/* Everything a row needs: its squares and its logits. `scratch`: mhar_score_scratch floats. */
template <typename Real, int VEC, typename Shape>
static __device__ void
mhar_row_take (const MharScoreArgs<Real> &a, Real *tile, int row, int first_token, float *scratch)
{
  float *squares = scratch, *inverse = squares + a.n_norms * Shape::TT, *sums = inverse + Shape::TT;
  mhar_tile_load<Real, VEC, Shape> (tile, a.history + row * a.row_elements, first_token, a.tokens, a.width);
  __syncthreads ();
  mhar_tile_measure<Real, VEC, Shape> (a, tile, row, first_token, squares, inverse);
  if (!a.logits_too)
    return;
  const MharRowPlan plan = a.rows[row];
  mhar_tile_score<Real, Shape> (a, tile, plan.first_group, plan.n_groups, first_token, inverse, sums);
}

/* Host: the arguments but `logits_too`. */
template <typename Real>
static inline MharScoreArgs<Real>
mhar_score_args (const MharRoute *r)
{
  MharScoreArgs<Real> a = {};
  a.history = (const Real *) r->history.data;
  a.row_elements = r->max_tokens * r->width;
  a.rows = r->on_device.rows;
  a.tiles = r->on_device.tiles;
  a.groups = r->on_device.groups;
  a.pack = r->on_device.pack;
  a.logits = r->logits;
  a.squares = r->squares;
  a.stride = r->stride;
  a.tokens = (int) r->tokens;
  a.width = (int) r->width;
  a.n_norms = r->plan.n_norms;
  a.eps = (float) r->eps;
  a.n_parts = 1;
  a.part_heads[0] = 1;
  for (int i = 0; i < r->plan.classes.n; i++)
    if (r->plan.classes.items[i].norm > 0) {
      a.part_heads[a.n_parts] = r->plan.classes.items[i].heads;
      a.part_norm[a.n_parts++] = r->plan.classes.items[i].norm;
    }
  return a;
}
