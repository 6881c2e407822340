/* SPDX-License-Identifier: MIT */
/* Many queries at sites of any number of heads: sums over tokens of the weights of every (query, head, source), and of
 * the heads' disagreement mean_h KL(w_h ‖ w̄) = (Σ_h w_h log w_h − Σ_n H w̄ log w̄) / H. Two passes over the rows a
 * tile of tokens: the first, head after head, leaves log Σ e^l of each; the second, row after row, has all heads'
 * weights of a row at hand. Logarithms are to base 2 until the end. */
#include "kernels/cuda/null-private.cuh"

#define HEADS_NT 4
#define HEADS_TOKENS (NULL_WARPS_TOKENS * 8 * HEADS_NT)

/* What a thread knows of its place. */
struct HeadsThread {
  int tile_warp, first; /* this warp's tile; its first token within the block's */
  size_t token0, last;  /* of the batch: the block's first token, and the last that may be read */
  int count;            /* tokens of the block's that count */
  float bias;
  int n, bias_at;
  float *sums; /* of this tile, in this warp's slot */
  float4 *spare;
};

/* One more logit in a running maximum and Σ 2^(l − top). */
static __device__ __forceinline__ void
running_add (float l, float &top, float &sum)
{
  const float d = l - top, e = mhar_exp2 (-fabsf (d));
  sum = d > 0 ? fmaf (sum, e, 1.0f) : sum + e;
  top = fmaxf (top, l);
}

/* First pass, one head's products with a row. top and sum run over the rows. */
static __device__ __forceinline__ void
heads_first (const HeadsThread &at, int part, int position, bool begin, bool end, const float (&scale)[HEADS_NT][2],
             const float (&acc)[HEADS_NT][4], float (&top)[HEADS_NT][4], float (&sum)[HEADS_NT][4])
{
  const float bias = position == at.bias_at ? at.bias : 0.0f;
#pragma unroll
  for (int n = 0; n < HEADS_NT; n++) {
    float log_sum[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (begin) {
        top[n][i] = -INFINITY;
        sum[n][i] = 0;
      }
      if (position >= 0)
        running_add (fmaf (acc[n][i], scale[n][i & 1], bias), top[n][i], sum[n][i]);
      const bool counts = at.first + n * 8 + threadIdx.x % 4 * 2 + (i & 1) < at.count;
      log_sum[i] = end && counts ? top[n][i] + log2f (sum[n][i]) : NULL_NOT_COUNTED;
    }
    if (end)
      at.spare[(part * HEADS_NT + n) * NULL_THREADS + threadIdx.x]
        = make_float4 (log_sum[0], log_sum[1], log_sum[2], log_sum[3]);
  }
}

/* Second pass: the head's weights, into the sums of its tile, into `mean` (Σ_h w) and into js (two queries). */
static __device__ __forceinline__ void
heads_second (const HeadsThread &at, int part, int position, bool weights, const float (&scale)[HEADS_NT][2],
              const float (&acc)[HEADS_NT][4], float (&mean)[HEADS_NT][4], float (&js)[2])
{
  const float bias = position == at.bias_at ? at.bias : 0.0f;
  float sum[2] = {};
#pragma unroll
  for (int n = 0; n < HEADS_NT; n++) {
    const float4 spare = at.spare[(part * HEADS_NT + n) * NULL_THREADS + threadIdx.x];
    const float log_sum[4] = { spare.x, spare.y, spare.z, spare.w };
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float log_w = fmaf (acc[n][i], scale[n][i & 1], bias) - log_sum[i], w = mhar_exp2 (log_w);
      mean[n][i] = part ? mean[n][i] + w : w;
      js[i / 2] = fmaf (w, log_w, js[i / 2]);
      sum[i / 2] += w;
    }
  }
  if (!weights)
    return;
  float *to = at.sums + (part * at.n + position) * NULL_QUERIES + threadIdx.x % 32 / 4;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    sum[i] = mhar_null_quad_sum (sum[i]);
    if (threadIdx.x % 4 == 0)
      atomicAdd (to + 8 * i, sum[i]); /* only this lane ever adds here, so the order is fixed */
  }
}

/* js −= Σ W log (W / H), W = Σ_h w of a row. */
static __device__ __forceinline__ void
heads_consensus (int heads, const float (&mean)[HEADS_NT][4], float (&js)[2])
{
#pragma unroll
  for (int n = 0; n < HEADS_NT; n++)
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (mean[n][i] > 0)
        js[i / 2] -= mean[n][i] * (log2f (mean[n][i]) - log2f ((float) heads));
}

/* Both passes over one tile of tokens. */
template <typename Real, int VEC>
static __device__ void
heads_tokens (const MharNullArgs<Real> &a, const MharNullGroup &group, const HeadsThread &at, const uint4 *query,
              Real *stages, float (&js)[2])
{
  const int pitch = mhar_null_pitch<Real> (a.chunk_steps), stage = HEADS_TOKENS * pitch;
  const int pass = group.n_steps * a.parts * a.chunks;
  const MharNullStep *steps = a.steps + group.first_step;
  float acc[HEADS_NT][4], top[HEADS_NT][4], sum[HEADS_NT][4], scale[HEADS_NT][2];
  for (int i = 1 - NULL_STAGES; i < 2 * pass; i++) {
    const int next = i + NULL_STAGES - 1;
    if (i >= 0) {
      mhar_copy_groups<NULL_STAGES - 2> ();
      __syncthreads ();
    }
    if (next < 2 * pass) {
      const MharNullItem item = mhar_null_item (a, group.n_steps, next % pass, next < pass);
      mhar_null_fetch<Real, VEC, HEADS_TOKENS> (a, item, steps[item.step].row, at.token0, at.last,
                                                stages + next % NULL_STAGES * stage);
    }
    mhar_copy_close ();
    if (i < 0 || at.tile_warp >= group.n_tiles)
      continue;
    const MharNullItem item = mhar_null_item (a, group.n_steps, i % pass, i < pass);
    const int position = steps[item.step].position[at.tile_warp];
    if (item.first)
#pragma unroll
      for (int n = 0; n < HEADS_NT * 4; n++)
        acc[n / 4][n % 4] = 0;
    if (position >= 0)
      mhar_null_product<HEADS_NT> (stages + i % NULL_STAGES * stage + at.first * pitch, pitch,
                                   mhar_null_query (a, query, item), item.to - item.from, a.double_width, acc);
    if (!item.last)
      continue;
    if (position >= 0)
      mhar_null_scales<Real, HEADS_NT> (a, steps[item.step].row, at.token0 + at.first, at.last, scale);
    if (i < pass) {
      heads_first (at, item.part, position, item.step == 0, item.step == group.n_steps - 1, scale, acc, top, sum);
    } else if (position >= 0) {
      heads_second (at, item.part, position, a.weights, scale, acc, top, js);
      if (item.part == a.parts - 1)
        heads_consensus (a.parts, top, js);
    }
  }
  __syncthreads ();
}

/* Grid [groups, windows · pieces]. */
template <typename Real, int VEC>
__global__ void __launch_bounds__ (NULL_THREADS, 1)
null_heads_kernel (const __grid_constant__ MharNullArgs<Real> a)
{
  MHAR_SHARED (shared);
  const MharNullPlace place = mhar_null_place (a);
  const int warp = threadIdx.x / 32, tile_warp = warp % NULL_TILES, token_warp = warp / NULL_TILES;
  Real *stages = (Real *) shared;
  uint4 *resident = shared + NULL_STAGES * mhar_null_stage_bytes<Real> (a.chunk_steps, HEADS_TOKENS) / 16;
  float4 *spare = (float4 *) (resident + (a.resident ? NULL_TILES * a.units_a_tile : 0));
  const MharNullTile tile = a.tiles[place.group.first_tile + min (tile_warp, place.group.n_tiles - 1)];
  HeadsThread at;
  at.tile_warp = tile_warp;
  at.first = token_warp * 8 * HEADS_NT;
  at.bias = tile.bias;
  at.n = tile.n;
  at.bias_at = tile.last;
  at.sums = mhar_null_sums (a, place.slot + token_warp, tile);
  at.spare = a.spare_shared
               ? spare
               : a.spare + ((size_t) blockIdx.y * gridDim.x + blockIdx.x) * a.parts * HEADS_NT * NULL_THREADS;
  if (a.resident)
    mhar_null_bring_queries (a, place.group, resident);
  __syncthreads ();
  const uint4 *query = a.resident ? resident + min (tile_warp, place.group.n_tiles - 1) * a.units_a_tile
                                  : a.pack + tile.pack;
  float js[2] = {};
  at.last = (size_t) place.window * a.span.length + place.to - 1;
  for (int first = place.from; first < place.to; first += HEADS_TOKENS) {
    at.token0 = (size_t) place.window * a.span.length + first;
    at.count = place.to - first;
    heads_tokens<Real, VEC> (a, place.group, at, query, stages, js);
  }
  if (tile_warp >= place.group.n_tiles)
    return;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const float sum = mhar_null_quad_sum (js[i]) * (0.693147181f / a.parts);
    if (threadIdx.x % 4 == 0)
      at.sums[a.parts * tile.n * NULL_QUERIES + threadIdx.x % 32 / 4 + 8 * i] = sum;
  }
}

/* ---- launching ---- */

static size_t
spare_bytes (int parts)
{
  return (size_t) parts * HEADS_NT * NULL_THREADS * sizeof (float4);
}

/* Shared memory: the stages, then, as far as they fit, the queries and the first pass's sums. */
template <typename Real>
static size_t
heads_shared (const MharContext *c, MharNullArgs<Real> *a)
{
  size_t bytes = NULL_STAGES * mhar_null_stage_bytes<Real> (a->chunk_steps, HEADS_TOKENS);
  const size_t queries = (size_t) NULL_TILES * a->units_a_tile * 16;
  a->resident = bytes + queries <= c->shared_per_block;
  bytes += a->resident ? queries : 0;
  a->spare_shared = bytes + spare_bytes (a->parts) <= c->shared_per_block;
  return bytes + (a->spare_shared ? spare_bytes (a->parts) : 0);
}

template <typename Real>
size_t
mhar_null_heads_spare (const MharContext *c, const MharNullArgs<Real> &a, size_t blocks)
{
  MharNullArgs<Real> copy = a;
  heads_shared (c, &copy);
  return copy.spare_shared ? 0 : blocks * spare_bytes (a.parts);
}

template <typename Real>
int
mhar_null_launch_heads (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide)
{
  const size_t shared = heads_shared (c, &a);
  return mhar_cuda_launch (c, "null heads",
                           wide ? null_heads_kernel<Real, MharWide<Real>::n> : null_heads_kernel<Real, 1>, grid,
                           NULL_THREADS, shared, false, a);
}

template size_t mhar_null_heads_spare (const MharContext *, const MharNullArgs<float> &, size_t);
template size_t mhar_null_heads_spare (const MharContext *, const MharNullArgs<__nv_bfloat16> &, size_t);
template int mhar_null_launch_heads (MharContext *, MharNullArgs<float>, dim3, bool);
template int mhar_null_launch_heads (MharContext *, MharNullArgs<__nv_bfloat16>, dim3, bool);
