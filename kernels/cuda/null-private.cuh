/* SPDX-License-Identifier: MIT */
/* Scoring many queries against the kept rows. Shared by the null-* files.
 *
 * A query is cut into `parts`: slices, or heads (at whole sites every part has the full width). Sixteen queries make a
 * tile, whatever sites they belong to; a thread block scores a group of tiles, and a step is one row that at least one
 * query of the group takes. The block goes through its tokens 32 at a time; every item of its feed is some channels of
 * one row, brought to shared memory while the items before it are multiplied. With g = lane / 4 and t = lane % 4 a
 * thread holds the products of queries g and g + 8 of a tile with tokens 8n + 2t and 8n + 2t + 1. */
#pragma once

#include "kernels/cuda/vector.cuh"

#define NULL_WARPS 8
#define NULL_THREADS (NULL_WARPS * 32)
#define NULL_TOKENS 32        /* at a time */
#define NULL_QUERIES 16       /* a tile */
#define NULL_HEADS_TILES 16   /* a group: two a warp, or one of double width */
#define NULL_SLICES_TILES 4   /* a group: one a pair of warps, which share the tokens */
#define NULL_FEWEST_STEPS 4   /* of MHAR_STEP channels an item has */
#define NULL_HEADS_STEPS 10   /* the most */
#define NULL_SLICES_STEPS 5
#define NULL_STAGES 4         /* items in shared memory */
#define NULL_AHEAD 2          /* items brought before they are needed; the rest is what a warp may lag behind */
#define NULL_NOT_TAKEN -1e30f /* stands for the logit of a row that a query does not take */
#define NULL_NO_TOP -1e29f    /* a maximum before the first row */
#define NULL_NOT_COUNTED 1e30f /* stands for the log sum of a token that does not count */
#define NULL_RISE 64.0f       /* how far a logit may lie above the running maximum before that is raised */

/* Queries of one entry of null_new within one group. */
struct MharNullRun {
  int32_t entry, first_query; /* query of the entry at slot first_slot */
  int32_t first_slot, n_queries;
  int32_t position;           /* into `positions`: [steps of the group], place among the entry's sources or −1 */
};

struct MharNullTile {
  int32_t first_slot, n_steps; /* 16 · the tile's place in its kind; of its group */
  int32_t run[NULL_QUERIES];  /* −1: no query */
  float bias[NULL_QUERIES];   /* in units of log 2 */
  int64_t pack;               /* 16-byte units */
  int64_t partial;            /* floats, within a slice of the partial sums: where its own begin */
};

struct MharNullGroup {
  int32_t first_tile, n_tiles, first_step, n_steps;
};

/* A row; for each tile, bit q: query q takes it, bit 16 + q: and its logit gets the bias. */
struct MharNullStep {
  int32_t row;
  uint32_t mask[NULL_HEADS_TILES];
};

/* Channels of a part, in steps of 16. */
struct MharNullPart {
  int32_t first_step, n_steps, base; /* base: its steps begin here among a tile's, filled up to whole items */
};

template <typename Real> struct MharNullArgs {
  const Real *history; /* of the tokens from first_token on */
  size_t row_elements, stride, first_token;
  int width;
  const float *inverse; /* [R, stride]: log₂e / rms */
  const MharNullTile *tiles;
  const MharNullGroup *groups;
  const MharNullStep *steps;
  const MharNullPart *part;
  const uint4 *pack;
  int parts, units_a_tile; /* 16-byte units */
  int chunks, chunk_steps; /* items a part and row, and their size */
  int double_width;        /* 1: queries are sums of two bf16 numbers */
  int first_group, n_groups;
  MharSpan span;
  int first_window, pieces, piece_tokens; /* a window is cut into pieces, each a thread block's */
  float *partial;                         /* [windows, pieces · adders, floats of the launch's tiles] */
  size_t partial_floats;
  int64_t first_partial; /* of the first tile of this launch */
  int weights;           /* heads: 1: sums of the weights wanted */
  int rows;              /* heads: rows a turn of the second pass */
  float4 *spare;         /* heads, per thread block: log sums of the first pass */
  int resident;          /* slices: 1: the group's queries fit into shared memory */
  int first_part, kept;  /* slices reduced in this launch */
};

/* Warps of a block that add up the same tile. */
static inline int
mhar_null_adders (bool sliced)
{
  return sliced ? 2 : 1;
}

/* 16-byte units of a step of a tile's queries. */
template <typename Real>
static __host__ __device__ __forceinline__ int
mhar_null_step_units (int double_width)
{
  return sizeof (Real) == 4 ? 64 : double_width ? 64 : 32;
}

/* Elements from a token to the next in shared memory. */
template <typename Real>
static __host__ __device__ __forceinline__ constexpr int
mhar_null_pitch (int chunk_steps)
{
  return chunk_steps * MHAR_STEP + 16 / (int) sizeof (Real);
}

/* Bytes of a row's channels in shared memory. */
template <typename Real>
static __host__ __device__ __forceinline__ constexpr int
mhar_null_row_bytes (int chunk_steps)
{
  return NULL_TOKENS * mhar_null_pitch<Real> (chunk_steps) * (int) sizeof (Real);
}

/* Bytes of an item in shared memory: channels of `rows` rows, then log₂e / rms of their tokens. */
template <typename Real>
static __host__ __device__ __forceinline__ constexpr int
mhar_null_stage_bytes (int chunk_steps, int rows)
{
  return rows * (mhar_null_row_bytes<Real> (chunk_steps) + NULL_TOKENS * (int) sizeof (float));
}

#define NULL_PIPE_BYTES (16 * NULL_STAGES) /* of the barriers below */

/* ---- items on their way ----
 * The warps take turns in bringing an item to its stage; `full` counts the threads of the one that does, `empty` all
 * threads, each of which has read its share of it. No barrier of the whole block: while one warp multiplies, another may be at the sums of an
 * earlier item. */

struct MharNullPipe {
  uint32_t full, empty; /* a barrier a stage each */
};

static __device__ __forceinline__ MharNullPipe
mhar_null_pipe_begin (void *barriers)
{
  const MharNullPipe pipe = { mhar_shared_address (barriers), mhar_shared_address (barriers) + 8 * NULL_STAGES };
  if (threadIdx.x == 0)
    for (int i = 0; i < NULL_STAGES; i++) {
      asm volatile ("mbarrier.init.shared.b64 [%0], %1;" ::"r"(pipe.full + 8 * i), "r"(32) : "memory");
      asm volatile ("mbarrier.init.shared.b64 [%0], %1;" ::"r"(pipe.empty + 8 * i), "r"(NULL_THREADS) : "memory");
    }
  __syncthreads ();
  return pipe;
}

/* Until the phase of that parity of a barrier is over. */
static __device__ __forceinline__ void
mhar_null_pipe_wait (uint32_t barrier, uint32_t parity)
{
#if __CUDA_ARCH__ >= 900
#define NULL_WAIT "mbarrier.try_wait.parity.shared.b64"
#else
#define NULL_WAIT "mbarrier.test_wait.parity.shared.b64"
#endif
  asm volatile ("{\n.reg .pred done;\nagain:\n" NULL_WAIT " done, [%0], %1;\n@!done bra again;\n}" ::"r"(barrier),
                "r"(parity)
                : "memory");
}

static __device__ __forceinline__ void
mhar_null_pipe_arrive (uint32_t barrier)
{
  asm volatile ("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier) : "memory");
}

/* Before an item is brought: the one before it in its stage has been read by all warps. */
static __device__ __forceinline__ void
mhar_null_pipe_free (const MharNullPipe &pipe, uint32_t item)
{
  if (item >= NULL_STAGES)
    mhar_null_pipe_wait (pipe.empty + item % NULL_STAGES * 8, (item / NULL_STAGES - 1) & 1);
}

/* This thread's share of an item is there when its copies are. */
template <int VEC>
static __device__ __forceinline__ void
mhar_null_pipe_brought (const MharNullPipe &pipe, uint32_t item)
{
  if constexpr (VEC > 1)
    asm volatile ("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(pipe.full + item % NULL_STAGES * 8)
                  : "memory");
  else
    mhar_null_pipe_arrive (pipe.full + item % NULL_STAGES * 8);
}

/* Until an item is there. */
static __device__ __forceinline__ void
mhar_null_pipe_filled (const MharNullPipe &pipe, uint32_t item)
{
  mhar_null_pipe_wait (pipe.full + item % NULL_STAGES * 8, item / NULL_STAGES & 1);
}

/* This thread has read its share of an item. One arrival for a warp would do for the machine, but racecheck follows each
 * thread by itself. */
static __device__ __forceinline__ void
mhar_null_pipe_read (const MharNullPipe &pipe, uint32_t item)
{
  mhar_null_pipe_arrive (pipe.empty + item % NULL_STAGES * 8);
}

/* ---- a thread block's work ---- */

/* Where a thread block's group, tokens and sums are. */
struct MharNullPlace {
  MharNullGroup group;
  int window, from, to; /* counted positions of the window, [from, to) */
  float *partial;       /* of the block's first adder, before the launch's first tile */
};

template <typename Real>
static __device__ __forceinline__ MharNullPlace
mhar_null_place (const MharNullArgs<Real> &a, int adders)
{
  MharNullPlace p;
  p.group = a.groups[a.first_group + a.n_groups - 1 - blockIdx.x]; /* the longest first */
  p.window = a.first_window + blockIdx.y / a.pieces;
  p.from = blockIdx.y % a.pieces * a.piece_tokens;
  p.to = min (p.from + a.piece_tokens, a.span.skip + mhar_span_count (a.span, p.window));
  p.from = max (p.from, a.span.skip);
  p.partial = a.partial + (size_t) blockIdx.y * adders * a.partial_floats - a.first_partial;
  return p;
}

/* The warp starts bringing STEPS steps of a row from `first_step` on, of the tokens from `first` to `last` (of the
 * batch), and the row's scales; tokens past `last` repeat it, past the width there are zeros. */
template <typename Real, int VEC, int STEPS>
static __device__ __forceinline__ void
mhar_null_fetch (const MharNullArgs<Real> &a, int row, int first_step, size_t first, size_t last, char *channels,
                 float *scales)
{
  constexpr int units = VEC > 1 ? 3 : 1; /* turns of eight lanes a token */
  const int lane = threadIdx.x % 32, unit = lane % 8 * VEC, left = a.width - first_step * MHAR_STEP - unit;
  const Real *source = a.history + row * a.row_elements + first_step * MHAR_STEP + unit;
  Real *to = (Real *) channels + lane / 8 * mhar_null_pitch<Real> (STEPS) + unit;
#pragma unroll
  for (int t = 0; t < NULL_TOKENS; t += 4, to += 4 * mhar_null_pitch<Real> (STEPS)) {
    const Real *from = source + (min (first + t + lane / 8, last) - a.first_token) * a.width;
#pragma unroll units
    for (int u = 0; u < STEPS * MHAR_STEP; u += 8 * VEC)
      if (u + 8 * VEC <= STEPS * MHAR_STEP || unit < STEPS * MHAR_STEP - u) {
        if constexpr (VEC > 1)
          mhar_copy_start (mhar_shared_address (to + u), from + u, u < left);
        else
          to[u] = u < left ? from[u] : mhar_from_float<Real> (0.0f);
      }
  }
  const float *scale = a.inverse + row * a.stride + min (first + lane, last);
  if constexpr (VEC > 1)
    asm volatile ("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(mhar_shared_address (scales + lane)), "l"(scale)
                  : "memory");
  else
    scales[lane] = *scale;
}

/* This thread's scales of 8·NT tokens from `first` of the stage on. */
template <int NT>
static __device__ __forceinline__ void
mhar_null_scales (const float *scales, int first, float (&scale)[NT][2])
{
#pragma unroll
  for (int n = 0; n < NT; n++) {
    const float2 two = *(const float2 *) (scales + first + n * 8 + threadIdx.x % 4 * 2);
    scale[n][0] = two.x;
    scale[n][1] = two.y;
  }
}

/* What is added to the logit of query `q` of a tile: nothing, its bias, or what makes its weight 0. */
static __device__ __forceinline__ float
mhar_null_addend (uint32_t mask, int q, float bias)
{
  return mask >> q & 1 ? (mask >> (16 + q) & 1 ? bias : 0.0f) : NULL_NOT_TAKEN;
}

/* Where ldmatrix reads tokens from `first` of a stage on: lane i names row i % 8 of matrix i / 8; the first two matrices
 * are channels 0–7 and 8–15 of eight tokens and the others those of the next eight. */
static __device__ __forceinline__ uint32_t
mhar_null_matrix_at (const char *stage, int pitch, int first)
{
  const int lane = threadIdx.x % 32;
  return mhar_shared_address ((const __nv_bfloat16 *) stage + (first + lane / 16 * 8 + lane % 8) * pitch
                              + lane / 8 % 2 * 8);
}

/* Products in float32 of NT times eight tokens; a step of queries is [16 queries, 16 channels]. */
template <int NT>
static __device__ __forceinline__ void
mhar_null_product (const float *tokens, int pitch, const uint4 *query, int steps, float (&acc)[NT][4])
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

/* log₂ by the hardware, of a number that is not tiny. */
static __device__ __forceinline__ float
mhar_null_log2 (float x)
{
  float y;
  asm ("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* Sum over the four lanes that share queries g and g + 8. */
static __device__ __forceinline__ float
mhar_null_quad_sum (float x)
{
  x += __shfl_xor_sync (0xffffffffu, x, 1);
  return x + __shfl_xor_sync (0xffffffffu, x, 2);
}

/* Slices of the queries of sites with one head. null-slices.cu */
template <typename Real>
int mhar_null_launch_slices (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide);
/* Heads. null-heads.cu. `spare`: bytes it needs for each thread block. */
template <typename Real>
int mhar_null_launch_heads (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide);
size_t mhar_null_heads_spare (int parts);
