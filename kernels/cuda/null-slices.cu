/* SPDX-License-Identifier: MIT */
/* Many queries at sites of one head, each cut into slices: Σ over tokens of KL(a_s ‖ alpha), a_s the softmax over the
 * rows of slice s's products, alpha that of the whole query's. One pass over the rows: with l = Σ_s l_s
 *   KL = Σ_n e^(l_s − m) (l_s − l) / z − (m + log z) + (M + log Z),
 * running maxima m, M and sums z, Z kept exact. Logarithms are to base 2 until the end. S slices are reduced in a
 * launch; the others only count towards the whole. */
#include "kernels/cuda/null-private.cuh"

template <int S, int NT> struct SliceState {
  float top[S][NT][4], sum[S][NT][4], moment[S][NT][4]; /* of each slice; moment: Σ 2^(l_s − top) (l_s − l) */
  float whole_top[NT][4], whole_sum[NT][4];
};

template <int S, int NT>
static __device__ __forceinline__ void
slices_begin (SliceState<S, NT> &state)
{
#pragma unroll
  for (int n = 0; n < NT; n++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
      for (int s = 0; s < S; s++) {
        state.top[s][n][i] = -INFINITY;
        state.sum[s][n][i] = state.moment[s][n][i] = 0;
      }
      state.whole_top[n][i] = -INFINITY;
      state.whole_sum[n][i] = 0;
    }
}

/* One more row: products of the slices, and of the whole query. */
template <int S, int NT>
static __device__ __forceinline__ void
slices_add (SliceState<S, NT> &state, float bias, const float (&scale)[NT][2], const float (&slice)[S][NT][4],
            const float (&whole)[NT][4])
{
#pragma unroll
  for (int n = 0; n < NT; n++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float l = fmaf (whole[n][i], scale[n][i & 1], bias);
      const float gap = l - state.whole_top[n][i], fall = mhar_exp2 (-fabsf (gap));
      state.whole_sum[n][i] = gap > 0 ? fmaf (state.whole_sum[n][i], fall, 1.0f) : state.whole_sum[n][i] + fall;
      state.whole_top[n][i] = fmaxf (state.whole_top[n][i], l);
#pragma unroll
      for (int s = 0; s < S; s++) {
        const float part = fmaf (slice[s][n][i], scale[n][i & 1], bias);
        const float d = part - state.top[s][n][i], e = mhar_exp2 (-fabsf (d)), more = part - l;
        state.sum[s][n][i] = d > 0 ? fmaf (state.sum[s][n][i], e, 1.0f) : state.sum[s][n][i] + e;
        state.moment[s][n][i] = d > 0 ? fmaf (state.moment[s][n][i], e, more) : fmaf (e, more, state.moment[s][n][i]);
        state.top[s][n][i] = fmaxf (state.top[s][n][i], part);
      }
    }
}

/* kl[s][query] += KL of the tokens that count; `first`: this thread's first token, `count` of them count. */
template <int S, int NT>
static __device__ __forceinline__ void
slices_end (const SliceState<S, NT> &state, int first, int count, float (&kl)[S][2])
{
#pragma unroll
  for (int n = 0; n < NT; n++)
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (first + n * 8 + (i & 1) < count) {
        const float whole = state.whole_top[n][i] + log2f (state.whole_sum[n][i]);
#pragma unroll
        for (int s = 0; s < S; s++)
          kl[s][i / 2] += state.moment[s][n][i] / state.sum[s][n][i]
                          - (state.top[s][n][i] + log2f (state.sum[s][n][i]) - whole);
      }
}

/* One tile of tokens, all rows. */
template <typename Real, int VEC, int S, int NT>
static __device__ void
slices_tokens (const MharNullArgs<Real> &a, const MharNullGroup &group, const MharNullTile &tile, int tile_warp,
               int first, size_t token0, size_t last, int count, const uint4 *query, Real *stages, float (&kl)[S][2])
{
  const int tokens = NULL_WARPS_TOKENS * 8 * NT, pitch = mhar_null_pitch<Real> (a.chunk_steps), stage = tokens * pitch;
  const int n_items = group.n_steps * a.parts * a.chunks;
  const MharNullStep *steps = a.steps + group.first_step;
  SliceState<S, NT> state;
  float acc[NT][4], whole[NT][4], slice[S][NT][4], scale[NT][2];
  slices_begin (state);
#pragma unroll
  for (int j = 0; j < S * NT * 4; j++)
    slice[j / (NT * 4)][j / 4 % NT][j % 4] = 0;
  for (int i = 1 - NULL_STAGES; i < n_items; i++) {
    const int next = i + NULL_STAGES - 1;
    if (i >= 0) {
      mhar_copy_groups<NULL_STAGES - 2> ();
      __syncthreads ();
    }
    if (next < n_items) {
      const MharNullItem item = mhar_null_item (a, group.n_steps, next, false);
      mhar_null_fetch<Real, VEC, NULL_WARPS_TOKENS * 8 * NT> (a, item, steps[item.step].row, token0, last,
                                                              stages + next % NULL_STAGES * stage);
    }
    mhar_copy_close ();
    if (i < 0 || tile_warp >= group.n_tiles)
      continue;
    const MharNullItem item = mhar_null_item (a, group.n_steps, i, false);
    const int position = steps[item.step].position[tile_warp];
    if (position < 0)
      continue;
#pragma unroll
    for (int j = 0; j < NT * 4; j++) {
      acc[j / 4][j % 4] = item.first ? 0 : acc[j / 4][j % 4];
      whole[j / 4][j % 4] = item.first && item.part == 0 ? 0 : whole[j / 4][j % 4];
    }
    mhar_null_product<NT> (stages + i % NULL_STAGES * stage + first * pitch, pitch,
                           mhar_null_query (a, query, item), item.to - item.from, a.double_width, acc);
    if (!item.last)
      continue;
#pragma unroll
    for (int j = 0; j < NT * 4; j++) {
      whole[j / 4][j % 4] += acc[j / 4][j % 4];
#pragma unroll
      for (int s = 0; s < S; s++)
        slice[s][j / 4][j % 4] = item.part == a.first_part + s ? acc[j / 4][j % 4] : slice[s][j / 4][j % 4];
    }
    if (item.part < a.parts - 1)
      continue;
    mhar_null_scales<Real, NT> (a, steps[item.step].row, token0 + first, last, scale);
    slices_add (state, position == tile.last ? tile.bias : 0.0f, scale, slice, whole);
  }
  __syncthreads ();
  if (tile_warp < group.n_tiles)
    slices_end (state, first + threadIdx.x % 4 * 2, count, kl);
}

/* Grid [groups, windows · pieces]. */
template <typename Real, int VEC, int S, int NT>
__global__ void __launch_bounds__ (NULL_THREADS, 1)
null_slices_kernel (const __grid_constant__ MharNullArgs<Real> a)
{
  MHAR_SHARED (shared);
  const int tokens = NULL_WARPS_TOKENS * 8 * NT;
  const MharNullPlace place = mhar_null_place (a);
  const int warp = threadIdx.x / 32, tile_warp = warp % NULL_TILES, token_warp = warp / NULL_TILES;
  const int mine = min (tile_warp, place.group.n_tiles - 1);
  uint4 *resident = shared + NULL_STAGES * mhar_null_stage_bytes<Real> (a.chunk_steps, tokens) / 16;
  const MharNullTile tile = a.tiles[place.group.first_tile + mine];
  if (a.resident)
    mhar_null_bring_queries (a, place.group, resident);
  __syncthreads ();
  const uint4 *query = a.resident ? resident + mine * a.units_a_tile : a.pack + tile.pack;
  float kl[S][2] = {};
  const size_t window = (size_t) place.window * a.span.length, last = window + place.to - 1;
  for (int first = place.from; first < place.to; first += tokens)
    slices_tokens<Real, VEC, S, NT> (a, place.group, tile, tile_warp, token_warp * 8 * NT, window + first, last,
                                     place.to - first, query, (Real *) shared, kl);
  if (tile_warp >= place.group.n_tiles)
    return;
  float *sums = mhar_null_sums (a, place.slot + token_warp, tile);
#pragma unroll
  for (int s = 0; s < S; s++)
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const float sum = mhar_null_quad_sum (kl[s][i]) * 0.693147181f;
      if (threadIdx.x % 4 == 0 && s < a.kept)
        sums[(a.first_part + s) * NULL_QUERIES + threadIdx.x % 32 / 4 + 8 * i] = sum;
    }
}

/* ---- launching ---- */

template <typename Real, int S, int NT>
static int
slices_launch (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide)
{
  size_t shared = NULL_STAGES * mhar_null_stage_bytes<Real> (a.chunk_steps, NULL_WARPS_TOKENS * 8 * NT);
  const size_t queries = (size_t) NULL_TILES * a.units_a_tile * 16;
  a.resident = shared + queries <= c->shared_per_block;
  shared += a.resident ? queries : 0;
  return mhar_cuda_launch (c, "null slices",
                           wide ? null_slices_kernel<Real, MharWide<Real>::n, S, NT>
                                : null_slices_kernel<Real, 1, S, NT>,
                           grid, NULL_THREADS, shared, false, a);
}

template <typename Real>
int
mhar_null_launch_slices (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide)
{
  const int most = a.parts <= 2 ? 2 : a.parts <= 4 ? 4 : 8;
  int status = MHAR_OK;
  for (a.first_part = 0; a.first_part < a.parts && !status; a.first_part += most) {
    a.kept = a.parts - a.first_part < most ? a.parts - a.first_part : most;
    status = most == 2   ? slices_launch<Real, 2, 2> (c, a, grid, wide)
             : most == 4 ? slices_launch<Real, 4, 2> (c, a, grid, wide)
                         : slices_launch<Real, 8, 1> (c, a, grid, wide);
  }
  return status;
}

template int mhar_null_launch_slices (MharContext *, MharNullArgs<float>, dim3, bool);
template int mhar_null_launch_slices (MharContext *, MharNullArgs<__nv_bfloat16>, dim3, bool);
