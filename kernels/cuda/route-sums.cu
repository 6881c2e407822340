/* SPDX-License-Identifier: MIT */
/* Sums over tokens of what the reads did, from the logits they left: weights, contributions, entropies and the
 * disagreement of the heads, of all sites in one launch. A thread block takes one site and 128 positions of one window;
 * its float32 sums are added up in double, in order, by a second kernel, so the result is the same every time. Of the
 * squares a block sums the distances from its own mean, for Σ w² less (Σ w)²/n would leave nothing of a small spread.
 *
 *   entropy = ln z − Σ e^(l − m) (l − m) / z
 *   mean_h KL(w_h ‖ w̄) = Σ_n (mean_h w_h ln w_h − w̄ ln w̄),   w̄ = mean_h w_h */
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/ptx.cuh"
#include "kernels/cuda/route-private.cuh"

#include <math.h>
#include <string.h>

#define SUM_TOKENS 128 /* four a lane */
#define SUM_WARPS 4
#define NOT_COUNTED 1e30f /* ln z of a token that does not count: its weights are 0 */

struct SumArgs {
  const float *logits, *squares;
  size_t stride;
  const MharSitePlan *sites;
  const MharSource *sources;
  int n_norms, n_planes, n_heads, total; /* total: sums a chunk, [weight | contribution | square | entropy | js] */
  int first_window, chunks;              /* chunks a window */
  MharSpan span;
  float *partial; /* [windows here · chunks, total] */
};

/* This lane's tokens (kept inside the batch) and whether they count. */
struct LaneTokens {
  size_t token[4];
  bool counts[4];
};

static __device__ __forceinline__ LaneTokens
lane_tokens (const SumArgs &a)
{
  LaneTokens t;
  const int w = a.first_window + blockIdx.x / a.chunks, from = blockIdx.x % a.chunks * SUM_TOKENS + threadIdx.x % 32;
  const int last = a.span.skip + mhar_span_count (a.span, w);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int at = from + 32 * i;
    t.counts[i] = at >= a.span.skip && at < last;
    t.token[i] = (size_t) w * a.span.length + min (at, a.span.length - 1);
  }
  return t;
}

/* Tokens of a block that count. */
static __device__ __forceinline__ int
chunk_count (const SumArgs &a, int window, int chunk)
{
  const int from = max (chunk * SUM_TOKENS, a.span.skip);
  return max (min ((chunk + 1) * SUM_TOKENS, a.span.skip + mhar_span_count (a.span, window)) - from, 0);
}

/* Maximum and ln z of head h into top, log_z [4·32]; its entropy summed over the tokens. */
static __device__ float
sum_head (const SumArgs &a, const MharSitePlan &s, int h, const LaneTokens &tokens, float *top, float *log_z)
{
  const float *logit = a.logits + (size_t) (s.plane + h * s.n_sources) * a.stride;
  float m[4], z[4], moment[4], entropy = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    m[i] = logit[tokens.token[i]];
    z[i] = 1;
    moment[i] = 0;
  }
#pragma unroll 4
  for (int n = 1; n < s.n_sources; n++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float d = logit[n * a.stride + tokens.token[i]] - m[i], e = expf (-fabsf (d));
      moment[i] = d > 0 ? e * (moment[i] - d * z[i]) : fmaf (e, d, moment[i]);
      z[i] = d > 0 ? fmaf (e, z[i], 1.0f) : z[i] + e;
      m[i] = d > 0 ? m[i] + d : m[i];
    }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float l = logf (z[i]);
    top[32 * i + threadIdx.x % 32] = m[i];
    log_z[32 * i + threadIdx.x % 32] = tokens.counts[i] ? l : NOT_COUNTED;
    entropy += tokens.counts[i] ? l - moment[i] / z[i] : 0.0f;
  }
  return mhar_lanes_sum (entropy, 32);
}

/* Σ (w − mean)² over the counted of a lane's four tokens; `sum` is the whole block's Σ w over `count` tokens. */
static __device__ __forceinline__ float
squared_distances (const float *w, const LaneTokens &tokens, float sum, int count)
{
  const float mean = sum / (float) max (count, 1);
  float distance = 0;
#pragma unroll
  for (int i = 0; i < 4; i++)
    distance = tokens.counts[i] ? fmaf (w[i] - mean, w[i] - mean, distance) : distance;
  return distance;
}

/* Weights, their squares and contributions of source n, head by head; returns this lane's Σ_h w ln w − H w̄ ln w̄. */
static __device__ float
sum_source (const SumArgs &a, const MharSitePlan &s, int n, const LaneTokens &tokens, const float *top,
            const float *log_z, float *to)
{
  const int lane = threadIdx.x % 32, row = a.sources[s.first_source + n].row;
  const int count = chunk_count (a, a.first_window + blockIdx.x / a.chunks, blockIdx.x % a.chunks);
  float mean[4] = {}, disagreement = 0;
#pragma unroll 2
  for (int h = 0; h < s.heads; h++) {
    const int plane = s.plane + h * s.n_sources + n;
    const float *logit = a.logits + plane * a.stride;
    const float *square = a.squares + ((size_t) row * a.n_norms + s.norm + (s.whole ? 0 : h)) * a.stride;
    float w[4], weight = 0, contribution = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int at = h * SUM_TOKENS + 32 * i + lane;
      const float l = logit[tokens.token[i]] - top[at] - log_z[at];
      w[i] = expf (l);
      mean[i] += w[i];
      weight += w[i];
      disagreement = w[i] > 0 ? fmaf (w[i], l, disagreement) : disagreement; /* not 0·∞ */
      contribution = tokens.counts[i] ? fmaf (w[i], sqrtf (square[tokens.token[i]]), contribution) : contribution;
    }
    weight = mhar_lanes_sum (weight, 32);
    contribution = mhar_lanes_sum (contribution, 32);
    const float distance = mhar_lanes_sum (squared_distances (w, tokens, weight, count), 32);
    if (lane == 0) {
      to[plane] = weight;
      to[a.n_planes + plane] = contribution;
      to[2 * a.n_planes + plane] = distance;
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    disagreement -= mean[i] > 0 ? mean[i] * (logf (mean[i]) - logf ((float) s.heads)) : 0.0f;
  return disagreement;
}

/* Index of a site's first head among all sites' heads. */
static __device__ int
first_head_of (const MharSitePlan *sites, int site)
{
  int head = 0;
  for (int s = 0; s < site; s++)
    head += sites[s].heads;
  return head;
}

/* Grid [chunks, sites]. Shared memory: maximum and ln z, [heads, 128] each. */
__global__ void __launch_bounds__ (SUM_WARPS * 32)
route_sums_kernel (const __grid_constant__ SumArgs a)
{
  MHAR_SHARED (shared);
  __shared__ float part[SUM_WARPS];
  __shared__ int first_head;
  const MharSitePlan s = a.sites[blockIdx.y];
  float *top = (float *) shared, *log_z = top + s.heads * SUM_TOKENS;
  float *to = a.partial + (size_t) blockIdx.x * a.total;
  const LaneTokens tokens = lane_tokens (a);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    first_head = first_head_of (a.sites, blockIdx.y);
  __syncthreads ();
  for (int h = warp; h < s.heads; h += SUM_WARPS) {
    const float entropy = sum_head (a, s, h, tokens, top + h * SUM_TOKENS, log_z + h * SUM_TOKENS);
    if (lane == 0)
      to[3 * a.n_planes + first_head + h] = entropy;
  }
  __syncthreads ();
  float disagreement = 0;
  for (int n = warp; n < s.n_sources; n += SUM_WARPS)
    disagreement += sum_source (a, s, n, tokens, top, log_z, to);
  disagreement = mhar_lanes_sum (disagreement, 32);
  if (lane == 0)
    part[warp] = disagreement;
  __syncthreads ();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < SUM_WARPS; i++)
      sum += part[i];
    to[3 * a.n_planes + a.n_heads + blockIdx.y] = s.heads > 1 ? sum / s.heads : 0.0f;
  }
}

/* sum[w, i] = Σ_chunks partial[w·chunks + chunk, i], in double and in order; of the squares, the distances from a block's
 * mean and what the mean itself adds: Σ w² = Σ (w − m)² + (Σ w)²/n. */
__global__ void
route_sums_add_kernel (const __grid_constant__ SumArgs a, double *sum)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.total)
    return;
  const float *from = a.partial + (size_t) blockIdx.y * a.chunks * a.total + i;
  const bool square = i >= 2 * a.n_planes && i < 3 * a.n_planes;
  double x = 0;
#pragma unroll 4
  for (int chunk = 0; chunk < a.chunks; chunk++)
    x += from[(size_t) chunk * a.total];
  for (int chunk = 0; square && chunk < a.chunks; chunk++) {
    const double weight = from[(size_t) chunk * a.total - 2 * a.n_planes];
    const int count = chunk_count (a, a.first_window + blockIdx.y, chunk);
    x += count > 0 ? weight * weight / count : 0.0;
  }
  sum[(size_t) blockIdx.y * a.total + i] = x;
}

/* [windows, total] of `from` to the caller's arrays, from window `first` on. */
static void
sums_hand_over (const SumArgs &a, const double *from, int first, int windows, const MharRouteSums *sums, int n_sites)
{
  const struct {
    double *to;
    int n;
  } part[] = { { sums->weight, a.n_planes }, { sums->contribution, a.n_planes }, { sums->square, a.n_planes },
               { sums->entropy, a.n_heads }, { sums->head_js, n_sites } };
  for (int w = 0; w < windows; w++, from += a.total) {
    const double *at = from;
    for (const auto &p : part) {
      for (int i = 0; p.to && i < p.n; i++)
        p.to[(size_t) (first + w) * p.n + i] = at[i];
      at += p.n;
    }
  }
}

/* Windows [first, first + windows): two launches and a download. */
static int
sums_windows (MharContext *c, const MharRoute *r, SumArgs a, int first, int windows, const MharRouteSums *sums,
              int most_heads)
{
  const size_t result = (size_t) windows * a.total * sizeof (double);
  void *scratch, *host;
  int status = mhar_cuda_scratch (c, result + (size_t) windows * a.chunks * a.total * sizeof (float), &scratch);
  status = status ? status : mhar_cuda_pinned (c, result, &host);
  if (status)
    return status;
  a.first_window = first;
  a.partial = (float *) ((char *) scratch + result);
  status = mhar_cuda_launch (c, "route sums", route_sums_kernel, dim3 (windows * a.chunks, r->n_sites), SUM_WARPS * 32,
                             (size_t) 2 * most_heads * SUM_TOKENS * sizeof (float), false, a);
  status = status ? status
                  : mhar_cuda_launch (c, "route sums", route_sums_add_kernel, dim3 ((a.total + 127) / 128, windows),
                                      128, 0, false, a, (double *) scratch);
  if (status)
    return status;
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (host, scratch, result, cudaMemcpyDeviceToHost, c->stream));
  MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
  sums_hand_over (a, (const double *) host, first, windows, sums, r->n_sites);
  return MHAR_OK;
}

int
mhar_cuda_route_sums (MharContext *c, MharRoute *r, MharSpan span, const MharRouteSums *sums)
{
  if (span.windows < 1 || span.length < 1 || (size_t) span.windows * span.length > r->tokens)
    return mhar_cuda_unsupported (c, "%d windows of %d tokens in a batch of %zu", (int) span.windows, (int) span.length,
                                  r->tokens);
  int status = r->n_sites ? mhar_route_settle (c, r) : MHAR_OK, most_heads = 1;
  for (int s = 0; s < r->n_sites; s++)
    most_heads = r->plan.sites.items[s].heads > most_heads ? r->plan.sites.items[s].heads : most_heads;
  SumArgs a = {};
  a.logits = r->logits;
  a.squares = r->squares;
  a.stride = r->stride;
  a.sites = r->on_device.sites;
  a.sources = r->on_device.sources;
  a.n_norms = r->plan.n_norms;
  a.n_planes = r->plan.n_planes;
  a.n_heads = r->plan.n_head_planes;
  a.total = 3 * a.n_planes + a.n_heads + r->n_sites;
  a.chunks = (span.length + SUM_TOKENS - 1) / SUM_TOKENS;
  a.span = span;
  const size_t each = (size_t) a.total * (a.chunks * sizeof (float) + sizeof (double));
  const int at_once = each > (256u << 20) || !r->n_sites ? 1 : (int) ((256u << 20) / each);
  for (int w = 0; w < span.windows && r->n_sites && !status; w += at_once)
    status = sums_windows (c, r, a, w, span.windows - w < at_once ? span.windows - w : at_once, sums, most_heads);
  return status;
}

/* ---- weights of single tokens ---- */

/* out [count, heads, N]; a thread a token and head. */
__global__ void
route_weights_kernel (const float *logits, size_t stride, int n, int heads, size_t first, int count, float *out)
{
  const int token = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
  if (token >= count)
    return;
  const float *logit = logits + (size_t) h * n * stride + first + token;
  float top = -INFINITY, sum = 0;
  for (int i = 0; i < n; i++)
    top = fmaxf (top, logit[i * stride]);
  for (int i = 0; i < n; i++)
    sum += expf (logit[i * stride] - top);
  float *to = out + ((size_t) token * heads + h) * n;
  for (int i = 0; i < n; i++)
    to[i] = expf (logit[i * stride] - top) / sum;
}

int
mhar_cuda_route_weights (MharContext *c, MharRoute *r, int32_t site, size_t first, size_t count, float *to)
{
  if (site < 0 || site >= r->n_sites || first > r->tokens || count > r->tokens - first)
    return mhar_cuda_unsupported (c, "weights of tokens %zu to %zu at site %d", first, first + count, (int) site);
  const MharSitePlan *s = &r->plan.sites.items[site];
  const size_t each = (size_t) s->heads * s->n_sources;
  const size_t at_once = each * sizeof (float) > (32u << 20) ? 1 : (32u << 20) / (each * sizeof (float));
  for (size_t done = 0; done < count; done += at_once) {
    const size_t n = count - done < at_once ? count - done : at_once, bytes = n * each * sizeof (float);
    void *scratch, *host;
    int status = mhar_cuda_scratch (c, bytes, &scratch);
    status = status ? status : mhar_cuda_pinned (c, bytes, &host);
    status = status ? status
                    : mhar_cuda_launch (c, "route weights", route_weights_kernel,
                                        dim3 ((unsigned) (n + 127) / 128, s->heads), 128, 0, false,
                                        r->logits + s->plane * r->stride, r->stride, (int) s->n_sources, (int) s->heads,
                                        first + done, (int) n, (float *) scratch);
    if (status)
      return status;
    MHAR_CUDA_TRY (c, cudaMemcpyAsync (host, scratch, bytes, cudaMemcpyDeviceToHost, c->stream));
    MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
    memcpy (to + done * each, host, bytes);
  }
  return MHAR_OK;
}
