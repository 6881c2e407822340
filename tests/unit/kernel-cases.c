/* SPDX-License-Identifier: MIT */
/* The cases, their inputs, and how a backend runs them. */
#include "tests/unit/kernel-cases.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const KernelCase cases[] = {
  { "embed/f32", KERNEL_EMBED, .W = 1, .t = 33, .D = 31, .V = 50 },
  { "embed/bf16-unaligned-parts", KERNEL_EMBED, .W = 2, .t = 31, .D = 65, .V = 99, .dtype = MHAR_BF16,
    .unaligned = true, .n_parts = 3 },
  { "embed/f16-unaligned", KERNEL_EMBED, .W = 1, .t = 1, .D = 96, .V = 7, .dtype = MHAR_F16, .unaligned = true },
  { "norm/one", KERNEL_NORM, .W = 1, .t = 1, .D = 1 },
  { "norm/odd", KERNEL_NORM, .W = 1, .t = 33, .D = 65 },
  { "norm/in-place-bf16", KERNEL_NORM, .W = 2, .t = 31, .D = 96, .dtype = MHAR_BF16, .unaligned = true,
    .in_place = true },
  { "norm/small", KERNEL_NORM, .W = 1, .t = 65, .D = 512, .size = 1e-4, .dtype = MHAR_F16 },
  { "norm/zero-row", KERNEL_NORM, .W = 1, .t = 5, .D = 64, .zero_row = true },
  { "matmul/f32", KERNEL_MATMUL, .W = 1, .t = 33, .D = 65, .V = 31 },
  { "matmul/f32-unaligned", KERNEL_MATMUL, .W = 1, .t = 31, .D = 64, .V = 80, .unaligned = true },
  { "matmul/one-token", KERNEL_MATMUL, .W = 1, .t = 1, .D = 96, .V = 33, .dtype = MHAR_BF16, .bias = true },
  { "matmul/bf16-parts", KERNEL_MATMUL, .W = 2, .t = 33, .D = 96, .V = 120, .dtype = MHAR_BF16, .unaligned = true,
    .n_parts = 3, .bias = true },
  { "matmul/f16-rows-of-two-parts", KERNEL_MATMUL, .W = 1, .t = 65, .D = 80, .V = 99, .dtype = MHAR_F16,
    .unaligned = true, .n_parts = 3, .first = 20, .count = 31, .bias = true },
  { "matmul/f32-rows-of-three-parts", KERNEL_MATMUL, .W = 1, .t = 17, .D = 48, .V = 99, .n_parts = 3, .first = 32,
    .count = 36 },
  { "matmul/chunks", KERNEL_MATMUL, .W = 1, .t = 5, .D = 1000, .V = 2500, .dtype = MHAR_BF16, .first = 3,
    .count = 2400 },
  { "rope/plain", KERNEL_ROPE, .W = 1, .t = 33, .A = 3, .K = 1, .E = 16 },
  { "rope/gains", KERNEL_ROPE, .W = 2, .t = 31, .A = 4, .K = 2, .E = 24, .gain = true },
  { "rope/gains-bf16", KERNEL_ROPE, .W = 1, .t = 65, .A = 2, .K = 2, .E = 80, .gain = true, .dtype = MHAR_BF16,
    .unaligned = true },
  { "attention/one-token", KERNEL_ATTENTION, .W = 1, .t = 1, .A = 2, .K = 1, .E = 16 },
  { "attention/t31-e16", KERNEL_ATTENTION, .W = 2, .t = 31, .A = 4, .K = 4, .E = 16 },
  { "attention/t33-e24-grouped", KERNEL_ATTENTION, .W = 1, .t = 33, .A = 6, .K = 2, .E = 24 },
  { "attention/t65-e64-grouped", KERNEL_ATTENTION, .W = 2, .t = 65, .A = 4, .K = 1, .E = 64 },
  { "attention/t200-e80", KERNEL_ATTENTION, .W = 1, .t = 200, .A = 2, .K = 2, .E = 80 },
  { "attention/sliding-1", KERNEL_ATTENTION, .W = 1, .t = 65, .A = 2, .K = 1, .E = 16, .sliding = 1 },
  { "attention/sliding-7", KERNEL_ATTENTION, .W = 2, .t = 133, .A = 2, .K = 1, .E = 32, .sliding = 7 },
  { "attention/sliding-100", KERNEL_ATTENTION, .W = 1, .t = 150, .A = 3, .K = 3, .E = 16, .sliding = 100 },
  { "attention/equal", KERNEL_ATTENTION, .W = 1, .t = 65, .A = 2, .K = 2, .E = 16, .equal_rows = true },
  /* Scores of 1e4 carry a float error of 1e-3, and weights move by as much where two are close; how much depends on the
   * order in which BLAS adds: 0.9 of the plain limit with OpenBLAS's SkylakeX kernels, 8.5 with its Zen ones. */
  { "attention/huge", KERNEL_ATTENTION, .W = 1, .t = 65, .A = 2, .K = 1, .E = 16, .size = 60.0, .slack = 20.0,
    .device_slack = 100.0 },
  { "swiglu/odd", KERNEL_SWIGLU, .W = 1, .t = 33, .V = 31 },
  { "swiglu/large", KERNEL_SWIGLU, .W = 2, .t = 31, .V = 80, .size = 60.0 },
  { "combine/sum", KERNEL_COMBINE, .W = 1, .t = 33, .D = 65, .a = 1.0, .b = 1.0, .in_place = true },
  { "combine/gate", KERNEL_COMBINE, .W = 1, .t = 31, .D = 96, .a = 0.3, .b = -0.7 },
  { "combine/scale", KERNEL_COMBINE, .W = 1, .t = 31, .D = 700, .a = -2.5, .b = 0.0 },
  { "blend/even", KERNEL_BLEND, .W = 1, .t = 32, .D = 64 },
  { "blend/in-place", KERNEL_BLEND, .W = 1, .t = 33, .D = 65, .in_place = true },
  { "blend/shut", KERNEL_BLEND, .W = 2, .t = 31, .D = 24, .size = 60.0 },
  { "loss/small", KERNEL_LOSS, .W = 3, .t = 31, .D = 64, .V = 65 },
  { "loss/one-token", KERNEL_LOSS, .W = 2, .t = 1, .D = 16, .V = 9 },
  { "loss/chunks", KERNEL_LOSS, .W = 1, .t = 33, .D = 1000, .V = 3000, .dtype = MHAR_BF16, .unaligned = true,
    .n_parts = 2 },
  /* The largest logit is near 3e3, with the float error of its product. */
  { "loss/huge", KERNEL_LOSS, .W = 2, .t = 33, .D = 64, .V = 80, .size = 100.0, .dtype = MHAR_F16 },
  { "route/one-head", KERNEL_ROUTE, .W = 1, .t = 33, .D = 64, .R = 17, .H = 1, .Q = 3, .S = 4 },
  { "route/one-head-interleaved", KERNEL_ROUTE, .W = 2, .t = 31, .D = 80, .R = 9, .H = 1, .Q = 33, .S = 5,
    .interleaved = true, .site_bias = 0.7, .skip = 3 },
  { "route/one-head-take", KERNEL_ROUTE, .W = 3, .t = 65, .D = 64, .R = 9, .H = 1, .Q = 2, .S = 8, .take = 4,
    .site_bias = -1.5, .skip = 5, .limit = 100 },
  { "route/one-head-take-first", KERNEL_ROUTE, .W = 1, .t = 65, .D = 64, .R = 9, .H = 1, .Q = 2, .S = 2, .take = 3,
    .take_first = true, .site_bias = 2.0 },
  { "route/three-heads", KERNEL_ROUTE, .W = 2, .t = 33, .D = 96, .R = 9, .H = 3, .Q = 5, .S = 3 },
  { "route/eight-heads", KERNEL_ROUTE, .W = 1, .t = 65, .D = 64, .R = 17, .H = 8, .Q = 34, .site_bias = 0.5,
    .skip = 1, .limit = 40 },
  { "route/four-heads-take", KERNEL_ROUTE, .W = 2, .t = 31, .D = 64, .R = 7, .H = 4, .Q = 3, .take = 3 },
  { "route/one-token", KERNEL_ROUTE, .W = 1, .t = 1, .D = 16, .R = 3, .H = 2, .Q = 1 },
  { "route/windows-left-out", KERNEL_ROUTE, .W = 3, .t = 31, .D = 64, .R = 5, .H = 2, .Q = 2, .skip = 30,
    .limit = 2 },
  { "route/all-skipped", KERNEL_ROUTE, .W = 2, .t = 5, .D = 64, .R = 3, .H = 1, .Q = 2, .S = 2, .skip = 5 },
  { "route/whole", KERNEL_ROUTE, .W = 2, .t = 33, .D = 64, .R = 9, .H = 4, .Q = 3, .whole = true },
  { "route/twice", KERNEL_ROUTE, .W = 1, .t = 65, .D = 64, .R = 6, .H = 1, .Q = 3, .S = 2, .twice = true,
    .site_bias = 1.25 },
  { "route/whole-twice-plain", KERNEL_ROUTE, .W = 1, .t = 33, .D = 96, .R = 6, .H = 3, .Q = 3, .whole = true,
    .twice = true, .plain = true, .site_bias = 0.5 },
  { "route/again", KERNEL_ROUTE, .W = 2, .t = 33, .D = 64, .R = 9, .H = 4, .Q = 2, .again = true },
  { "route/again-whole", KERNEL_ROUTE, .W = 1, .t = 65, .D = 96, .R = 6, .H = 3, .Q = 3, .whole = true, .again = true,
    .site_bias = 0.5 },
  { "route/plain", KERNEL_ROUTE, .W = 2, .t = 33, .D = 64, .R = 9, .H = 4, .Q = 2, .plain = true },
  { "route/equal-rows", KERNEL_ROUTE, .W = 1, .t = 33, .D = 64, .R = 5, .H = 1, .Q = 2, .S = 4, .equal_rows = true },
  { "route/equal-rows-heads", KERNEL_ROUTE, .W = 1, .t = 33, .D = 64, .R = 5, .H = 4, .Q = 2, .equal_rows = true },
  { "route/zero-row", KERNEL_ROUTE, .W = 1, .t = 33, .D = 64, .R = 5, .H = 4, .Q = 2, .zero_row = true },
  /* Logits of 1e4 are known to 1e-12 in double and to 1e-3 in float, and so is an entropy that is itself near 0. */
  { "route/huge", KERNEL_ROUTE, .W = 1, .t = 65, .D = 64, .R = 9, .H = 1, .Q = 3, .S = 4, .logits = 1e4,
    .slack = 5.0, .device_slack = 100.0 },
  { "route/huge-heads", KERNEL_ROUTE, .W = 2, .t = 31, .D = 64, .R = 9, .H = 4, .Q = 3, .logits = 1e4,
    .slack = 5.0, .device_slack = 100.0 },
};

const KernelCase *
kernel_cases (size_t *n)
{
  *n = sizeof cases / sizeof cases[0];
  return cases;
}

/* ---- inputs ---- */

static void *
must_alloc (size_t n, size_t size)
{
  void *p = calloc (n > 0 ? n : 1, size);
  if (p == NULL)
    abort ();
  return p;
}

typedef struct {
  uint64_t state;
  bool bf16;
} Source;

static double
uniform (Source *s)
{
  s->state ^= s->state << 13;
  s->state ^= s->state >> 7;
  s->state ^= s->state << 17;
  return (double) (s->state >> 11) * 0x1p-53;
}

/* About normal, variance 1. */
static double
normal (Source *s)
{
  double sum = -6.0;
  for (int i = 0; i < 12; i++)
    sum += uniform (s);
  return sum;
}

static uint16_t
to_bf16 (float x)
{
  uint32_t u;
  memcpy (&u, &x, 4);
  return (uint16_t) ((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

static float
from_bf16 (uint16_t h)
{
  uint32_t u = (uint32_t) h << 16;
  float x;
  memcpy (&x, &u, 4);
  return x;
}

/* The nearest half towards zero of |x| < 65504. */
static uint16_t
to_f16 (float x)
{
  int e;
  double m = frexp (fabs ((double) x), &e);
  uint16_t sign = x < 0 ? 0x8000u : 0;
  if (m == 0.0)
    return sign;
  if (e < -13)
    return (uint16_t) (sign | (uint16_t) ldexp (m, e + 24));
  return (uint16_t) (sign | (uint16_t) ((unsigned) (e + 14) << 10) | ((uint16_t) ldexp (m, 11) & 0x3ffu));
}

static float
from_f16 (uint16_t h)
{
  int e = h >> 10 & 31, m = h & 1023;
  double x = e == 0 ? ldexp (m, -24) : ldexp (m + 1024, e - 25);
  return (float) (h & 0x8000u ? -x : x);
}

static float
activation (Source *s, double size)
{
  float x = (float) (normal (s) * size);
  return s->bf16 ? from_bf16 (to_bf16 (x)) : x;
}

static float *
activations (Source *s, size_t n, double size)
{
  float *x = must_alloc (n, sizeof *x);
  for (size_t i = 0; i < n; i++)
    x[i] = activation (s, size);
  return x;
}

/* Stores one value in its type and says what was stored. */
static float
store (unsigned char *to, MharDtype type, float x)
{
  uint16_t half = type == MHAR_BF16 ? to_bf16 (x) : type == MHAR_F16 ? to_f16 (x) : 0;
  if (type == MHAR_F32) {
    memcpy (to, &x, 4);
    return x;
  }
  memcpy (to, &half, 2);
  return type == MHAR_BF16 ? from_bf16 (half) : from_f16 (half);
}

static void
make_weight (Source *s, const KernelCase *k, KernelWeight *w, size_t rows, size_t cols, size_t n_parts, double centre,
             double size)
{
  size_t element = mhar_dtype_size (k->dtype), room = rows * cols * element + 16 * 3;
  w->rows = rows;
  w->cols = cols;
  w->n_parts = n_parts > 0 ? n_parts : 1;
  w->raw = must_alloc (room, 1);
  w->value = must_alloc (rows * cols, sizeof *w->value);
  unsigned char *at = w->raw;
  for (size_t p = 0, done = 0; p < w->n_parts; p++) {
    size_t n = p + 1 < w->n_parts ? rows / w->n_parts : rows - done;
    at += k->unaligned ? 1 : (16 - (uintptr_t) at % 16) % 16;
    w->parts[p] = (MharStored){ at, k->dtype, n };
    for (size_t i = 0; i < n * cols; i++, at += element)
      w->value[done * cols + i] = store (at, k->dtype, (float) centre + activation (s, size));
    if (s->bf16 && k->dtype == MHAR_F32 && centre != 0.0) /* a sum of two bf16 is none */
      for (size_t i = 0; i < n * cols; i++)
        w->value[done * cols + i]
            = store (at - (n * cols - i) * 4, MHAR_F32, from_bf16 (to_bf16 (w->value[done * cols + i])));
    done += n;
  }
}

static double *
make_queries (Source *s, size_t n, size_t D, double logits)
{
  double *q = must_alloc (n * D, sizeof *q);
  for (size_t i = 0; i < n * D; i++)
    q[i] = normal (s) * logits / sqrt ((double) D);
  return q;
}

static void
make_site (Source *s, const KernelCase *k, MharRouteSite *site, size_t index)
{
  size_t n = index + 1 + (k->twice ? 1 : 0);
  int32_t *sources = must_alloc (n, sizeof *sources);
  for (size_t i = 0; i < n; i++)
    sources[i] = i > index ? 0 : (int32_t) i;
  site->n_sources = (int32_t) n;
  site->sources = sources;
  site->heads = (int32_t) k->H;
  site->whole = k->whole && index % 2 == 0;
  /* A head sees D/H coordinates: the query is longer, so that the logits are as large. */
  site->query = make_queries (s, site->whole ? k->H : 1, k->D,
                              (k->logits > 0 ? k->logits : 1.0) * (site->whole ? 1.0 : sqrt ((double) k->H)));
  site->bias = k->site_bias;
}

static void
make_null (Source *s, const KernelCase *k, MharNullSite *null, const MharRouteSite *site, size_t index, bool sliced)
{
  size_t n = (size_t) site->n_sources;
  null->site = (int32_t) index;
  null->n_queries = (int32_t) k->Q;
  null->queries = make_queries (s, k->Q * (site->whole ? k->H : 1), k->D,
                                (k->logits > 0 ? k->logits : 1.0) * (site->whole ? 1.0 : sqrt ((double) k->H)));
  null->slices = sliced ? (int32_t) k->S : 0;
  null->interleaved = k->interleaved;
  if (k->take == 0 || n < k->take)
    return;
  int32_t *take = must_alloc (k->take, sizeof *take);
  for (size_t i = 0; i < k->take; i++)
    take[i] = (int32_t) (k->take_first ? i : i * (n - 1) / (k->take - 1));
  null->n_take = (int32_t) k->take;
  null->take = take;
}

static void
make_route (Source *s, const KernelCase *k, KernelInputs *in)
{
  size_t row = k->W * k->t * k->D;
  in->x = activations (s, k->R * row, 1.0);
  for (size_t r = 1; k->equal_rows && r < k->R; r++)
    memcpy (in->x + r * row, in->x, row * sizeof *in->x);
  if (k->zero_row)
    memset (in->x + row, 0, row / 2 * sizeof *in->x);
  in->n_sites = k->R;
  in->sites = must_alloc (k->R, sizeof *in->sites);
  in->nulls = must_alloc (2 * k->R, sizeof *in->nulls);
  in->all_rows = must_alloc (k->R, sizeof *in->all_rows);
  make_weight (s, k, &in->gain, 1, k->D, 1, 1.0, 0.1);
  for (size_t i = 0; i < k->R; i++) {
    in->all_rows[i] = (int32_t) i;
    make_site (s, k, &in->sites[i], i);
    if (k->H == 1 && k->S > 0)
      make_null (s, k, &in->nulls[in->n_nulls++], &in->sites[i], i, true);
    make_null (s, k, &in->nulls[in->n_nulls++], &in->sites[i], i, false);
  }
}

static void
make_angles (const KernelCase *k, KernelInputs *in)
{
  size_t half = k->E / 2;
  in->angles = must_alloc (k->t * k->E, sizeof *in->angles);
  for (size_t p = 0; p < k->t; p++)
    for (size_t i = 0; i < half; i++) {
      double angle = (double) p * pow (10000.0, -2.0 * (double) i / (double) k->E);
      in->angles[p * k->E + i] = (float) cos (angle);
      in->angles[p * k->E + half + i] = (float) sin (angle);
    }
}

static void
make_ids (Source *s, const KernelCase *k, KernelInputs *in)
{
  in->ids = must_alloc (k->W * k->t, sizeof *in->ids);
  for (size_t i = 0; i < k->W * k->t; i++)
    in->ids[i] = i == 0 ? (int32_t) k->V - 1 : (int32_t) (uniform (s) * (double) k->V);
}

static void
make_inputs (Source *s, const KernelCase *k, KernelInputs *in)
{
  size_t T = k->W * k->t, size = (k->A + 2 * k->K) * k->E;
  double scale = k->size > 0 ? k->size : 1.0, unit = k->D > 0 ? 1.0 / sqrt ((double) k->D) : 1.0;
  switch (k->op) {
  case KERNEL_EMBED:
    make_weight (s, k, &in->weight, k->V, k->D, k->n_parts, 0.0, 1.0);
    make_ids (s, k, in);
    break;
  case KERNEL_NORM:
    in->x = activations (s, T * k->D, scale);
    if (k->zero_row)
      memset (in->x + k->D, 0, k->D * sizeof *in->x);
    make_weight (s, k, &in->gain, 1, k->D, 1, 1.0, 0.1);
    break;
  case KERNEL_MATMUL:
  case KERNEL_LOSS:
    in->x = activations (s, T * k->D, scale);
    make_weight (s, k, &in->weight, k->V, k->D, k->n_parts, 0.0, k->op == KERNEL_LOSS ? 3.0 * unit : unit);
    make_weight (s, k, &in->bias, 1, k->V, 1, 0.0, 1.0);
    make_ids (s, k, in);
    break;
  case KERNEL_ROPE:
  case KERNEL_ATTENTION:
    in->x = activations (s, T * size, scale);
    for (size_t i = size; k->equal_rows && i < T * size; i++)
      in->x[i] = in->x[i % size];
    make_weight (s, k, &in->gain, 1, k->E, 1, 1.0, 0.1);
    make_weight (s, k, &in->gain_two, 1, k->E, 1, 1.0, 0.1);
    make_angles (k, in);
    break;
  case KERNEL_SWIGLU:
    in->x = activations (s, T * 2 * k->V, scale);
    break;
  case KERNEL_COMBINE:
    in->x = activations (s, T * k->D, scale);
    in->y = activations (s, T * k->D, scale);
    break;
  case KERNEL_BLEND: /* x: p, then the gate's logits */
    in->x = activations (s, 2 * T * k->D, scale);
    in->y = activations (s, T * k->D, scale);
    break;
  case KERNEL_ROUTE:
    make_route (s, k, in);
    break;
  }
}

KernelInputs *
kernel_inputs_new (const KernelCase *k, bool bf16)
{
  Source s = { 1469598103934665603u, bf16 };
  for (const char *p = k->name; *p != '\0'; p++)
    s.state = (s.state ^ (unsigned char) *p) * 1099511628211u;
  KernelInputs *in = must_alloc (1, sizeof *in);
  make_inputs (&s, k, in);
  return in;
}

static void
free_weight (KernelWeight *w)
{
  free (w->raw);
  free (w->value);
}

void
kernel_inputs_free (KernelInputs *in)
{
  free (in->x);
  free (in->y);
  free (in->ids);
  free (in->angles);
  free_weight (&in->weight);
  free_weight (&in->gain);
  free_weight (&in->gain_two);
  free_weight (&in->bias);
  for (size_t i = 0; i < in->n_sites; i++) {
    free ((void *) in->sites[i].sources);
    free ((void *) in->sites[i].query);
  }
  for (size_t i = 0; i < in->n_nulls; i++) {
    free ((void *) in->nulls[i].queries);
    free ((void *) in->nulls[i].take);
  }
  free (in->sites);
  free (in->nulls);
  free (in->all_rows);
  free (in);
}

/* ---- results ---- */

double *
kernel_output (KernelResult *result, const char *what, bool sums, size_t n)
{
  if (result->n == KERNEL_OUTPUTS)
    abort ();
  KernelOutput *out = &result->out[result->n++];
  *out = (KernelOutput){ what, sums, n, must_alloc (n, sizeof (double)) };
  return out->v;
}

void
kernel_result_clear (KernelResult *result)
{
  for (size_t i = 0; i < result->n; i++)
    free (result->out[i].v);
  result->n = 0;
}

double
kernel_share (const KernelOutput *a, const KernelOutput *b, double limit, double floor)
{
  double norm = 0.0, error = 0.0;
  if (a->n != b->n)
    return INFINITY;
  if (a->n == 0)
    return 0.0;
  for (size_t i = 0; i < a->n; i++) {
    norm += a->v[i] * a->v[i];
    error += (a->v[i] - b->v[i]) * (a->v[i] - b->v[i]);
  }
  double share = sqrt (error) / (limit * (sqrt (norm) + sqrt ((double) a->n) * floor));
  return isfinite (share) ? share : INFINITY;
}

size_t
kernel_heads (const KernelInputs *in)
{
  size_t n = 0;
  for (size_t i = 0; i < in->n_sites; i++)
    n += (size_t) in->sites[i].heads;
  return n;
}

size_t
kernel_weights (const KernelInputs *in)
{
  size_t n = 0;
  for (size_t i = 0; i < in->n_sites; i++)
    n += (size_t) in->sites[i].heads * (size_t) in->sites[i].n_sources;
  return n;
}

MharRouteEdit
kernel_edit (const KernelInputs *in, size_t index, int32_t *sources, int32_t *from)
{
  static const MharWeightsRule rules[]
      = { MHAR_WEIGHTS_TOP, MHAR_WEIGHTS_MEAN, MHAR_WEIGHTS_FROM, MHAR_WEIGHTS_AS_SCORED };
  MharRouteEdit edit = { .site = in->sites[index], .rule = rules[index % 4], .from = from };
  int32_t N = edit.site.n_sources, dropped = N > 1 ? (int32_t) index % N : N, n = 0;
  for (int32_t i = 0; i < N; i++)
    if (i != dropped)
      sources[n++] = edit.site.sources[i];
  for (int32_t h = 0; h < edit.site.heads; h++)
    from[h] = (h + 1) % edit.site.heads;
  edit.site.n_sources = n;
  edit.site.sources = sources;
  edit.keep = 1 + (int32_t) index % 3;
  return edit;
}

/* ---- running ---- */

typedef struct {
  const MharOps *ops;
  MharContext *c;
  size_t element; /* bytes of an activation */
  int status;     /* of the first call that failed; nothing is called after it */
  size_t n_buffers, n_weights;
  MharBuffer *buffers[8];
  MharWeight *weights[4];
  MharRoute *route;
  MharNull *null;
  const KernelCase *k;
  const KernelInputs *in;
  KernelResult *result;
} Run;

#define TRY(run, call) \
  do { \
    if ((run)->status == MHAR_OK) \
      (run)->status = (call); \
  } while (0)

static MharBuffer *
new_buffer (Run *r, size_t bytes)
{
  MharBuffer *b = NULL;
  TRY (r, r->ops->buffer_new (r->c, bytes, &b));
  r->buffers[r->n_buffers++] = b;
  return b;
}

/* Activations on the device, from `from` or undefined. */
static MharRows
new_rows (Run *r, size_t n, const float *from)
{
  /* An offset of 8 elements, so that views are tested everywhere. */
  MharRows x = { new_buffer (r, (n + 8) * r->element), 8 };
  if (from != NULL)
    TRY (r, r->ops->rows_set (r->c, x, n, from));
  return x;
}

static MharBuffer *
new_copy (Run *r, const void *from, size_t bytes)
{
  MharBuffer *b = new_buffer (r, bytes);
  TRY (r, r->ops->upload (r->c, b, 0, from, bytes));
  return b;
}

static MharWeight *
new_weight (Run *r, const KernelWeight *from)
{
  MharWeight *w = NULL;
  TRY (r, r->ops->weight_new (r->c, from->parts, from->n_parts, from->cols, &w));
  r->weights[r->n_weights++] = w;
  return w;
}

static void
give_rows (Run *r, const char *what, MharRows x, size_t n)
{
  float *host = must_alloc (n, sizeof *host);
  TRY (r, r->ops->rows_get (r->c, x, n, host));
  double *out = kernel_output (r->result, what, false, n);
  for (size_t i = 0; i < n; i++)
    out[i] = (double) host[i];
  free (host);
}

static void
run_matmul (Run *r, size_t T)
{
  const KernelCase *k = r->k;
  /* Rows on both sides a little apart. */
  size_t count = k->count > 0 ? k->count : k->V - k->first, ldx = k->D + 3, ldo = count + 5;
  float *spaced = must_alloc (T * ldx, sizeof *spaced), *cleared = must_alloc (T * ldo, sizeof *cleared);
  for (size_t i = 0; i < T; i++)
    memcpy (spaced + i * ldx, r->in->x + i * k->D, k->D * sizeof *spaced);
  MharRows x = new_rows (r, T * ldx, spaced), out = new_rows (r, T * ldo, cleared);
  MharWeight *w = new_weight (r, &r->in->weight), *bias = k->bias ? new_weight (r, &r->in->bias) : NULL;
  TRY (r, r->ops->matmul (r->c, x, ldx, w, k->first, count, bias, T, out, ldo));
  give_rows (r, "matmul", out, T * ldo); /* with the gaps, which must have stayed 0 */
  free (spaced);
  free (cleared);
}

static void
run_heads (Run *r, size_t T)
{
  const KernelCase *k = r->k;
  size_t size = (k->A + 2 * k->K) * k->E;
  MharRows x = new_rows (r, T * size, r->in->x);
  if (k->op == KERNEL_ROPE) {
    MharBuffer *angles = new_copy (r, r->in->angles, k->t * k->E * sizeof (float));
    MharWeight *q = k->gain ? new_weight (r, &r->in->gain) : NULL;
    MharWeight *g = k->gain ? new_weight (r, &r->in->gain_two) : NULL;
    TRY (r, r->ops->rope (r->c, x, q, g, 1e-6, angles, k->W, k->t, k->A, k->K, k->E));
    give_rows (r, "rope", x, T * size);
  } else {
    MharRows out = new_rows (r, T * k->A * k->E, NULL);
    TRY (r, r->ops->attention (r->c, x, 1.0 / sqrt ((double) k->E), k->sliding, k->W, k->t, k->A, k->K, k->E, out));
    give_rows (r, "attention", out, T * k->A * k->E);
  }
}

static void
run_loss (Run *r, size_t T)
{
  const KernelCase *k = r->k;
  MharRows x = new_rows (r, T * k->D, r->in->x);
  MharBuffer *ids = new_copy (r, r->in->ids, T * sizeof (int32_t));
  MharWeight *head = new_weight (r, &r->in->weight);
  double *sum = kernel_output (r->result, "loss", false, k->W);
  TRY (r, r->ops->cross_entropy (r->c, x, head, ids, k->W, k->t, k->D, sum));
}

static void
run_rows (Run *r, size_t T)
{
  const KernelCase *k = r->k;
  MharRows x, y, out;
  MharWeight *w;
  MharBuffer *ids;
  switch (k->op) {
  case KERNEL_EMBED:
    out = new_rows (r, T * k->D, NULL);
    w = new_weight (r, &r->in->weight);
    ids = new_copy (r, r->in->ids, T * sizeof (int32_t));
    TRY (r, r->ops->embed (r->c, w, ids, T, out));
    give_rows (r, "embed", out, T * k->D);
    break;
  case KERNEL_NORM:
    x = new_rows (r, T * k->D, r->in->x);
    out = k->in_place ? x : new_rows (r, T * k->D, NULL);
    w = new_weight (r, &r->in->gain);
    TRY (r, r->ops->rms_norm (r->c, x, w, 1e-6, T, k->D, out));
    give_rows (r, "norm", out, T * k->D);
    break;
  case KERNEL_SWIGLU:
    x = new_rows (r, T * 2 * k->V, r->in->x);
    out = new_rows (r, T * k->V, NULL);
    TRY (r, r->ops->swiglu (r->c, x, T, k->V, out));
    give_rows (r, "swiglu", out, T * k->V);
    break;
  case KERNEL_BLEND:
    x = new_rows (r, 2 * T * k->D, r->in->x);
    y = new_rows (r, T * k->D, r->in->y);
    out = k->in_place ? y : new_rows (r, T * k->D, NULL);
    TRY (r, r->ops->blend (r->c, x, (MharRows){ x.buffer, x.offset + T * k->D }, y, T * k->D, out));
    give_rows (r, "blend", out, T * k->D);
    break;
  default:
    x = new_rows (r, T * k->D, r->in->x);
    y = k->b == 0.0 ? (MharRows){ NULL, 0 } : new_rows (r, T * k->D, r->in->y);
    out = k->in_place ? y : new_rows (r, T * k->D, NULL);
    TRY (r, r->ops->combine (r->c, k->a, x, k->b, y, T * k->D, out));
    give_rows (r, "combine", out, T * k->D);
  }
}

/* The rows of another batch, longer and the other way round. */
static void
run_before (Run *r, size_t T, const MharReadOut *out)
{
  size_t row = T * r->k->D;
  float *other = must_alloc (row, sizeof *other);
  for (size_t i = 0; i < r->k->R; i++) {
    for (size_t j = 0; j < row; j++)
      other[j] = -2.0f * r->in->x[i * row + j];
    TRY (r, r->ops->rows_set (r->c, r->ops->route_row (r->route, (int32_t) i), row, other));
    TRY (r, r->ops->route_stored (r->c, r->route, (int32_t) i));
    TRY (r, r->ops->route_read (r->c, r->route, (int32_t) i, out));
  }
  free (other);
}

/* An edited read beside every site. */
static void
run_edits (Run *r, size_t T)
{
  const KernelCase *k = r->k;
  size_t row = T * k->D, most = row * k->H;
  MharRows mix = new_rows (r, most, NULL), normed = new_rows (r, most, NULL);
  MharReadOut out = { mix, normed, r->weights[0], 1e-6 };
  float *host = must_alloc (most, sizeof *host);
  int32_t *sources = must_alloc (k->R + 1, sizeof *sources), *from = must_alloc (k->H, sizeof *from);
  double *all_mix = kernel_output (r->result, "edited mix", false, k->R * most);
  double *all_normed = kernel_output (r->result, "edited normed", false, k->R * most);
  for (size_t i = 0; r->status == MHAR_OK && i < k->R; i++) {
    MharRouteEdit edit = kernel_edit (r->in, i, sources, from);
    size_t n = edit.site.whole ? most : row;
    TRY (r, r->ops->route_read_edited (r->c, r->route, &edit, &out));
    TRY (r, r->ops->rows_get (r->c, mix, n, host));
    for (size_t j = 0; j < n; j++)
      all_mix[i * most + j] = (double) host[j];
    TRY (r, r->ops->rows_get (r->c, normed, n, host));
    for (size_t j = 0; j < n; j++)
      all_normed[i * most + j] = (double) host[j];
  }
  free (host);
  free (sources);
  free (from);
}

/* Stores the rows in order; reads a site as soon as it can be. */
static void
run_reads (Run *r, size_t T)
{
  const KernelCase *k = r->k;
  size_t row = T * k->D, most = row * k->H;
  MharRows mix = new_rows (r, most, NULL), normed = new_rows (r, most, NULL);
  MharReadOut out = { mix, normed, new_weight (r, &r->in->gain), 1e-6 };
  float *host = must_alloc (most, sizeof *host);
  double *all_mix = kernel_output (r->result, "mix", false, k->R * most);
  double *all_normed = kernel_output (r->result, "normed", false, k->R * most);
  TRY (r, r->ops->route_begin (r->c, r->route, k->W, k->t));
  if (k->again)
    run_before (r, T, &out);
  for (size_t i = 0; r->status == MHAR_OK && i < k->R; i++) {
    size_t n = r->in->sites[i].whole ? most : row;
    TRY (r, r->ops->rows_set (r->c, r->ops->route_row (r->route, (int32_t) i), row, r->in->x + i * row));
    TRY (r, r->ops->route_stored (r->c, r->route, (int32_t) i));
    TRY (r, r->ops->route_read (r->c, r->route, (int32_t) i, &out));
    TRY (r, r->ops->rows_get (r->c, mix, n, host));
    for (size_t j = 0; j < n; j++)
      all_mix[i * most + j] = (double) host[j];
    TRY (r, r->ops->rows_get (r->c, normed, n, host));
    for (size_t j = 0; j < n; j++)
      all_normed[i * most + j] = (double) host[j];
  }
  free (host);
}

/* All but the first token of the batch, if there are others. */
static void
run_weights (Run *r, size_t T)
{
  size_t first = T > 1 ? 1 : 0, count = T - first, at = 0;
  double *out = kernel_output (r->result, "weights", false, count * kernel_weights (r->in));
  for (size_t i = 0; i < r->in->n_sites; i++) {
    size_t n = count * (size_t) r->in->sites[i].heads * (size_t) r->in->sites[i].n_sources;
    float *host = must_alloc (n, sizeof *host);
    TRY (r, r->ops->route_weights (r->c, r->route, (int32_t) i, first, count, host));
    for (size_t j = 0; j < n; j++)
      out[at++] = (double) host[j];
    free (host);
  }
}

static MharSpan
case_span (const KernelCase *k)
{
  return (MharSpan){ (int32_t) k->W, (int32_t) k->t, k->skip, k->limit > 0 ? k->limit : -1 };
}

/* Σ (w − mean)² from Σ w² and Σ w: small where large things cancel, so it is compared by itself. */
static void
spread (const KernelCase *k, const double *square, const double *weight, size_t n, double *out)
{
  int64_t left = k->limit > 0 ? k->limit : INT64_MAX, each = (int64_t)k->t > k->skip ? (int64_t)k->t - k->skip : 0;
  for (size_t w = 0; w < k->W; w++) {
    int64_t count = each < left ? each : left;
    for (size_t i = w * n; count > 0 && i < (w + 1) * n; i++)
      out[i] = square[i] - weight[i] * weight[i] / (double)count;
    left -= count;
  }
}

void
kernel_spreads (const KernelCase *k, const KernelInputs *in, const double *weight, const double *square,
                KernelResult *result)
{
  size_t n = kernel_weights (in);
  spread (k, square, weight, n, kernel_output (result, "weight spreads", true, k->W * n));
}

static void
run_sums (Run *r)
{
  const KernelCase *k = r->k;
  MharRouteSums sums;
  int zero = 0;
  sums.weight = kernel_output (r->result, "weight sums", true, k->W * kernel_weights (r->in));
  sums.contribution = kernel_output (r->result, "contribution sums", true, k->W * kernel_weights (r->in));
  sums.entropy = kernel_output (r->result, "entropy sums", true, k->W * kernel_heads (r->in));
  sums.head_js = kernel_output (r->result, "head js sums", true, k->W * k->R);
  sums.square = kernel_output (r->result, "weight squares", true, k->W * kernel_weights (r->in));
  TRY (r, r->ops->route_sums (r->c, r->route, case_span (k), &sums));
  kernel_spreads (k, r->in, sums.weight, sums.square, r->result);
  double *cosine = kernel_output (r->result, "cosine sums", true, k->W * k->R * k->R);
  double *mean_abs = kernel_output (r->result, "mean |cosine| sums", true, k->W);
  double *flag = kernel_output (r->result, "zero row", true, 1);
  TRY (r, r->ops->cosines (r->c, r->route, r->in->all_rows, k->R, case_span (k), cosine, mean_abs, &zero));
  *flag = zero;
}

/* Lays the three kinds of sums of all null sites out one after another. */
static void
run_null (Run *r)
{
  const KernelCase *k = r->k;
  size_t n = r->in->n_nulls, queries = k->W * k->Q, n_weights = 0;
  MharNullSums *sums = must_alloc (n, sizeof *sums);
  for (size_t i = 0; i < n; i++) {
    const MharNullSite *site = &r->in->nulls[i];
    n_weights += k->Q * k->H * (size_t) (site->n_take > 0 ? site->n_take : r->in->sites[site->site].n_sources);
  }
  double *kl = kernel_output (r->result, "null kl", true, n * queries * k->S);
  double *js = kernel_output (r->result, "null js", true, n * queries);
  double *weight = kernel_output (r->result, "null weights", true, n_weights);
  for (size_t i = 0; i < n; i++) {
    const MharNullSite *site = &r->in->nulls[i];
    size_t sources = (size_t) (site->n_take > 0 ? site->n_take : r->in->sites[site->site].n_sources);
    sums[i].kl = site->slices > 0 ? kl + i * queries * k->S : NULL;
    sums[i].js = site->slices > 0 ? NULL : js + i * queries;
    sums[i].weight = site->slices > 0 ? NULL : weight;
    weight += k->Q * k->H * sources;
  }
  TRY (r, r->ops->null_new (r->c, r->route, r->in->nulls, n, &r->null));
  TRY (r, r->ops->null_run (r->c, r->route, r->null, case_span (k), sums));
  free (sums);
}

static void
run_route (Run *r, size_t T)
{
  const KernelCase *k = r->k;
  MharRouteTable table = { T + 3, k->D, 1e-6, (int32_t) k->R, (int32_t) k->R, r->in->sites, k->plain, 0, k->again };
  TRY (r, r->ops->route_new (r->c, &table, &r->route));
  if (r->status != MHAR_OK)
    return;
  run_reads (r, T);
  run_edits (r, T);
  run_weights (r, T);
  run_sums (r);
  run_null (r);
}

int
kernel_run (const MharOps *ops, MharContext *c, MharPrecision precision, const KernelCase *k, const KernelInputs *in,
            KernelResult *result, char *err, size_t n)
{
  Run r = { .ops = ops, .c = c, .element = precision == MHAR_PRECISION_BF16 ? 2 : 4, .k = k, .in = in };
  size_t T = k->W * k->t;
  r.result = result;
  result->n = 0;
  switch (k->op) {
  case KERNEL_MATMUL:
    run_matmul (&r, T);
    break;
  case KERNEL_ROPE:
  case KERNEL_ATTENTION:
    run_heads (&r, T);
    break;
  case KERNEL_LOSS:
    run_loss (&r, T);
    break;
  case KERNEL_ROUTE:
    run_route (&r, T);
    break;
  default:
    run_rows (&r, T);
  }
  TRY (&r, ops->synchronize (c));
  snprintf (err, n, "%s", r.status == MHAR_OK ? "" : ops->error_text (c));
  if (r.null != NULL)
    ops->null_free (c, r.null);
  if (r.route != NULL)
    ops->route_free (c, r.route);
  for (size_t i = 0; i < r.n_weights; i++)
    if (r.weights[i] != NULL)
      ops->weight_free (c, r.weights[i]);
  for (size_t i = 0; i < r.n_buffers; i++)
    ops->buffer_free (c, r.buffers[i]);
  return r.status;
}
