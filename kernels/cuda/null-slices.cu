/* SPDX-License-Identifier: MIT */
/* Many queries at sites of one head, each cut into slices: Σ over tokens of KL(a_s ‖ alpha), a_s the softmax over the
 * rows of slice s's products, alpha that of the whole query's. One pass over the rows, 32 tokens at a time; with
 * l = Σ_s l_s
 *   KL = Σ_n e^(l_s − m) (l_s − l) / z − (m + log z) + (M + log Z),
 * maxima m, M and sums z, Z. Logarithms are to base 2 until the end. Two rows are scored at once, so that the queries
 * are read from shared memory half as often. S slices are reduced in a launch; REST: there are others, which only count
 * towards the whole. */
#include "kernels/cuda/null-private.cuh"

#define SLICES_NT 2 /* a warp's tokens: 8 · 2 */
#define SLICES_EACH (SLICES_NT * 4)

/* Index S: the whole query. */
template <int S> struct SliceState {
  float top[S + 1][SLICES_EACH], sum[S + 1][SLICES_EACH];
  float moment[S][SLICES_EACH]; /* Σ 2^(l_s − top) (l_s − l) */
};

template <int S>
static __device__ __forceinline__ void
slices_begin (SliceState<S> &state)
{
#pragma unroll
  for (int j = 0; j < SLICES_EACH; j++) {
#pragma unroll
    for (int s = 0; s <= S; s++) {
      state.top[s][j] = NULL_NO_TOP;
      state.sum[s][j] = 0;
    }
#pragma unroll
    for (int s = 0; s < S; s++)
      state.moment[s][j] = 0;
  }
}

/* Raises the maxima to one row's logits. */
template <int S>
static __device__ __forceinline__ void
slices_raise (SliceState<S> &state, const float (&l)[S + 1][SLICES_EACH])
{
#pragma unroll
  for (int s = 0; s <= S; s++)
#pragma unroll
    for (int j = 0; j < SLICES_EACH; j++) {
      const float higher = fmaxf (state.top[s][j], l[s][j]), fall = mhar_exp2 (state.top[s][j] - higher);
      state.top[s][j] = higher;
      state.sum[s][j] *= fall;
      if (s < S)
        state.moment[s < S ? s : 0][j] *= fall;
    }
}

/* One more row. The maxima follow only when some logit of the warp has left its own well behind. */
template <int S>
static __device__ __forceinline__ void
slices_add (SliceState<S> &state, const float (&l)[S + 1][SLICES_EACH])
{
  float most = NULL_NOT_TAKEN;
#pragma unroll
  for (int s = 0; s <= S; s++)
#pragma unroll
    for (int j = 0; j < SLICES_EACH; j++)
      most = fmaxf (most, l[s][j] - state.top[s][j]);
  if (__any_sync (0xffffffffu, most > NULL_RISE))
    slices_raise (state, l);
#pragma unroll
  for (int j = 0; j < SLICES_EACH; j++) {
    state.sum[S][j] += mhar_exp2 (l[S][j] - state.top[S][j]);
#pragma unroll
    for (int s = 0; s < S; s++) {
      const float e = mhar_exp2 (l[s][j] - state.top[s][j]);
      state.sum[s][j] += e;
      state.moment[s][j] = fmaf (e, l[s][j] - l[S][j], state.moment[s][j]);
    }
  }
}

/* kl[s][query] += KL of the tokens that count; `first`: this thread's first token, `count` of them count. */
template <int S>
static __device__ __forceinline__ void
slices_end (const SliceState<S> &state, int first, int count, float (&kl)[S][2])
{
#pragma unroll
  for (int j = 0; j < SLICES_EACH; j++)
    if (first + j / 4 * 8 + j % 2 < count && state.sum[S][j] > 0) {
      const float whole = state.top[S][j] + log2f (state.sum[S][j]);
#pragma unroll
      for (int s = 0; s < S; s++)
        kl[s][j % 4 / 2] += state.moment[s][j] / state.sum[s][j] - (state.top[s][j] + log2f (state.sum[s][j]) - whole);
    }
}

/* ---- products ---- */

/* acc[row] += products of a tile's queries, from an item's first step on, with 16 tokens of two rows. */
template <int STEPS>
static __device__ __forceinline__ void
slices_product (const __nv_bfloat16 *stage, int first, const uint4 *query, int double_width,
                float (&acc)[2][SLICES_NT][4])
{
  constexpr int pitch = mhar_null_pitch<__nv_bfloat16> (STEPS), row = mhar_null_row_bytes<__nv_bfloat16> (STEPS);
  const uint32_t at = mhar_null_matrix_at ((const char *) stage, pitch, first);
  const uint4 *q = query + threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    const uint4 high = q[k * (32 + 32 * double_width)];
    const uint32_t a[4] = { high.x, high.y, high.z, high.w };
    uint32_t b[2][4];
#pragma unroll
    for (int r = 0; r < 2; r++) {
      mhar_matrix_load (b[r], at + r * row + k * MHAR_STEP * 2);
      mhar_mma (acc[r][0], a, b[r][0], b[r][1]);
      mhar_mma (acc[r][1], a, b[r][2], b[r][3]);
    }
    if (double_width) {
      const uint4 low = q[k * 64 + 32];
      const uint32_t rest[4] = { low.x, low.y, low.z, low.w };
#pragma unroll
      for (int r = 0; r < 2; r++) {
        mhar_mma (acc[r][0], rest, b[r][0], b[r][1]);
        mhar_mma (acc[r][1], rest, b[r][2], b[r][3]);
      }
    }
  }
}

template <int STEPS>
static __device__ __forceinline__ void
slices_product (const float *stage, int first, const uint4 *query, int, float (&acc)[2][SLICES_NT][4])
{
  constexpr int pitch = mhar_null_pitch<float> (STEPS), row = mhar_null_row_bytes<float> (STEPS) / (int) sizeof (float);
#pragma unroll
  for (int r = 0; r < 2; r++)
    mhar_null_product<SLICES_NT> (stage + r * row + first * pitch, pitch, query, STEPS, acc[r]);
}

/* ---- rows ---- */

/* What a warp knows of its place. */
struct SlicesThread {
  int tile, n_tiles, first_tile, first_step, n_steps, first; /* first: its tokens' place among the 32 */
  const uint4 *query;
  size_t window;
  int from, to; /* tokens of the window */
  uint32_t n_items;
  MharNullPipe pipe;
  char *stages;
};

/* Products of two rows with every slice; index S: with the slices of other launches. */
template <int S> struct SliceProducts {
  float acc[S + 1][2][SLICES_NT][4];
};

template <typename Real, int STEPS, int S, bool REST>
static __device__ __forceinline__ void
slices_item (const MharNullArgs<Real> &a, const SlicesThread &at, int part, int chunk, const char *stage,
             SliceProducts<S> &products)
{
  const int mine = part - a.first_part;
  const uint4 *query
    = at.query + (a.part[part].base + chunk * STEPS) * mhar_null_step_units<Real> (a.double_width);
#pragma unroll
  for (int s = 0; s < S; s++)
    if (mine == s)
      slices_product<STEPS> ((const Real *) stage, at.first, query, a.double_width, products.acc[s]);
  if (REST && (mine < 0 || mine >= S))
    slices_product<STEPS> ((const Real *) stage, at.first, query, a.double_width, products.acc[S]);
}

/* Row r of two: its products into the sums. */
template <typename Real, int S, bool REST>
static __device__ __forceinline__ void
slices_row (const MharNullArgs<Real> &a, const SlicesThread &at, uint32_t mask, const float (&scale)[SLICES_NT][2],
            const SliceProducts<S> &products, int r, SliceState<S> &state)
{
  const int g = threadIdx.x % 32 / 4;
  float add[2] = {}, l[S + 1][SLICES_EACH];
  if (mask != 0xffffu) {
    const MharNullTile &tile = a.tiles[at.first_tile + at.tile];
    add[0] = mhar_null_addend (mask, g, tile.bias[g]);
    add[1] = mhar_null_addend (mask, g + 8, tile.bias[g + 8]);
  }
#pragma unroll
  for (int j = 0; j < SLICES_EACH; j++) {
    float whole = REST ? products.acc[S][r][j / 4][j % 4] : 0.0f;
#pragma unroll
    for (int s = 0; s < S; s++) {
      whole += products.acc[s][r][j / 4][j % 4];
      l[s][j] = fmaf (products.acc[s][r][j / 4][j % 4], scale[j / 4][j & 1], add[j % 4 / 2]);
    }
    l[S][j] = fmaf (whole, scale[j / 4][j & 1], add[j % 4 / 2]);
  }
  slices_add (state, l);
}

/* Brings an item of two rows, if it is this warp's turn; a row past the last repeats it. They come 32 tokens after 32
 * tokens, then pair of rows after pair of rows, part after part, chunk after chunk. */
template <typename Real, int VEC, int STEPS>
static __device__ __forceinline__ void
slices_bring (const MharNullArgs<Real> &a, const SlicesThread &at, uint32_t item)
{
  if (item >= at.n_items || item % NULL_WARPS != threadIdx.x / 32)
    return;
  const uint32_t row = a.parts * a.chunks, all = (at.n_steps + 1) / 2 * row;
  const int step = item % all / row * 2, part = item % row / a.chunks, chunk = item % a.chunks;
  const size_t first = at.window + at.from + item / all * NULL_TOKENS;
  char *stage = at.stages + item % NULL_STAGES * mhar_null_stage_bytes<Real> (STEPS, 2);
  float *scales = (float *) (stage + 2 * mhar_null_row_bytes<Real> (STEPS));
  mhar_null_pipe_free (at.pipe, item);
#pragma unroll
  for (int r = 0; r < 2; r++)
    mhar_null_fetch<Real, VEC, STEPS> (a, a.steps[at.first_step + min (step + r, at.n_steps - 1)].row,
                                       a.part[part].first_step + chunk * STEPS, first, at.window + at.to - 1,
                                       stage + r * mhar_null_row_bytes<Real> (STEPS), scales + r * NULL_TOKENS);
  mhar_null_pipe_brought<VEC> (at.pipe, item);
}

/* All parts of two rows. */
template <typename Real, int VEC, int STEPS, int S, bool REST>
static __device__ __forceinline__ void
slices_pair (const MharNullArgs<Real> &a, const SlicesThread &at, int step, uint32_t &item, SliceState<S> &state)
{
  SliceProducts<S> products;
  float scale[2][SLICES_NT][2];
  uint32_t mask[2] = { 0, 0 };
  if (at.tile < at.n_tiles)
#pragma unroll
    for (int r = 0; r < 2; r++)
      mask[r] = step + r < at.n_steps ? a.steps[at.first_step + step + r].mask[at.tile] : 0;
#pragma unroll
  for (int j = 0; j < (S + 1) * 16; j++)
    products.acc[j / 16][j / 8 % 2][j / 4 % 2][j % 4] = 0;
  for (int part = 0; part < a.parts; part++)
    for (int chunk = 0; chunk < a.chunks; chunk++, item++) {
      const char *stage = at.stages + item % NULL_STAGES * mhar_null_stage_bytes<Real> (STEPS, 2);
      slices_bring<Real, VEC, STEPS> (a, at, item + NULL_AHEAD);
      mhar_null_pipe_filled (at.pipe, item);
      if (mask[0] | mask[1])
        slices_item<Real, STEPS, S, REST> (a, at, part, chunk, stage, products);
      if (part == a.parts - 1 && chunk == a.chunks - 1)
#pragma unroll
        for (int r = 0; r < 2; r++)
          mhar_null_scales ((const float *) (stage + 2 * mhar_null_row_bytes<Real> (STEPS)) + r * NULL_TOKENS, at.first,
                            scale[r]);
      mhar_null_pipe_read (at.pipe, item);
    }
#pragma unroll
  for (int r = 0; r < 2; r++)
    if (mask[r])
      slices_row<Real, S, REST> (a, at, mask[r], scale[r], products, r, state);
}

/* ---- kernel ---- */

template <typename Real, int STEPS>
static __device__ __forceinline__ SlicesThread
slices_thread (const MharNullArgs<Real> &a, const MharNullPlace &place, char *shared)
{
  const int warp = threadIdx.x / 32, n = max (place.to - place.from + NULL_TOKENS - 1, 0) / NULL_TOKENS;
  SlicesThread at;
  at.tile = warp % NULL_SLICES_TILES;
  at.first = warp / NULL_SLICES_TILES * 8 * SLICES_NT;
  at.n_tiles = place.group.n_tiles;
  at.first_tile = place.group.first_tile;
  at.first_step = place.group.first_step;
  at.n_steps = place.group.n_steps;
  at.window = (size_t) place.window * a.span.length;
  at.from = place.from;
  at.to = place.to;
  at.n_items = n * ((at.n_steps + 1) / 2) * a.parts * a.chunks;
  at.stages = shared + NULL_PIPE_BYTES;
  const int mine = min (at.tile, at.n_tiles - 1);
  uint4 *resident = (uint4 *) (at.stages + NULL_STAGES * mhar_null_stage_bytes<Real> (STEPS, 2));
  at.query = a.resident ? resident + mine * a.units_a_tile : a.pack + a.tiles[at.first_tile + mine].pack;
  if (a.resident) {
    const uint4 *from = a.pack + a.tiles[at.first_tile].pack; /* a group's tiles follow one another */
    for (int i = threadIdx.x; i < at.n_tiles * a.units_a_tile; i += NULL_THREADS)
      resident[i] = from[i];
  }
  at.pipe = mhar_null_pipe_begin (shared);
  return at;
}

/* Grid [groups, windows · pieces]. */
template <typename Real, int VEC, int STEPS, int S, bool REST>
__global__ void __launch_bounds__ (NULL_THREADS, 1)
null_slices_kernel (const __grid_constant__ MharNullArgs<Real> a)
{
  MHAR_SHARED (shared);
  const MharNullPlace place = mhar_null_place (a, 2);
  const SlicesThread at = slices_thread<Real, STEPS> (a, place, (char *) shared);
  float kl[S][2] = {};
  uint32_t item = 0;
  for (int i = 0; i < NULL_AHEAD; i++)
    slices_bring<Real, VEC, STEPS> (a, at, i);
  for (int first = place.from; first < place.to; first += NULL_TOKENS) {
    SliceState<S> state;
    slices_begin (state);
    for (int step = 0; step < at.n_steps; step += 2)
      slices_pair<Real, VEC, STEPS, S, REST> (a, at, step, item, state);
    slices_end (state, at.first + threadIdx.x % 4 * 2, place.to - first, kl);
  }
  if (at.tile >= at.n_tiles)
    return;
  float *sums = place.partial + (at.first ? a.partial_floats : 0) + a.tiles[at.first_tile + at.tile].partial;
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

template <typename Real, int VEC, int STEPS, int S, bool REST>
static int
slices_start (MharContext *c, MharNullArgs<Real> a, dim3 grid)
{
  size_t shared = NULL_PIPE_BYTES + NULL_STAGES * (size_t) mhar_null_stage_bytes<Real> (STEPS, 2);
  const size_t queries = (size_t) NULL_SLICES_TILES * a.units_a_tile * sizeof (uint4);
  a.resident = shared + queries <= c->shared_per_block;
  shared += a.resident ? queries : 0;
  return mhar_cuda_launch (c, "null slices", null_slices_kernel<Real, VEC, STEPS, S, REST>, grid, NULL_THREADS, shared,
                           false, a);
}

template <typename Real, int S, bool REST>
static int
slices_launch (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide)
{
  const int vec = MharWide<Real>::n;
  if constexpr (sizeof (Real) == 2)
    if (a.chunk_steps == NULL_SLICES_STEPS)
      return slices_start<Real, vec, NULL_SLICES_STEPS, S, REST> (c, a, grid);
  return wide ? slices_start<Real, vec, NULL_FEWEST_STEPS, S, REST> (c, a, grid)
              : slices_start<Real, 1, NULL_FEWEST_STEPS, S, REST> (c, a, grid);
}

template <typename Real>
int
mhar_null_launch_slices (MharContext *c, MharNullArgs<Real> a, dim3 grid, bool wide)
{
  const int most = a.parts <= 2 ? 2 : 4;
  int status = MHAR_OK;
  for (a.first_part = 0; a.first_part < a.parts && !status; a.first_part += most) {
    a.kept = a.parts - a.first_part < most ? a.parts - a.first_part : most;
    status = a.parts <= 2   ? slices_launch<Real, 2, false> (c, a, grid, wide)
             : a.parts <= 4 ? slices_launch<Real, 4, false> (c, a, grid, wide)
                            : slices_launch<Real, 4, true> (c, a, grid, wide);
  }
  return status;
}

template int mhar_null_launch_slices (MharContext *, MharNullArgs<float>, dim3, bool);
template int mhar_null_launch_slices (MharContext *, MharNullArgs<__nv_bfloat16>, dim3, bool);
