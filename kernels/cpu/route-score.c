/* SPDX-License-Identifier: MIT */
/* Scores of the depth history. The queries do not depend on the input, so a row is scored against every later site's
 * query when it is stored, in one pass: q·(RMSNorm(s) ⊙ g) = (q ⊙ g)·s / rms (s), all of it in double. */
#include "kernels/cpu/route-private.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* Tokens a product: with D doubles each they stay in the second-level cache. */
#define SCORE_BLOCK ((size_t) 64)

static MHAR_CLONES double
square_sum (const float *x, size_t n)
{
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++)
    sum += (double) x[i] * (double) x[i];
  return sum;
}

MHAR_CLONES double
mhar_route_dot (const double *q, const float *x, size_t n)
{
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++)
    sum += q[i] * (double) x[i];
  return sum;
}

static MHAR_CLONES void
to_doubles (const float *x, size_t n, double *out)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++)
    out[i] = (double) x[i];
}

void
mhar_route_measure (MharRoute *r, size_t row)
{
  double *inverse = r->inverse + row * r->stride;
#pragma omp parallel for schedule(static)
  for (size_t token = 0; token < r->W * r->t; token++) {
    const float *x = mhar_route_token (r, row, token);
    inverse[token] = 1.0 / sqrt (square_sum (x, r->D) / (double) r->D + r->eps);
    for (size_t k = 0; k < r->n_shapes; k++) {
      const MharDepthShape *shape = &r->shapes[k];
      size_t width = r->D / shape->pieces;
      for (size_t p = 0; p < shape->pieces; p++)
        mhar_route_norms (r, shape, row, p)[token] = sqrt (square_sum (x + p * width, width));
    }
  }
}

static bool
reads_row (const MharDepthSite *s, size_t row)
{
  for (size_t k = 0; k < s->n; k++)
    if ((size_t) s->sources[k] == row)
      return true;
  return false;
}

/* The queries of a shape's sites that read the row, as one matrix a piece: [pieces][readers·columns][D/pieces]. */
typedef struct {
  MharRoute *r;
  size_t row, shape;
  size_t n_queries; /* readers·columns */
  const double *queries;
  size_t tokens_at, products_at; /* doubles into a thread's scratch */
} Scoring;

static size_t
count_queries (const MharRoute *r, size_t row, size_t shape)
{
  size_t n = 0;
  for (size_t i = 0; i < r->n_sites; i++)
    if (r->sites[i].shape == shape && reads_row (&r->sites[i], row))
      n += r->shapes[shape].columns;
  return n;
}

static void
pack_queries (const MharRoute *r, size_t row, size_t shape, size_t n_queries, double *to)
{
  size_t pieces = r->shapes[shape].pieces, columns = r->shapes[shape].columns, width = r->D / pieces, at = 0;
  for (size_t i = 0; i < r->n_sites; i++) {
    const MharDepthSite *s = &r->sites[i];
    if (s->shape != shape || !reads_row (s, row))
      continue;
    for (size_t p = 0; p < pieces; p++)
      for (size_t k = 0; k < columns; k++)
        memcpy (to + (p * n_queries + at + k) * width, s->query + k * r->D + p * width, width * sizeof *to);
    at += columns;
  }
}

/* One piece's products [n_queries][count] to the logits they are, wherever the row stands in a site's list. */
static void
spread (const Scoring *s, size_t piece, size_t first, size_t count, const double *products)
{
  MharRoute *r = s->r;
  const double *inverse = r->inverse + s->row * r->stride + first;
  size_t columns = r->shapes[s->shape].columns;
  for (size_t i = 0; i < r->n_sites; i++) {
    const MharDepthSite *site = &r->sites[i];
    if (site->shape != s->shape || !reads_row (site, s->row))
      continue;
    for (size_t k = 0; k < columns; k++, products += count)
      for (size_t n = 0; n < site->n; n++) {
        if ((size_t) site->sources[n] != s->row)
          continue;
        double *to = mhar_route_logits (r, site, piece + k, n) + first;
        double bias = n == site->n - 1 ? site->bias : 0.0;
        for (size_t j = 0; j < count; j++)
          to[j] = products[j] * inverse[j] + bias;
      }
  }
}

static void
score_block (const Scoring *s, size_t first, size_t count, double *scratch)
{
  const MharRoute *r = s->r;
  size_t pieces = r->shapes[s->shape].pieces, width = r->D / pieces;
  double *tokens = scratch + s->tokens_at, *products = scratch + s->products_at;
  to_doubles (mhar_route_token (r, s->row, first), count * r->D, tokens);
  for (size_t p = 0; p < pieces; p++) {
    cblas_dgemm (CblasRowMajor, CblasNoTrans, CblasTrans, (int) s->n_queries, (int) count, (int) width, 1.0,
                 s->queries + p * s->n_queries * width, (int) width, tokens + p * width, (int) r->D, 0.0, products,
                 (int) count);
    spread (s, p, first, count, products);
  }
}

static int
score_shape (MharContext *c, MharRoute *r, size_t row, size_t shape)
{
  size_t n = count_queries (r, row, shape), pieces = r->shapes[shape].pieces, threads = (size_t) mhar_cpu_threads ();
  if (n == 0)
    return MHAR_OK;
  size_t packed, products, per_thread, all, bytes;
  if (n > INT_MAX || r->D > INT_MAX || !mhar_cpu_product (n, pieces, r->D / pieces, &packed)
      || !mhar_cpu_product (n, SCORE_BLOCK, 1, &products)
      || __builtin_add_overflow (products, SCORE_BLOCK * r->D, &per_thread)
      || !mhar_cpu_product (per_thread, threads, 1, &all) || __builtin_add_overflow (all, packed, &all)
      || !mhar_cpu_product (all, 1, sizeof (double), &bytes))
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory to score row %zu", row);
  void *scratch;
  int status = mhar_cpu_scratch (c, bytes, &scratch);
  if (status != MHAR_OK)
    return status;
  double *queries = (double *) scratch + per_thread * threads;
  pack_queries (r, row, shape, n, queries);
  Scoring s = { r, row, shape, n, queries, 0, SCORE_BLOCK * r->D };
  size_t T = r->W * r->t;
#pragma omp parallel for schedule(static)
  for (size_t first = 0; first < T; first += SCORE_BLOCK)
    score_block (&s, first, T - first < SCORE_BLOCK ? T - first : SCORE_BLOCK,
                 (double *) scratch + (size_t) omp_get_thread_num () * per_thread);
  return MHAR_OK;
}

int
mhar_route_look_ahead (MharContext *c, MharRoute *r, size_t row)
{
  for (size_t shape = 0; shape < r->n_shapes; shape++) {
    int status = score_shape (c, r, row, shape);
    if (status != MHAR_OK)
      return status;
  }
  return MHAR_OK;
}

void
mhar_route_score_plain (MharRoute *r, const MharDepthSite *site)
{
  const MharDepthShape *shape = &r->shapes[site->shape];
  size_t width = r->D / shape->pieces;
#pragma omp parallel for schedule(static)
  for (size_t token = 0; token < r->W * r->t; token++)
    for (size_t n = 0; n < site->n; n++) {
      const float *x = mhar_route_token (r, (size_t) site->sources[n], token);
      double inverse = 1.0 / sqrt (square_sum (x, r->D) / (double) r->D + r->eps);
      for (size_t h = 0; h < site->heads; h++) {
        size_t piece = shape->pieces > 1 ? h : 0, column = h - piece;
        double logit = mhar_route_dot (site->query + column * r->D + piece * width, x + piece * width, width) * inverse;
        mhar_route_logits (r, site, h, n)[token] = logit + (n == site->n - 1 ? site->bias : 0.0);
      }
    }
}
