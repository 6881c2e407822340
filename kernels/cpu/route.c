/* SPDX-License-Identifier: MIT */
/* The depth history: its memory, its rows, and the read of a site (arXiv 2607.27230, Eq. 3). Scores were taken when
 * the rows were stored (route-score.c); a read is a softmax over sources and one weighted sum of rows. */
#include "kernels/cpu/route-private.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

int
mhar_route_check_site (MharContext *c, size_t width, int32_t n_rows, const MharRouteSite *s, int32_t i)
{
  if (s->n_sources < 1 || s->heads < 1)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "site %d has %d sources and %d heads", i, s->n_sources, s->heads);
  if (!s->whole && width % (size_t) s->heads != 0)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "a width of %zu is not divisible by the %d heads of site %d", width,
                          s->heads, i);
  for (int32_t k = 0; k < s->n_sources; k++)
    if (s->sources[k] < 0 || s->sources[k] >= n_rows)
      return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "site %d reads row %d of %d", i, s->sources[k], n_rows);
  return MHAR_OK;
}

static int
check_table (MharContext *c, const MharRouteTable *table)
{
  if (table->width == 0 || table->max_tokens == 0 || table->n_rows < 0 || table->n_sites < 0)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "a history of %d rows, %d sites, %zu tokens and width %zu",
                          table->n_rows, table->n_sites, table->max_tokens, table->width);
  for (int32_t i = 0; i < table->n_sites; i++) {
    int status = mhar_route_check_site (c, table->width, table->n_rows, &table->sites[i], i);
    if (status != MHAR_OK)
      return status;
  }
  return MHAR_OK;
}

/* The index of a site's shape, made if it is new. */
static size_t
find_shape (MharRoute *r, const MharRouteSite *site)
{
  MharDepthShape want = { 1, 1, 0 };
  if (site->whole)
    want.columns = (size_t) site->heads;
  else
    want.pieces = (size_t) site->heads;
  size_t i = 0;
  while (i < r->n_shapes && (r->shapes[i].pieces != want.pieces || r->shapes[i].columns != want.columns))
    i++;
  if (i == r->n_shapes) {
    if (i > 0)
      want.norm_base = r->shapes[i - 1].norm_base + r->shapes[i - 1].pieces * r->n_rows;
    r->shapes[r->n_shapes++] = want;
  }
  return i;
}

static bool
copy_site (MharRoute *r, MharDepthSite *s, const MharRouteSite *site)
{
  size_t bytes;
  s->n = (size_t) site->n_sources;
  s->heads = (size_t) site->heads;
  s->bias = site->bias;
  s->shape = find_shape (r, site);
  s->base = r->n_weights;
  s->head_base = r->n_heads;
  r->n_heads += s->heads;
  size_t weights;
  if (!mhar_cpu_product (s->heads, s->n, 1, &weights) || __builtin_add_overflow (r->n_weights, weights, &r->n_weights)
      || !mhar_cpu_product (site->whole ? s->heads : 1, r->D, sizeof (double), &bytes))
    return false;
  s->sources = malloc (s->n * sizeof *s->sources);
  s->query = malloc (bytes);
  if (s->sources == NULL || s->query == NULL)
    return false;
  memcpy (s->sources, site->sources, s->n * sizeof *s->sources);
  memcpy (s->query, site->query, bytes);
  return true;
}

/* Zeroed: lanes past the last token are computed on, and must hold numbers. */
static double *
lanes_new (const MharRoute *r, size_t n)
{
  size_t count;
  if (!mhar_cpu_product (n, r->stride, 1, &count) || count > SIZE_MAX / sizeof (double) - MHAR_LANES)
    return NULL;
  return calloc (count + MHAR_LANES, sizeof (double));
}

static bool
fill_route (MharRoute *r, const MharRouteTable *table)
{
  r->max_tokens = table->max_tokens;
  r->D = table->width;
  r->eps = table->eps;
  r->n_rows = (size_t) table->n_rows;
  r->plain = table->plain != 0;
  r->sites = calloc ((size_t) table->n_sites + 1, sizeof *r->sites);
  r->shapes = calloc ((size_t) table->n_sites + 1, sizeof *r->shapes);
  if (r->sites == NULL || r->shapes == NULL)
    return false;
  for (; r->n_sites < (size_t) table->n_sites; r->n_sites++)
    if (!copy_site (r, &r->sites[r->n_sites], &table->sites[r->n_sites]))
      return false;
  /* The odd line at the end of a row keeps tokens of different rows out of the same cache sets. */
  if (r->max_tokens > SIZE_MAX / 64 || !mhar_cpu_product (r->max_tokens, r->D, 1, &r->row_stride)
      || r->row_stride > SIZE_MAX - 16)
    return false;
  r->stride = (r->max_tokens + 7) / 8 * 8 + 8;
  r->row_stride += 16;
  if (!mhar_cpu_product (r->row_stride, r->n_rows, sizeof (float), &r->rows.bytes))
    return false;
  const MharDepthShape *last = r->n_shapes > 0 ? &r->shapes[r->n_shapes - 1] : NULL;
  r->rows.data = mhar_cpu_alloc (r->rows.bytes);
  r->logits = lanes_new (r, r->n_weights);
  r->inverse = lanes_new (r, r->n_rows);
  r->norms = lanes_new (r, last == NULL ? 0 : last->norm_base + last->pieces * r->n_rows);
  return r->rows.data != NULL && r->logits != NULL && r->inverse != NULL && r->norms != NULL;
}

int
mhar_cpu_route_new (MharContext *c, const MharRouteTable *table, MharRoute **out)
{
  *out = NULL;
  int status = check_table (c, table);
  if (status != MHAR_OK)
    return status;
  MharRoute *r = calloc (1, sizeof *r);
  if (r == NULL || !fill_route (r, table)) {
    mhar_cpu_route_free (c, r);
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory for a history of %d rows and %d sites over %zu tokens",
                          table->n_rows, table->n_sites, table->max_tokens);
  }
  *out = r;
  return MHAR_OK;
}

void
mhar_cpu_route_free (MharContext *c, MharRoute *r)
{
  (void) c;
  if (r == NULL)
    return;
  for (size_t i = 0; r->sites != NULL && i <= r->n_sites; i++) { /* one more: the site that failed half-way */
    free (r->sites[i].sources);
    free (r->sites[i].query);
  }
  free (r->sites);
  free (r->shapes);
  free (r->rows.data);
  free (r->logits);
  free (r->inverse);
  free (r->norms);
  free (r);
}

int
mhar_cpu_route_begin (MharContext *c, MharRoute *r, size_t W, size_t t)
{
  size_t T;
  if (!mhar_cpu_product (W, t, 1, &T) || T > r->max_tokens)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "%zu windows of %zu tokens in a history made for %zu", W, t,
                          r->max_tokens);
  r->W = W;
  r->t = t;
  return MHAR_OK;
}

MharRows
mhar_cpu_route_row (MharRoute *r, int32_t row)
{
  return (MharRows){ &r->rows, (size_t) row * r->row_stride };
}

int
mhar_cpu_route_stored (MharContext *c, MharRoute *r, int32_t row)
{
  if (row < 0 || (size_t) row >= r->n_rows)
    return mhar_cpu_fail (c, MHAR_FAILED, "row %d of a history of %zu", row, r->n_rows);
  mhar_route_measure (r, (size_t) row);
  return r->plain ? MHAR_OK : mhar_route_look_ahead (c, r, (size_t) row);
}

int
mhar_route_check_span (MharContext *c, const MharRoute *r, MharSpan span)
{
  if (span.windows < 0 || span.length < 0 || (size_t) span.windows != r->W || (size_t) span.length != r->t)
    return mhar_cpu_fail (c, MHAR_FAILED, "a span of %d windows of %d tokens over a batch of %zu of %zu", span.windows,
                          span.length, r->W, r->t);
  return MHAR_OK;
}

/* sum [D] = Σ_n w[h, n] rows[n][j] for j of piece h; four rows at a time, so that the sums are loaded and stored a
 * quarter as often. */
static MHAR_CLONES void
mix_rows (const float *const *rows, const double *w, size_t n, size_t pieces, size_t D, double *sum)
{
  size_t width = D / pieces;
  memset (sum, 0, D * sizeof *sum);
  for (size_t k = 0; k < n; k += 4) {
    /* A row that is not there is the first again, with weight 0. */
    size_t k1 = k + 1 < n ? k + 1 : k, k2 = k + 2 < n ? k + 2 : k, k3 = k + 3 < n ? k + 3 : k;
    for (size_t h = 0; h < pieces; h++) {
      const float *x0 = rows[k] + h * width, *x1 = rows[k1] + h * width;
      const float *x2 = rows[k2] + h * width, *x3 = rows[k3] + h * width;
      const double *v = w + h * n;
      double w0 = v[k], w1 = k1 > k ? v[k1] : 0.0, w2 = k2 > k ? v[k2] : 0.0, w3 = k3 > k ? v[k3] : 0.0;
      double *to = sum + h * width;
#pragma omp simd
      for (size_t j = 0; j < width; j++)
        to[j] += (w0 * (double) x0[j] + w1 * (double) x1[j]) + (w2 * (double) x2[j] + w3 * (double) x3[j]);
    }
  }
}

/* The mix and its norm from the sums of one token and column; either may be NULL. */
static MHAR_CLONES void
write_mix (const double *sum, size_t D, float *mix, float *normed, const float *gain, double eps)
{
  if (mix != NULL) {
#pragma omp simd
    for (size_t j = 0; j < D; j++)
      mix[j] = (float) sum[j];
  }
  if (normed == NULL)
    return;
  double square = 0.0;
#pragma omp simd reduction(+ : square)
  for (size_t j = 0; j < D; j++)
    square += sum[j] * sum[j];
  double inverse = 1.0 / sqrt (square / (double) D + eps);
#pragma omp simd
  for (size_t j = 0; j < D; j++)
    normed[j] = (float) (sum[j] * inverse * (double) gain[j]);
}

int
mhar_route_take_out (MharContext *c, const MharReadOut *out, MharDepthRead *read)
{
  read->eps = out->eps;
  read->mix = out->mix.buffer == NULL ? NULL : mhar_cpu_at (out->mix);
  read->normed = out->normed.buffer == NULL ? NULL : mhar_cpu_at (out->normed);
  return mhar_cpu_gain (c, 0, read->normed == NULL ? NULL : out->gain, 0, read->r->D, &read->gain);
}

/* Weights of one token [heads][n], sums [D]; then n pointers. */
size_t
mhar_route_mix_doubles (const MharDepthRead *read)
{
  return read->heads * read->n + read->r->D + read->n;
}

void
mhar_route_mix_block (const MharDepthRead *read, size_t first, size_t count, const double *w, double *scratch)
{
  const MharRoute *r = read->r;
  double *one = scratch, *sum = one + read->heads * read->n;
  const float **rows = (const float **) (void *) (sum + r->D);
  for (size_t i = 0; i < count; i++) {
    size_t token = first + i;
    for (size_t k = 0; k < read->heads * read->n; k++)
      one[k] = w[k * MHAR_LANES + i];
    for (size_t k = 0; k < read->n; k++)
      rows[k] = mhar_route_token (r, (size_t) read->sources[k], token);
    for (size_t column = 0; column < read->shape.columns; column++) {
      size_t at = (token * read->shape.columns + column) * r->D;
      mix_rows (rows, one + column * read->n, read->n, read->shape.pieces, r->D, sum);
      write_mix (sum, r->D, read->mix == NULL ? NULL : read->mix + at, read->normed == NULL ? NULL : read->normed + at,
                 read->gain, read->eps);
    }
  }
}

/* Tokens [first, first + count), count ≤ MHAR_LANES. */
static void
read_block (const MharDepthRead *read, const MharDepthSite *s, size_t first, size_t count, double *scratch)
{
  for (size_t h = 0; h < s->heads; h++)
    mhar_lanes_softmax (mhar_route_logits (read->r, s, h, 0) + first, read->r->stride, s->n,
                        scratch + h * s->n * MHAR_LANES, NULL);
  mhar_route_mix_block (read, first, count, scratch, scratch + s->heads * s->n * MHAR_LANES);
}

int
mhar_cpu_route_read (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out)
{
  if (site < 0 || (size_t) site >= r->n_sites)
    return mhar_cpu_fail (c, MHAR_FAILED, "site %d of %zu", site, r->n_sites);
  const MharDepthSite *s = &r->sites[site];
  MharDepthRead read
      = { .r = r, .n = s->n, .heads = s->heads, .sources = s->sources, .shape = r->shapes[s->shape] };
  int status = mhar_route_take_out (c, out, &read);
  size_t per_thread = (s->heads * s->n * MHAR_LANES + mhar_route_mix_doubles (&read) + 7) / 8 * 8, bytes = 0;
  if (status == MHAR_OK && !mhar_cpu_product (per_thread, (size_t) mhar_cpu_threads (), sizeof (double), &bytes))
    status = mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory to read site %d", site);
  void *scratch = NULL;
  if (status == MHAR_OK)
    status = mhar_cpu_scratch (c, bytes, &scratch);
  if (status != MHAR_OK)
    return status;
  if (r->plain)
    mhar_route_score_plain (r, s);
  size_t T = r->W * r->t;
#pragma omp parallel for schedule(static)
  for (size_t first = 0; first < T; first += MHAR_LANES)
    read_block (&read, s, first, T - first < MHAR_LANES ? T - first : MHAR_LANES,
                (double *) scratch + (size_t) omp_get_thread_num () * per_thread);
  return MHAR_OK;
}
