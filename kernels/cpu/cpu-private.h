/* SPDX-License-Identifier: MIT */
/* What the files of the CPU backend share: the context, memory, weights as floats, and how a failure is recorded. */
#pragma once

#include "kernels/ops.h"

#include <stdbool.h>

/* On the hot loops: the same C compiled for several x86 levels, chosen when the program starts. Clang 14 lacks the
 * level names, and the choice runs before a sanitizer is ready. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)                 \
    && !defined(__SANITIZE_THREAD__)
#define MHAR_CLONES __attribute__ ((target_clones ("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MHAR_CLONES
#endif

/* Where clang does not vectorise (below -O2, with sanitizers) the loops are right all the same. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

struct MharContext {
  float *widened; /* weights of 16 bits on their way into a product */
  size_t widened_bytes;
  float *gain[2]; /* vectors widened for one op */
  size_t gain_bytes[2];
  void *scratch; /* grown by mhar_cpu_scratch, reused by every op in turn */
  size_t scratch_bytes;
  char error[512];
};

struct MharBuffer {
  void *data;
  size_t bytes;
};

struct MharWeight {
  MharStored *parts; /* the stored bytes are the caller's */
  size_t n_parts;
  size_t rows, cols; /* rows of all parts */
};

/* Records the text and returns `status`. */
int mhar_cpu_fail (MharContext *c, int status, const char *format, ...) __attribute__ ((format (printf, 3, 4)));

/* a·b·size; false when it does not fit. */
static inline bool
mhar_cpu_product (size_t a, size_t b, size_t size, size_t *out)
{
  size_t ab;
  return !__builtin_mul_overflow (a, b, &ab) && !__builtin_mul_overflow (ab, size, out);
}

/* Memory on a 64-byte boundary, to be freed with free (); NULL also when bytes is too near SIZE_MAX to round up. */
void *mhar_cpu_alloc (size_t bytes);

/* At least `bytes` of scratch, valid until the next op on this context asks. */
int mhar_cpu_scratch (MharContext *c, size_t bytes, void **out);

static inline float *
mhar_cpu_at (MharRows x)
{
  return (float *) x.buffer->data + x.offset;
}

/* Threads of the next parallel region at most. */
int mhar_cpu_threads (void);

/* `count` stored elements from element `first` on, as floats; `data` at any alignment. */
void mhar_cpu_widen (const void *data, MharDtype type, size_t first, size_t count, float *to);

/* The next rows of a weight as contiguous floats [*rows, cols]: from `first`, 1 ≤ *rows ≤ max_rows of one part, in
 * place where they are aligned float32, else widened into the context's own memory, a few MiB at a time. */
int mhar_cpu_weight_chunk (MharContext *c, const MharWeight *w, size_t first, size_t max_rows, const float **data,
                           size_t *rows);

/* `count` elements of a vector from element `first` of it, whatever its shape, as floats; NULL for a NULL weight. Two
 * slots, 0 and 1, may be held at a time. */
int mhar_cpu_gain (MharContext *c, int slot, const MharWeight *w, size_t first, size_t count, const float **out);

/* out = x / sqrt (mean x² + eps) ⊙ gain over D elements; the mean is summed in double. out may be x. */
void mhar_cpu_norm_row (const float *x, const float *gain, double eps, size_t D, float *out);

/* How many positions of window w count: they are skip, skip + 1, … of it. */
static inline size_t
mhar_cpu_counted (MharSpan span, size_t w)
{
  if (span.skip >= span.length)
    return 0;
  int64_t each = span.length - (span.skip > 0 ? span.skip : 0);
  if (span.limit < 0)
    return (size_t) each;
  int64_t left = span.limit - (int64_t) w * each;
  return left <= 0 ? 0 : (size_t) (left < each ? left : each);
}

/* One function a table entry; see kernels/ops.h for what each promises. */
int mhar_cpu_device_count (int *count, char *err, size_t n);
int mhar_cpu_context_new (MharContext **out, int device, MharPrecision precision, char *err, size_t n);
void mhar_cpu_context_free (MharContext *c);
int mhar_cpu_describe (MharContext *c, MharDeviceInfo *info);
int mhar_cpu_synchronize (MharContext *c);
const char *mhar_cpu_error_text (MharContext *c);
int mhar_cpu_buffer_new (MharContext *c, size_t bytes, MharBuffer **out);
void mhar_cpu_buffer_free (MharContext *c, MharBuffer *b);
int mhar_cpu_upload (MharContext *c, MharBuffer *b, size_t offset_bytes, const void *from, size_t bytes);
int mhar_cpu_download (MharContext *c, const MharBuffer *b, size_t offset_bytes, void *to, size_t bytes);
int mhar_cpu_zero (MharContext *c, MharBuffer *b, size_t offset_bytes, size_t bytes);
int mhar_cpu_weight_new (MharContext *c, const MharStored *parts, size_t n_parts, size_t cols, MharWeight **out);
void mhar_cpu_weight_free (MharContext *c, MharWeight *w);
int mhar_cpu_rows_get (MharContext *c, MharRows x, size_t count, float *to);
int mhar_cpu_rows_set (MharContext *c, MharRows x, size_t count, const float *from);
int mhar_cpu_embed (MharContext *c, const MharWeight *table, const MharBuffer *ids, size_t T, MharRows out);
int mhar_cpu_rms_norm (MharContext *c, MharRows x, const MharWeight *gain, double eps, size_t T, size_t D,
                       MharRows out);
int mhar_cpu_matmul (MharContext *c, MharRows x, size_t ldx, const MharWeight *w, size_t first, size_t count,
                     const MharWeight *bias, size_t T, MharRows out, size_t ldo);
int mhar_cpu_rope (MharContext *c, MharRows qkv, const MharWeight *q_gain, const MharWeight *k_gain, double eps,
                   const MharBuffer *cos_sin, size_t W, size_t t, size_t A, size_t K, size_t E);
int mhar_cpu_attention (MharContext *c, MharRows qkv, double scale, size_t sliding, size_t W, size_t t, size_t A,
                        size_t K, size_t E, MharRows out);
int mhar_cpu_swiglu (MharContext *c, MharRows x, size_t T, size_t F, MharRows out);
int mhar_cpu_combine (MharContext *c, double a, MharRows x, double b, MharRows y, size_t count, MharRows out);
int mhar_cpu_blend (MharContext *c, MharRows p, MharRows z, MharRows h, size_t count, MharRows out);
int mhar_cpu_cross_entropy (MharContext *c, MharRows x, const MharWeight *head, const MharBuffer *ids, size_t W,
                            size_t t, size_t D, double *sum);
int mhar_cpu_route_new (MharContext *c, const MharRouteTable *table, MharRoute **out);
void mhar_cpu_route_free (MharContext *c, MharRoute *r);
int mhar_cpu_route_begin (MharContext *c, MharRoute *r, size_t W, size_t t);
MharRows mhar_cpu_route_row (MharRoute *r, int32_t row);
int mhar_cpu_route_stored (MharContext *c, MharRoute *r, int32_t row);
int mhar_cpu_route_read (MharContext *c, MharRoute *r, int32_t site, const MharReadOut *out);
int mhar_cpu_route_read_edited (MharContext *c, MharRoute *r, const MharRouteEdit *edit, const MharReadOut *out);
int mhar_cpu_route_sums (MharContext *c, MharRoute *r, MharSpan span, const MharRouteSums *sums);
int mhar_cpu_route_weights (MharContext *c, MharRoute *r, int32_t site, size_t first, size_t count, float *to);
int mhar_cpu_null_new (MharContext *c, MharRoute *r, const MharNullSite *sites, size_t n_sites, MharNull **out);
void mhar_cpu_null_free (MharContext *c, MharNull *n);
int mhar_cpu_null_run (MharContext *c, MharRoute *r, MharNull *n, MharSpan span, const MharNullSums *sums);
int mhar_cpu_cosines (MharContext *c, MharRoute *r, const int32_t *rows, size_t n, MharSpan span, double *cosine,
                      double *mean_abs, int *zero);
