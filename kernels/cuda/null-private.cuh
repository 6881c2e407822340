/* SPDX-License-Identifier: MIT */
/* Scoring many queries against the kept rows. Shared by the null-* files.
 *
 * A query is cut into `parts`: slices, or heads (at whole sites every part has the full width). Sixteen queries of one
 * site make a tile; up to four tiles a group, which a thread block scores together: a step is one row that at least
 * one of the group's sites took. The block goes through its tokens a few dozen at a time; every item of its feed is some
 * channels of one row, brought to shared memory while the items before it are multiplied. With g = lane / 4 and
 * t = lane % 4 a thread holds the products of queries g and g + 8 with tokens 2t and 2t + 1 of NT times eight tokens. */
#pragma once

#include "kernels/cuda/vector.cuh"

#define NULL_TILES 4         /* tiles a group: warps along the queries */
#define NULL_WARPS_TOKENS 2  /* warps along the tokens */
#define NULL_THREADS (NULL_TILES * NULL_WARPS_TOKENS * 32)
#define NULL_STAGES 3        /* items in shared memory */
#define NULL_QUERIES 16      /* queries a tile */
#define NULL_CHUNK 16        /* the most steps of MHAR_STEP channels an item has */
#define NULL_NOT_COUNTED 1e30f

/* Sixteen queries of one entry of null_new. */
struct MharNullTile {
  int32_t entry, first_query, n_queries;
  int32_t n, last;   /* rows taken; position whose logit gets the bias, or −1 */
  float bias;        /* in units of log 2 */
  int64_t pack;      /* 16-byte units */
  int64_t partial;   /* floats, within a slot: where its sums begin */
};

/* Up to NULL_TILES tiles over a common list of rows. */
struct MharNullGroup {
  int32_t first_tile, n_tiles, first_step, n_steps;
};

struct MharNullStep {
  int32_t row, position[NULL_TILES]; /* among the rows the tile takes; −1: not one of them */
};

/* Channels of a part, in steps of 16. */
struct MharNullPart {
  int32_t first_step, n_steps, base; /* base: its steps begin here among a tile's */
};

template <typename Real> struct MharNullArgs {
  const Real *history; /* of the tokens from first_token on */
  size_t row_elements, stride, first_token;
  int tokens, width;
  const float *inverse; /* [R, stride]: log₂e / rms */
  const MharNullTile *tiles;
  const MharNullGroup *groups;
  const MharNullStep *steps;
  const MharNullPart *part;
  const uint4 *pack;
  int parts, units_a_tile; /* 16-byte units */
  int chunks, chunk_steps; /* items a part and row, and their size */
  int double_width;        /* 1: queries are sums of two bf16 numbers */
  int resident;            /* 1: the group's queries fit into shared memory */
  int first_group, n_groups;
  MharSpan span;
  int first_window, pieces, piece_tokens; /* a window is cut into pieces, each a thread block's */
  float *partial;                         /* [slots, slot_floats]; slots: pieces · NULL_WARPS_TOKENS a window */
  size_t slot_floats;
  int64_t first_partial; /* of the first tile of this launch */
  float4 *spare;        /* per thread block: what the heads kernel keeps from its first pass */
  int spare_shared;     /* 1: in shared memory */
  int weights;          /* 1: sums of the weights wanted */
  int first_part, kept; /* slices reduced in this launch */
};

/* Where a warp adds up a tile. */
template <typename Real>
static __device__ __forceinline__ float *
mhar_null_sums (const MharNullArgs<Real> &a, size_t slot, const MharNullTile &tile)
{
  return a.partial + slot * a.slot_floats + (tile.partial - a.first_partial);
}

/* 16-byte units of a step of a tile's queries. */
template <typename Real>
static __host__ __device__ __forceinline__ int
mhar_null_step_units (int double_width)
{
  return sizeof (Real) == 4 ? 64 : double_width ? 64 : 32;
}

template <typename Real>
static __host__ __device__ __forceinline__ int
mhar_null_pitch (int chunk_steps)
{
  return chunk_steps * MHAR_STEP + 16 / (int) sizeof (Real);
}

/* Where a thread block's group, tokens and sums are. */
struct MharNullPlace {
  MharNullGroup group;
  int window, from, to; /* counted positions of the window, [from, to) */
  size_t slot;
};

template <typename Real>
static __device__ __forceinline__ MharNullPlace
mhar_null_place (const MharNullArgs<Real> &a)
{
  MharNullPlace p;
  p.group = a.groups[a.first_group + a.n_groups - 1 - blockIdx.x]; /* the longest first */
  p.window = a.first_window + blockIdx.y / a.pieces;
  p.from = blockIdx.y % a.pieces * a.piece_tokens;
  p.to = min (p.from + a.piece_tokens, a.span.skip + mhar_span_count (a.span, p.window));
  p.from = max (p.from, a.span.skip);
  p.slot = (size_t) blockIdx.y * NULL_WARPS_TOKENS;
  return p;
}

/* One item: steps [from, to) of a part of a row. */
struct MharNullItem {
  int step, part, from, to;
  bool first, last; /* of the part and row */
};

/* Item i of a pass: rows outside, parts inside; or parts outside, rows inside. */
template <typename Real>
static __device__ __forceinline__ MharNullItem
mhar_null_item (const MharNullArgs<Real> &a, int n_steps, int i, bool parts_outside)
{
  MharNullItem item;
  const int chunk = i % a.chunks, rest = i / a.chunks;
  item.step = parts_outside ? rest % n_steps : rest / a.parts;
  item.part = parts_outside ? rest / n_steps : rest % a.parts;
  item.from = min (chunk * a.chunk_steps, a.part[item.part].n_steps);
  item.to = min (item.from + a.chunk_steps, a.part[item.part].n_steps);
  item.first = chunk == 0;
  item.last = chunk == a.chunks - 1;
  return item;
}

/* Starts bringing an item's channels of `count` tokens from `first` (of the batch) to shared memory; tokens past `last`
 * repeat it. */
template <typename Real, int VEC, int TOKENS>
static __device__ __forceinline__ void
mhar_null_fetch (const MharNullArgs<Real> &a, const MharNullItem &item, int row, size_t first, size_t last, Real *stage)
{
  const int pitch = mhar_null_pitch<Real> (a.chunk_steps), units = (item.to - item.from) * MHAR_STEP / VEC;
  const int channel = (a.part[item.part].first_step + item.from) * MHAR_STEP;
  const Real *from = a.history + row * a.row_elements + channel;
  for (int i = threadIdx.x; i < TOKENS * units; i += NULL_THREADS) {
    const int t = i / units, u = i % units * VEC;
    const size_t token = min (first + t, last) - a.first_token;
    Real *to = stage + t * pitch + u;
    if constexpr (VEC > 1)
      mhar_copy_start (mhar_shared_address (to), from + token * a.width + u, channel + u < a.width);
    else
      *to = channel + u < a.width ? from[token * a.width + u] : mhar_from_float<Real> (0.0f);
  }
}

/* acc += products of a tile's queries (from the item's first step on) with this warp's tokens. */
template <int NT>
static __device__ __forceinline__ void
mhar_null_product (const __nv_bfloat16 *tokens, int pitch, const uint4 *query, int steps, int double_width,
                   float (&acc)[NT][4])
{
  const int lane = threadIdx.x % 32;
  const __nv_bfloat16 *x = tokens + (lane / 16 % (NT > 1 ? 2 : 1) * 8 + lane % 8) * pitch + lane / 8 % 2 * 8;
#pragma unroll 2
  for (int step = 0; step < steps; step++) {
    const uint4 high = query[step * (32 + 32 * double_width) + lane];
    const uint32_t q[4] = { high.x, high.y, high.z, high.w };
    uint4 low;
    if (double_width)
      low = query[step * 64 + 32 + lane];
#pragma unroll
    for (int n = 0; n < NT; n += 2) {
      uint32_t b[4];
      mhar_matrix_load (b, mhar_shared_address (x + n * 8 * pitch));
      mhar_mma (acc[n], q, b[0], b[1]);
      if constexpr (NT > 1)
        mhar_mma (acc[n + 1], q, b[2], b[3]);
      if (double_width) {
        const uint32_t rest[4] = { low.x, low.y, low.z, low.w };
        mhar_mma (acc[n], rest, b[0], b[1]);
        if constexpr (NT > 1)
          mhar_mma (acc[n + 1], rest, b[2], b[3]);
      }
    }
    x += MHAR_STEP;
  }
}

/* The same in float32; a step of queries is [16 queries, 16 channels]. */
template <int NT>
static __device__ __forceinline__ void
mhar_null_product (const float *tokens, int pitch, const uint4 *query, int steps, int, float (&acc)[NT][4])
{
  const int lane = threadIdx.x % 32, units = MHAR_STEP / 4;
  const float *x = tokens + lane % 4 * 2 * pitch;
  const uint4 *q = query + lane / 4 * units;
  for (int u = 0; u < steps * units; u++) {
    const int at = u / units * 64 + u % units;
    const uint4 q0 = q[at], q1 = q[at + 8 * units];
#pragma unroll
    for (int n = 0; n < NT; n++) {
      const uint4 x0 = *(const uint4 *) (x + n * 8 * pitch + 4 * u);
      const uint4 x1 = *(const uint4 *) (x + (n * 8 + 1) * pitch + 4 * u);
      acc[n][0] = mhar_dot4 (x0, q0, acc[n][0]);
      acc[n][1] = mhar_dot4 (x1, q0, acc[n][1]);
      acc[n][2] = mhar_dot4 (x0, q1, acc[n][2]);
      acc[n][3] = mhar_dot4 (x1, q1, acc[n][3]);
    }
  }
}

/* A tile's queries from an item's first step on. */
template <typename Real>
static __device__ __forceinline__ const uint4 *
mhar_null_query (const MharNullArgs<Real> &a, const uint4 *query, const MharNullItem &item)
{
  return query + (a.part[item.part].base + item.from) * mhar_null_step_units<Real> (a.double_width);
}

/* log₂e / rms of this thread's tokens at a row. */
template <typename Real, int NT>
static __device__ __forceinline__ void
mhar_null_scales (const MharNullArgs<Real> &a, int row, size_t first, size_t last, float (&scale)[NT][2])
{
#pragma unroll
  for (int n = 0; n < NT; n++)
#pragma unroll
    for (int i = 0; i < 2; i++)
      scale[n][i] = a.inverse[row * a.stride + min (first + n * 8 + threadIdx.x % 4 * 2 + i, last)];
}

/* The group's queries to shared memory. */
template <typename Real>
static __device__ __forceinline__ void
mhar_null_bring_queries (const MharNullArgs<Real> &a, const MharNullGroup &group, uint4 *to)
{
  const uint4 *from = a.pack + a.tiles[group.first_tile].pack; /* a group's tiles follow one another */
  for (int i = threadIdx.x; i < group.n_tiles * a.units_a_tile; i += NULL_THREADS)
    to[i] = from[i];
}

/* Sum over the four lanes that share queries g and g + 8. */
static __device__ __forceinline__ float
mhar_null_quad_sum (float x)
{
  x += __shfl_xor_sync (0xffffffffu, x, 1);
  return x + __shfl_xor_sync (0xffffffffu, x, 2);
}

/* Bytes of shared memory: the stages, and the queries if they are resident. */
template <typename Real>
static __host__ __device__ __forceinline__ size_t
mhar_null_stage_bytes (int chunk_steps, int tokens)
{
  return (size_t) tokens * mhar_null_pitch<Real> (chunk_steps) * sizeof (Real);
}

/* Slices of the queries of sites with one head. null-slices.cu */
template <typename Real>
int mhar_null_launch_slices (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide);
/* Heads. null-heads.cu. `spare_bytes`: what it needs beside shared memory, for a grid of `blocks`. */
template <typename Real>
int mhar_null_launch_heads (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide);
template <typename Real>
size_t mhar_null_heads_spare (const MharContext *c, const MharNullArgs<Real> &a, size_t blocks);
