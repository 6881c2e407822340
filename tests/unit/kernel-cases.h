/* SPDX-License-Identifier: MIT */
/* The table of kernel tests: each case is an operation and a shape. Its inputs come from its name alone, and
 * kernel_run () gives them to any MharOps, so that one table holds the CPU against plain loops (test-kernels.c) and
 * every other backend against the CPU (tests/gpu/test-ops.c). No GLib. */
#pragma once

#include "kernels/ops.h"

#include <stdbool.h>

typedef enum {
  KERNEL_EMBED,
  KERNEL_NORM,
  KERNEL_MATMUL,
  KERNEL_ROPE,
  KERNEL_ATTENTION,
  KERNEL_SWIGLU,
  KERNEL_COMBINE,
  KERNEL_BLEND,
  KERNEL_LOSS,
  KERNEL_ROUTE /* store, read, edited reads, sums, weights, nulls, cosines */
} KernelOp;

/* Letters as in kernels/ops.h. What a case does not name is 0 and off. */
typedef struct {
  const char *name;
  KernelOp op;
  size_t W, t, D;
  size_t V; /* rows of the weight, words, or F */
  size_t A, K, E, sliding;
  MharDtype dtype;
  bool unaligned; /* the stored weights start at an odd address */
  size_t n_parts, first, count;
  bool bias, gain, in_place;
  double a, b;
  double size; /* of the inputs; 0: 1 */
  size_t R, H; /* site s reads rows 0 … s */
  bool whole;  /* every second site reads whole rows */
  bool twice;  /* every site reads row 0 once more, last */
  bool plain;  /* MharRouteTable.plain */
  bool again;  /* MharRouteTable.again: all rows are stored, and all sites read, once with others before */
  bool zero_row, equal_rows;
  double logits, site_bias; /* size of the routing logits; 0: 1 */
  size_t Q, S;
  bool interleaved;
  size_t take;         /* > 1: as many sources, spread over all; 0: all */
  bool take_first;     /* … or the first ones */
  int32_t skip, limit; /* limit 0: all */
  double slack;        /* multiplies the allowance, with the reason beside the case; 0: 1 */
  double device_slack; /* likewise, of a device that computes in float32; 0: 1 */
} KernelCase;

/* The table; *n is its length. */
const KernelCase *kernel_cases (size_t *n);

typedef struct {
  unsigned char *raw; /* owns the stored bytes */
  float *value;       /* [rows, cols], exactly what is stored */
  MharStored parts[3];
  size_t n_parts, rows, cols;
} KernelWeight;

typedef struct {
  float *x, *y;
  int32_t *ids;
  float *angles; /* [t, E] */
  KernelWeight weight, gain, gain_two, bias;
  size_t n_sites, n_nulls;
  MharRouteSite *sites;
  MharNullSite *nulls;
  int32_t *all_rows; /* 0 … R − 1 */
} KernelInputs;

/* Inputs of a case; with `bf16` every activation and weight is rounded to bfloat16 first. Aborts without memory. */
KernelInputs *kernel_inputs_new (const KernelCase *k, bool bf16);
void kernel_inputs_free (KernelInputs *in);

#define KERNEL_OUTPUTS 24 /* of a case, at most */

/* What an operation gave, as doubles. */
typedef struct {
  const char *what;
  bool sums; /* the backend's own doubles, not activations */
  size_t n;
  double *v;
} KernelOutput;

typedef struct {
  size_t n;
  KernelOutput out[KERNEL_OUTPUTS];
} KernelResult;

/* A zeroed output of n values, owned by the result. */
double *kernel_output (KernelResult *result, const char *what, bool sums, size_t n);
void kernel_result_clear (KernelResult *result);

/* Runs a case. Returns the status of the first operation that failed, its text in err. */
int kernel_run (const MharOps *ops, MharContext *c, MharPrecision precision, const KernelCase *k,
                const KernelInputs *in, KernelResult *result, char *err, size_t n);

/* Difference of b from a as a share of the allowance limit·(‖a‖ + √n·floor); infinite when b is not finite. */
double kernel_share (const KernelOutput *a, const KernelOutput *b, double limit, double floor);

/* What the edited read beside site `index` is: the site without one of its sources, under each of the rules in turn.
 * Fills sources [N] and from [H], which the edit borrows. */
MharRouteEdit kernel_edit (const KernelInputs *in, size_t index, int32_t *sources, int32_t *from);

size_t kernel_heads (const KernelInputs *in);   /* ΣH of the sites */
size_t kernel_weights (const KernelInputs *in); /* ΣHN */
/* Adds the output "weight spreads" [W, ΣHN], Σ (w − mean)² over the counted tokens, from Σ w and Σ w². */
void kernel_spreads (const KernelCase *k, const KernelInputs *in, const double *weight, const double *square,
                     KernelResult *result);
