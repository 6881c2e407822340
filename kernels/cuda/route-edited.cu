/* SPDX-License-Identifier: MIT */
/* A read made otherwise than the table says: any stored rows, query and heads, and a rule for the weights between
 * softmax and mix. A token a thread block, all of its heads at once, since a rule may take a head's weights from the
 * others; a channel at a time. Logits of the history stay those of the table's sites. */
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/route-private.cuh"

#define EDITED_THREADS 256

template <typename Real> struct EditedArgs {
  const Real *history;
  size_t row_elements;
  const float *query;           /* [columns, D] */
  const int32_t *sources, *from; /* [n]; [columns·parts] */
  int n, width, columns, parts, rule, keep;
  float bias, eps, norm_eps;
  Real *mix, *normed;
  const float *gain;
};

/* Sum of x over the thread block, in every thread. */
static __device__ float
edited_sum (float x)
{
  __shared__ float part[EDITED_THREADS / 32];
  x = mhar_lanes_sum (x, 32);
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = x;
  __syncthreads ();
  x = 0;
  for (int i = 0; i < EDITED_THREADS / 32; i++)
    x += part[i];
  return x;
}

/* Logits [heads, n] of the token at `at`, a warp each; `inverse` [n] on the way. */
template <typename Real>
static __device__ void
edited_logits (const EditedArgs<Real> &a, const Real *at, float *inverse, float *logit)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = a.width / a.parts;
  for (int n = warp; n < a.n; n += EDITED_THREADS / 32) {
    const Real *x = at + a.sources[n] * a.row_elements;
    float square = 0;
    for (int i = lane; i < a.width; i += 32)
      square = fmaf (mhar_to_float (x[i]), mhar_to_float (x[i]), square);
    square = mhar_lanes_sum (square, 32);
    if (lane == 0)
      inverse[n] = 1.0f / sqrtf (square / a.width + a.eps);
  }
  __syncthreads ();
  for (int k = warp; k < a.columns * a.parts * a.n; k += EDITED_THREADS / 32) {
    const int h = k / a.n, n = k % a.n, first = a.parts > 1 ? h * part : 0;
    const Real *x = at + a.sources[n] * a.row_elements + first;
    const float *q = a.query + (a.parts > 1 ? 0 : (size_t) h * a.width) + first;
    float dot = 0;
    for (int i = lane; i < part; i += 32)
      dot = fmaf (mhar_to_float (x[i]), q[i], dot);
    dot = mhar_lanes_sum (dot, 32);
    if (lane == 0)
      logit[k] = dot * inverse[n] + (n == a.n - 1 ? a.bias : 0.0f);
  }
  __syncthreads ();
}

/* Softmax of a head's n logits, in place. */
static __device__ void
edited_softmax (float *w, int n)
{
  float top = -INFINITY, sum = 0;
  for (int i = 0; i < n; i++)
    top = fmaxf (top, w[i]);
  for (int i = 0; i < n; i++)
    sum += w[i] = expf (w[i] - top);
  for (int i = 0; i < n; i++)
    w[i] /= sum;
}

/* The `keep` largest of w [n], of equal ones the earlier, divided by their sum. */
static __device__ void
edited_top (const float *w, int n, int keep, float *to)
{
  float sum = 0;
  for (int i = 0; i < n; i++) {
    int before = 0;
    for (int j = 0; j < n; j++)
      before += w[j] > w[i] || (j < i && w[j] == w[i]);
    to[i] = before < keep ? w[i] : 0.0f;
    sum += to[i];
  }
  for (int i = 0; i < n; i++)
    to[i] /= sum;
}

/* From the softmax w [heads, n] to what the heads read with, `to`. */
template <typename Real>
static __device__ void
edited_rule (const EditedArgs<Real> &a, const float *w, float *to)
{
  const int heads = a.columns * a.parts;
  if (a.rule == MHAR_WEIGHTS_TOP) {
    for (int h = threadIdx.x; h < heads; h += EDITED_THREADS)
      edited_top (w + h * a.n, a.n, a.keep, to + h * a.n);
  } else
    for (int k = threadIdx.x; k < heads * a.n; k += EDITED_THREADS) {
      const int h = k / a.n, n = k % a.n;
      float x = a.rule == MHAR_WEIGHTS_FROM ? w[a.from[h] * a.n + n] : w[k];
      if (a.rule == MHAR_WEIGHTS_MEAN) {
        x = 0;
        for (int g = 0; g < heads; g++)
          x += w[g * a.n + n];
        x /= heads;
      }
      to[k] = x;
    }
  __syncthreads ();
}

/* Grid [tokens]. Shared memory: weights [2, heads, n], inverse [n], the mix [D]. */
template <typename Real>
__global__ void __launch_bounds__ (EDITED_THREADS)
route_edited_kernel (const __grid_constant__ EditedArgs<Real> a)
{
  MHAR_SHARED (shared);
  const int heads = a.columns * a.parts, part = a.width / a.parts;
  float *weight = (float *) shared, *taken = weight + heads * a.n, *inverse = taken + heads * a.n;
  float *mix = inverse + a.n;
  const Real *at = a.history + (size_t) blockIdx.x * a.width;
  edited_logits (a, at, inverse, weight);
  for (int h = threadIdx.x; h < heads; h += EDITED_THREADS)
    edited_softmax (weight + h * a.n, a.n);
  __syncthreads ();
  edited_rule (a, weight, taken);
  for (int column = 0; column < a.columns; column++) {
    const size_t out = ((size_t) blockIdx.x * a.columns + column) * a.width;
    float square = 0;
    for (int i = threadIdx.x; i < a.width; i += EDITED_THREADS) {
      const float *w = taken + (a.parts > 1 ? i / part : column) * a.n;
      float x = 0;
      for (int n = 0; n < a.n; n++)
        x = fmaf (w[n], mhar_to_float (at[a.sources[n] * a.row_elements + i]), x);
      const Real rounded = mhar_from_float<Real> (x);
      if (a.mix)
        a.mix[out + i] = rounded;
      mix[i] = mhar_to_float (rounded);
      square = fmaf (mix[i], mix[i], square);
    }
    if (!a.normed)
      continue;
    const float scale = 1.0f / sqrtf (edited_sum (square) / a.width + a.norm_eps);
    for (int i = threadIdx.x; i < a.width; i += EDITED_THREADS)
      a.normed[out + i] = mhar_from_float<Real> (mix[i] * (scale * a.gain[i]));
  }
}

/* ---- launching ---- */

static int
edited_check (MharContext *c, const MharRoute *r, const MharRouteEdit *edit)
{
  const MharRouteSite *s = &edit->site;
  if (s->n_sources < 1 || s->heads < 1 || s->heads > 1 << 16 || (!s->whole && r->width % s->heads))
    return mhar_cuda_unsupported (c, "a read of %d sources with %d heads over a width of %zu", (int) s->n_sources,
                                  (int) s->heads, r->width);
  for (int32_t n = 0; n < s->n_sources; n++)
    if (s->sources[n] < 0 || s->sources[n] >= r->n_rows)
      return mhar_cuda_unsupported (c, "a read of row %d of %d", (int) s->sources[n], (int) r->n_rows);
  for (int32_t h = 0; edit->rule == MHAR_WEIGHTS_FROM && h < s->heads; h++)
    if (edit->from[h] < 0 || edit->from[h] >= s->heads)
      return mhar_cuda_unsupported (c, "a read with the weights of head %d of %d", (int) edit->from[h], (int) s->heads);
  if (edit->rule == MHAR_WEIGHTS_TOP && edit->keep < 1)
    return mhar_cuda_unsupported (c, "a read that keeps %d weights", (int) edit->keep);
  return MHAR_OK;
}

/* Query, sources and heads to the device's scratch. The copy is from pageable memory: it has left it on return. */
static int
edited_upload (MharContext *c, const MharRoute *r, const MharRouteEdit *edit, void **device)
{
  const MharRouteSite *s = &edit->site;
  const size_t queries = (s->whole ? s->heads : 1) * r->width, n = (size_t) s->n_sources, heads = (size_t) s->heads;
  const size_t bytes = queries * sizeof (float) + (n + heads) * sizeof (int32_t);
  char *host = (char *) malloc (bytes);
  if (!host)
    return mhar_cuda_failed (c, "edited read", cudaErrorMemoryAllocation);
  float *query = (float *) host;
  int32_t *rest = (int32_t *) (query + queries);
  for (size_t i = 0; i < queries; i++)
    query[i] = (float) s->query[i];
  for (size_t i = 0; i < n; i++)
    rest[i] = s->sources[i];
  for (size_t h = 0; h < heads; h++)
    rest[n + h] = edit->rule == MHAR_WEIGHTS_FROM ? edit->from[h] : (int32_t) h;
  int status = mhar_cuda_scratch (c, bytes, device);
  if (!status) {
    const cudaError_t result = cudaMemcpyAsync (*device, host, bytes, cudaMemcpyHostToDevice, c->stream);
    status = result == cudaSuccess ? MHAR_OK : mhar_cuda_failed (c, "edited read", result);
  }
  free (host);
  return status;
}

template <typename Real>
static int
edited_launch (MharContext *c, const MharRoute *r, const MharRouteEdit *edit, const MharReadOut *out)
{
  const MharRouteSite *s = &edit->site;
  EditedArgs<Real> a = {};
  void *device;
  MHAR_CUDA_PASS (edited_upload (c, r, edit, &device));
  a.history = (const Real *) r->history.data;
  a.row_elements = r->max_tokens * r->width;
  a.n = s->n_sources;
  a.width = (int) r->width;
  a.columns = s->whole ? s->heads : 1;
  a.parts = s->whole ? 1 : s->heads;
  a.rule = edit->rule;
  a.keep = edit->keep;
  a.query = (const float *) device;
  a.sources = (const int32_t *) (a.query + (size_t) a.columns * a.width);
  a.from = a.sources + a.n;
  a.bias = (float) s->bias;
  a.eps = (float) r->eps;
  a.norm_eps = (float) out->eps;
  a.mix = out->mix.buffer ? mhar_cuda_at<Real> (out->mix) : NULL;
  a.normed = out->normed.buffer ? mhar_cuda_at<Real> (out->normed) : NULL;
  a.gain = out->gain ? (const float *) out->gain->data : NULL;
  const size_t bytes = ((size_t) (2 * s->heads + 1) * a.n + a.width) * sizeof (float);
  if (bytes > c->shared_per_block)
    return mhar_cuda_unsupported (c, "%d sources with %d heads over a width of %d", a.n, (int) s->heads, a.width);
  return mhar_cuda_launch (c, "route edited", route_edited_kernel<Real>, dim3 ((unsigned) r->tokens), EDITED_THREADS,
                           bytes, false, a);
}

int
mhar_cuda_route_read_edited (MharContext *c, MharRoute *r, const MharRouteEdit *edit, const MharReadOut *out)
{
  MHAR_CUDA_ENTER (c);
  MHAR_CUDA_PASS (edited_check (c, r, edit));
  return c->precision == MHAR_PRECISION_BF16 ? edited_launch<__nv_bfloat16> (c, r, edit, out)
                                             : edited_launch<float> (c, r, edit, out);
}
