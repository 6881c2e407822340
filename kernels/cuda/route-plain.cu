/* SPDX-License-Identifier: MIT */
/* One read of any width and any number of heads, from all of the site's sources: a token a thread block, every row
 * twice, a channel at a time. For the shapes route-read.cu does not cover. */
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/route-private.cuh"

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

/* Grid [tokens, columns]. Shared memory: [n, heads] logits, then the mix [D]. */
template <typename Real>
__global__ void __launch_bounds__ (256)
route_plain_kernel (const __grid_constant__ PlainArgs<Real> a)
{
  MHAR_SHARED (shared);
  float *weight = (float *) shared, *mix = weight + a.n * a.heads;
  const int part = a.width / a.heads;
  mhar_wait_for_grid ();
  mhar_release_grid ();
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
  const size_t bytes = ((size_t) a.n * a.heads + a.width) * sizeof (float);
  if (bytes > c->shared_per_block)
    return mhar_cuda_unsupported (c, "%d sources with %d heads over a width of %d", a.n, a.heads, a.width);
  return mhar_cuda_launch (c, "route plain", route_plain_kernel<Real>, dim3 ((unsigned) r->tokens, a.columns), 256,
                           bytes, r->overlap, a);
}

int
mhar_route_read_plain (MharContext *c, const MharRoute *r, int32_t site, const MharReadOut *out)
{
  return c->precision == MHAR_PRECISION_BF16 ? plain_site<__nv_bfloat16> (c, r, site, out)
                                             : plain_site<float> (c, r, site, out);
}
