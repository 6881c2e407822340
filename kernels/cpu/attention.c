/* SPDX-License-Identifier: MIT */
/* Causal attention. One task is a block of queries of one head in one window: scores against the keys it can see, a
 * softmax over each row, and the product with the values. Only a block of scores a thread ever exists, and a task's
 * result does not depend on which thread had it. */
#include "kernels/cpu/cpu-private.h"
#include "kernels/cpu/vexp.h"

#include <cblas.h>
#include <limits.h>
#include <omp.h>

#define QUERY_BLOCK ((size_t) 128)

typedef struct {
  const float *qkv;
  float *out;
  size_t t, A, K, E, sliding;
  float scale;
} Shape;

/* s becomes exp (s − max s); returns the sum, in double. */
static MHAR_CLONES double
exponentials (float *s, size_t n)
{
  float top = mhar_top (s, n);
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) {
    float e = mhar_expf (s[i] - top);
    s[i] = e;
    sum += (double) e;
  }
  return sum;
}

static MHAR_CLONES void
scale_row (float *row, size_t n, double by)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++)
    row[i] = (float) ((double) row[i] * by);
}

/* Queries [first, end) of head `a` in window `w`; scores holds QUERY_BLOCK · t. */
static void
attend_block (const Shape *s, size_t w, size_t a, size_t first, size_t end, float *scores)
{
  size_t ld = (s->A + 2 * s->K) * s->E, group = a / (s->A / s->K), rows = end - first;
  size_t oldest = s->sliding > 0 && first + 1 > s->sliding ? first + 1 - s->sliding : 0, n = end - oldest;
  const float *q = s->qkv + (w * s->t + first) * ld + a * s->E;
  const float *k = s->qkv + (w * s->t + oldest) * ld + (s->A + group) * s->E;
  const float *v = k + s->K * s->E;
  float *out = s->out + (w * s->t + first) * s->A * s->E + a * s->E;
  double inverse[QUERY_BLOCK];
  cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasTrans, (int) rows, (int) n, (int) s->E, s->scale, q, (int) ld, k,
               (int) ld, 0.0f, scores, (int) n);
  for (size_t i = 0; i < rows; i++) {
    float *row = scores + i * n;
    size_t position = first + i, stop = position + 1 - oldest;
    size_t start = s->sliding > 0 && stop > s->sliding ? stop - s->sliding : 0;
    memset (row, 0, start * sizeof *row);
    memset (row + stop, 0, (n - stop) * sizeof *row);
    inverse[i] = 1.0 / exponentials (row + start, stop - start);
  }
  cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasNoTrans, (int) rows, (int) s->E, (int) n, 1.0f, scores, (int) n, v,
               (int) ld, 0.0f, out, (int) (s->A * s->E));
  for (size_t i = 0; i < rows; i++)
    scale_row (out + i * s->A * s->E, s->E, inverse[i]);
}

int
mhar_cpu_attention (MharContext *c, MharRows qkv, double scale, size_t sliding, size_t W, size_t t, size_t A, size_t K,
                    size_t E, MharRows out)
{
  if (K == 0 || A % K != 0)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "%zu attention heads do not share %zu key heads evenly", A, K);
  size_t per_thread, bytes, threads = (size_t) mhar_cpu_threads ();
  if (t > INT_MAX || A > INT_MAX / 4 || E > INT_MAX / 4 || (A + 2 * K) * E > INT_MAX)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "attention over %zu tokens and %zu heads of %zu is too large", t, A, E);
  per_thread = QUERY_BLOCK * (t + 15) / 16 * 16;
  if (!mhar_cpu_product (per_thread, threads, sizeof (float), &bytes))
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "attention over %zu tokens", t);
  void *scratch;
  int status = mhar_cpu_scratch (c, bytes, &scratch);
  if (status != MHAR_OK)
    return status;
  Shape s = { mhar_cpu_at (qkv), mhar_cpu_at (out), t, A, K, E, sliding, (float) scale };
  size_t blocks = (t + QUERY_BLOCK - 1) / QUERY_BLOCK;
  /* The last blocks see the most keys: they go first, so that no thread ends on a long one. */
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < blocks * W * A; i++) {
    size_t block = blocks - 1 - i / (W * A), w = i / A % W, a = i % A;
    size_t end = (block + 1) * QUERY_BLOCK < t ? (block + 1) * QUERY_BLOCK : t;
    attend_block (&s, w, a, block * QUERY_BLOCK, end, (float *) scratch + (size_t) omp_get_thread_num () * per_thread);
  }
  return MHAR_OK;
}
