/* SPDX-License-Identifier: MIT */
/* Sums over tokens of what the reads left: weights, contributions, entropies and the disagreement between heads. One
 * task is a site in a window; it adds its tokens in order, so the sums do not depend on the threads. */
#include "kernels/cpu/route-private.h"

#include <omp.h>
#include <string.h>

/* A block's weights and logarithms [heads][n][MHAR_LANES], of the tokens from `first` on. */
static void
block_weights (const MharRoute *r, const MharDepthSite *s, size_t first, double *w, double *log_w)
{
  for (size_t h = 0; h < s->heads; h++)
    mhar_lanes_softmax (mhar_route_logits (r, s, h, 0) + first, r->stride, s->n, w + h * s->n * MHAR_LANES,
                        log_w + h * s->n * MHAR_LANES);
}

static void
add_block (const MharRoute *r, const MharDepthSite *s, size_t w_index, size_t first, size_t count, const double *w,
           const double *log_w, const MharRouteSums *sums)
{
  const MharDepthShape *shape = &r->shapes[s->shape];
  for (size_t h = 0; h < s->heads; h++) {
    double entropy = 0.0;
    for (size_t n = 0; n < s->n; n++) {
      size_t at = h * s->n + n, packed = w_index * r->n_weights + s->base + at;
      const double *one = w + at * MHAR_LANES;
      const double *norm = mhar_route_norms (r, shape, (size_t) s->sources[n], shape->pieces > 1 ? h : 0);
      if (sums->weight != NULL)
        sums->weight[packed] += mhar_lanes_sum (one, count);
      if (sums->square != NULL)
        sums->square[packed] += mhar_lanes_dot (one, one, count);
      if (sums->contribution != NULL)
        sums->contribution[packed] += mhar_lanes_dot (one, norm + first, count);
      entropy -= mhar_lanes_dot (one, log_w + at * MHAR_LANES, count);
    }
    if (sums->entropy != NULL)
      sums->entropy[w_index * r->n_heads + s->head_base + h] += entropy;
  }
}

static void
sum_site (const MharRoute *r, size_t site, size_t w_index, MharSpan span, double *scratch, const MharRouteSums *sums)
{
  const MharDepthSite *s = &r->sites[site];
  size_t counted = mhar_cpu_counted (span, w_index), start = w_index * r->t + (size_t) (span.skip > 0 ? span.skip : 0);
  double *w = scratch, *log_w = scratch + s->heads * s->n * MHAR_LANES, js[MHAR_LANES], js_sum = 0.0;
  for (size_t done = 0; done < counted; done += MHAR_LANES) {
    size_t count = counted - done < MHAR_LANES ? counted - done : MHAR_LANES;
    block_weights (r, s, start + done, w, log_w);
    add_block (r, s, w_index, start + done, count, w, log_w, sums);
    if (sums->head_js != NULL && s->heads > 1) {
      mhar_lanes_js (w, log_w, s->heads, s->n, js);
      js_sum += mhar_lanes_sum (js, count);
    }
  }
  if (sums->head_js != NULL)
    sums->head_js[w_index * r->n_sites + site] = js_sum;
}

static void
clear (double *sums, size_t count)
{
  if (sums != NULL && count > 0)
    memset (sums, 0, count * sizeof *sums);
}

/* Scratch for the weights and logarithms of any site, a thread each. */
static int
weights_scratch (MharContext *c, const MharRoute *r, size_t threads, size_t *per_thread, void **scratch)
{
  size_t most = 0, bytes;
  for (size_t i = 0; i < r->n_sites; i++)
    if (r->sites[i].heads * r->sites[i].n > most)
      most = r->sites[i].heads * r->sites[i].n;
  *per_thread = 2 * MHAR_LANES * most;
  if (!mhar_cpu_product (*per_thread, threads, sizeof (double), &bytes))
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory for the weights of %zu heads and sources", most);
  return mhar_cpu_scratch (c, bytes, scratch);
}

int
mhar_cpu_route_sums (MharContext *c, MharRoute *r, MharSpan span, const MharRouteSums *sums)
{
  size_t per_thread;
  void *scratch;
  int status = mhar_route_check_span (c, r, span);
  if (status == MHAR_OK)
    status = weights_scratch (c, r, (size_t) mhar_cpu_threads (), &per_thread, &scratch);
  if (status != MHAR_OK)
    return status;
  clear (sums->weight, r->W * r->n_weights);
  clear (sums->contribution, r->W * r->n_weights);
  clear (sums->square, r->W * r->n_weights);
  clear (sums->entropy, r->W * r->n_heads);
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < r->W * r->n_sites; i++)
    sum_site (r, r->n_sites - 1 - i / r->W, i % r->W, span,
              (double *) scratch + (size_t) omp_get_thread_num () * per_thread, sums);
  return MHAR_OK;
}

int
mhar_cpu_route_weights (MharContext *c, MharRoute *r, int32_t site, size_t first, size_t count, float *to)
{
  size_t T = r->W * r->t, per_thread;
  if (site < 0 || (size_t) site >= r->n_sites || first > T || count > T - first)
    return mhar_cpu_fail (c, MHAR_FAILED, "tokens %zu to %zu of site %d in a batch of %zu", first, first + count, site,
                          T);
  void *scratch;
  int status = weights_scratch (c, r, 1, &per_thread, &scratch);
  if (status != MHAR_OK)
    return status;
  const MharDepthSite *s = &r->sites[site];
  size_t columns = s->heads * s->n;
  double *w = scratch, *log_w = w + columns * MHAR_LANES;
  for (size_t done = 0; done < count; done += MHAR_LANES) {
    block_weights (r, s, first + done, w, log_w);
    for (size_t i = 0; i < MHAR_LANES && done + i < count; i++)
      for (size_t k = 0; k < columns; k++)
        to[(done + i) * columns + k] = (float) w[k * MHAR_LANES + i];
  }
  return MHAR_OK;
}
