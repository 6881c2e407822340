/* SPDX-License-Identifier: MIT */
/* One read of the depth history, one kernel a site: a thread block takes TT tokens and
 *   1. brings the row just written into shared memory and scores it for this and all later sites (route-score.cuh);
 *   2. forms the softmax over the site's newest rows and the older part, whose running maximum and sum are known;
 *   3. mixes: older part [T, D] in float32, the waiting row from shared memory, the other newest rows from memory;
 *   4. writes the mix, its RMSNorm, or both.
 * Eq. 3 of arXiv 2607.27230: h = Σ_n softmax_n (q·RMSNorm(s_n)) s_n, head by head. */
#include "kernels/cuda/route-score.cuh"

template <typename Real> struct ReadArgs {
  MharScoreArgs<Real> score;
  int row;     /* waiting row, or −1 */
  int columns; /* mixes of the site: one, or one a head of a whole site */
  int heads;   /* parts of a row with a weight each, within a column */
  int n_sources, plane;
  const MharSource *newest;
  int n_newest;
  const float *partial, *top, *sum; /* older part of the site's first column, or NULL */
  size_t partial_elements;          /* from column to column */
  uint32_t prefetch_bytes;          /* a thread block's share */
  Real *mix, *normed;
  const float *gain;
  float norm_eps;
};

/* Regions of shared memory, in this order. */
template <typename Real, typename Shape> struct ReadLayout {
  size_t tile, stage, scratch, weights, list; /* bytes of each */

  __host__ __device__
  ReadLayout (int width, int n_norms, int columns, int heads, int n_newest, bool normed)
  {
    const size_t row = mhar_tile_pitch<Real> (width) * sizeof (Real);
    tile = Shape::TT * row;
    stage = normed && columns > 1 ? Shape::TEAMS * row : 0; /* with one column the mix replaces the tile */
    scratch = mhar_score_scratch<Shape> (n_norms) * sizeof (float);
    weights = (size_t) columns * heads * (n_newest + 1) * (Shape::TT + 1) * sizeof (float);
    list = n_newest * sizeof (int);
  }
  __host__ __device__ size_t
  bytes () const
  {
    return tile + stage + scratch + weights + list;
  }
};

/* Position j of a head's weights for token t: [columns·heads, n_newest + 1, TT + 1]; the last is the older part's. */
template <typename Shape>
static __device__ __forceinline__ int
weight_at (int head, int n_newest, int j, int t)
{
  return (head * (n_newest + 1) + j) * (Shape::TT + 1) + t;
}

/* Softmax over the newest rows and the older part, a thread for each token and head. */
template <typename Real, typename Shape>
static __device__ void
read_weights (const ReadArgs<Real> &a, int first_token, float *weights)
{
  const int n = a.n_newest;
  for (int unit = threadIdx.x; unit < a.columns * a.heads * Shape::TT; unit += Shape::THREADS) {
    const int t = unit % Shape::TT, head = unit / Shape::TT;
    const size_t token = first_token + t;
    if (token >= (size_t) a.score.tokens)
      continue;
    const float *logit = a.score.logits + (size_t) (a.plane + head * a.n_sources) * a.score.stride + token;
    float *w = weights + weight_at<Shape> (head, n, 0, t);
    const float old_top = a.partial ? a.top[head * a.score.stride + token] : -INFINITY;
    float top = old_top, sum = a.partial ? a.sum[head * a.score.stride + token] : 0.0f;
#pragma unroll 4
    for (int j = 0; j < n; j++) {
      const float l = logit[a.newest[j].position * a.score.stride];
      w[j * (Shape::TT + 1)] = l;
      top = fmaxf (top, l);
    }
    const float old_scale = a.partial ? expf (old_top - top) : 0.0f;
    sum *= old_scale;
    for (int j = 0; j < n; j++) {
      const float e = expf (w[j * (Shape::TT + 1)] - top);
      w[j * (Shape::TT + 1)] = e;
      sum += e;
    }
    for (int j = 0; j < n; j++)
      w[j * (Shape::TT + 1)] /= sum;
    w[n * (Shape::TT + 1)] = old_scale / sum;
  }
}

/* VEC channels from `i` on of the mix of one token. w: its weights, TT + 1 apart. */
template <typename Real, int VEC, typename Shape>
static __device__ __forceinline__ void
mix_channels (const ReadArgs<Real> &a, const float *partial, const Real *waiting, const int *list, const float *w,
              size_t at, float (&mix)[VEC])
{
  const int batch = 8; /* loads under way before the first is used */
  if (partial)
    mhar_floats_get<VEC> (partial, mix);
  const float old = w[a.n_newest * (Shape::TT + 1)];
  for (int j = 0; j < a.n_newest; j += batch) {
    MharVector<Real, VEC> x[batch];
#pragma unroll
    for (int u = 0; u < batch; u++)
      if (j + u < a.n_newest) {
        if (list[j + u] == a.row)
          x[u] = mhar_vector_get<Real, VEC> (waiting);
        else
          x[u] = mhar_vector_once<Real, VEC> (a.score.history + list[j + u] * a.score.row_elements + at);
      }
    if (j == 0)
#pragma unroll
      for (int i = 0; i < VEC; i++)
        mix[i] = partial ? mix[i] * old : 0.0f;
#pragma unroll
    for (int u = 0; u < batch; u++)
      if (j + u < a.n_newest) {
        float s[VEC];
        mhar_vector_open<Real, VEC> (x[u], s);
#pragma unroll
        for (int i = 0; i < VEC; i++)
          mix[i] = fmaf (w[(j + u) * (Shape::TT + 1)], s[i], mix[i]);
      }
  }
}

/* Sum of x over the warps of a team; all threads of the block call it. */
template <typename Shape>
static __device__ __forceinline__ float
team_sum (float x)
{
  x = mhar_lanes_sum (x, 32);
  if constexpr (Shape::MEMBERS > 1) {
    __shared__ float part[Shape::WARPS];
    const int warp = threadIdx.x / 32;
    __syncthreads ();
    if (threadIdx.x % 32 == 0)
      part[warp] = x;
    __syncthreads ();
    x = 0;
    for (int i = 0; i < Shape::MEMBERS; i++)
      x += part[warp / Shape::MEMBERS * Shape::MEMBERS + i];
  }
  return x;
}

/* Mixes column `column` of token first_token + t, one token a team; t may lie past the last token. */
template <typename Real, int VEC, typename Shape>
static __device__ void
mix_token (const ReadArgs<Real> &a, int first_token, int t, int column, const float *weights, const int *list,
           const Real *waiting, Real *stage)
{
  const int width = a.score.width, part = width / a.heads, step = Shape::MEMBERS * 32 * VEC;
  const int first = (threadIdx.x / 32 % Shape::MEMBERS * 32 + threadIdx.x % 32) * VEC;
  const size_t token = first_token + t, row = token * width, out = (token * a.columns + column) * width;
  const bool live = token < (size_t) a.score.tokens;
  float square = 0;
  for (int i = first; live && i < width; i += step) {
    float mix[VEC];
    const float *partial = a.partial ? a.partial + column * a.partial_elements + row + i : NULL;
    const float *w = weights + weight_at<Shape> (column * a.heads + i / part, a.n_newest, 0, t);
    mix_channels<Real, VEC, Shape> (a, partial, waiting + i, list, w, row + i, mix);
    const MharVector<Real, VEC> rounded = mhar_vector_close<Real, VEC> (mix);
    if (a.mix)
      mhar_vector_put<Real, VEC> (a.mix + out + i, rounded);
    if (a.normed) {
      mhar_vector_put<Real, VEC> (stage + i, rounded);
      mhar_vector_open<Real, VEC> (rounded, mix);
#pragma unroll
      for (int j = 0; j < VEC; j++)
        square = fmaf (mix[j], mix[j], square);
    }
  }
  if (!a.normed)
    return;
  const float inverse = 1.0f / sqrtf (team_sum<Shape> (square) / width + a.norm_eps);
  for (int i = first; live && i < width; i += step) {
    float mix[VEC], gain[VEC];
    mhar_vector_open<Real, VEC> (mhar_vector_get<Real, VEC> (stage + i), mix);
    mhar_floats_get<VEC> (a.gain + i, gain);
#pragma unroll
    for (int j = 0; j < VEC; j++)
      mix[j] *= inverse * gain[j];
    mhar_vector_put<Real, VEC> (a.normed + out + i, mhar_vector_close<Real, VEC> (mix));
  }
}

/* Has L2 fetch the first of what step 3 will read, while the row is being scored. */
template <typename Real, typename Shape>
static __device__ void
read_prefetch (const ReadArgs<Real> &a, int first_token)
{
  const int tokens = min (Shape::TT, a.score.tokens - first_token);
  uint32_t left = a.prefetch_bytes & ~15u;
  const size_t at = (size_t) first_token * a.score.width;
  for (int j = a.partial ? -1 : 0; j < a.n_newest && left; j++) {
    if (j >= 0 && a.newest[j].row == a.row)
      continue;
    const uint32_t size = j < 0 ? sizeof (float) : sizeof (Real);
    const uint32_t bytes = min (left, (uint32_t) tokens * a.score.width * size & ~15u);
    const void *from = j < 0 ? (const void *) (a.partial + at)
                             : (const void *) (a.score.history + a.newest[j].row * a.score.row_elements + at);
    if (((size_t) from & 15) == 0)
      mhar_prefetch (from, bytes);
    left -= bytes;
  }
}

template <typename Real, int VEC, typename Shape>
__global__ void __launch_bounds__ (Shape::THREADS, Shape::THREADS == 256 ? 2 : 1)
route_read_kernel (const __grid_constant__ ReadArgs<Real> a)
{
  MHAR_SHARED (shared);
  const ReadLayout<Real, Shape> layout (a.score.width, a.score.n_norms, a.columns, a.heads, a.n_newest, a.normed);
  char *at = (char *) shared;
  Real *tile = (Real *) at;
  Real *stage = (Real *) (at += layout.tile);
  float *scratch = (float *) (at += layout.stage);
  float *weights = (float *) (at += layout.scratch);
  int *list = (int *) (at += layout.weights);
  const int first_token = blockIdx.x * Shape::TT, pitch = mhar_tile_pitch<Real> (a.score.width);

  for (int j = threadIdx.x; j < a.n_newest; j += Shape::THREADS)
    list[j] = a.newest[j].row;
  mhar_release_grid ();
  mhar_wait_for_grid ();
  if (threadIdx.x == 0)
    read_prefetch<Real, Shape> (a, first_token);
  if (a.row >= 0)
    mhar_row_take<Real, VEC, Shape> (a.score, tile, a.row, first_token, scratch);
  read_weights<Real, Shape> (a, first_token, weights);
  __syncthreads ();
  const int team = threadIdx.x / 32 / Shape::MEMBERS;
  for (int t = team; t < Shape::TT; t += Shape::TEAMS)
    for (int column = 0; column < a.columns; column++)
      mix_token<Real, VEC, Shape> (a, first_token, t, column, weights, list, tile + t * pitch,
                                   a.columns > 1 ? stage + team * pitch : tile + t * pitch);
}

/* ---- launching ---- */

template <typename Real, typename Shape>
static size_t
read_bytes (const MharRoute *r, const MharSitePlan *s, bool normed)
{
  return ReadLayout<Real, Shape> ((int) r->width, r->plan.n_norms, s->whole ? s->heads : 1, mhar_site_parts (s),
                                  s->n_newest, normed)
    .bytes ();
}

template <typename Real>
static ReadArgs<Real>
read_args (const MharRoute *r, const MharSitePlan *s, int32_t row, MharScoreWhat what, const MharReadOut *out)
{
  const MharBlockPlan *block = &r->plan.blocks.items[s->block];
  const MharRouteClass *of = &r->plan.classes.items[s->in_class];
  ReadArgs<Real> a = {};
  a.score = mhar_score_args<Real> (r);
  a.score.what = what;
  a.row = row;
  a.columns = s->whole ? s->heads : 1;
  a.heads = mhar_site_parts (s);
  a.n_sources = s->n_sources;
  a.plane = s->plane;
  a.newest = r->on_device.newest + s->first_newest;
  a.n_newest = s->n_newest;
  if (block->n_older) {
    a.partial_elements = r->max_tokens * r->width;
    a.partial = of->partial + s->column * a.partial_elements;
    a.top = of->top + s->column * a.heads * r->stride;
    a.sum = of->sum + s->column * a.heads * r->stride;
  }
  a.mix = out->mix.buffer ? mhar_cuda_at<Real> (out->mix) : NULL;
  a.normed = out->normed.buffer ? mhar_cuda_at<Real> (out->normed) : NULL;
  a.gain = out->gain ? (const float *) out->gain->data : NULL;
  a.norm_eps = (float) out->eps;
  return a;
}

template <typename Real, int VEC, typename Shape>
static int
read_launch (MharContext *c, const MharRoute *r, const MharSitePlan *s, ReadArgs<Real> a)
{
  const unsigned blocks = (unsigned) ((r->tokens + Shape::TT - 1) / Shape::TT);
  const size_t share = r->prefetch_bytes / blocks;
  a.prefetch_bytes = (uint32_t) (share < (1u << 30) ? share : 1u << 30);
  return mhar_cuda_launch (c, "route read", route_read_kernel<Real, VEC, Shape>, dim3 (blocks), Shape::THREADS,
                           read_bytes<Real, Shape> (r, s, a.normed), r->overlap, a);
}

static bool
on_16_bytes (const void *p)
{
  return ((uintptr_t) p & 15) == 0;
}

/* The largest tile that the route asks for and the thread block has room for. */
template <typename Real>
static int
read_site (MharContext *c, const MharRoute *r, const MharSitePlan *s, const ReadArgs<Real> &a)
{
  const int wide = MharWide<Real>::n;
  const size_t room = c->shared_per_block;
  if (!mhar_route_is_wide (r, wide) || !on_16_bytes (a.mix) || !on_16_bytes (a.normed))
    return read_launch<Real, 1, MharTileShape<8, 512>> (c, r, s, a);
  if (r->tile >= 64 && read_bytes<Real, MharTileShape<64, 512>> (r, s, a.normed) <= room)
    return read_launch<Real, MharWide<Real>::n, MharTileShape<64, 512>> (c, r, s, a);
  if (r->tile >= 32 && read_bytes<Real, MharTileShape<32, 256>> (r, s, a.normed) <= room)
    return read_launch<Real, MharWide<Real>::n, MharTileShape<32, 256>> (c, r, s, a);
  if (r->tile >= 16 && read_bytes<Real, MharTileShape<16, 512>> (r, s, a.normed) <= room)
    return read_launch<Real, MharWide<Real>::n, MharTileShape<16, 512>> (c, r, s, a);
  return read_launch<Real, MharWide<Real>::n, MharTileShape<8, 512>> (c, r, s, a);
}

bool
mhar_route_read_fits (const MharContext *c, const MharRoute *r, int32_t site)
{
  const MharSitePlan *s = &r->plan.sites.items[site];
  return (c->precision == MHAR_PRECISION_BF16 ? read_bytes<__nv_bfloat16, MharTileShape<8, 512>> (r, s, true)
                                              : read_bytes<float, MharTileShape<8, 512>> (r, s, true))
         <= c->shared_per_block;
}

int
mhar_route_read_newest (MharContext *c, MharRoute *r, int32_t site, int32_t row, MharScoreWhat what,
                        const MharReadOut *out)
{
  const MharSitePlan *s = &r->plan.sites.items[site];
  if (row >= 0)
    r->measured[row] = 1;
  return c->precision == MHAR_PRECISION_BF16
           ? read_site<__nv_bfloat16> (c, r, s, read_args<__nv_bfloat16> (r, s, row, what, out))
           : read_site<float> (c, r, s, read_args<float> (r, s, row, what, out));
}
