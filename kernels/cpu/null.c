/* SPDX-License-Identifier: MIT */
/* Queries scored against a finished history, reduced on the spot: a task takes some queries at one site, window after
 * window, and for a block of tokens at a time forms their logits (one product a source and slice), the softmaxes and the sums.
 * No array over draws, sources and all tokens ever exists, and a task adds its tokens in order, so the sums do not
 * depend on the threads. */
#include "kernels/cpu/route-private.h"
#include "kernels/cpu/vexp.h"

#include <cblas.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Logits of a task: as many queries as keep them under the first, as many tokens as keep one query's under the
 * second. */
#define LOGIT_AIM ((size_t) 1 << 20)  /* 8 MiB */
#define LOGIT_MOST ((size_t) 1 << 22) /* 32 MiB */
#define QUERIES_MOST ((size_t) 40)
#define TOKENS_MOST ((size_t) 64)

/* A query is cut into `parts` (slices, or heads) of `width` coordinates; at a whole site every part reads the whole
 * key. */
typedef struct {
  const MharDepthSite *site;
  size_t Q, parts, width, n; /* n: sources taken */
  bool sliced, whole, interleaved;
  int32_t *rows;   /* [n] of the history */
  double *queries; /* [parts][Q][width] */
  double bias;     /* of the last source taken; 0 if that is not the site's last */
  size_t chunk;    /* queries a task */
  size_t tokens;   /* tokens a block */
  size_t n_chunks;
} NullSite;

struct MharNull {
  const MharRoute *route;
  NullSite *sites;
  size_t n_sites;
  size_t doubles; /* of scratch a thread */
};

static int
check_take (MharContext *c, const MharNullSite *in, size_t n)
{
  for (int32_t i = 0; i < in->n_take; i++)
    if (in->take[i] < (i > 0 ? in->take[i - 1] + 1 : 0) || (size_t) in->take[i] >= n)
      return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "the sources taken at site %d are not ascending positions below %zu",
                            in->site, n);
  return MHAR_OK;
}

static int
check_null_site (MharContext *c, const MharRoute *r, const MharNullSite *in)
{
  if (in->site < 0 || (size_t) in->site >= r->n_sites)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "queries for site %d of %zu", in->site, r->n_sites);
  const MharDepthSite *s = &r->sites[in->site];
  if (in->n_queries < 0 || in->slices < 0 || in->n_take < 0 || r->D > INT_MAX)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "%d queries, %d slices and %d sources at site %d", in->n_queries,
                          in->slices, in->n_take, in->site);
  if (in->slices > 0 && s->heads != 1)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "slices at site %d, which has %zu heads", in->site, s->heads);
  if (in->slices > 0 && r->D % (size_t) in->slices != 0)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "%d slices do not divide a width of %zu", in->slices, r->D);
  return check_take (c, in, s->n);
}

/* Place of coordinate i among the parts: slices that interleave are gathered, so that a slice is contiguous. */
static inline size_t
place (const NullSite *s, size_t i)
{
  return s->interleaved ? i % s->parts * s->width + i / s->parts : i;
}

static void
pack_queries (NullSite *s, const double *from, size_t D)
{
  for (size_t q = 0; q < s->Q; q++) {
    if (s->whole) {
      for (size_t p = 0; p < s->parts; p++)
        memcpy (s->queries + (p * s->Q + q) * D, from + (q * s->parts + p) * D, D * sizeof *from);
    } else {
      for (size_t i = 0; i < D; i++) {
        size_t at = place (s, i);
        s->queries[(at / s->width * s->Q + q) * s->width + at % s->width] = from[q * D + i];
      }
    }
  }
}

/* Queries and tokens a task, from the shape alone. */
static void
choose_blocks (NullSite *s)
{
  size_t each = s->parts * s->n; /* logits of a query and token */
  s->tokens = TOKENS_MOST;
  while (s->tokens > 8 && each * s->tokens > LOGIT_MOST)
    s->tokens /= 2;
  size_t fit = LOGIT_AIM / (each * s->tokens);
  size_t most = fit < 1 ? 1 : fit < QUERIES_MOST ? fit : QUERIES_MOST;
  s->n_chunks = (s->Q + most - 1) / most;
  s->chunk = s->n_chunks > 0 ? (s->Q + s->n_chunks - 1) / s->n_chunks : 1;
}

static bool
fill_null_site (const MharRoute *r, NullSite *s, const MharNullSite *in)
{
  s->site = &r->sites[in->site];
  s->Q = (size_t) in->n_queries;
  s->sliced = in->slices > 0;
  s->interleaved = s->sliced && in->interleaved != 0;
  s->parts = s->sliced ? (size_t) in->slices : s->site->heads;
  s->whole = !s->sliced && r->shapes[s->site->shape].columns > 1;
  s->width = s->whole ? r->D : r->D / s->parts;
  s->n = in->n_take > 0 ? (size_t) in->n_take : s->site->n;
  size_t last = in->n_take > 0 ? (size_t) in->take[in->n_take - 1] : s->site->n - 1, bytes;
  s->bias = last == s->site->n - 1 ? s->site->bias : 0.0;
  s->rows = malloc (s->n * sizeof *s->rows);
  if (s->rows == NULL || !mhar_cpu_product (s->parts * s->width, s->Q, sizeof (double), &bytes))
    return false;
  for (size_t i = 0; i < s->n; i++)
    s->rows[i] = s->site->sources[in->n_take > 0 ? (size_t) in->take[i] : i];
  s->queries = malloc (bytes > 0 ? bytes : 1);
  if (s->queries == NULL)
    return false;
  pack_queries (s, in->queries, r->D);
  choose_blocks (s);
  return true;
}

/* Keys [tokens][D]; logits [parts][chunk][n][tokens] and room for MHAR_LANES past the end; lanes: w and log_w
 * [parts][n][MHAR_LANES], or the whole query's logarithms [n][MHAR_LANES]. */
static bool
count_doubles (const MharRoute *r, const NullSite *s, size_t *count)
{
  size_t logits, lanes;
  if (!mhar_cpu_product (s->parts * s->chunk, s->n, s->tokens, &logits)
      || !mhar_cpu_product (s->parts, s->n, 2 * MHAR_LANES, &lanes))
    return false;
  *count = s->tokens * r->D + logits + lanes + MHAR_LANES;
  return true;
}

int
mhar_cpu_null_new (MharContext *c, MharRoute *r, const MharNullSite *sites, size_t n_sites, MharNull **out)
{
  *out = NULL;
  MharNull *null = calloc (1, sizeof *null);
  if (null != NULL) {
    null->route = r;
    null->sites = calloc (n_sites > 0 ? n_sites : 1, sizeof *null->sites);
  }
  int status = null == NULL || null->sites == NULL ? MHAR_NO_MEMORY : MHAR_OK;
  for (size_t i = 0, doubles; status == MHAR_OK && i < n_sites; i++) {
    status = check_null_site (c, r, &sites[i]);
    if (status != MHAR_OK)
      break;
    null->n_sites = i + 1;
    if (!fill_null_site (r, &null->sites[i], &sites[i]) || !count_doubles (r, &null->sites[i], &doubles))
      status = MHAR_NO_MEMORY;
    else if (doubles > null->doubles)
      null->doubles = doubles;
  }
  if (status == MHAR_NO_MEMORY)
    mhar_cpu_fail (c, status, "no memory for the queries of %zu sites", n_sites);
  if (status != MHAR_OK) {
    mhar_cpu_null_free (c, null);
    return status;
  }
  *out = null;
  return MHAR_OK;
}

void
mhar_cpu_null_free (MharContext *c, MharNull *n)
{
  (void) c;
  if (n == NULL)
    return;
  for (size_t i = 0; i < n->n_sites; i++) {
    free (n->sites[i].rows);
    free (n->sites[i].queries);
  }
  free (n->sites);
  free (n);
}

static MHAR_CLONES void
scale_key (const float *x, double by, size_t D, double *out)
{
#pragma omp simd
  for (size_t i = 0; i < D; i++)
    out[i] = (double) x[i] * by;
}

/* RMSNorm(s) of one source over a block of tokens, in double, slices gathered. */
static void
load_keys (const MharRoute *r, const NullSite *s, size_t row, size_t first, size_t count, double *keys)
{
  for (size_t i = 0; i < count; i++) {
    const float *x = mhar_route_token (r, row, first + i);
    double by = r->inverse[row * r->stride + first + i], *to = keys + i * r->D;
    if (!s->interleaved)
      scale_key (x, by, r->D, to);
    else
      for (size_t p = 0; p < s->parts; p++)
        for (size_t j = 0; j < s->width; j++)
          to[p * s->width + j] = (double) x[j * s->parts + p] * by;
  }
}

/* logits [parts][n_queries][n][tokens] of queries [q0, q0 + n_queries) for tokens [first, first + count). */
static void
form_logits (const MharRoute *r, const NullSite *s, size_t q0, size_t n_queries, size_t first, size_t count,
             double *keys, double *logits)
{
  for (size_t n = 0; n < s->n; n++) {
    load_keys (r, s, (size_t) s->rows[n], first, count, keys);
    for (size_t p = 0; p < s->parts; p++)
      cblas_dgemm (CblasRowMajor, CblasNoTrans, CblasTrans, (int) n_queries, (int) count, (int) s->width, 1.0,
                   s->queries + (p * s->Q + q0) * s->width, (int) s->width, keys + (s->whole ? 0 : p * s->width),
                   (int) r->D, 0.0, logits + (p * n_queries * s->n + n) * s->tokens, (int) (s->n * s->tokens));
  }
}

/* Adds the site's bias to every part's last source; the whole query's gets it once (slice_kl_lanes). */
static void
add_bias (const NullSite *s, size_t n_queries, size_t count, double *logits)
{
  for (size_t k = 0; s->bias != 0.0 && k < s->parts * n_queries; k++) {
    double *last = logits + (k * s->n + s->n - 1) * s->tokens;
    for (size_t i = 0; i < count; i++)
      last[i] += s->bias;
  }
}

/* log of the whole query's softmax: its logits are the sums over slices. part_stride between slices, stride between
 * sources; every slice's last logit has the bias in it. */
static MHAR_CLONES void
whole_logs (const double *part, size_t part_stride, size_t stride, size_t parts, size_t n, double bias, double *log_w)
{
  double top[MHAR_LANES], sum[MHAR_LANES];
  for (size_t i = 0; i < MHAR_LANES; i++) {
    top[i] = -INFINITY;
    sum[i] = 0.0;
  }
  for (size_t k = 0; k < n; k++) {
    double *to = log_w + k * MHAR_LANES, excess = k == n - 1 ? bias : 0.0;
    for (size_t i = 0; i < MHAR_LANES; i++)
      to[i] = excess;
    for (size_t p = 0; p < parts; p++) {
      const double *l = part + p * part_stride + k * stride;
#pragma omp simd
      for (size_t i = 0; i < MHAR_LANES; i++)
        to[i] += l[i] - excess;
    }
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      top[i] = to[i] > top[i] ? to[i] : top[i];
  }
  for (size_t k = 0; k < n; k++) {
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      sum[i] += mhar_exp (log_w[k * MHAR_LANES + i] - top[i]);
  }
#pragma omp simd
  for (size_t i = 0; i < MHAR_LANES; i++)
    sum[i] = mhar_log (sum[i]);
  for (size_t k = 0; k < n; k++) {
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      log_w[k * MHAR_LANES + i] = (log_w[k * MHAR_LANES + i] - top[i]) - sum[i];
  }
}

/* KL (softmax l ‖ exp log_w) = Σ e (l − max − ln w) / Σ e − ln Σ e, with e = exp (l − max). */
static MHAR_CLONES void
slice_kl_lanes (const double *l, size_t stride, size_t n, const double *log_w, double *kl)
{
  double top[MHAR_LANES], sum[MHAR_LANES], cross[MHAR_LANES];
  for (size_t i = 0; i < MHAR_LANES; i++) {
    top[i] = -INFINITY;
    sum[i] = cross[i] = 0.0;
  }
  for (size_t k = 0; k < n; k++) {
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++)
      top[i] = l[k * stride + i] > top[i] ? l[k * stride + i] : top[i];
  }
  for (size_t k = 0; k < n; k++) {
#pragma omp simd
    for (size_t i = 0; i < MHAR_LANES; i++) {
      double below = l[k * stride + i] - top[i], e = mhar_exp (below);
      sum[i] += e;
      cross[i] += e * (below - log_w[k * MHAR_LANES + i]);
    }
  }
#pragma omp simd
  for (size_t i = 0; i < MHAR_LANES; i++)
    kl[i] = cross[i] / sum[i] - mhar_log (sum[i]);
}

/* One query's block of logits [parts][…][n][tokens], `part` apart, to its sums over `count` tokens. */
static void
reduce_slices (const NullSite *s, const double *logits, size_t part, size_t count, double *lanes, double *kl)
{
  double one[MHAR_LANES];
  for (size_t done = 0; done < count; done += MHAR_LANES) {
    size_t now = count - done < MHAR_LANES ? count - done : MHAR_LANES;
    whole_logs (logits + done, part, s->tokens, s->parts, s->n, s->bias, lanes);
    for (size_t p = 0; p < s->parts; p++) {
      slice_kl_lanes (logits + p * part + done, s->tokens, s->n, lanes, one);
      kl[p] += mhar_lanes_sum (one, now);
    }
  }
}

static void
reduce_heads (const NullSite *s, const double *logits, size_t part, size_t count, double *lanes, double *js,
              double *weight)
{
  double *w = lanes, *log_w = lanes + s->parts * s->n * MHAR_LANES, one[MHAR_LANES];
  for (size_t done = 0; done < count; done += MHAR_LANES) {
    size_t now = count - done < MHAR_LANES ? count - done : MHAR_LANES;
    for (size_t h = 0; h < s->parts; h++)
      mhar_lanes_softmax (logits + h * part + done, s->tokens, s->n, w + h * s->n * MHAR_LANES,
                          log_w + h * s->n * MHAR_LANES);
    for (size_t k = 0; weight != NULL && k < s->parts * s->n; k++)
      weight[k] += mhar_lanes_sum (w + k * MHAR_LANES, now);
    if (js == NULL || s->parts == 1)
      continue;
    mhar_lanes_js (w, log_w, s->parts, s->n, one);
    *js += mhar_lanes_sum (one, now);
  }
}

/* The sums of query `q` in window `w`: where they go, or NULL. */
static void
reduce_query (const NullSite *s, const MharNullSums *sums, size_t w, size_t q, const double *logits, size_t part,
              size_t count, double *lanes)
{
  size_t at = w * s->Q + q;
  if (!s->sliced)
    reduce_heads (s, logits, part, count, lanes, sums->js == NULL ? NULL : sums->js + at,
                  sums->weight == NULL ? NULL : sums->weight + q * s->parts * s->n);
  else if (sums->kl != NULL)
    reduce_slices (s, logits, part, count, lanes, sums->kl + at * s->parts);
}

static void
clear_sums (const NullSite *s, const MharNullSums *sums, size_t W)
{
  size_t n = W * s->Q;
  if (s->sliced && sums->kl != NULL)
    memset (sums->kl, 0, n * s->parts * sizeof (double));
  if (!s->sliced && sums->js != NULL)
    memset (sums->js, 0, n * sizeof (double));
  if (!s->sliced && sums->weight != NULL)
    memset (sums->weight, 0, s->Q * s->parts * s->n * sizeof (double));
}

static void
run_window (const MharRoute *r, const NullSite *s, size_t w, size_t chunk, MharSpan span, double *scratch,
            const MharNullSums *sums)
{
  size_t q0 = chunk * s->chunk, n_queries = s->Q - q0 < s->chunk ? s->Q - q0 : s->chunk;
  size_t counted = mhar_cpu_counted (span, w), start = w * r->t + (size_t) (span.skip > 0 ? span.skip : 0);
  double *keys = scratch, *logits = keys + s->tokens * r->D;
  double *lanes = logits + s->parts * s->chunk * s->n * s->tokens + MHAR_LANES;
  for (size_t done = 0; done < counted; done += s->tokens) {
    size_t count = counted - done < s->tokens ? counted - done : s->tokens;
    form_logits (r, s, q0, n_queries, start + done, count, keys, logits);
    add_bias (s, n_queries, count, logits);
    for (size_t q = 0; q < n_queries; q++)
      reduce_query (s, sums, w, q0 + q, logits + q * s->n * s->tokens, n_queries * s->n * s->tokens, count, lanes);
  }
}

/* Task `i` of all: which site, and which chunk of it. Sites with most sources tend to come last and are started
 * first. */
static const NullSite *
find_task (const MharNull *n, size_t *i, size_t *site)
{
  size_t k = n->n_sites;
  while (k-- > 0) {
    size_t tasks = n->sites[k].n_chunks;
    if (*i < tasks) {
      *site = k;
      return &n->sites[k];
    }
    *i -= tasks;
  }
  return NULL;
}

int
mhar_cpu_null_run (MharContext *c, MharRoute *r, MharNull *n, MharSpan span, const MharNullSums *sums)
{
  size_t per_thread = (n->doubles + 7) / 8 * 8, tasks = 0, bytes, threads = (size_t) mhar_cpu_threads ();
  int status = mhar_route_check_span (c, r, span);
  if (status == MHAR_OK && n->route != r)
    status = mhar_cpu_fail (c, MHAR_FAILED, "the queries are those of another history");
  if (status != MHAR_OK)
    return status;
  for (size_t i = 0; i < n->n_sites; i++) {
    tasks += n->sites[i].n_chunks;
    clear_sums (&n->sites[i], &sums[i], r->W);
  }
  if (tasks < threads)
    threads = tasks;
  void *scratch;
  if (!mhar_cpu_product (per_thread, threads, sizeof (double), &bytes))
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "no memory to score %zu sites", n->n_sites);
  status = mhar_cpu_scratch (c, bytes, &scratch);
  if (status != MHAR_OK || tasks == 0)
    return status;
  memset (scratch, 0, bytes); /* lanes past the last token are computed on, and must hold numbers */
#pragma omp parallel for schedule(dynamic) num_threads((int) threads)
  for (size_t i = 0; i < tasks; i++) {
    size_t task = i, site = 0;
    const NullSite *s = find_task (n, &task, &site);
    for (size_t w = 0; w < r->W; w++)
      run_window (r, s, w, task, span, (double *) scratch + (size_t) omp_get_thread_num () * per_thread, &sums[site]);
  }
  return MHAR_OK;
}
