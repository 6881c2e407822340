/* SPDX-License-Identifier: MIT */
/* What route-older.cu leaves, in float32 contexts and so without tensor cores. A thread block takes 8 tokens (one 32-byte sector of every
 * logit plane) and some channels; a thread keeps K columns × VEC channels of one token in registers. The e^(l − top)
 * of a chunk of rows are formed once, by all threads, in shared memory. */
#include "kernels/cuda/vector.cuh"

#define OLDER_TOKENS 8
#define OLDER_THREADS 256
#define OLDER_SHARED (48 * 1024)

template <typename Real> struct OlderArgs {
  const Real *history;
  size_t row_elements, stride, partial_elements;
  int tokens, width, heads;       /* heads within a column */
  int channels;                   /* of a thread block, in units of VEC */
  int heads_here;                 /* the most heads those touch */
  int n, columns;                 /* older rows; columns of the block of sites */
  int chunk;                      /* rows whose weights are in shared memory at a time */
  const int32_t *rows, *plane;    /* [n], [n, columns] */
  const MharSitePlan *sites;      /* to go from head to head of a column */
  int site[MHAR_TILE];            /* site of each column, if a column is a site */
  const float *logits;
  float *partial, *top, *sum;
};

/* Shared memory of a chunk: weights [chunk, 8, heads_here, padded K], then per (head, token, column) the running top,
 * sum and the factor the last chunk changed the top by; then the chunk's rows. */
template <int K> struct OlderLayout {
  static const int PAD = K <= 1 ? 1 : K <= 2 ? 2 : (K + 3) & ~3;
  int lane; /* weights of one row */

  __host__ __device__ OlderLayout (int heads_here) : lane (OLDER_TOKENS * heads_here * PAD) {}
  __host__ __device__ size_t
  bytes (int chunk) const
  {
    return ((size_t) chunk * lane + 3 * lane + chunk) * sizeof (float);
  }
};

/* Logits of rows [from, from + count) into shared memory: −∞ where there is no such column or head. */
template <typename Real, int K>
static __device__ void
older_fetch (const OlderArgs<Real> &a, int from, int count, int first_head, int first_column, float *weight)
{
  const int pad = OlderLayout<K>::PAD, total = count * K * a.heads_here * OLDER_TOKENS;
  const int first_token = blockIdx.x * OLDER_TOKENS;
#pragma unroll 4
  for (int i = threadIdx.x; i < total; i += blockDim.x) {
    const int t = i % OLDER_TOKENS, k = i / OLDER_TOKENS % K, rest = i / (OLDER_TOKENS * K);
    const int head = rest % a.heads_here, n = rest / a.heads_here;
    float l = -INFINITY;
    if (first_column + k < a.columns && first_head + head < a.heads) {
      const int step = a.heads > 1 ? a.sites[a.site[k]].n_sources : 0;
      const int plane = a.plane[(from + n) * a.columns + first_column + k] + (first_head + head) * step;
      l = a.logits[plane * a.stride + first_token + t];
    }
    weight[((n * OLDER_TOKENS + t) * a.heads_here + head) * pad + k] = l;
  }
}

/* Turns the chunk's logits into e^(l − top) and brings top and sum up to date. */
template <int K>
static __device__ void
older_weights (int lane, int count, float *weight, float *top, float *sum, float *factor)
{
  const int pad = OlderLayout<K>::PAD; /* entries past K are never used */
  for (int u = threadIdx.x; u < lane; u += blockDim.x) {
    if (u % pad >= K)
      continue;
    float m = top[u];
#pragma unroll 8
    for (int n = 0; n < count; n++)
      m = fmaxf (m, weight[n * lane + u]);
    factor[u] = m == -INFINITY ? 1.0f : expf (top[u] - m);
    top[u] = m;
  }
  __syncthreads ();
  for (int i = threadIdx.x; i < count * lane; i += blockDim.x) {
    const float m = top[i % lane];
    if (i % pad >= K)
      continue;
    weight[i] = m == -INFINITY ? 0.0f : expf (weight[i] - m);
  }
  __syncthreads ();
  for (int u = threadIdx.x; u < lane; u += blockDim.x) {
    if (u % pad >= K)
      continue;
    float s = sum[u] * factor[u];
#pragma unroll 8
    for (int n = 0; n < count; n++)
      s += weight[n * lane + u];
    sum[u] = s;
  }
}

/* acc += Σ over `count` rows; w: this thread's weights of the first row, `lane` apart. */
template <typename Real, int VEC, int K>
static __device__ __forceinline__ void
older_accumulate (const OlderArgs<Real> &a, const int *rows, int count, const float *w, int lane, const Real *at,
                  float (&acc)[K][VEC])
{
  const int batch = K * VEC > 56 ? 6 : 8; /* loads under way before the first is used; bounded by registers */
  for (int n = 0; n < count; n += batch) {
    MharVector<Real, VEC> x[batch];
#pragma unroll
    for (int u = 0; u < batch; u++)
      if (n + u < count)
        x[u] = mhar_vector_once<Real, VEC> (at + rows[n + u] * a.row_elements);
#pragma unroll
    for (int u = 0; u < batch; u++)
      if (n + u < count) {
        float s[VEC], f[OlderLayout<K>::PAD];
        mhar_vector_open<Real, VEC> (x[u], s);
        if constexpr (OlderLayout<K>::PAD % 4 == 0) {
          mhar_floats_get<OlderLayout<K>::PAD> (w + (n + u) * lane, f);
        } else {
#pragma unroll
          for (int k = 0; k < K; k++)
            f[k] = w[(n + u) * lane + k];
        }
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
          for (int i = 0; i < VEC; i++)
            acc[k][i] = fmaf (f[k], s[i], acc[k][i]);
      }
  }
}

/* What the partial mix is to be multiplied by: running top and sum, written by the block that has the head's first
 * channel. */
template <typename Real, int K>
static __device__ void
older_put_sums (const OlderArgs<Real> &a, int first_head, int first_column, int first_channel, int channels,
                const float *top, const float *sum)
{
  const int pad = OlderLayout<K>::PAD, part = a.width / a.heads;
  for (int i = threadIdx.x; i < OLDER_TOKENS * a.heads_here * K; i += blockDim.x) {
    const int t = i % OLDER_TOKENS, head = i / OLDER_TOKENS % a.heads_here, k = i / (OLDER_TOKENS * a.heads_here);
    const int h = first_head + head, column = first_column + k, token = blockIdx.x * OLDER_TOKENS + t;
    if (h >= a.heads || column >= a.columns || token >= a.tokens || h * part < first_channel
        || h * part >= first_channel + channels)
      continue;
    const size_t to = ((size_t) column * a.heads + h) * a.stride + token;
    a.top[to] = top[(t * a.heads_here + head) * pad + k];
    a.sum[to] = sum[(t * a.heads_here + head) * pad + k];
  }
}

template <typename Real, int VEC, int K>
__global__ void __launch_bounds__ (OLDER_THREADS, 2)
route_older_kernel (const __grid_constant__ OlderArgs<Real> a)
{
  MHAR_SHARED (shared);
  const OlderLayout<K> layout (a.heads_here);
  const int lane = layout.lane, first_column = blockIdx.z * MHAR_TILE, first_channel = blockIdx.y * a.channels * VEC;
  float *weight = (float *) shared, *top = weight + a.chunk * lane, *sum = top + lane, *factor = sum + lane;
  int *rows = (int *) (factor + lane);
  const int part = a.width / a.heads, first_head = first_channel / part;
  const int t = threadIdx.x / a.channels, channel = first_channel + threadIdx.x % a.channels * VEC;
  const size_t token = (size_t) blockIdx.x * OLDER_TOKENS + t;
  const bool live = token < (size_t) a.tokens && channel < a.width;
  const int mine = (t * a.heads_here + (live ? channel / part - first_head : 0)) * OlderLayout<K>::PAD;

  for (int u = threadIdx.x; u < lane; u += blockDim.x) {
    top[u] = -INFINITY;
    sum[u] = 0;
  }
  mhar_wait_for_grid ();
  mhar_release_grid ();
  float acc[K][VEC] = {};
  for (int from = 0; from < a.n; from += a.chunk) {
    const int count = min (a.chunk, a.n - from);
    __syncthreads ();
    for (int n = threadIdx.x; n < count; n += blockDim.x)
      rows[n] = a.rows[from + n];
    older_fetch<Real, K> (a, from, count, first_head, first_column, weight);
    __syncthreads ();
    older_weights<K> (lane, count, weight, top, sum, factor);
    if (from)
#pragma unroll
      for (int k = 0; k < K; k++)
#pragma unroll
        for (int i = 0; i < VEC; i++)
          acc[k][i] *= factor[mine + k];
    if (live)
      older_accumulate<Real, VEC, K> (a, rows, count, weight + mine, lane, a.history + token * a.width + channel, acc);
  }
  __syncthreads ();
  older_put_sums<Real, K> (a, first_head, first_column, first_channel, a.channels * VEC, top, sum);
  if (live)
#pragma unroll
    for (int k = 0; k < K; k++)
      if (first_column + k < a.columns)
        mhar_floats_put<VEC> (a.partial + (first_column + k) * a.partial_elements + token * a.width + channel, acc[k]);
}

/* ---- launching ---- */

/* Channels a thread block, in units of VEC: whole heads if they fit its threads 8 tokens at a time, else part of one. */
static int
older_channels (int width, int heads, int wide)
{
  const int most = OLDER_THREADS / OLDER_TOKENS, units = width / wide, part = width / heads / wide;
  if (units <= most)
    return units;
  return part > most || part < 1 ? most : most / part * part;
}

template <typename Real, int VEC, int K>
static int
older_launch (MharContext *c, const MharRoute *r, OlderArgs<Real> a)
{
  const int units = a.width / VEC, part = a.width / a.heads;
  a.channels = older_channels (a.width, a.heads, VEC);
  a.heads_here = a.heads == 1 ? 1 : (a.channels * VEC - 1) / part + 2;
  if (a.channels * VEC % part == 0)
    a.heads_here = a.channels * VEC / part;
  const OlderLayout<K> layout (a.heads_here);
  const size_t fixed = layout.bytes (0), each = layout.bytes (1) - fixed;
  if (fixed + each > c->shared_per_block)
    return mhar_cuda_unsupported (c, "%d heads over a width of %d", a.heads, a.width);
  a.chunk = fixed + each > OLDER_SHARED ? 1 : (int) ((OLDER_SHARED - fixed) / each);
  a.chunk = a.chunk < a.n ? a.chunk : a.n;
  const dim3 grid ((unsigned) ((a.tokens + OLDER_TOKENS - 1) / OLDER_TOKENS), (units + a.channels - 1) / a.channels,
                   (a.columns + MHAR_TILE - 1) / MHAR_TILE);
  return mhar_cuda_launch (c, "route older", route_older_kernel<Real, VEC, K>, grid, a.channels * OLDER_TOKENS,
                           layout.bytes (a.chunk), r->overlap, a);
}

static int
older_columns (MharContext *c, const MharRoute *r, const OlderArgs<float> &a)
{
  switch (a.columns) {
  case 1:
  case 2:
    return older_launch<float, 4, 2> (c, r, a);
  case 3:
  case 4:
    return older_launch<float, 4, 4> (c, r, a);
  case 5:
  case 6:
    return older_launch<float, 4, 6> (c, r, a);
  default:
    return older_launch<float, 4, 8> (c, r, a);
  }
}

template <typename Real>
static OlderArgs<Real>
older_args (const MharRoute *r, const MharBlockPlan *block)
{
  const MharRouteClass *of = &r->plan.classes.items[block->in_class];
  OlderArgs<Real> a = {};
  a.history = (const Real *) r->history.data;
  a.row_elements = a.partial_elements = r->max_tokens * r->width;
  a.stride = r->stride;
  a.tokens = (int) r->tokens;
  a.width = (int) r->width;
  a.heads = of->whole ? 1 : of->heads;
  a.n = block->n_older;
  a.columns = block->columns;
  a.rows = r->on_device.older + block->first_older;
  a.plane = r->on_device.older_plane + block->first_plane;
  a.sites = r->on_device.sites;
  a.logits = r->logits;
  a.partial = of->partial;
  a.top = of->top;
  a.sum = of->sum;
  for (int32_t s = block->first_site, k = 0; !of->whole && k < block->n_sites; s++)
    if (r->plan.sites.items[s].in_class == block->in_class)
      a.site[k++] = s;
  return a;
}

int
mhar_route_mix_older_f32 (MharContext *c, MharRoute *r, int32_t block)
{
  return older_columns (c, r, older_args<float> (r, &r->plan.blocks.items[block]));
}
