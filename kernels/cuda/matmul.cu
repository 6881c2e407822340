/* SPDX-License-Identifier: MIT */
/* Products with the checkpoint's matrices, on cuBLAS. Its matrices are column-major: our row-major [T, count] is its
 * [count, T], so the weight comes first and transposed. */
#include "kernels/cuda/cuda-private.cuh"

int
mhar_cuda_gemm (MharContext *c, const void *x, size_t ldx, const void *w, size_t count, size_t D, size_t T,
                float beta, void *out, cudaDataType_t out_type, size_t ldo)
{
  const bool narrow = c->precision == MHAR_PRECISION_BF16;
  const cudaDataType_t type = narrow ? CUDA_R_16BF : CUDA_R_32F;
  const cublasComputeType_t compute = narrow ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC;
  const float one = 1.0f;

  if (T > INT32_MAX || count > INT32_MAX || D > INT32_MAX || ldx > INT32_MAX || ldo > INT32_MAX)
    return mhar_cuda_unsupported (c, "matmul: a side of more than %d", INT32_MAX);
  MHAR_CUBLAS_TRY (c, cublasGemmEx (c->blas, CUBLAS_OP_T, CUBLAS_OP_N, (int) count, (int) T, (int) D, &one, w, type,
                                    (int) D, x, type, (int) ldx, &beta, out, out_type, (int) ldo, compute,
                                    CUBLAS_GEMM_DEFAULT));
  return MHAR_OK;
}

template <typename Real>
static __global__ void __launch_bounds__ (256)
bias_kernel (const float *bias, size_t count, Real *out, size_t ldo)
{
  for (size_t j = threadIdx.x; j < count; j += blockDim.x)
    out[blockIdx.x * ldo + j] = mhar_from_float<Real> (bias[j]);
}

/* The bias is written first and the product added to it, so that the sum is rounded once. A bias stored in bfloat16 is
 * exact; another is rounded as the weights are. */
int
mhar_cuda_matmul (MharContext *c, MharRows x, size_t ldx, const MharWeight *w, size_t first, size_t count,
                  const MharWeight *bias, size_t T, MharRows out, size_t ldo)
{
  const bool narrow = c->precision == MHAR_PRECISION_BF16;
  const size_t size = mhar_cuda_real_size (c);
  const char *from = (const char *) x.buffer->data + x.offset * size;
  char *to = (char *) out.buffer->data + out.offset * size;
  const void *rows;

  MHAR_CUDA_ENTER (c);
  if (T == 0 || count == 0)
    return MHAR_OK;
  MHAR_CUDA_PASS (mhar_cuda_weight_rows (c, w, first, &rows));
  if (bias != NULL) {
    const float *b = (const float *) bias->data + first;

    if (T > INT32_MAX)
      return mhar_cuda_unsupported (c, "matmul: more than %d rows", INT32_MAX);
    if (narrow)
      bias_kernel<<<(unsigned) T, 256, 0, c->stream>>> (b, count, (__nv_bfloat16 *) to, ldo);
    else
      bias_kernel<<<(unsigned) T, 256, 0, c->stream>>> (b, count, (float *) to, ldo);
    MHAR_CUDA_LAUNCHED (c, bias);
  }
  return mhar_cuda_gemm (c, from, ldx, rows, count, w->cols, T, bias != NULL ? 1.0f : 0.0f, to,
                         narrow ? CUDA_R_16BF : CUDA_R_32F, ldo);
}
