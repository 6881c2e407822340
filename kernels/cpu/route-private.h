/* SPDX-License-Identifier: MIT */
/* The depth history of a batch as the CPU keeps it.
 *
 * Rows are float32 [R][T, D]; everything taken from them is double and runs over tokens innermost, so that a softmax
 * over sources is vector code over tokens: logits [site, head, source][stride], 1/rms [row][stride], Euclidean norms
 * [shape, row, piece][stride]. Reading MHAR_LANES tokens from any valid one stays inside the memory, and every element
 * of it is initialised. */
#pragma once

#include "kernels/cpu/cpu-private.h"

/* Tokens handled together by a softmax. */
#define MHAR_LANES ((size_t) 32)

/* How a site cuts a row: into `pieces` of D/pieces coordinates, `columns` queries on each. One of the two is 1, so
 * the head is piece + column. */
typedef struct {
  size_t pieces, columns;
  size_t norm_base; /* of the norms of its pieces, in rows of stride */
} MharDepthShape;

typedef struct {
  size_t n;         /* N */
  int32_t *sources; /* [N] */
  size_t heads, shape;
  double *query; /* [D], or [heads, D] when whole */
  double bias;
  size_t base;      /* packed index of (site, 0, 0) */
  size_t head_base; /* packed index of (site, 0) */
} MharDepthSite;

struct MharRoute {
  size_t max_tokens, D;
  double eps;
  size_t n_rows, n_sites, n_shapes;
  bool plain;
  size_t W, t; /* of the batch */
  MharDepthSite *sites;
  MharDepthShape *shapes;
  MharBuffer rows;
  size_t row_stride; /* elements between rows of the history */
  size_t stride;     /* tokens between rows of logits, inverse and norms */
  size_t n_weights;  /* ΣHN */
  size_t n_heads;    /* ΣH */
  double *logits;    /* with the bias */
  double *inverse;   /* 1 / sqrt (mean s² + eps) */
  double *norms;
};

static inline const float *
mhar_route_token (const MharRoute *r, size_t row, size_t token)
{
  return (const float *) r->rows.data + row * r->row_stride + token * r->D;
}

static inline double *
mhar_route_logits (const MharRoute *r, const MharDepthSite *s, size_t head, size_t source)
{
  return r->logits + (s->base + head * s->n + source) * r->stride;
}

static inline double *
mhar_route_norms (const MharRoute *r, const MharDepthShape *shape, size_t row, size_t piece)
{
  return r->norms + (shape->norm_base + row * shape->pieces + piece) * r->stride;
}

/* 1/rms and norms of row `row`, all tokens of the batch. */
void mhar_route_measure (MharRoute *r, size_t row);
/* Logits of row `row` at every site that reads it. */
int mhar_route_look_ahead (MharContext *c, MharRoute *r, size_t row);
/* Logits of one site, straight from its sources. */
void mhar_route_score_plain (MharRoute *r, const MharDepthSite *site);

/* Σ q x over n, in double. */
double mhar_route_dot (const double *q, const float *x, size_t n);

/* A read on its way from weights to rows. */
typedef struct {
  const MharRoute *r;
  size_t n, heads;
  const int32_t *sources;
  MharDepthShape shape;
  float *mix, *normed; /* either may be NULL */
  const float *gain;
  double eps;
} MharDepthRead;

/* Where a read puts its mix, its norm, and the gain of that. */
int mhar_route_take_out (MharContext *c, const MharReadOut *out, MharDepthRead *read);
/* Doubles of scratch that a thread needs to mix. */
size_t mhar_route_mix_doubles (const MharDepthRead *read);
/* Mixes tokens [first, first + count), count ≤ MHAR_LANES, with the weights w [heads][n][MHAR_LANES]. */
void mhar_route_mix_block (const MharDepthRead *read, size_t first, size_t count, const double *w, double *scratch);

/* Checks what a read asks for of a history of `n_rows` rows; `i` is its number, for messages. */
int mhar_route_check_site (MharContext *c, size_t width, int32_t n_rows, const MharRouteSite *s, int32_t i);
/* Checks that a span is of the batch at hand. */
int mhar_route_check_span (MharContext *c, const MharRoute *r, MharSpan span);

/* Softmax over n sources of MHAR_LANES tokens, logits `stride` apart: w [n][MHAR_LANES], and ln w where log_w is not
 * NULL, as (l − max) − ln Σ. */
void mhar_lanes_softmax (const double *logits, size_t stride, size_t n, double *w, double *log_w);
/* (1/heads) Σ_h Σ_n w_h ln (w_h / mean_h w) of w, log_w [heads][n][MHAR_LANES]. */
void mhar_lanes_js (const double *w, const double *log_w, size_t heads, size_t n, double *js);
/* Σ of the first `count` of v, and of a·b, in order. */
double mhar_lanes_sum (const double *v, size_t count);
double mhar_lanes_dot (const double *a, const double *b, size_t count);
