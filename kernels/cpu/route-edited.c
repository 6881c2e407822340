/* SPDX-License-Identifier: MIT */
/* A read made otherwise than the table says: any sources, query and heads, and a rule for the weights between softmax
 * and mix. Scored here and mixed as every read is; the logits of the history stay those of the table's sites. */
#include "kernels/cpu/route-private.h"

#include <omp.h>

typedef struct {
  MharDepthRead read;
  const MharRouteEdit *edit;
} Edited;

/* Logits [heads][n][MHAR_LANES] of tokens [first, first + count); the lanes beyond repeat the last token. */
static void
score_block (const Edited *e, size_t first, size_t count, double *logits)
{
  const MharRoute *r = e->read.r;
  const MharRouteSite *s = &e->edit->site;
  size_t width = r->D / e->read.shape.pieces, n = e->read.n;
  for (size_t i = 0; i < MHAR_LANES; i++)
    for (size_t k = 0; k < n; k++) {
      size_t token = first + (i < count ? i : count - 1), row = (size_t) s->sources[k];
      const float *x = mhar_route_token (r, row, token);
      for (size_t h = 0; h < e->read.heads; h++) {
        size_t piece = s->whole ? 0 : h, column = h - piece;
        double logit = mhar_route_dot (s->query + column * r->D + piece * width, x + piece * width, width);
        logits[(h * n + k) * MHAR_LANES + i] = logit * r->inverse[row * r->stride + token] + (k == n - 1 ? s->bias : 0.0);
      }
    }
}

static void
take_mean (size_t heads, size_t n, double *w)
{
  for (size_t k = 0; k < n * MHAR_LANES; k++) {
    double sum = 0.0;
    for (size_t h = 0; h < heads; h++)
      sum += w[h * n * MHAR_LANES + k];
    for (size_t h = 0; h < heads; h++)
      w[h * n * MHAR_LANES + k] = sum / (double) heads;
  }
}

static void
take_from (const int32_t *from, size_t heads, size_t n, const double *w, double *to)
{
  for (size_t h = 0; h < heads; h++)
    for (size_t k = 0; k < n * MHAR_LANES; k++)
      to[h * n * MHAR_LANES + k] = w[(size_t) from[h] * n * MHAR_LANES + k];
}

/* A weight stays where fewer than `keep` go before it: the larger ones, and the equal ones of earlier sources. */
static void
take_top (size_t keep, size_t heads, size_t n, const double *w, double *to)
{
  for (size_t h = 0; h < heads; h++)
    for (size_t i = 0; i < MHAR_LANES; i++) {
      const double *from = w + h * n * MHAR_LANES + i;
      double *out = to + h * n * MHAR_LANES + i, sum = 0.0;
      for (size_t k = 0; k < n; k++) {
        size_t before = 0;
        for (size_t j = 0; j < n; j++)
          before += from[j * MHAR_LANES] > from[k * MHAR_LANES] || (j < k && from[j * MHAR_LANES] == from[k * MHAR_LANES]);
        out[k * MHAR_LANES] = before < keep ? from[k * MHAR_LANES] : 0.0;
        sum += out[k * MHAR_LANES];
      }
      for (size_t k = 0; k < n; k++)
        out[k * MHAR_LANES] /= sum;
    }
}

/* Scratch: logits and weights [2][heads][n][MHAR_LANES], then what mixing needs. */
static void
read_block (const Edited *e, size_t first, size_t count, double *scratch)
{
  size_t heads = e->read.heads, n = e->read.n, all = heads * n * MHAR_LANES;
  double *logits = scratch, *w = scratch + all;
  score_block (e, first, count, logits);
  for (size_t h = 0; h < heads; h++)
    mhar_lanes_softmax (logits + h * n * MHAR_LANES, MHAR_LANES, n, w + h * n * MHAR_LANES, NULL);
  const double *taken = w;
  if (e->edit->rule == MHAR_WEIGHTS_MEAN)
    take_mean (heads, n, w);
  else if (e->edit->rule == MHAR_WEIGHTS_FROM)
    take_from (e->edit->from, heads, n, w, logits);
  else if (e->edit->rule == MHAR_WEIGHTS_TOP)
    take_top ((size_t) e->edit->keep, heads, n, w, logits);
  if (e->edit->rule == MHAR_WEIGHTS_FROM || e->edit->rule == MHAR_WEIGHTS_TOP)
    taken = logits;
  mhar_route_mix_block (&e->read, first, count, taken, scratch + 2 * all);
}

static int
check_edit (MharContext *c, const MharRoute *r, const MharRouteEdit *edit)
{
  int status = mhar_route_check_site (c, r->D, (int32_t) r->n_rows, &edit->site, -1);
  if (status != MHAR_OK)
    return status;
  if (edit->rule == MHAR_WEIGHTS_TOP && edit->keep < 1)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "a read that keeps %d weights", edit->keep);
  for (int32_t h = 0; edit->rule == MHAR_WEIGHTS_FROM && h < edit->site.heads; h++)
    if (edit->from[h] < 0 || edit->from[h] >= edit->site.heads)
      return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "head %d reads with the weights of head %d of %d", h, edit->from[h],
                            edit->site.heads);
  return MHAR_OK;
}

int
mhar_cpu_route_read_edited (MharContext *c, MharRoute *r, const MharRouteEdit *edit, const MharReadOut *out)
{
  int status = check_edit (c, r, edit);
  if (status != MHAR_OK)
    return status;
  const MharRouteSite *s = &edit->site;
  size_t heads = (size_t) s->heads, n = (size_t) s->n_sources, bytes = 0, weights = 0;
  Edited e = { .edit = edit };
  e.read = (MharDepthRead){ .r = r, .n = n, .heads = heads, .sources = s->sources };
  e.read.shape = (MharDepthShape){ .pieces = s->whole ? 1 : heads, .columns = s->whole ? heads : 1 };
  status = mhar_route_take_out (c, out, &e.read);
  if (status == MHAR_OK && !mhar_cpu_product (heads, n, 2 * MHAR_LANES, &weights))
    status = mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory to read %zu sources with %zu heads", n, heads);
  if (status != MHAR_OK)
    return status;
  size_t per_thread = (weights + mhar_route_mix_doubles (&e.read) + 7) / 8 * 8;
  void *scratch = NULL;
  if (!mhar_cpu_product (per_thread, (size_t) mhar_cpu_threads (), sizeof (double), &bytes))
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory to read %zu sources with %zu heads", n, heads);
  status = mhar_cpu_scratch (c, bytes, &scratch);
  if (status != MHAR_OK)
    return status;
  size_t T = r->W * r->t;
#pragma omp parallel for schedule(static)
  for (size_t first = 0; first < T; first += MHAR_LANES)
    read_block (&e, first, T - first < MHAR_LANES ? T - first : MHAR_LANES,
                (double *) scratch + (size_t) omp_get_thread_num () * per_thread);
  return MHAR_OK;
}
