/* SPDX-License-Identifier: MIT */
/* The only boundary between the program and the arithmetic.
 *
 * One table of operations over opaque device memory. The CPU fills all of it and is the truth (what it sums, it
 * sums in double); CUDA fills the same table from a plug-in. Nothing here prints, exits, or knows what a file is.
 *
 * Letters, used in every shape below and in both implementations:
 *
 *   W  windows in the batch, each of t tokens; T = W·t tokens, window-major
 *   D  model width           V  vocabulary              F  feed-forward width
 *   A  attention heads       K  key/value heads         E  width of one attention head
 *   H  routing heads of a site: head h owns the coordinates [h·D/H, (h+1)·D/H)
 *   N  sources of a site     R  rows of the depth history
 *   S  slices of a query     Q  queries handed to a null (one a draw)
 *
 * Activations are float32 or bfloat16, as the context was opened (MharPrecision); offsets and leading dimensions
 * count elements. All matrices are row-major. Every function returns 0 or an MharStatus; `error_text` then says
 * in one line what happened. Calls on one context come from one thread at a time and run in order; they may still
 * be running when they return, except those that fill host memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MHAR_OPS_ABI 3
#define MHAR_BACKEND_SYMBOL "mhar_backend_get"

typedef enum {
  MHAR_OK = 0,
  MHAR_NO_MEMORY = 1,  /* the device has not the memory; the call changed nothing and may be tried smaller */
  MHAR_NO_DEVICE = 2,  /* no driver, or no such device */
  MHAR_FAILED = 3,     /* the device reported an error; the context is of no further use */
  MHAR_UNSUPPORTED = 4 /* a shape the kernels do not cover; the text names it */
} MharStatus;

typedef enum { MHAR_PRECISION_F32 = 0, MHAR_PRECISION_BF16 = 1 } MharPrecision;

typedef enum { MHAR_F32 = 0, MHAR_F16 = 1, MHAR_BF16 = 2 } MharDtype;

static inline size_t
mhar_dtype_size (MharDtype type)
{
  return type == MHAR_F32 ? 4 : 2;
}

typedef struct MharContext MharContext; /* one device, one queue, one precision */
typedef struct MharBuffer MharBuffer;   /* device memory */
typedef struct MharWeight MharWeight;   /* a matrix of the checkpoint, on the device */
typedef struct MharRoute MharRoute;     /* the depth history of a batch, its sites, and all their logits */
typedef struct MharNull MharNull;       /* queries to be scored against a finished history */

/* Activations starting `offset` elements into a buffer. */
typedef struct {
  MharBuffer *buffer;
  size_t offset;
} MharRows;

/* One stored tensor of a checkpoint: [rows, cols] of `type`, at any alignment. */
typedef struct {
  const void *data;
  MharDtype type;
  size_t rows;
} MharStored;

typedef struct {
  char name[128];    /* "NVIDIA H200", or the processor's model name */
  char runtime[128]; /* "CUDA 13.0, driver 580.159", or "OpenBLAS 0.3.21, 2 threads" */
  uint64_t memory_total, memory_free; /* bytes; 0 where it does not matter (CPU) */
} MharDeviceInfo;

/* One routing read. Scores are q·(RMSNorm(s_n) ⊙ g), so q and g come multiplied. */
typedef struct {
  int32_t n_sources;
  const int32_t *sources; /* [N] rows of the history, oldest first; a row may stand twice */
  int32_t heads;          /* columns of weights */
  int32_t whole;          /* 0: head h scores and mixes its D/heads coordinates; 1: every query the whole row */
  const double *query;    /* q ⊙ g: [D], or [heads, D] when whole */
  double bias;            /* added to the last source's logit */
} MharRouteSite;

typedef struct {
  size_t max_tokens; /* T of the largest batch */
  size_t width;      /* D */
  double eps;        /* of the RMSNorm over the whole row */
  int32_t n_rows;    /* R */
  int32_t n_sites;
  const MharRouteSite *sites; /* in the order they will be read; copied */
  int32_t plain;              /* 1: one pass over all sources a site, the reference the other path is tested against */
  int32_t block;              /* sites mixed per pass over the older rows; 0 lets the device choose */
  int32_t again;              /* 1: rows may be stored, and sites read, more than once a batch; a device may then be plain */
} MharRouteTable;

/* What becomes of a read's weights between softmax and mix. */
typedef enum {
  MHAR_WEIGHTS_AS_SCORED = 0,
  MHAR_WEIGHTS_MEAN = 1, /* every head's: the mean over the heads */
  MHAR_WEIGHTS_FROM = 2, /* head h's: those of head from[h] */
  MHAR_WEIGHTS_TOP = 3   /* the `keep` largest of each head, of equal ones the earlier sources, divided by their sum */
} MharWeightsRule;

/* A read that the table does not list: an intervention on one of its sites, or on none. */
typedef struct {
  MharRouteSite site;
  MharWeightsRule rule;
  const int32_t *from; /* [heads], each 0 … heads − 1, of MHAR_WEIGHTS_FROM */
  int32_t keep;        /* of MHAR_WEIGHTS_TOP, at least 1 */
} MharRouteEdit;

/* What a read leaves: the mix, its norm, or both. Absent ones have a NULL buffer. Shapes [T, D], or
 * [T, heads, D] at a `whole` site. */
typedef struct {
  MharRows mix;
  MharRows normed; /* RMSNorm(mix) ⊙ gain */
  const MharWeight *gain;
  double eps;
} MharReadOut;

/* Queries to score at one site against the rows it read. With `slices` > 0 (sites of one head): KL of every slice's
 * softmax from the whole query's; else the weights themselves and their disagreement between heads. */
typedef struct {
  int32_t site;
  int32_t n_queries;
  const double *queries; /* q ⊙ g: [Q, D], or [Q, heads, D] at a whole site */
  int32_t slices;        /* S, dividing D; 0: no slices */
  int32_t interleaved;   /* slice of coordinate i: 0: i / (D/S), 1: i mod S */
  int32_t n_take;        /* > 0: only these of the site's sources, and a softmax over them */
  const int32_t *take;   /* [n_take] ascending positions in the site's source list */
} MharNullSite;

/* Where one site's sums go: host memory, one entry a window, window-major. NULL is not filled. */
typedef struct {
  double *kl;     /* [W, Q, S] Σ over tokens of KL(a_s ‖ alpha), nats */
  double *js;     /* [W, Q] Σ over tokens of mean_h KL(w_h ‖ mean over heads), nats */
  double *weight; /* [Q, heads, N] Σ over the tokens of all W windows of the weights */
} MharNullSums;

/* Which positions count: of each window the positions skip ≤ i < t, and of those, in window order, the first
 * `limit` of the batch. */
typedef struct {
  int32_t windows, length; /* W, t */
  int32_t skip;
  int64_t limit; /* negative: all */
} MharSpan;

/* Sums over the counted tokens of each window, double, in host memory; NULL is not filled. The packed index P of
 * (site, head, source) is base(site) + head·N(site) + source with base(site) = Σ heads·N of the sites before; of
 * (site, head) likewise with base Σ heads. */
typedef struct {
  double *weight;       /* [W, ΣHN] Σ w */
  double *contribution; /* [W, ΣHN] Σ ‖w_n s_n[h]‖ (whole sites: ‖w_n s_n‖) */
  double *entropy;      /* [W, ΣH] Σ −Σ_n w ln w, nats */
  double *head_js;      /* [W, sites] Σ mean_h KL(w_h ‖ mean over heads), nats; 0 at sites of one head */
  double *square; /* [W, ΣHN] Σ w², to be taken with `weight`: Σ w² − (Σ w)²/n keeps its digits however small it is */
} MharRouteSums;

typedef struct MharOps {
  uint32_t abi;         /* MHAR_OPS_ABI */
  uint32_t struct_size; /* sizeof (MharOps) */
  const char *name;     /* "cpu", "cuda" */

  /* ---- devices. The text of a failure before there is a context goes to `err` (size `n`). ---- */
  int (*device_count) (int *count, char *err, size_t n);
  int (*context_new) (MharContext **out, int device, MharPrecision precision, char *err, size_t n);
  void (*context_free) (MharContext *c);
  int (*describe) (MharContext *c, MharDeviceInfo *info);
  int (*synchronize) (MharContext *c);
  /* Text of the last failure on this context; owned by it, valid till the next call. */
  const char *(*error_text) (MharContext *c);

  /* ---- memory ---- */
  int (*buffer_new) (MharContext *c, size_t bytes, MharBuffer **out); /* contents undefined */
  void (*buffer_free) (MharContext *c, MharBuffer *b);                /* NULL is allowed */
  int (*upload) (MharContext *c, MharBuffer *b, size_t offset_bytes, const void *from, size_t bytes);
  int (*download) (MharContext *c, const MharBuffer *b, size_t offset_bytes, void *to, size_t bytes);
  int (*zero) (MharContext *c, MharBuffer *b, size_t offset_bytes, size_t bytes);
  /* The parts stacked on top of each other: [Σ rows, cols]. The CPU keeps the pointers (they must outlive the weight)
   * and widens when it multiplies; a GPU copies once. A vector is [1, cols]. */
  int (*weight_new) (MharContext *c, const MharStored *parts, size_t n_parts, size_t cols, MharWeight **out);
  void (*weight_free) (MharContext *c, MharWeight *w);

  /* ---- activations as float32 in host memory, whatever the precision ---- */
  int (*rows_get) (MharContext *c, MharRows x, size_t count, float *to);
  int (*rows_set) (MharContext *c, MharRows x, size_t count, const float *from);

  /* ---- the Transformer ---- */
  /* out[i] = table[ids[i]]; ids int32 [T] on the device, each in 0..V−1 (the caller checked). */
  int (*embed) (MharContext *c, const MharWeight *table, const MharBuffer *ids, size_t T, MharRows out);
  /* out = x / sqrt (mean x² + eps) ⊙ gain; x [T, D]. out may be x. */
  int (*rms_norm) (MharContext *c, MharRows x, const MharWeight *gain, double eps, size_t T, size_t D, MharRows out);
  /* out[i, j] = Σ_k x[i, k] w[first + j, k] (+ bias[first + j]), j < count; x rows ldx apart, out rows ldo apart. */
  int (*matmul) (MharContext *c, MharRows x, size_t ldx, const MharWeight *w, size_t first, size_t count,
                 const MharWeight *bias, size_t T, MharRows out, size_t ldo);
  /* In place on qkv [T, (A + 2K)·E] = queries | keys | values: RMSNorm of every query and key head where a gain is
   * given, then the rotary embedding, half-split pairs (i, i + E/2). cos_sin float32 [t, E] on the device: E/2
   * cosines then E/2 sines of each position. */
  int (*rope) (MharContext *c, MharRows qkv, const MharWeight *q_gain, const MharWeight *k_gain, double eps,
               const MharBuffer *cos_sin, size_t W, size_t t, size_t A, size_t K, size_t E);
  /* Causal softmax(q·k·scale)·v within each window, grouped queries (A a multiple of K); `sliding` > 0 lets a
   * position see only that many newest positions, itself included. qkv as above; out [T, A·E]. */
  int (*attention) (MharContext *c, MharRows qkv, double scale, size_t sliding, size_t W, size_t t, size_t A,
                    size_t K, size_t E, MharRows out);
  /* out = silu (gate) ⊙ up; x [T, 2F] = gate | up; out [T, F]. */
  int (*swiglu) (MharContext *c, MharRows x, size_t T, size_t F, MharRows out);
  /* out = a·x + b·y, `count` elements; y is not read when b is 0; out may be x or y. */
  int (*combine) (MharContext *c, double a, MharRows x, double b, MharRows y, size_t count, MharRows out);
  /* out = p + sigmoid (z) ⊙ (h − p), `count` elements; out may be any of them. */
  int (*blend) (MharContext *c, MharRows p, MharRows z, MharRows h, size_t count, MharRows out);
  /* Σ over positions 0..t−2 of each window of the cross-entropy of the next id, nats: sum [W] in host memory.
   * x [T, D] already normed; head [V, D]. Never more than a chunk of T×V at once. */
  int (*cross_entropy) (MharContext *c, MharRows x, const MharWeight *head, const MharBuffer *ids, size_t W, size_t t,
                        size_t D, double *sum);

  /* ---- attention over depth (arXiv 2607.27230, Eq. 3) ---- */
  int (*route_new) (MharContext *c, const MharRouteTable *table, MharRoute **out);
  void (*route_free) (MharContext *c, MharRoute *r);
  /* A new batch of W windows of t tokens, W·t ≤ max_tokens; forgets the rows of the last. */
  int (*route_begin) (MharContext *c, MharRoute *r, size_t W, size_t t);
  /* Where the caller writes row `row` [T, D] (valid from route_begin to the next). */
  MharRows (*route_row) (MharRoute *r, int32_t row);
  /* Row `row` is written: its logits against every site that reads it may be taken from now on. */
  int (*route_stored) (MharContext *c, MharRoute *r, int32_t row);
  /* The read of `site`, all of whose sources are stored; every site is read once, in order, but for a table that says
   * `again`: there rows may be stored anew, and sites that read none of those rows before they are, be read anew. */
  int (*route_read) (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out);
  /* Another read of stored rows, scored and mixed by itself. It leaves nothing but what it puts out: the reductions
   * below see what the table's sites read. */
  int (*route_read_edited) (MharContext *c, MharRoute *r, const MharRouteEdit *edit, const MharReadOut *out);

  /* ---- reductions over a batch whose sites have all been read ---- */
  int (*route_sums) (MharContext *c, MharRoute *r, MharSpan span, const MharRouteSums *sums);
  /* Weights of tokens [first, first + count) of the batch at a site: float32 [count, heads, N], host memory. */
  int (*route_weights) (MharContext *c, MharRoute *r, int32_t site, size_t first, size_t count, float *to);
  /* Copies the queries; `sites` entries may name a site more than once. */
  int (*null_new) (MharContext *c, MharRoute *r, const MharNullSite *sites, size_t n_sites, MharNull **out);
  void (*null_free) (MharContext *c, MharNull *n);
  /* sums [n_sites of null_new]. */
  int (*null_run) (MharContext *c, MharRoute *r, MharNull *n, MharSpan span, const MharNullSums *sums);
  /* Cosines between every pair of `n` rows of the history, Σ over the counted tokens of each window: cosine
   * [W, n, n]; Σ of the mean over pairs i < j of |cos|: mean_abs [W]. A zero row has cosine 0 and sets *zero. */
  int (*cosines) (MharContext *c, MharRoute *r, const int32_t *rows, size_t n, MharSpan span, double *cosine,
                  double *mean_abs, int *zero);
} MharOps;

/* The CPU's table; the CUDA plug-in exports the same under MHAR_BACKEND_SYMBOL. */
const MharOps *mhar_cpu_ops (void);
typedef const MharOps *(*MharBackendGet) (void);

#ifdef __cplusplus
}
#endif
