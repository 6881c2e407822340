/* SPDX-License-Identifier: MIT */
/* What the files of the CUDA backend share: the context, memory, and how a failed call becomes a status. */
#pragma once

#include "kernels/ops.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct MharContext {
  int device;
  MharPrecision precision;
  cudaStream_t stream;
  cublasHandle_t blas;
  void *blas_workspace;
  int n_multiprocessors;
  size_t shared_per_block; /* opt-in limit, bytes */
  void *scratch;           /* device, grown by mhar_cuda_scratch, reused by every op in turn */
  size_t scratch_bytes;
  void *pinned; /* host, page-locked, for results on their way down */
  size_t pinned_bytes;
  char error[512];
};

struct MharBuffer {
  void *data;
  size_t bytes;
};

/* A matrix in the context's activation type; a vector (rows == 1) always in float32. */
struct MharWeight {
  void *data;
  size_t rows, cols;
};

/* Records "what: text" and returns the status for a CUDA / cuBLAS result (out of memory: MHAR_NO_MEMORY, and the sticky
 * error is cleared). */
int mhar_cuda_failed (MharContext *c, const char *what, cudaError_t result);
int mhar_cublas_failed (MharContext *c, const char *what, cublasStatus_t result);
int mhar_cuda_unsupported (MharContext *c, const char *format, ...);

/* Return from the calling function with that status unless the call succeeded. */
#define MHAR_CUDA_TRY(c, call) \
  do { \
    cudaError_t result_ = (call); \
    if (result_ != cudaSuccess) \
      return mhar_cuda_failed ((c), #call, result_); \
  } while (0)

#define MHAR_CUBLAS_TRY(c, call) \
  do { \
    cublasStatus_t result_ = (call); \
    if (result_ != CUBLAS_STATUS_SUCCESS) \
      return mhar_cublas_failed ((c), #call, result_); \
  } while (0)

/* After a launch: its configuration error, if any. */
#define MHAR_CUDA_LAUNCHED(c, name) \
  do { \
    cudaError_t result_ = cudaPeekAtLastError (); \
    if (result_ != cudaSuccess) \
      return mhar_cuda_failed ((c), #name, result_); \
  } while (0)

/* Hands on a status that is not MHAR_OK. */
#define MHAR_CUDA_PASS(call) \
  do { \
    int status_ = (call); \
    if (status_ != MHAR_OK) \
      return status_; \
  } while (0)

/* Makes the context's device the calling thread's: the first line of every op, so that contexts of several devices may
 * be used from any threads. Costs nothing when the device is current already. */
#define MHAR_CUDA_ENTER(c) MHAR_CUDA_TRY ((c), cudaSetDevice ((c)->device))

/* At least `bytes` of device scratch, valid until the next op on this context asks. */
int mhar_cuda_scratch (MharContext *c, size_t bytes, void **out);
/* At least `bytes` of page-locked host memory, likewise. */
int mhar_cuda_pinned (MharContext *c, size_t bytes, void **out);

/* `count` numbers at `from`, of type `stored`, to float32 or bfloat16 at `to`; both on the device. */
int mhar_cuda_convert (MharContext *c, const void *from, MharDtype stored, size_t count, void *to, MharPrecision type);
/* The rows of a weight from `first` on in the context's activation type; a vector in a bfloat16 context is rounded into
 * scratch first. */
int mhar_cuda_weight_rows (MharContext *c, const MharWeight *w, size_t first, const void **out);
/* out [T, count] (rows ldo apart) = x [T, D] (rows ldx apart) · w [count, D]ᵀ + beta·out on cuBLAS: x and w of the
 * activation type, out of type `out_type`. Accumulates in float32, never in TF32. */
int mhar_cuda_gemm (MharContext *c, const void *x, size_t ldx, const void *w, size_t count, size_t D, size_t T,
                    float beta, void *out, cudaDataType_t out_type, size_t ldo);

static inline size_t
mhar_cuda_real_size (const MharContext *c)
{
  return c->precision == MHAR_PRECISION_BF16 ? sizeof (__nv_bfloat16) : sizeof (float);
}

/* Whether 16-byte accesses are allowed at `p`. */
static inline bool
mhar_cuda_aligned (const void *p)
{
  return ((uintptr_t) p & 15) == 0;
}

/* Element `offset` of a row view in the context's activation type. */
template <typename Real>
static inline Real *
mhar_cuda_at (MharRows x)
{
  return (Real *) x.buffer->data + x.offset;
}

static __device__ __forceinline__ float mhar_to_float (float x) { return x; }
static __device__ __forceinline__ float mhar_to_float (__nv_bfloat16 x) { return __bfloat162float (x); }
template <typename Real> static __device__ __forceinline__ Real mhar_from_float (float x);
template <> __device__ __forceinline__ float mhar_from_float<float> (float x) { return x; }
template <>
__device__ __forceinline__ __nv_bfloat16
mhar_from_float<__nv_bfloat16> (float x)
{
  return __float2bfloat16_rn (x);
}

/* Attention without tensor cores, for float32 contexts and for what the bfloat16 kernel cannot load by 16 bytes; any
 * E ≤ 256. Arguments as in MharOps, checked by the caller; `sliding` is 1..t. */
int mhar_cuda_attention_plain (MharContext *c, MharRows qkv, double scale, size_t sliding, size_t W, size_t t, size_t A,
                               size_t K, size_t E, MharRows out);

/* One function a table entry; see kernels/ops.h for what each promises. */
extern "C" {
int mhar_cuda_device_count (int *, char *, size_t);
int mhar_cuda_context_new (MharContext **, int, MharPrecision, char *, size_t);
void mhar_cuda_context_free (MharContext *);
int mhar_cuda_describe (MharContext *, MharDeviceInfo *);
int mhar_cuda_synchronize (MharContext *);
const char *mhar_cuda_error_text (MharContext *);
int mhar_cuda_buffer_new (MharContext *, size_t, MharBuffer **);
void mhar_cuda_buffer_free (MharContext *, MharBuffer *);
int mhar_cuda_upload (MharContext *, MharBuffer *, size_t, const void *, size_t);
int mhar_cuda_download (MharContext *, const MharBuffer *, size_t, void *, size_t);
int mhar_cuda_zero (MharContext *, MharBuffer *, size_t, size_t);
int mhar_cuda_weight_new (MharContext *, const MharStored *, size_t, size_t, MharWeight **);
void mhar_cuda_weight_free (MharContext *, MharWeight *);
int mhar_cuda_rows_get (MharContext *, MharRows, size_t, float *);
int mhar_cuda_rows_set (MharContext *, MharRows, size_t, const float *);
int mhar_cuda_embed (MharContext *, const MharWeight *, const MharBuffer *, size_t, MharRows);
int mhar_cuda_rms_norm (MharContext *, MharRows, const MharWeight *, double, size_t, size_t, MharRows);
int mhar_cuda_matmul (MharContext *, MharRows, size_t, const MharWeight *, size_t, size_t, const MharWeight *, size_t,
                      MharRows, size_t);
int mhar_cuda_rope (MharContext *, MharRows, const MharWeight *, const MharWeight *, double, const MharBuffer *, size_t,
                    size_t, size_t, size_t, size_t);
int mhar_cuda_attention (MharContext *, MharRows, double, size_t, size_t, size_t, size_t, size_t, size_t, MharRows);
int mhar_cuda_swiglu (MharContext *, MharRows, size_t, size_t, MharRows);
int mhar_cuda_combine (MharContext *, double, MharRows, double, MharRows, size_t, MharRows);
int mhar_cuda_blend (MharContext *, MharRows, MharRows, MharRows, size_t, MharRows);
int mhar_cuda_cross_entropy (MharContext *, MharRows, const MharWeight *, const MharBuffer *, size_t, size_t, size_t,
                             double *);
int mhar_cuda_route_new (MharContext *, const MharRouteTable *, MharRoute **);
void mhar_cuda_route_free (MharContext *, MharRoute *);
int mhar_cuda_route_begin (MharContext *, MharRoute *, size_t, size_t);
MharRows mhar_cuda_route_row (MharRoute *, int32_t);
int mhar_cuda_route_stored (MharContext *, MharRoute *, int32_t);
int mhar_cuda_route_read (MharContext *, MharRoute *, int32_t, const MharReadOut *);
int mhar_cuda_route_read_edited (MharContext *, MharRoute *, const MharRouteEdit *, const MharReadOut *);
int mhar_cuda_route_sums (MharContext *, MharRoute *, MharSpan, const MharRouteSums *);
int mhar_cuda_route_weights (MharContext *, MharRoute *, int32_t, size_t, size_t, float *);
int mhar_cuda_null_new (MharContext *, MharRoute *, const MharNullSite *, size_t, MharNull **);
void mhar_cuda_null_free (MharContext *, MharNull *);
int mhar_cuda_null_run (MharContext *, MharRoute *, MharNull *, MharSpan, const MharNullSums *);
int mhar_cuda_cosines (MharContext *, MharRoute *, const int32_t *, size_t, MharSpan, double *, double *, int *);
}
