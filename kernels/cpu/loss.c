/* SPDX-License-Identifier: MIT */
/* Cross-entropy of the next token, by chunks of the vocabulary: a running maximum and sum (in double) a token, so that
 * the logits of the whole vocabulary never exist. */
#include "kernels/cpu/cpu-private.h"
#include "kernels/cpu/vexp.h"

#include <cblas.h>
#include <limits.h>

/* Logits at a time: 4 Mi, tokens times words. */
#define LOGIT_COUNT ((size_t) 1 << 22)
#define TOKEN_BLOCK ((size_t) 2048)

/* What is known of one token's logits so far: top and Σ exp (z − top); and the logit of its next id. */
typedef struct {
  double top, sum, target;
} Running;

static MHAR_CLONES void
add_logits (Running *r, const float *z, size_t n)
{
  double chunk_top = (double) mhar_top (z, n), top = chunk_top > r->top ? chunk_top : r->top, sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++)
    sum += mhar_exp ((double) z[i] - top);
  r->sum = r->sum * mhar_exp (r->top - top) + sum;
  r->top = top;
}

/* logits [n_tokens, n_words] of tokens from `first` on and words from `word` on. */
static void
add_chunk (Running *running, const int32_t *ids, size_t T, size_t first, size_t n_tokens, size_t word, size_t n_words,
           const float *logits)
{
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n_tokens; i++) {
    const float *z = logits + i * n_words;
    size_t token = first + i;
    add_logits (&running[token], z, n_words);
    size_t next = token + 1 < T ? (size_t) ids[token + 1] : SIZE_MAX;
    if (next >= word && next - word < n_words)
      running[token].target = (double) z[next - word];
  }
}

/* All tokens against the words [word, word + n) whose rows of the head are `rows`. */
static void
score_words (Running *running, const int32_t *ids, const float *x, size_t T, size_t D, const float *rows, size_t word,
             size_t n, float *logits)
{
  for (size_t first = 0; first < T; first += TOKEN_BLOCK) {
    size_t tokens = T - first < TOKEN_BLOCK ? T - first : TOKEN_BLOCK;
    cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasTrans, (int) tokens, (int) n, (int) D, 1.0f, x + first * D, (int) D,
                 rows, (int) D, 0.0f, logits, (int) n);
    add_chunk (running, ids, T, first, tokens, word, n, logits);
  }
}

/* The last token of a window predicts nothing: what was gathered for it is left out. */
static void
add_windows (const Running *running, size_t W, size_t t, double *sum)
{
  for (size_t w = 0; w < W; w++) {
    sum[w] = 0.0;
    for (size_t i = 0; i + 1 < t; i++) {
      const Running *r = &running[w * t + i];
      sum[w] += log (r->sum) + (r->top - r->target);
    }
  }
}

int
mhar_cpu_cross_entropy (MharContext *c, MharRows x, const MharWeight *head, const MharBuffer *ids, size_t W, size_t t,
                        size_t D, double *sum)
{
  size_t T = W * t, block = T < TOKEN_BLOCK ? T : TOKEN_BLOCK, running_bytes, bytes;
  if (D != head->cols || D > INT_MAX)
    return mhar_cpu_fail (c, MHAR_UNSUPPORTED, "a head of %zu columns for a width of %zu", head->cols, D);
  size_t words = LOGIT_COUNT / (block > 0 ? block : 1);
  void *scratch;
  if (!mhar_cpu_product (T, 1, sizeof (Running), &running_bytes)
      || __builtin_add_overflow (running_bytes, LOGIT_COUNT * sizeof (float), &bytes))
    return mhar_cpu_fail (c, MHAR_NO_MEMORY, "cross-entropy of %zu tokens", T);
  int status = mhar_cpu_scratch (c, bytes, &scratch);
  if (status != MHAR_OK)
    return status;
  float *logits = scratch;
  Running *running = (Running *) (void *) (logits + LOGIT_COUNT);
  for (size_t i = 0; i < T; i++)
    running[i] = (Running){ -INFINITY, 0.0, 0.0 };
  for (size_t word = 0, n; word < head->rows; word += n) {
    const float *rows;
    size_t left = head->rows - word;
    status = mhar_cpu_weight_chunk (c, head, word, left < words ? left : words, &rows, &n);
    if (status != MHAR_OK)
      return status;
    score_words (running, ids->data, mhar_cpu_at (x), T, D, rows, word, n, logits);
  }
  add_windows (running, W, t, sum);
  return MHAR_OK;
}
