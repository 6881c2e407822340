/* SPDX-License-Identifier: MIT */
/* Written to be obviously right: no blocking, no fusing, one loop a letter. */
#include "tests/unit/kernel-reference.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define EPS 1e-6

static void
softmax (double *x, size_t n)
{
  double top = -INFINITY, sum = 0.0;
  for (size_t i = 0; i < n; i++)
    top = MAX (top, x[i]);
  for (size_t i = 0; i < n; i++)
    sum += x[i] = exp (x[i] - top);
  for (size_t i = 0; i < n; i++)
    x[i] /= sum;
}

static void
log_softmax (const double *x, size_t n, double *out)
{
  double top = -INFINITY, sum = 0.0;
  for (size_t i = 0; i < n; i++)
    top = MAX (top, x[i]);
  for (size_t i = 0; i < n; i++)
    sum += exp (x[i] - top);
  for (size_t i = 0; i < n; i++)
    out[i] = x[i] - top - log (sum);
}

static double
inverse_rms (const double *x, size_t n)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += x[i] * x[i];
  return 1.0 / sqrt (sum / (double) n + EPS);
}

/* x [n] to its RMSNorm. */
static void
norm (double *x, const float *gain, size_t n)
{
  double by = inverse_rms (x, n);
  for (size_t i = 0; i < n; i++)
    x[i] *= by * (double) gain[i];
}

static void
refer_embed (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  double *out = kernel_output (result, "embed", false, k->W * k->t * k->D);
  for (size_t i = 0; i < k->W * k->t; i++)
    for (size_t j = 0; j < k->D; j++)
      out[i * k->D + j] = (double) in->weight.value[(size_t) in->ids[i] * k->D + j];
}

static void
refer_norm (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  double *out = kernel_output (result, "norm", false, k->W * k->t * k->D);
  for (size_t i = 0; i < k->W * k->t; i++) {
    for (size_t j = 0; j < k->D; j++)
      out[i * k->D + j] = (double) in->x[i * k->D + j];
    norm (out + i * k->D, in->gain.value, k->D);
  }
}

static double
product (const float *x, const float *w, size_t n)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += (double) x[i] * (double) w[i];
  return sum;
}

static void
refer_matmul (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t count = k->count > 0 ? k->count : k->V - k->first, ldo = count + 5;
  double *out = kernel_output (result, "matmul", false, k->W * k->t * ldo);
  for (size_t i = 0; i < k->W * k->t; i++)
    for (size_t j = 0; j < count; j++)
      out[i * ldo + j] = product (in->x + i * k->D, in->weight.value + (k->first + j) * k->D, k->D)
                         + (k->bias ? (double) in->bias.value[k->first + j] : 0.0);
}

static void
refer_rope (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t heads = k->A + 2 * k->K, half = k->E / 2, n = k->W * k->t * heads * k->E;
  double *out = kernel_output (result, "rope", false, n);
  for (size_t i = 0; i < n; i++)
    out[i] = (double) in->x[i];
  for (size_t i = 0; i < k->W * k->t; i++)
    for (size_t h = 0; h < k->A + k->K; h++) {
      double *x = out + (i * heads + h) * k->E;
      const float *angle = in->angles + i % k->t * k->E;
      if (k->gain)
        norm (x, h < k->A ? in->gain.value : in->gain_two.value, k->E);
      for (size_t j = 0; j < half; j++) {
        double a = x[j], b = x[j + half], c = (double) angle[j], s = (double) angle[j + half];
        x[j] = a * c - b * s;
        x[j + half] = b * c + a * s;
      }
    }
}

static void
attend (const KernelCase *k, const float *x, size_t head, size_t position, double *weight, double *out)
{
  size_t ld = (k->A + 2 * k->K) * k->E, group = head / (k->A / k->K);
  size_t first = k->sliding > 0 && position + 1 > k->sliding ? position + 1 - k->sliding : 0, n = position + 1 - first;
  const float *key = x + first * ld + (k->A + group) * k->E, *value = key + k->K * k->E;
  for (size_t i = 0; i < n; i++)
    weight[i] = product (x + position * ld + head * k->E, key + i * ld, k->E) / sqrt ((double) k->E);
  softmax (weight, n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < k->E; j++)
      out[j] += weight[i] * (double) value[i * ld + j];
}

static void
refer_attention (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t ld = (k->A + 2 * k->K) * k->E;
  double *out = kernel_output (result, "attention", false, k->W * k->t * k->A * k->E);
  double *weight = g_new (double, k->t);
  for (size_t w = 0; w < k->W; w++)
    for (size_t a = 0; a < k->A; a++)
      for (size_t i = 0; i < k->t; i++)
        attend (k, in->x + w * k->t * ld, a, i, weight, out + ((w * k->t + i) * k->A + a) * k->E);
  g_free (weight);
}

static void
refer_swiglu (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  double *out = kernel_output (result, "swiglu", false, k->W * k->t * k->V);
  for (size_t i = 0; i < k->W * k->t; i++)
    for (size_t j = 0; j < k->V; j++) {
      double gate = (double) in->x[i * 2 * k->V + j];
      out[i * k->V + j] = gate / (1.0 + exp (-gate)) * (double) in->x[i * 2 * k->V + k->V + j];
    }
}

static void
refer_combine (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  double *out = kernel_output (result, "combine", false, k->W * k->t * k->D);
  for (size_t i = 0; i < k->W * k->t * k->D; i++)
    out[i] = k->a * (double) in->x[i] + k->b * (double) in->y[i];
}

static void
refer_blend (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t n = k->W * k->t * k->D;
  double *out = kernel_output (result, "blend", false, n);
  for (size_t i = 0; i < n; i++) {
    double p = (double) in->x[i], a = 1.0 / (1.0 + exp (-(double) in->x[n + i]));
    out[i] = (1.0 - a) * p + a * (double) in->y[i];
  }
}

static void
refer_loss (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  double *sum = kernel_output (result, "loss", false, k->W), *logit = g_new (double, k->V);
  for (size_t w = 0; w < k->W; w++)
    for (size_t i = w * k->t; i + 1 < (w + 1) * k->t; i++) {
      for (size_t j = 0; j < k->V; j++)
        logit[j] = product (in->x + i * k->D, in->weight.value + j * k->D, k->D);
      log_softmax (logit, k->V, logit);
      sum[w] -= logit[in->ids[i + 1]];
    }
  g_free (logit);
}

/* ---- routing ---- */

/* RMSNorm of a stored row, without the gain, which the queries have in them. */
static void
make_key (const KernelCase *k, const KernelInputs *in, size_t row, size_t token, double *key)
{
  const float *x = in->x + (row * k->W * k->t + token) * k->D;
  for (size_t i = 0; i < k->D; i++)
    key[i] = (double) x[i];
  double by = inverse_rms (key, k->D);
  for (size_t i = 0; i < k->D; i++)
    key[i] *= by;
}

/* Logits [heads][N] of a query at a site, bias added. */
static void
site_logits (const KernelCase *k, const KernelInputs *in, const MharRouteSite *s, const double *query, size_t token,
             double *logit)
{
  double *key = g_new (double, k->D);
  size_t N = (size_t) s->n_sources, heads = (size_t) s->heads, width = s->whole ? k->D : k->D / heads;
  for (size_t n = 0; n < N; n++) {
    make_key (k, in, (size_t) s->sources[n], token, key);
    for (size_t h = 0; h < heads; h++) {
      double sum = n == N - 1 ? s->bias : 0.0;
      for (size_t i = 0; i < width; i++)
        sum += query[h * width + i] * key[(s->whole ? 0 : h * width) + i];
      logit[h * N + n] = sum;
    }
  }
  g_free (key);
}

static void
site_weights (const KernelCase *k, const KernelInputs *in, const MharRouteSite *s, size_t token, double *weight)
{
  site_logits (k, in, s, s->query, token, weight);
  for (int h = 0; h < s->heads; h++)
    softmax (weight + h * s->n_sources, (size_t) s->n_sources);
}

/* Σ_n w[h, n] s_n for one token: [D], or [heads, D] at a whole site. */
static void
mix_token (const KernelCase *k, const KernelInputs *in, const MharRouteSite *s, size_t token, const double *weight,
           double *mix)
{
  size_t N = (size_t) s->n_sources, heads = (size_t) s->heads, width = s->whole ? k->D : k->D / heads;
  for (size_t h = 0; h < heads; h++)
    for (size_t n = 0; n < N; n++) {
      const float *x = in->x + ((size_t) s->sources[n] * k->W * k->t + token) * k->D + (s->whole ? 0 : h * width);
      for (size_t i = 0; i < width; i++)
        mix[h * width + i] += weight[h * N + n] * (double) x[i];
    }
}

static void
refer_reads (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t T = k->W * k->t, most = T * k->D * k->H;
  double *mix = kernel_output (result, "mix", false, k->R * most);
  double *normed = kernel_output (result, "normed", false, k->R * most), weight[512];
  for (size_t i = 0; i < k->R; i++) {
    const MharRouteSite *s = &in->sites[i];
    size_t columns = s->whole ? k->H : 1, size = columns * k->D;
    for (size_t token = 0; token < T; token++) {
      double *from = mix + i * most + token * size, *to = normed + i * most + token * size;
      site_weights (k, in, s, token, weight);
      mix_token (k, in, s, token, weight, from);
      memcpy (to, from, size * sizeof *to);
      for (size_t c = 0; c < columns; c++)
        norm (to + c * k->D, in->gain.value, k->D);
    }
  }
}

/* The weights of one token under an edit's rule, in place. */
static void
apply_rule (const MharRouteEdit *edit, double *weight)
{
  size_t N = (size_t) edit->site.n_sources, heads = (size_t) edit->site.heads;
  g_autofree double *was = g_memdup2 (weight, heads * N * sizeof *weight);
  for (size_t h = 0; h < heads; h++) {
    double sum = 0.0;
    for (size_t n = 0; n < N; n++) {
      double mean = 0.0;
      int larger = 0;
      for (size_t g = 0; g < heads; g++)
        mean += was[g * N + n] / (double) heads;
      for (size_t m = 0; m < N; m++)
        larger += was[h * N + m] > was[h * N + n] || (was[h * N + m] == was[h * N + n] && m < n);
      if (edit->rule == MHAR_WEIGHTS_MEAN)
        weight[h * N + n] = mean;
      if (edit->rule == MHAR_WEIGHTS_FROM)
        weight[h * N + n] = was[(size_t) edit->from[h] * N + n];
      if (edit->rule == MHAR_WEIGHTS_TOP && larger >= edit->keep)
        weight[h * N + n] = 0.0;
      sum += weight[h * N + n];
    }
    for (size_t n = 0; n < N; n++)
      weight[h * N + n] /= sum;
  }
}

static void
refer_edits (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t T = k->W * k->t, most = T * k->D * k->H;
  double *mix = kernel_output (result, "edited mix", false, k->R * most);
  double *normed = kernel_output (result, "edited normed", false, k->R * most), weight[512];
  g_autofree int32_t *sources = g_new (int32_t, k->R + 1), *from = g_new (int32_t, k->H);
  for (size_t i = 0; i < k->R; i++) {
    MharRouteEdit edit = kernel_edit (in, i, sources, from);
    size_t columns = edit.site.whole ? k->H : 1, size = columns * k->D;
    for (size_t token = 0; token < T; token++) {
      double *at = mix + i * most + token * size, *to = normed + i * most + token * size;
      site_weights (k, in, &edit.site, token, weight);
      apply_rule (&edit, weight);
      mix_token (k, in, &edit.site, token, weight, at);
      memcpy (to, at, size * sizeof *to);
      for (size_t c = 0; c < columns; c++)
        norm (to + c * k->D, in->gain.value, k->D);
    }
  }
}

static void
refer_weights (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t T = k->W * k->t, first = T > 1 ? 1 : 0;
  double *out = kernel_output (result, "weights", false, (T - first) * kernel_weights (in));
  for (size_t i = 0; i < k->R; i++)
    for (size_t token = first; token < T; token++) {
      site_weights (k, in, &in->sites[i], token, out);
      out += in->sites[i].heads * in->sites[i].n_sources;
    }
}

/* Whether a token of the batch counts, by walking the positions in order. */
static gboolean
counts (const KernelCase *k, size_t token)
{
  gint64 before = 0;
  for (size_t i = 0; i < token; i++)
    before += i % k->t >= (size_t) k->skip;
  return token % k->t >= (size_t) k->skip && (k->limit == 0 || before < k->limit);
}

/* mean_h KL(w_h ‖ mean over heads) of logits [heads][N]. */
static double
disagreement (const double *logit, size_t heads, size_t N)
{
  double log_w[512], js = 0.0;
  for (size_t h = 0; h < heads; h++)
    log_softmax (logit + h * N, N, log_w + h * N);
  for (size_t n = 0; n < N; n++) {
    double mean = 0.0;
    for (size_t h = 0; h < heads; h++)
      mean += exp (log_w[h * N + n]) / (double) heads;
    for (size_t h = 0; h < heads; h++)
      if (exp (log_w[h * N + n]) > 0.0)
        js += exp (log_w[h * N + n]) * (log_w[h * N + n] - log (MAX (mean, 1e-300))) / (double) heads;
  }
  return js;
}

static double
row_norm (const KernelCase *k, const KernelInputs *in, size_t row, size_t token, size_t first, size_t width)
{
  const float *x = in->x + (row * k->W * k->t + token) * k->D + first;
  double sum = 0.0;
  for (size_t i = 0; i < width; i++)
    sum += (double) x[i] * (double) x[i];
  return sqrt (sum);
}

/* Adds one token at a site; the pointers are to the site's own sums. */
static void
add_token (const KernelCase *k, const KernelInputs *in, const MharRouteSite *s, size_t token, double *weight,
           double *square, double *contribution, double *entropy, double *js)
{
  size_t N = (size_t) s->n_sources, heads = (size_t) s->heads, width = s->whole ? k->D : k->D / heads;
  double logit[512], log_w[512];
  site_logits (k, in, s, s->query, token, logit);
  *js += disagreement (logit, heads, N);
  for (size_t h = 0; h < heads; h++) {
    log_softmax (logit + h * N, N, log_w);
    for (size_t n = 0; n < N; n++) {
      double w = exp (log_w[n]);
      weight[h * N + n] += w;
      square[h * N + n] += w * w;
      contribution[h * N + n]
          += w * row_norm (k, in, (size_t) s->sources[n], token, s->whole ? 0 : h * width, width);
      entropy[h] -= w * log_w[n];
    }
  }
}

static void
refer_sums (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t P = kernel_weights (in), heads = kernel_heads (in);
  double *weight = kernel_output (result, "weight sums", true, k->W * P);
  double *contribution = kernel_output (result, "contribution sums", true, k->W * P);
  double *entropy = kernel_output (result, "entropy sums", true, k->W * heads);
  double *js = kernel_output (result, "head js sums", true, k->W * k->R);
  double *square = kernel_output (result, "weight squares", true, k->W * P);
  for (size_t token = 0; token < k->W * k->t; token++) {
    size_t w = token / k->t, at = w * P, head = w * heads;
    for (size_t i = 0; i < k->R; i++) {
      const MharRouteSite *s = &in->sites[i];
      if (counts (k, token))
        add_token (k, in, s, token, weight + at, square + at, contribution + at, entropy + head, js + w * k->R + i);
      at += (size_t) s->heads * (size_t) s->n_sources;
      head += (size_t) s->heads;
    }
  }
  kernel_spreads (k, in, weight, square, result);
}

static double
row_cosine (const KernelCase *k, const KernelInputs *in, size_t a, size_t b, size_t token)
{
  double na = row_norm (k, in, a, token, 0, k->D), nb = row_norm (k, in, b, token, 0, k->D), sum = 0.0;
  const float *x = in->x + (a * k->W * k->t + token) * k->D, *y = in->x + (b * k->W * k->t + token) * k->D;
  if (na == 0.0 || nb == 0.0)
    return 0.0;
  for (size_t i = 0; i < k->D; i++)
    sum += (double) x[i] / na * ((double) y[i] / nb);
  return sum;
}

static void
refer_cosines (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  double *cosine = kernel_output (result, "cosine sums", true, k->W * k->R * k->R);
  double *mean_abs = kernel_output (result, "mean |cosine| sums", true, k->W);
  double *zero = kernel_output (result, "zero row", true, 1);
  for (size_t token = 0; token < k->W * k->t; token++)
    for (size_t a = 0; counts (k, token) && a < k->R; a++) {
      if (row_norm (k, in, a, token, 0, k->D) == 0.0)
        *zero = 1.0;
      for (size_t b = 0; b < k->R; b++) {
        double one = row_cosine (k, in, a, b, token);
        cosine[(token / k->t * k->R + a) * k->R + b] += one;
        if (a < b)
          mean_abs[token / k->t] += fabs (one) / ((double) (k->R * (k->R - 1)) / 2.0);
      }
    }
}

/* Keeps the taken sources of logits [heads][N]; returns how many there are. */
static size_t
take_sources (const MharNullSite *null, size_t heads, size_t N, double *logit)
{
  size_t n = null->n_take > 0 ? (size_t) null->n_take : N;
  for (size_t h = 0; h < heads; h++)
    for (size_t i = 0; i < n; i++)
      logit[h * n + i] = logit[h * N + (null->n_take > 0 ? (size_t) null->take[i] : i)];
  return n;
}

/* KL(a_s ‖ alpha) of slice `slice`: the slice is a query that is 0 elsewhere. */
static double
slice_divergence (const KernelCase *k, const KernelInputs *in, const MharNullSite *null, const double *query,
                  size_t token, size_t slice)
{
  const MharRouteSite *s = &in->sites[null->site];
  double part[64], whole[64], kl = 0.0, *only = g_new0 (double, k->D);
  for (size_t i = 0; i < k->D; i++)
    if ((k->interleaved ? i % k->S : i / (k->D / k->S)) == slice)
      only[i] = query[i];
  site_logits (k, in, s, only, token, part);
  site_logits (k, in, s, query, token, whole);
  size_t n = take_sources (null, 1, (size_t) s->n_sources, part);
  take_sources (null, 1, (size_t) s->n_sources, whole);
  log_softmax (part, n, part);
  log_softmax (whole, n, whole);
  for (size_t i = 0; i < n; i++)
    kl += exp (part[i]) * (part[i] - whole[i]);
  g_free (only);
  return kl;
}

static void
add_heads (const KernelCase *k, const KernelInputs *in, const MharNullSite *null, const double *query, size_t token,
           double *js, double *weight)
{
  const MharRouteSite *s = &in->sites[null->site];
  double logit[512];
  site_logits (k, in, s, query, token, logit);
  size_t n = take_sources (null, (size_t) s->heads, (size_t) s->n_sources, logit);
  *js += disagreement (logit, (size_t) s->heads, n);
  for (size_t h = 0; h < (size_t) s->heads; h++)
    softmax (logit + h * n, n);
  for (size_t i = 0; i < (size_t) s->heads * n; i++)
    weight[i] += logit[i];
}

static void
refer_null (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  size_t queries = k->W * k->Q, n_weights = 0;
#define SOURCES(null) ((size_t) ((null)->n_take > 0 ? (null)->n_take : in->sites[(null)->site].n_sources))
  for (size_t i = 0; i < in->n_nulls; i++)
    n_weights += k->Q * k->H * SOURCES (&in->nulls[i]);
  double *kl = kernel_output (result, "null kl", true, in->n_nulls * queries * k->S);
  double *js = kernel_output (result, "null js", true, in->n_nulls * queries);
  double *weight = kernel_output (result, "null weights", true, n_weights);
  for (size_t i = 0; i < in->n_nulls; i++) {
    const MharNullSite *null = &in->nulls[i];
    size_t size = (in->sites[null->site].whole ? k->H : 1) * k->D, columns = k->H * SOURCES (null);
    for (size_t token = 0; token < k->W * k->t; token++)
      for (size_t q = 0; counts (k, token) && q < k->Q; q++) {
        size_t at = token / k->t * k->Q + q;
        const double *query = null->queries + q * size;
        if (null->slices == 0)
          add_heads (k, in, null, query, token, js + i * queries + at, weight + q * columns);
        for (size_t s = 0; null->slices > 0 && s < k->S; s++)
          kl[(i * queries + at) * k->S + s] += slice_divergence (k, in, null, query, token, s);
      }
    weight += k->Q * columns;
  }
#undef SOURCES
}

void
kernel_reference (const KernelCase *k, const KernelInputs *in, KernelResult *result)
{
  static void (*const simple[]) (const KernelCase *, const KernelInputs *, KernelResult *) = {
    [KERNEL_EMBED] = refer_embed,         [KERNEL_NORM] = refer_norm,
    [KERNEL_MATMUL] = refer_matmul,       [KERNEL_ROPE] = refer_rope,
    [KERNEL_ATTENTION] = refer_attention, [KERNEL_SWIGLU] = refer_swiglu,
    [KERNEL_COMBINE] = refer_combine,     [KERNEL_BLEND] = refer_blend,
    [KERNEL_LOSS] = refer_loss,
  };
  result->n = 0;
  if (k->op != KERNEL_ROUTE) {
    simple[k->op](k, in, result);
    return;
  }
  refer_reads (k, in, result);
  refer_edits (k, in, result);
  refer_weights (k, in, result);
  refer_sums (k, in, result);
  refer_cosines (k, in, result);
  refer_null (k, in, result);
}
