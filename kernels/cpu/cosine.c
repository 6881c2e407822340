/* SPDX-License-Identifier: MIT */
/* Cosines between rows of the history, a token at a time: the rows are normalised in double and multiplied with
 * themselves. Blocks of tokens of fixed size are summed in order and then added in order. */
#include "kernels/cpu/route-private.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* A window is cut into blocks of at least MIN_BLOCK tokens, at most MAX_BLOCKS of them. */
#define MIN_BLOCK ((size_t) 64)
#define MAX_BLOCKS ((size_t) 16)

typedef struct {
  const MharRoute *r;
  const int32_t *rows;
  size_t n;
  MharSpan span;
  size_t block, n_blocks; /* tokens a block, blocks a window */
  double *partial;        /* [W, n_blocks][n·n + 1]: cosines, then the mean |cosine| */
} Cosines;

static MHAR_CLONES bool
unit_row (const float *x, size_t D, double *out)
{
  double square = 0.0;
#pragma omp simd reduction(+ : square)
  for (size_t i = 0; i < D; i++)
    square += (double) x[i] * (double) x[i];
  double by = square > 0.0 ? 1.0 / sqrt (square) : square; /* NaN stays NaN */
#pragma omp simd
  for (size_t i = 0; i < D; i++)
    out[i] = (double) x[i] * by;
  return square == 0.0;
}

/* unit [n, D] and gram [n, n] are scratch; the upper triangle of `sum` and sum[n·n] grow. True when a row was zero. */
static bool
add_token (const Cosines *k, size_t token, double *unit, double *gram, double *sum)
{
  size_t n = k->n, D = k->r->D;
  bool zero = false;
  double absolute = 0.0;
  for (size_t i = 0; i < n; i++) {
    bool this_zero = unit_row (mhar_route_token (k->r, (size_t) k->rows[i], token), D, unit + i * D);
    sum[i * n + i] += this_zero ? 0.0 : 1.0;
    zero = zero || this_zero;
  }
  cblas_dsyrk (CblasRowMajor, CblasUpper, CblasNoTrans, (int) n, (int) D, 1.0, unit, (int) D, 0.0, gram, (int) n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++) {
      sum[i * n + j] += gram[i * n + j];
      absolute += fabs (gram[i * n + j]);
    }
  if (n > 1)
    sum[n * n] += absolute / ((double) n * (double) (n - 1) / 2.0);
  return zero;
}

static bool
sum_block (const Cosines *k, size_t index, double *scratch)
{
  size_t w = index / k->n_blocks, first = index % k->n_blocks * k->block, counted = mhar_cpu_counted (k->span, w);
  size_t end = first + k->block < counted ? first + k->block : counted;
  size_t start = w * k->r->t + (size_t) (k->span.skip > 0 ? k->span.skip : 0);
  double *sum = k->partial + index * (k->n * k->n + 1);
  bool zero = false;
  memset (sum, 0, (k->n * k->n + 1) * sizeof *sum);
  for (size_t i = first; i < end; i++)
    zero |= add_token (k, start + i, scratch, scratch + k->n * k->r->D, sum);
  return zero;
}

/* Adds the blocks of a window in order and fills the lower triangle. */
static void
add_blocks (const Cosines *k, size_t w, double *cosine, double *mean_abs)
{
  size_t n = k->n;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i; j < n; j++) {
      double sum = 0.0;
      for (size_t b = 0; b < k->n_blocks; b++)
        sum += k->partial[(w * k->n_blocks + b) * (n * n + 1) + i * n + j];
      if (cosine != NULL)
        cosine[(w * n + i) * n + j] = cosine[(w * n + j) * n + i] = sum;
    }
  if (mean_abs == NULL)
    return;
  mean_abs[w] = 0.0;
  for (size_t b = 0; b < k->n_blocks; b++)
    mean_abs[w] += k->partial[(w * k->n_blocks + b) * (n * n + 1) + n * n];
}

static int
check_rows (MharContext *c, const MharRoute *r, const int32_t *rows, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (rows[i] < 0 || (size_t) rows[i] >= r->n_rows)
      return mhar_cpu_fail (c, MHAR_FAILED, "row %d of a history of %zu", rows[i], r->n_rows);
  if (n > INT_MAX / 2 || r->D > INT_MAX)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "cosines between %zu rows of width %zu", n, r->D);
  return MHAR_OK;
}

int
mhar_cpu_cosines (MharContext *c, MharRoute *r, const int32_t *rows, size_t n, MharSpan span, double *cosine,
                  double *mean_abs, int *zero)
{
  size_t threads = (size_t) mhar_cpu_threads (), units, pairs, per_thread, partials, all, bytes;
  int status = mhar_route_check_span (c, r, span);
  if (status == MHAR_OK)
    status = check_rows (c, r, rows, n);
  if (status != MHAR_OK)
    return status;
  Cosines k = { .r = r, .rows = rows, .n = n, .span = span };
  k.block = (r->t + MAX_BLOCKS - 1) / MAX_BLOCKS > MIN_BLOCK ? (r->t + MAX_BLOCKS - 1) / MAX_BLOCKS : MIN_BLOCK;
  k.n_blocks = (r->t + k.block - 1) / k.block;
  if (!mhar_cpu_product (n, r->D, 1, &units) || !mhar_cpu_product (n, n, 1, &pairs)
      || __builtin_add_overflow (units, pairs + 7, &per_thread)
      || !mhar_cpu_product (pairs + 1, r->W, k.n_blocks, &partials) || !mhar_cpu_product (per_thread, threads, 1, &all)
      || __builtin_add_overflow (all, partials, &all) || !mhar_cpu_product (all, 1, sizeof (double), &bytes))
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory for the cosines of %zu rows", n);
  void *scratch;
  status = mhar_cpu_scratch (c, bytes, &scratch);
  if (status != MHAR_OK)
    return status;
  k.partial = (double *) scratch + per_thread * threads;
  int any = 0;
#pragma omp parallel for schedule(static) reduction(| : any)
  for (size_t i = 0; i < r->W * k.n_blocks; i++)
    any |= sum_block (&k, i, (double *) scratch + (size_t) omp_get_thread_num () * per_thread);
  for (size_t w = 0; w < r->W; w++)
    add_blocks (&k, w, cosine, mean_abs);
  if (any && zero != NULL)
    *zero = 1;
  return MHAR_OK;
}
