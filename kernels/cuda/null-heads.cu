/* SPDX-License-Identifier: MIT */
/* Many queries at sites of any number of heads: sums over tokens of the weights of every (query, head, source), and of
 * the heads' disagreement mean_h KL(w_h ‖ w̄) = (Σ_h w_h log w_h − Σ_n H w̄ log w̄) / H. Two passes over the rows, 32
 * tokens at a time. The first, head after head, leaves log Σ e^l of each. The second takes a few rows a turn, head
 * after head, and keeps Σ_h w of those rows in shared memory until the last head has added its own. So a warp's queries
 * stay in registers for several rows: two tiles' of one head, or one tile's and what rounding to bf16 left of them.
 * Logarithms are to base 2 until the end. */
#include "kernels/cuda/null-private.cuh"

#define HEADS_NT (NULL_TOKENS / 8)
#define HEADS_FEW_ROWS 8 /* the most a turn of the second pass */

/* What a thread knows of its place. */
struct HeadsThread {
  int first_tile, first_step, n_steps; /* of the warp's tiles, of the group's steps */
  uint32_t query;                      /* 16-byte units into `pack` */
  int second; /* 16-byte units to the other operand: of the other tile, if there is one, or what rounding left */
  float *sums;
  size_t window;
  int from, to; /* tokens of the window */
  uint32_t n_items;
  MharNullPipe pipe;
  char *stages;
};

/* ---- products ---- */

/* A chunk of the queries of a part, in registers; in float32 where they are. */
template <typename Real, int STEPS> struct HeadsQuery {
  uint32_t q[2][STEPS][4];
};
template <int STEPS> struct HeadsQuery<float, STEPS> {
  const uint4 *q[2];
};

/* `step`: 16-byte units from a step to the next. */
template <int STEPS>
static __device__ __forceinline__ void
query_get (HeadsQuery<__nv_bfloat16, STEPS> &to, const uint4 *from, int second, int step)
{
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      const uint4 bits = __ldg (from + m * second + k * step + threadIdx.x % 32);
      to.q[m][k][0] = bits.x;
      to.q[m][k][1] = bits.y;
      to.q[m][k][2] = bits.z;
      to.q[m][k][3] = bits.w;
    }
}

template <int STEPS>
static __device__ __forceinline__ void
query_get (HeadsQuery<float, STEPS> &to, const uint4 *from, int second, int)
{
  to.q[0] = from;
  to.q[1] = from + second;
}

template <int STEPS, int TILES>
static __device__ __forceinline__ void
heads_product (const HeadsQuery<__nv_bfloat16, STEPS> &query, const char *stage, float (&acc)[TILES][HEADS_NT][4])
{
  constexpr int pitch = mhar_null_pitch<__nv_bfloat16> (STEPS);
  const uint32_t at = mhar_null_matrix_at (stage, pitch, 0);
#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    uint32_t b[2][4];
    mhar_matrix_load (b[0], at + k * MHAR_STEP * 2);
    mhar_matrix_load (b[1], at + k * MHAR_STEP * 2 + 16 * pitch * 2);
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
      for (int n = 0; n < HEADS_NT; n++)
        mhar_mma (acc[m % TILES][n], query.q[m][k], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
  }
}

template <int STEPS, int TILES>
static __device__ __forceinline__ void
heads_product (const HeadsQuery<float, STEPS> &query, const char *stage, float (&acc)[TILES][HEADS_NT][4])
{
#pragma unroll
  for (int m = 0; m < TILES; m++)
    mhar_null_product<HEADS_NT> ((const float *) stage, mhar_null_pitch<float> (STEPS), query.q[m], STEPS, acc[m]);
}

/* ---- first pass ---- */

/* One row's logits, l = acc, into top and sum = Σ 2^(l − top). The maximum follows only when some logit of the warp has
 * left it well behind, so that it costs little. */
template <int TILES>
static __device__ __forceinline__ void
heads_first (const float (&acc)[TILES][HEADS_NT][4], float (&top)[TILES][HEADS_NT][4],
             float (&sum)[TILES][HEADS_NT][4])
{
  float most = NULL_NOT_TAKEN;
#pragma unroll
  for (int j = 0; j < TILES * HEADS_NT * 4; j++) {
    const int m = j / (HEADS_NT * 4), n = j / 4 % HEADS_NT, i = j % 4;
    most = fmaxf (most, acc[m][n][i] - top[m][n][i]);
  }
  if (__any_sync (0xffffffffu, most > NULL_RISE)) {
#pragma unroll
    for (int j = 0; j < TILES * HEADS_NT * 4; j++) {
      const int m = j / (HEADS_NT * 4), n = j / 4 % HEADS_NT, i = j % 4;
      const float higher = fmaxf (top[m][n][i], acc[m][n][i]);
      sum[m][n][i] *= mhar_exp2 (top[m][n][i] - higher);
      top[m][n][i] = higher;
    }
  }
#pragma unroll
  for (int j = 0; j < TILES * HEADS_NT * 4; j++) {
    const int m = j / (HEADS_NT * 4), n = j / 4 % HEADS_NT, i = j % 4;
    sum[m][n][i] += mhar_exp2 (acc[m][n][i] - top[m][n][i]);
  }
}

/* Log sums of a part, for the second pass; `count` tokens count. */
template <int TILES>
static __device__ __forceinline__ void
heads_keep (float4 *spare, int count, const float (&top)[TILES][HEADS_NT][4], const float (&sum)[TILES][HEADS_NT][4])
{
#pragma unroll
  for (int m = 0; m < TILES; m++)
#pragma unroll
    for (int n = 0; n < HEADS_NT; n++) {
      float x[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const bool counts = n * 8 + threadIdx.x % 4 * 2 + (i & 1) < count && sum[m][n][i] > 0;
        x[i] = counts ? top[m][n][i] + log2f (sum[m][n][i]) : NULL_NOT_COUNTED;
      }
      spare[(m * HEADS_NT + n) * NULL_THREADS] = make_float4 (x[0], x[1], x[2], x[3]);
    }
}

template <int TILES>
static __device__ __forceinline__ void
heads_kept (const float4 *spare, float (&log_sum)[TILES][HEADS_NT][4])
{
#pragma unroll
  for (int m = 0; m < TILES; m++)
#pragma unroll
    for (int n = 0; n < HEADS_NT; n++) {
      const float4 x = spare[(m * HEADS_NT + n) * NULL_THREADS];
      log_sum[m][n][0] = x.x;
      log_sum[m][n][1] = x.y;
      log_sum[m][n][2] = x.z;
      log_sum[m][n][3] = x.w;
    }
}

/* ---- second pass ---- */

/* Which of a site's heads: what becomes of Σ_h w. */
typedef enum { HEAD_ONLY, HEAD_FIRST, HEAD_MIDDLE, HEAD_LAST } HeadsWhich;

#define HEADS_MEAN (HEADS_NT * NULL_THREADS) /* float4s of Σ_h w of a tile and row */

/* Adds this head's weights of a row to the others', which are `mean` (Σ_h w). js += Σ w log w, in units of log 2, the
 * logarithm being `l`; after the last head js −= W log (W / H). */
template <HeadsWhich WHICH>
static __device__ __forceinline__ void
heads_mean (float4 *mean, int heads, const float (&w)[4], const float (&l)[4], float (&js)[2])
{
  float total[4] = { w[0], w[1], w[2], w[3] };
#pragma unroll
  for (int i = 0; i < 4; i++)
    js[i / 2] = fmaf (w[i], l[i], js[i / 2]);
  if (WHICH != HEAD_FIRST) {
    const float4 old = *mean;
    total[0] += old.x;
    total[1] += old.y;
    total[2] += old.z;
    total[3] += old.w;
  }
  if (WHICH != HEAD_LAST) {
    *mean = make_float4 (total[0], total[1], total[2], total[3]);
    return;
  }
  const float log_heads = mhar_null_log2 ((float) heads);
#pragma unroll
  for (int i = 0; i < 4; i++)
    js[i / 2] -= total[i] * (mhar_null_log2 (fmaxf (total[i], 1e-37f)) - log_heads);
}

/* The same in float32 contexts, in nats, against the first head's weight r in place of 1: with D = Σ_h (w − r)
 *   Σ_h w log (w / r) − (H r + D) log (1 + D / (H r)),
 * whose terms vanish where the heads agree, and so does what rounding makes of them. `mean` is D, then r. */
template <HeadsWhich WHICH>
static __device__ __forceinline__ void
heads_mean_exact (float *mean, int heads, const float (&w)[4], float (&js)[2])
{
  float *first = mean + 2 * HEADS_MEAN * 4;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float r = WHICH == HEAD_FIRST ? fmaxf (w[i], 1e-30f) : first[i], more = w[i] - r;
    const float apart = WHICH == HEAD_FIRST ? more : mean[i] + more;
    js[i / 2] = fmaf (w[i], log1pf (fmaxf (more / r, -0.9999999f)), js[i / 2]);
    if (WHICH == HEAD_FIRST)
      first[i] = r;
    if (WHICH == HEAD_LAST)
      js[i / 2] -= (heads * r + apart) * log1pf (fmaxf (apart / (heads * r), -0.9999999f));
    else
      mean[i] = apart;
  }
}

/* Adds up `sum` over a quad; each of its lanes adds one of the queries to what it adds up alone, so the order is
 * fixed. */
template <int TILES>
static __device__ __forceinline__ void
heads_weights (const HeadsThread &at, int parts, int place, const float (&sum)[TILES][2])
{
  const int t = threadIdx.x % 4, half = t & 1, tile = TILES == 1 ? 0 : t >> 1;
  float x[TILES];
#pragma unroll
  for (int m = 0; m < TILES; m++)
    x[m] = (half ? sum[m][1] : sum[m][0]) + __shfl_xor_sync (0xffffffffu, half ? sum[m][0] : sum[m][1], 1);
  const float mine = TILES == 1 || !tile ? x[0] : x[TILES - 1], other = TILES == 1 || tile ? x[0] : x[TILES - 1];
  const float total = mine + __shfl_xor_sync (0xffffffffu, other, 2);
  const int to = (tile * (parts * at.n_steps + 1) + place) * NULL_QUERIES + threadIdx.x % 32 / 4 + 8 * half;
  if (TILES == 1 ? t < 2 : !tile || at.second)
    atomicAdd (at.sums + to, total);
}

/* One row's weights of a head from its logits, l = acc. `mean`: of the row; `sum`: over the tokens. */
template <typename Real, HeadsWhich WHICH, int TILES>
static __device__ __forceinline__ void
heads_second (float4 *mean, int heads, const float (&acc)[TILES][HEADS_NT][4],
              const float (&log_sum)[TILES][HEADS_NT][4], float (&js)[TILES][2], float (&sum)[TILES][2])
{
#pragma unroll
  for (int m = 0; m < TILES; m++)
#pragma unroll
    for (int n = 0; n < HEADS_NT; n++) {
      float w[4], l[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        l[i] = acc[m][n][i] - log_sum[m][n][i];
        w[i] = mhar_exp2 (l[i]);
        sum[m][i / 2] += w[i];
      }
      if (WHICH == HEAD_ONLY)
        continue;
      if (sizeof (Real) == 4)
        heads_mean_exact<WHICH> ((float *) (mean + m * HEADS_MEAN + n * NULL_THREADS), heads, w, js[m]);
      else
        heads_mean<WHICH> (mean + m * HEADS_MEAN + n * NULL_THREADS, heads, w, l, js[m]);
    }
}

/* ---- both ---- */

/* Where the first pass leaves the log sums of a part. */
template <typename Real>
static __device__ __forceinline__ float4 *
heads_spare (const MharNullArgs<Real> &a, int part)
{
  const size_t block = (size_t) blockIdx.y * gridDim.x + blockIdx.x;
  return a.spare + (block * a.parts + part) * (2 * HEADS_NT * NULL_THREADS) + threadIdx.x;
}

/* What an item is. They come 32 tokens after 32 tokens, pass after pass, the second in turns of some rows; then part
 * after part, row after row, chunk after chunk. */
struct HeadsItem {
  int first, part, step, chunk; /* first: token of the window */
};

template <typename Real>
static __device__ __forceinline__ HeadsItem
heads_item (const MharNullArgs<Real> &a, const HeadsThread &at, uint32_t item)
{
  const uint32_t pass = at.n_steps * a.parts * a.chunks, within = item % (2 * pass), turn = a.rows * a.parts * a.chunks;
  const int from = within < pass ? 0 : (within - pass) / turn * a.rows;
  const int rows = within < pass ? at.n_steps : min (a.rows, at.n_steps - from);
  const uint32_t i = within < pass ? within : (within - pass) % turn, line = i / a.chunks;
  HeadsItem it;
  it.first = at.from + item / (2 * pass) * NULL_TOKENS;
  it.part = line / rows;
  it.step = from + line % rows;
  it.chunk = i % a.chunks;
  return it;
}

/* Brings an item, if it is this warp's turn. */
template <typename Real, int VEC, int STEPS>
static __device__ __forceinline__ void
heads_bring (const MharNullArgs<Real> &a, const HeadsThread &at, uint32_t item)
{
  if (item >= at.n_items || item % NULL_WARPS != threadIdx.x / 32)
    return;
  const HeadsItem it = heads_item (a, at, item);
  char *stage = at.stages + item % NULL_STAGES * mhar_null_stage_bytes<Real> (STEPS, 1);
  mhar_null_pipe_free (at.pipe, item);
  mhar_null_fetch<Real, VEC, STEPS> (a, a.steps[at.first_step + it.step].row,
                                     a.part[it.part].first_step + it.chunk * STEPS, at.window + it.first,
                                     at.window + at.to - 1, stage,
                                     (float *) (stage + mhar_null_row_bytes<Real> (STEPS)));
  mhar_null_pipe_brought<VEC> (at.pipe, item);
}

/* Sums of a warp as it goes through the items. */
template <typename Real, int STEPS, int TILES> struct HeadsState {
  uint32_t item;
  HeadsQuery<Real, STEPS> query;
  float acc[TILES][HEADS_NT][4];
  float top[TILES][HEADS_NT][4], sum[TILES][HEADS_NT][4]; /* second pass: top is the log sum */
  float js[TILES][2];
};

/* acc to logits: times log₂e / rms, plus the bias where there is one. */
template <typename Real, int TILES>
static __device__ __forceinline__ void
heads_logits (const MharNullArgs<Real> &a, const HeadsThread &at, const uint32_t (&mask)[TILES],
              const float (&scale)[HEADS_NT][2], float (&acc)[TILES][HEADS_NT][4])
{
  const int g = threadIdx.x % 32 / 4;
#pragma unroll
  for (int m = 0; m < TILES; m++) {
    float add[2] = {};
    if (mask[m] != 0xffffu) {
      const MharNullTile &tile = a.tiles[at.first_tile + (m && at.second ? 1 : 0)];
      add[0] = mhar_null_addend (mask[m], g, tile.bias[g]);
      add[1] = mhar_null_addend (mask[m], g + 8, tile.bias[g + 8]);
    }
#pragma unroll
    for (int n = 0; n < HEADS_NT; n++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        acc[m][n][i] = fmaf (acc[m][n][i], scale[n][i & 1], add[i / 2]);
  }
}

/* The logits of one part and row, from all chunks of it. */
template <typename Real, int VEC, int STEPS, int TILES>
static __device__ __forceinline__ void
heads_row (const MharNullArgs<Real> &a, const HeadsThread &at, int part,
           const uint32_t (&mask)[TILES], HeadsState<Real, STEPS, TILES> &state)
{
  const int units = mhar_null_step_units<Real> (TILES == 1 && sizeof (Real) == 2);
#pragma unroll
  for (int j = 0; j < TILES * HEADS_NT * 4; j++)
    state.acc[j / (HEADS_NT * 4)][j / 4 % HEADS_NT][j % 4] = 0;
  for (int chunk = 0;;) {
    const char *stage = at.stages + state.item % NULL_STAGES * mhar_null_stage_bytes<Real> (STEPS, 1);
    heads_bring<Real, VEC, STEPS> (a, at, state.item + NULL_AHEAD);
    if (a.chunks > 1)
      query_get (state.query, a.pack + at.query + (a.part[part].base + chunk * STEPS) * units, at.second, units);
    mhar_null_pipe_filled (at.pipe, state.item);
    if (mask[0] | mask[TILES - 1])
      heads_product (state.query, stage, state.acc);
    float scale[HEADS_NT][2];
    mhar_null_scales ((const float *) (stage + mhar_null_row_bytes<Real> (STEPS)), 0, scale);
    mhar_null_pipe_read (at.pipe, state.item++);
    if (++chunk < a.chunks)
      continue;
    heads_logits (a, at, mask, scale, state.acc);
    return;
  }
}

template <typename Real, int TILES>
static __device__ __forceinline__ void
heads_mask (const MharNullArgs<Real> &a, const HeadsThread &at, int step, uint32_t (&mask)[TILES])
{
#pragma unroll
  for (int m = 0; m < TILES; m++)
    mask[m] = a.steps[at.first_step + step].mask[threadIdx.x / 32 * TILES + m];
}

/* All rows of a part in the first pass; `count` tokens count. */
template <typename Real, int VEC, int STEPS, int TILES>
static __device__ __forceinline__ void
heads_part_first (const MharNullArgs<Real> &a, const HeadsThread &at, int part, int count,
                  HeadsState<Real, STEPS, TILES> &state)
{
#pragma unroll
  for (int j = 0; j < TILES * HEADS_NT * 4; j++) {
    state.top[j / (HEADS_NT * 4)][j / 4 % HEADS_NT][j % 4] = NULL_NO_TOP;
    state.sum[j / (HEADS_NT * 4)][j / 4 % HEADS_NT][j % 4] = 0;
  }
  for (int step = 0; step < at.n_steps; step++) {
    uint32_t mask[TILES];
    heads_mask (a, at, step, mask);
    heads_row<Real, VEC, STEPS> (a, at, part, mask, state);
    if (mask[0] | mask[TILES - 1])
      heads_first (state.acc, state.top, state.sum);
  }
  heads_keep (heads_spare (a, part), count, state.top, state.sum);
}

/* One row of a part in the second. */
template <typename Real, int TILES, int STEPS>
static __device__ __forceinline__ void
heads_row_second (const MharNullArgs<Real> &a, float4 *mean, int part, HeadsState<Real, STEPS, TILES> &state,
                  float (&sum)[TILES][2])
{
  if (a.parts == 1)
    heads_second<Real, HEAD_ONLY> (mean, a.parts, state.acc, state.top, state.js, sum);
  else if (part == 0)
    heads_second<Real, HEAD_FIRST> (mean, a.parts, state.acc, state.top, state.js, sum);
  else if (part < a.parts - 1)
    heads_second<Real, HEAD_MIDDLE> (mean, a.parts, state.acc, state.top, state.js, sum);
  else
    heads_second<Real, HEAD_LAST> (mean, a.parts, state.acc, state.top, state.js, sum);
}

/* Rows [from, to) of a part in the second pass: a turn. */
template <typename Real, int VEC, int STEPS, int TILES>
static __device__ __forceinline__ void
heads_part_second (const MharNullArgs<Real> &a, const HeadsThread &at, int part, int from, int to,
                   HeadsState<Real, STEPS, TILES> &state)
{
  float4 *mean = (float4 *) (at.stages + NULL_STAGES * mhar_null_stage_bytes<Real> (STEPS, 1)) + threadIdx.x;
  heads_kept (heads_spare (a, part), state.top);
  for (int step = from; step < to; step++, mean += TILES * HEADS_MEAN) {
    uint32_t mask[TILES];
    heads_mask (a, at, step, mask);
    heads_row<Real, VEC, STEPS> (a, at, part, mask, state);
    if (!(mask[0] | mask[TILES - 1]))
      continue;
    float sum[TILES][2] = {};
    heads_row_second (a, mean, part, state, sum);
    if (a.weights)
      heads_weights (at, a.parts, part * at.n_steps + step, sum);
  }
}

/* Both passes over 32 tokens, of which `count` count. */
template <typename Real, int VEC, int STEPS, int TILES>
static __device__ __forceinline__ void
heads_tokens (const MharNullArgs<Real> &a, const HeadsThread &at, int count,
              HeadsState<Real, STEPS, TILES> &state)
{
  const int units = mhar_null_step_units<Real> (TILES == 1 && sizeof (Real) == 2);
  int from = 0, to = at.n_steps;
  for (bool second = false; from < at.n_steps; second = true) {
    for (int part = 0; part < a.parts; part++) {
      if (a.chunks == 1)
        query_get (state.query, a.pack + at.query + a.part[part].base * units, at.second, units);
      if (second)
        heads_part_second<Real, VEC, STEPS> (a, at, part, from, to, state);
      else
        heads_part_first<Real, VEC, STEPS> (a, at, part, count, state);
    }
    from = second ? to : 0;
    to = min (from + a.rows, at.n_steps);
  }
}

/* A warp without tiles: its share of what is brought. */
template <typename Real, int VEC, int STEPS>
static __device__ __forceinline__ void
heads_idle (const MharNullArgs<Real> &a, const HeadsThread &at)
{
  for (uint32_t item = 0; item < at.n_items; item++) {
    heads_bring<Real, VEC, STEPS> (a, at, item + NULL_AHEAD);
    mhar_null_pipe_filled (at.pipe, item);
    mhar_null_pipe_read (at.pipe, item);
  }
}

template <typename Real, int STEPS, int TILES>
static __device__ __forceinline__ HeadsThread
heads_thread (const MharNullArgs<Real> &a, const MharNullPlace &place, char *shared)
{
  const int mine = threadIdx.x / 32 * TILES, n = place.group.n_tiles;
  HeadsThread at;
  at.first_tile = place.group.first_tile + min (mine, n - 1);
  at.first_step = place.group.first_step;
  at.n_steps = place.group.n_steps;
  at.query = (uint32_t) a.tiles[at.first_tile].pack;
  at.second = TILES == 1 ? 32 : mine + 1 < n ? a.units_a_tile : 0;
  at.sums = place.partial + a.tiles[at.first_tile].partial;
  at.window = (size_t) place.window * a.span.length;
  at.from = place.from;
  at.to = place.to;
  at.n_items = max (place.to - place.from + NULL_TOKENS - 1, 0) / NULL_TOKENS * 2 * at.n_steps * a.parts * a.chunks;
  at.pipe = mhar_null_pipe_begin (shared);
  at.stages = shared + NULL_PIPE_BYTES;
  return at;
}

/* Grid [groups, windows · pieces]. */
template <typename Real, int VEC, int STEPS, int TILES>
__global__ void __launch_bounds__ (NULL_THREADS, 1)
null_heads_kernel (const __grid_constant__ MharNullArgs<Real> a)
{
  MHAR_SHARED (shared);
  const MharNullPlace place = mhar_null_place (a, 1);
  const HeadsThread at = heads_thread<Real, STEPS, TILES> (a, place, (char *) shared);
  for (int i = 0; i < NULL_AHEAD; i++)
    heads_bring<Real, VEC, STEPS> (a, at, i);
  if ((int) threadIdx.x / 32 * TILES >= place.group.n_tiles) {
    heads_idle<Real, VEC, STEPS> (a, at);
    return;
  }
  HeadsState<Real, STEPS, TILES> state;
  state.item = 0;
#pragma unroll
  for (int m = 0; m < TILES; m++)
    state.js[m][0] = state.js[m][1] = 0;
  for (int first = place.from; first < place.to; first += NULL_TOKENS)
    heads_tokens<Real, VEC, STEPS> (a, at, place.to - first, state);
  const float unit = sizeof (Real) == 4 ? 1.0f : 0.693147181f; /* of js, nats */
  const int js = a.parts * at.n_steps * NULL_QUERIES, tile = js + NULL_QUERIES; /* floats */
#pragma unroll
  for (int m = 0; m < TILES; m++)
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const float sum = a.parts > 1 ? mhar_null_quad_sum (state.js[m][i]) * (unit / a.parts) : 0.0f;
      if (threadIdx.x % 4 == 0 && (m == 0 || at.second))
        at.sums[m * tile + js + threadIdx.x % 32 / 4 + 8 * i] = sum;
    }
}

/* ---- launching ---- */

size_t
mhar_null_heads_spare (int parts)
{
  return (size_t) parts * 2 * HEADS_NT * NULL_THREADS * sizeof (float4);
}

template <typename Real, int VEC, int STEPS, int TILES>
static int
heads_start (MharContext *c, MharNullArgs<Real> a, dim3 grid)
{
  const size_t stages = NULL_PIPE_BYTES + NULL_STAGES * (size_t) mhar_null_stage_bytes<Real> (STEPS, 1);
  const bool exact = sizeof (Real) == 4;
  const size_t row = a.parts > 1 ? (size_t) TILES * HEADS_MEAN * (exact ? 2 : 1) * sizeof (float4) : 0;
  const size_t room = row ? (c->shared_per_block - stages) / row : HEADS_FEW_ROWS;
  /* in float32 no registers are filled for a turn */
  a.rows = exact || room < 1 ? 1 : room < HEADS_FEW_ROWS ? (int) room : HEADS_FEW_ROWS;
  return mhar_cuda_launch (c, "null heads", null_heads_kernel<Real, VEC, STEPS, TILES>, grid, NULL_THREADS,
                           stages + a.rows * row, false, a);
}

template <int TILES>
static int
heads_launch (MharContext *c, MharNullArgs<__nv_bfloat16> a, dim3 grid, bool wide)
{
  const int vec = MharWide<__nv_bfloat16>::n;
  switch (wide ? a.chunk_steps : 0) {
  case NULL_HEADS_STEPS:
    return heads_start<__nv_bfloat16, vec, NULL_HEADS_STEPS, TILES> (c, a, grid);
  case 8:
    return heads_start<__nv_bfloat16, vec, 8, TILES> (c, a, grid);
  case NULL_SLICES_STEPS:
    return heads_start<__nv_bfloat16, vec, NULL_SLICES_STEPS, TILES> (c, a, grid);
  case NULL_FEWEST_STEPS:
    return heads_start<__nv_bfloat16, vec, NULL_FEWEST_STEPS, TILES> (c, a, grid);
  default:
    return heads_start<__nv_bfloat16, 1, NULL_FEWEST_STEPS, TILES> (c, a, grid);
  }
}

template <>
int
mhar_null_launch_heads (MharContext *c, MharNullArgs<float> a, dim3 grid, bool wide)
{
  return wide ? heads_start<float, MharWide<float>::n, NULL_FEWEST_STEPS, 2> (c, a, grid)
              : heads_start<float, 1, NULL_FEWEST_STEPS, 2> (c, a, grid);
}

template <>
int
mhar_null_launch_heads (MharContext *c, MharNullArgs<__nv_bfloat16> a, dim3 grid, bool wide)
{
  return a.double_width ? heads_launch<1> (c, a, grid, wide) : heads_launch<2> (c, a, grid, wide);
}
