/* SPDX-License-Identifier: MIT */
/* out[i] = table[ids[i]]: one block a token. */
#include "kernels/cuda/cuda-private.cuh"

/* By 16 bytes; `chunks` of them a row. */
static __global__ void
embed_chunks_kernel (const uint4 *table, const int32_t *ids, size_t chunks, uint4 *out)
{
  const uint4 *from = table + (size_t) ids[blockIdx.x] * chunks;
  uint4 *to = out + (size_t) blockIdx.x * chunks;

  for (size_t i = threadIdx.x; i < chunks; i += blockDim.x)
    to[i] = __ldg (from + i);
}

template <typename Stored, typename Real>
static __global__ void
embed_kernel (const Stored *table, const int32_t *ids, size_t D, Real *out)
{
  const Stored *from = table + (size_t) ids[blockIdx.x] * D;
  Real *to = out + (size_t) blockIdx.x * D;

  for (size_t i = threadIdx.x; i < D; i += blockDim.x)
    to[i] = mhar_from_float<Real> (mhar_to_float (from[i]));
}

int
mhar_cuda_embed (MharContext *c, const MharWeight *table, const MharBuffer *ids, size_t T, MharRows out)
{
  const size_t D = table->cols, size = mhar_cuda_real_size (c);
  const int32_t *id = (const int32_t *) ids->data;
  char *to = (char *) out.buffer->data + out.offset * size;

  MHAR_CUDA_ENTER (c);
  if (T == 0 || D == 0)
    return MHAR_OK;
  if (T > INT32_MAX)
    return mhar_cuda_unsupported (c, "embed: more than %d tokens", INT32_MAX);
  if (c->precision == MHAR_PRECISION_BF16 && table->rows == 1) /* a vector, so float32 */
    embed_kernel<<<(unsigned) T, 128, 0, c->stream>>> ((const float *) table->data, id, D, (__nv_bfloat16 *) to);
  else if (mhar_cuda_aligned (to) && D * size % 16 == 0)
    embed_chunks_kernel<<<(unsigned) T, 128, 0, c->stream>>> ((const uint4 *) table->data, id, D * size / 16,
                                                               (uint4 *) to);
  else if (c->precision == MHAR_PRECISION_BF16)
    embed_kernel<<<(unsigned) T, 128, 0, c->stream>>> ((const __nv_bfloat16 *) table->data, id, D,
                                                        (__nv_bfloat16 *) to);
  else
    embed_kernel<<<(unsigned) T, 128, 0, c->stream>>> ((const float *) table->data, id, D, (float *) to);
  MHAR_CUDA_LAUNCHED (c, embed);
  return MHAR_OK;
}
