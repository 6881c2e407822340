/* SPDX-License-Identifier: MIT */
/* Next-token cross-entropy without the [T, V] logits: a chunk of tokens at a time, logits in float32, a block a token
 * for its log-sum-exp, then a block a window for the sum. Only the sums come down. */
#include "kernels/cuda/cuda-private.cuh"

#include <cmath>

#define BLOCK 512
#define LOGIT_BYTES ((size_t) 640 << 20) /* of a chunk at most: 1,024 tokens at a vocabulary of 151,936 */
#define FEWEST_TOKENS ((size_t) 16)

/* A running maximum and Σ exp (x − maximum); the empty one is (−∞, 0). */
typedef struct {
  float most, sum;
} LogSum;

static __device__ __forceinline__ LogSum
log_sum_join (LogSum a, LogSum b)
{
  const float most = fmaxf (a.most, b.most);

  if (most == -INFINITY)
    return a;
  return { most, a.sum * expf (a.most - most) + b.sum * expf (b.most - most) };
}

/* This thread's share of a row of V logits that starts at a multiple of 16 bytes. */
static __device__ __forceinline__ LogSum
log_sum_of_row (const float *row, int V)
{
  LogSum r = { -INFINITY, 0.0f };

  for (int i = 4 * threadIdx.x; i < V; i += 4 * BLOCK) {
    const float4 x = *(const float4 *) (row + i);
    const float y = i + 1 < V ? x.y : -INFINITY, z = i + 2 < V ? x.z : -INFINITY, w = i + 3 < V ? x.w : -INFINITY;
    const float most = fmaxf (fmaxf (fmaxf (x.x, y), fmaxf (z, w)), r.most);

    if (most == -INFINITY)
      continue;
    if (most > r.most) {
      r.sum *= expf (r.most - most);
      r.most = most;
    }
    r.sum += (expf (x.x - most) + expf (y - most)) + (expf (z - most) + expf (w - most));
  }
  return r;
}

/* nll[i] of token first + blockIdx.x; 0 for the last of a window, which predicts nothing. */
static __global__ void __launch_bounds__ (BLOCK)
nll_kernel (const float *logits, size_t ldl, int V, const int32_t *ids, size_t first, size_t t, double *nll)
{
  const float *row = logits + blockIdx.x * ldl;
  const size_t token = first + blockIdx.x;
  __shared__ LogSum of_warp[BLOCK / 32];

  if (token % t == t - 1) {
    if (threadIdx.x == 0)
      nll[token] = 0.0;
    return;
  }
  LogSum r = log_sum_of_row (row, V);
  for (int step = 16; step > 0; step /= 2) {
    const LogSum other = { __shfl_xor_sync (0xffffffffu, r.most, step), __shfl_xor_sync (0xffffffffu, r.sum, step) };

    r = log_sum_join (r, other);
  }
  if (threadIdx.x % 32 == 0)
    of_warp[threadIdx.x / 32] = r;
  __syncthreads ();
  if (threadIdx.x == 0) {
    for (int i = 1; i < BLOCK / 32; i++)
      r = log_sum_join (r, of_warp[i]);
    nll[token] = (double) r.most + log ((double) r.sum) - (double) row[ids[token + 1]];
  }
}

/* sum[w] = Σ of the t numbers of window w = blockIdx.x, each thread's share and then the shares in a fixed order. */
static __global__ void __launch_bounds__ (BLOCK)
window_sum_kernel (const double *nll, size_t t, double *sum)
{
  __shared__ double share[BLOCK];
  double mine = 0.0;

  for (size_t i = threadIdx.x; i < t; i += BLOCK)
    mine += nll[blockIdx.x * t + i];
  share[threadIdx.x] = mine;
  __syncthreads ();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if ((int) threadIdx.x < step)
      share[threadIdx.x] += share[threadIdx.x + step];
    __syncthreads ();
  }
  if (threadIdx.x == 0)
    sum[blockIdx.x] = share[0];
}

/* Scratch for T losses, W sums and the logits of as many tokens as fit, halving them while the device has not the
 * memory. */
static int
take_scratch (MharContext *c, size_t T, size_t W, size_t ldl, size_t *chunk, double **nll, float **logits)
{
  const size_t head = ((T + W) * sizeof (double) + 15) / 16 * 16;
  size_t tokens = LOGIT_BYTES / (ldl * sizeof (float)) / 128 * 128;
  void *memory;
  int status;

  tokens = tokens < FEWEST_TOKENS ? FEWEST_TOKENS : tokens > 4096 ? 4096 : tokens;
  if (tokens > T)
    tokens = T;
  do {
    status = mhar_cuda_scratch (c, head + tokens * ldl * sizeof (float), &memory);
    *chunk = tokens;
    tokens /= 2;
  } while (status == MHAR_NO_MEMORY && tokens >= FEWEST_TOKENS);
  if (status != MHAR_OK)
    return status;
  *nll = (double *) memory;
  *logits = (float *) ((char *) memory + head);
  return MHAR_OK;
}

int
mhar_cuda_cross_entropy (MharContext *c, MharRows x, const MharWeight *head, const MharBuffer *ids, size_t W, size_t t,
                         size_t D, double *sum)
{
  const size_t T = W * t, V = head->rows, ldl = (V + 3) / 4 * 4, size = mhar_cuda_real_size (c);
  const char *from = (const char *) x.buffer->data + x.offset * size;
  size_t chunk;
  void *down;
  double *nll;
  float *logits;

  MHAR_CUDA_ENTER (c);
  if (V == 1 || t < 2) { /* nothing to tell apart, or nothing to predict */
    for (size_t w = 0; w < W; w++)
      sum[w] = 0.0;
    return MHAR_OK;
  }
  if (V > INT32_MAX / 2 || W > INT32_MAX)
    return mhar_cuda_unsupported (c, "cross_entropy: a vocabulary of %zu, %zu windows", V, W);
  MHAR_CUDA_PASS (take_scratch (c, T, W, ldl, &chunk, &nll, &logits));
  MHAR_CUDA_PASS (mhar_cuda_pinned (c, W * sizeof (double), &down));
  for (size_t first = 0; first < T; first += chunk) {
    const size_t n = T - first < chunk ? T - first : chunk;

    MHAR_CUDA_PASS (
        mhar_cuda_gemm (c, from + first * D * size, D, head->data, V, D, n, 0.0f, logits, CUDA_R_32F, ldl));
    nll_kernel<<<(unsigned) n, BLOCK, 0, c->stream>>> (logits, ldl, (int) V, (const int32_t *) ids->data, first, t,
                                                        nll);
    MHAR_CUDA_LAUNCHED (c, cross_entropy);
  }
  window_sum_kernel<<<(unsigned) W, BLOCK, 0, c->stream>>> (nll, t, nll + T);
  MHAR_CUDA_LAUNCHED (c, window_sum);
  MHAR_CUDA_TRY (c, cudaMemcpyAsync (down, nll + T, W * sizeof (double), cudaMemcpyDeviceToHost, c->stream));
  MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
  for (size_t w = 0; w < W; w++)
    sum[w] = ((const double *) down)[w];
  return MHAR_OK;
}
