/* SPDX-License-Identifier: MIT */
/* The reductions over sources, MHAR_LANES tokens at a time. A token's result does not depend on its lane. */
#include "kernels/cpu/route-private.h"
#include "kernels/cpu/vexp.h"

MHAR_CLONES void
mhar_lanes_softmax (const double *logits, size_t stride, size_t n, double *w, double *log_w)
{
  double top[MHAR_LANES], sum[MHAR_LANES], factor[MHAR_LANES];
  for (size_t i = 0; i < MHAR_LANES; i++) {
    top[i] = -INFINITY;
    sum[i] = 0.0;
  }
  for (size_t k = 0; k < n; k++) {
    const double *l = logits + k * stride;
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      top[i] = l[i] > top[i] ? l[i] : top[i];
  }
  for (size_t k = 0; k < n; k++) {
    const double *l = logits + k * stride;
    double *out = w + k * MHAR_LANES;
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++) {
      out[i] = mhar_exp (l[i] - top[i]);
      sum[i] += out[i];
    }
  }
#pragma omp simd
  for (size_t i = 0; i < MHAR_LANES; i++)
    factor[i] = 1.0 / sum[i];
  for (size_t k = 0; k < n; k++) {
    double *out = w + k * MHAR_LANES;
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      out[i] *= factor[i];
  }
  if (log_w == NULL)
    return;
#pragma omp simd
  for (size_t i = 0; i < MHAR_LANES; i++)
    factor[i] = mhar_log (sum[i]);
  for (size_t k = 0; k < n; k++) {
    const double *l = logits + k * stride;
    double *out = log_w + k * MHAR_LANES;
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      out[i] = (l[i] - top[i]) - factor[i];
  }
}

MHAR_CLONES void
mhar_lanes_js (const double *w, const double *log_w, size_t heads, size_t n, double *js)
{
  double share = 1.0 / (double) heads, mean[MHAR_LANES];
  for (size_t i = 0; i < MHAR_LANES; i++)
    js[i] = 0.0;
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < MHAR_LANES; i++)
      mean[i] = 0.0;
    for (size_t h = 0; h < heads; h++) {
      const double *one = w + (h * n + k) * MHAR_LANES;
#pragma omp simd
      for (size_t i = 0; i < MHAR_LANES; i++)
        mean[i] += one[i];
    }
    /* Where every weight is 0 the terms are 0 whatever the logarithm is, as long as it is finite. */
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      mean[i] = mean[i] * share < 1e-300 ? 1e-300 : mean[i] * share;
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      mean[i] = mhar_log (mean[i]);
    for (size_t h = 0; h < heads; h++) {
      const double *one = w + (h * n + k) * MHAR_LANES, *log_one = log_w + (h * n + k) * MHAR_LANES;
#pragma omp simd
      for (size_t i = 0; i < MHAR_LANES; i++)
        js[i] += share * one[i] * (log_one[i] - mean[i]);
    }
  }
}

double
mhar_lanes_sum (const double *v, size_t count)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; i++)
    sum += v[i];
  return sum;
}

double
mhar_lanes_dot (const double *a, const double *b, size_t count)
{
  double sum = 0.0;
  for (size_t i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}
