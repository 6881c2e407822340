/* SPDX-License-Identifier: MIT */
/* One read in one pass over all of a site's sources: scores, softmax and mix of one token a thread block, each row read
 * once. The reference the look-ahead path is tested against, and the better one where no other site reads the rows.
 * Rows come C at a time into registers; the running maximum and sum of Eq. 3 are brought up to date after each C. */
#include "kernels/cuda/vector.cuh"

template <typename Real> struct PlainArgs {
  const Real *history;
  size_t row_elements, stride;
  const MharSource *sources;
  const float *query; /* [columns, D] */
  int n, width, columns, heads, plane;
  float bias, eps, norm_eps;
  float *logits;
  Real *mix, *normed;
  const float *gain;
};

/* Sum of x over the thread block, in every thread. */
static __device__ float
block_sum (float x)
{
  __shared__ float part[32];
  x = mhar_lanes_sum (x, 32);
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = x;
  __syncthreads ();
  x = 0;
  for (int i = 0; i < (int) (blockDim.x + 31) / 32; i++)
    x += part[i];
  return x;
}

/* sum[i] = Σ of segment i of `from`: `n` segments of `length` floats, `lanes` (8 or 32) threads a segment. */
static __device__ void
segment_sums (const float *from, int n, int length, int lanes, float *sum)
{
  const int lane = threadIdx.x % lanes;
  for (int i = threadIdx.x / lanes; i - i % (32 / lanes) < n; i += blockDim.x / lanes) {
    float x = 0;
    for (int j = lane; i < n && j < length; j += lanes)
      x += from[i * length + j];
    x = lanes == 32 ? mhar_lanes_sum (x, 32) : mhar_lanes_sum (x, 8);
    if (i < n && lane == 0)
      sum[i] = x;
  }
}

/* Floats of shared memory: per source of a chunk and vector a part of its product and its square; their sums by head;
 * weights; and by head the running top, sum and factor. */
static inline size_t
plain_floats (int c, int units, int heads)
{
  return (size_t) c * (2 * units + 2 * heads + 1) + 3 * heads;
}

/* Logits and weights of a chunk, a thread a head. */
template <typename Real>
static __device__ void
plain_softmax (const PlainArgs<Real> &a, int from, int count, const float *product, const float *square, float *weight,
               float *top, float *sum, float *factor)
{
  for (int h = threadIdx.x; h < a.heads; h += blockDim.x) {
    float m = top[h];
    for (int i = 0; i < count; i++) {
      const float l = product[i * a.heads + h] / sqrtf (square[i] / a.width + a.eps)
                      + (from + i == a.n - 1 ? a.bias : 0.0f);
      const int plane = a.plane + ((int) blockIdx.y * a.heads + h) * a.n + from + i;
      a.logits[plane * a.stride + blockIdx.x] = l;
      weight[i * a.heads + h] = l;
      m = fmaxf (m, l);
    }
    factor[h] = expf (top[h] - m);
    top[h] = m;
    float s = sum[h] * factor[h];
    for (int i = 0; i < count; i++) {
      const float e = expf (weight[i * a.heads + h] - m);
      weight[i * a.heads + h] = e;
      s += e;
    }
    sum[h] = s;
  }
}

/* The mix of VEC channels from `channel` on, rounded, and its norm. All threads of the block call it. */
template <typename Real, int VEC>
static __device__ void
plain_put (const PlainArgs<Real> &a, bool live, int channel, float (&x)[VEC])
{
  const size_t at = ((size_t) blockIdx.x * a.columns + blockIdx.y) * a.width + channel;
  const MharVector<Real, VEC> rounded = mhar_vector_close<Real, VEC> (x);
  if (live && a.mix)
    mhar_vector_put<Real, VEC> (a.mix + at, rounded);
  if (!a.normed)
    return;
  float square = 0, gain[VEC];
  mhar_vector_open<Real, VEC> (rounded, x);
#pragma unroll
  for (int i = 0; i < VEC; i++)
    square = fmaf (x[i], x[i], square);
  const float inverse = 1.0f / sqrtf (block_sum (live ? square : 0.0f) / a.width + a.norm_eps);
  if (!live)
    return;
  mhar_floats_get<VEC> (a.gain + channel, gain);
#pragma unroll
  for (int i = 0; i < VEC; i++)
    x[i] *= inverse * gain[i];
  mhar_vector_put<Real, VEC> (a.normed + at, mhar_vector_close<Real, VEC> (x));
}

/* This thread's part of the products and squares of a chunk's rows: [count, units] each. */
template <typename Real, int VEC, int C>
static __device__ __forceinline__ void
plain_products (const MharVector<Real, VEC> (&x)[C], int count, const float *query, int units, float *products,
                float *squares)
{
  float q[VEC];
  mhar_floats_get<VEC> (query, q);
#pragma unroll
  for (int i = 0; i < C; i++)
    if (i < count) {
      float s[VEC], dot = 0, length = 0;
      mhar_vector_open<Real, VEC> (x[i], s);
#pragma unroll
      for (int j = 0; j < VEC; j++) {
        dot = fmaf (q[j], s[j], dot);
        length = fmaf (s[j], s[j], length);
      }
      products[i * units] = dot;
      squares[i * units] = length;
    }
}

/* mix = mix·factor + Σ of a chunk's rows; weight: of the first, `heads` apart. */
template <typename Real, int VEC, int C>
static __device__ __forceinline__ void
plain_mix (const MharVector<Real, VEC> (&x)[C], int count, const float *weight, int heads, float factor,
           float (&mix)[VEC])
{
#pragma unroll
  for (int j = 0; j < VEC; j++)
    mix[j] *= factor;
#pragma unroll
  for (int i = 0; i < C; i++)
    if (i < count) {
      float s[VEC];
      mhar_vector_open<Real, VEC> (x[i], s);
#pragma unroll
      for (int j = 0; j < VEC; j++)
        mix[j] = fmaf (weight[i * heads], s[j], mix[j]);
    }
}

/* Grid [tokens, columns]; a thread for each VEC channels. */
template <typename Real, int VEC, int C>
__global__ void __launch_bounds__ (1024)
route_plain_kernel (const __grid_constant__ PlainArgs<Real> a)
{
  MHAR_SHARED (shared);
  const int units = a.width / VEC, part = units / a.heads, unit = threadIdx.x, lanes = part < 64 ? 8 : 32;
  float *products = (float *) shared, *squares = products + C * units, *product = squares + C * units;
  float *square = product + C * a.heads, *weight = square + C, *top = weight + C * a.heads, *sum = top + a.heads;
  float *factor = sum + a.heads;
  const bool live = unit < units;
  const int head = live ? unit / part : 0;
  for (int h = threadIdx.x; h < a.heads; h += blockDim.x) {
    top[h] = -INFINITY;
    sum[h] = 0;
  }
  mhar_release_grid ();
  mhar_wait_for_grid ();
  const Real *at = a.history + (size_t) blockIdx.x * a.width + unit * VEC;
  float mix[VEC] = {};
  for (int from = 0; from < a.n; from += C) {
    const int count = live ? min (C, a.n - from) : 0; /* of this thread */
    MharVector<Real, VEC> x[C];
#pragma unroll
    for (int i = 0; i < C; i++)
      if (i < count)
        x[i] = mhar_vector_once<Real, VEC> (at + a.sources[from + i].row * a.row_elements);
    if (live)
      plain_products<Real, VEC, C> (x, count, a.query + (size_t) blockIdx.y * a.width + unit * VEC, units,
                                    products + unit, squares + unit);
    __syncthreads ();
    segment_sums (products, min (C, a.n - from) * a.heads, part, lanes, product);
    segment_sums (squares, min (C, a.n - from), units, 32, square);
    __syncthreads ();
    plain_softmax (a, from, min (C, a.n - from), product, square, weight, top, sum, factor);
    __syncthreads ();
    plain_mix<Real, VEC, C> (x, count, weight + head, a.heads, factor[head], mix);
  }
#pragma unroll
  for (int j = 0; j < VEC; j++)
    mix[j] /= sum[head];
  plain_put<Real, VEC> (a, live, unit * VEC, mix);
}

/* Any width and any heads: rows twice, a channel at a time. Shared memory: [n, heads] logits, then the mix [D]. */
template <typename Real>
__global__ void __launch_bounds__ (256)
route_plain_any_kernel (const __grid_constant__ PlainArgs<Real> a)
{
  MHAR_SHARED (shared);
  float *weight = (float *) shared, *mix = weight + a.n * a.heads;
  const int part = a.width / a.heads;
  mhar_release_grid ();
  mhar_wait_for_grid ();
  const Real *at = a.history + (size_t) blockIdx.x * a.width;
  const float *q = a.query + (size_t) blockIdx.y * a.width;
  for (int n = 0; n < a.n; n++) {
    const Real *x = at + a.sources[n].row * a.row_elements;
    float square = 0;
    for (int i = threadIdx.x; i < a.width; i += blockDim.x)
      square = fmaf (mhar_to_float (x[i]), mhar_to_float (x[i]), square);
    const float inverse = 1.0f / sqrtf (block_sum (square) / a.width + a.eps);
    for (int h = 0; h < a.heads; h++) {
      float dot = 0;
      for (int i = h * part + threadIdx.x; i < (h + 1) * part; i += blockDim.x)
        dot = fmaf (mhar_to_float (x[i]), q[i], dot);
      const float l = block_sum (dot) * inverse + (n == a.n - 1 ? a.bias : 0.0f);
      if (threadIdx.x == 0) {
        weight[n * a.heads + h] = l;
        a.logits[(a.plane + ((int) blockIdx.y * a.heads + h) * a.n + n) * a.stride + blockIdx.x] = l;
      }
    }
  }
  __syncthreads ();
  for (int h = threadIdx.x; h < a.heads; h += blockDim.x) {
    float top = -INFINITY, sum = 0;
    for (int n = 0; n < a.n; n++)
      top = fmaxf (top, weight[n * a.heads + h]);
    for (int n = 0; n < a.n; n++)
      sum += weight[n * a.heads + h] = expf (weight[n * a.heads + h] - top);
    for (int n = 0; n < a.n; n++)
      weight[n * a.heads + h] /= sum;
  }
  __syncthreads ();
  float square = 0;
  const size_t out = ((size_t) blockIdx.x * a.columns + blockIdx.y) * a.width;
  for (int i = threadIdx.x; i < a.width; i += blockDim.x) {
    float x = 0;
    for (int n = 0; n < a.n; n++)
      x = fmaf (weight[n * a.heads + i / part], mhar_to_float (at[a.sources[n].row * a.row_elements + i]), x);
    const Real rounded = mhar_from_float<Real> (x);
    if (a.mix)
      a.mix[out + i] = rounded;
    mix[i] = mhar_to_float (rounded);
    square = fmaf (mix[i], mix[i], square);
  }
  if (!a.normed)
    return;
  const float inverse = 1.0f / sqrtf (block_sum (square) / a.width + a.norm_eps);
  for (int i = threadIdx.x; i < a.width; i += blockDim.x)
    a.normed[out + i] = mhar_from_float<Real> (mix[i] * (inverse * a.gain[i]));
}

/* ---- launching ---- */

template <typename Real, int C>
static int
plain_wide (MharContext *c, const MharRoute *r, const PlainArgs<Real> &a)
{
  const int wide = MharWide<Real>::n, units = a.width / wide;
  return mhar_cuda_launch (c, "route plain", route_plain_kernel<Real, MharWide<Real>::n, C>,
                           dim3 ((unsigned) r->tokens, a.columns), (unsigned) (units + 31) / 32 * 32,
                           plain_floats (C, units, a.heads) * sizeof (float), r->overlap, a);
}

template <typename Real>
static int
plain_site (MharContext *c, const MharRoute *r, int32_t site, const MharReadOut *out)
{
  const MharSitePlan *s = &r->plan.sites.items[site];
  PlainArgs<Real> a = {};
  a.history = (const Real *) r->history.data;
  a.row_elements = r->max_tokens * r->width;
  a.stride = r->stride;
  a.sources = r->on_device.sources + s->first_source;
  a.query = r->on_device.query + s->query;
  a.n = s->n_sources;
  a.width = (int) r->width;
  a.columns = s->whole ? s->heads : 1;
  a.heads = mhar_site_parts (s);
  a.plane = s->plane;
  a.bias = s->bias;
  a.eps = (float) r->eps;
  a.norm_eps = (float) out->eps;
  a.logits = r->logits;
  a.mix = out->mix.buffer ? mhar_cuda_at<Real> (out->mix) : NULL;
  a.normed = out->normed.buffer ? mhar_cuda_at<Real> (out->normed) : NULL;
  a.gain = out->gain ? (const float *) out->gain->data : NULL;
  const int wide = MharWide<Real>::n;
  const bool aligned = ((uintptr_t) a.mix & 15) == 0 && ((uintptr_t) a.normed & 15) == 0;
  if (aligned && mhar_route_is_wide (r, wide) && a.width / wide <= 1024
      && plain_floats (9, a.width / wide, a.heads) * sizeof (float) <= c->shared_per_block)
    return a.n <= 4 ? plain_wide<Real, 4> (c, r, a) : plain_wide<Real, 9> (c, r, a);
  const size_t bytes = ((size_t) a.n * a.heads + a.width) * sizeof (float);
  if (bytes > c->shared_per_block)
    return mhar_cuda_unsupported (c, "%d sources with %d heads over a width of %d", a.n, a.heads, a.width);
  return mhar_cuda_launch (c, "route plain", route_plain_any_kernel<Real>, dim3 ((unsigned) r->tokens, a.columns), 256,
                           bytes, r->overlap, a);
}

int
mhar_route_read_plain (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out)
{
  return c->precision == MHAR_PRECISION_BF16 ? plain_site<__nv_bfloat16> (c, r, site, out)
                                             : plain_site<float> (c, r, site, out);
}
