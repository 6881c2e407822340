/* SPDX-License-Identifier: MIT */
/* Device memory, and activations to and from float32 in host memory. */
#include "kernels/cuda/cuda-private.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>

/* Elements widened or rounded at a time on their way up, so that scratch stays small. */
#define SET_CHUNK ((size_t) 4 << 20)

int
mhar_cuda_buffer_new (MharContext *c, size_t bytes, MharBuffer **out)
{
  MharBuffer *b;
  cudaError_t result;

  *out = NULL;
  MHAR_CUDA_ENTER (c);
  b = (MharBuffer *) calloc (1, sizeof *b);
  if (b == NULL) {
    snprintf (c->error, sizeof c->error, "out of host memory");
    return MHAR_NO_MEMORY;
  }
  result = cudaMalloc (&b->data, bytes > 0 ? bytes : 1);
  if (result != cudaSuccess) {
    free (b);
    return mhar_cuda_failed (c, "cudaMalloc", result);
  }
  b->bytes = bytes;
  *out = b;
  return MHAR_OK;
}

/* cudaFree waits for the device, so what is queued on the buffer still finds it. */
void
mhar_cuda_buffer_free (MharContext *c, MharBuffer *b)
{
  if (b == NULL)
    return;
  (void) cudaSetDevice (c->device);
  (void) cudaFree (b->data);
  free (b);
}

/* Host memory is pageable: the runtime has taken its copy of `from` by the time it returns. */
int
mhar_cuda_upload (MharContext *c, MharBuffer *b, size_t offset_bytes, const void *from, size_t bytes)
{
  MHAR_CUDA_ENTER (c);
  MHAR_CUDA_TRY (c, cudaMemcpyAsync ((char *) b->data + offset_bytes, from, bytes, cudaMemcpyHostToDevice, c->stream));
  return MHAR_OK;
}

int
mhar_cuda_download (MharContext *c, const MharBuffer *b, size_t offset_bytes, void *to, size_t bytes)
{
  MHAR_CUDA_ENTER (c);
  MHAR_CUDA_TRY (
      c, cudaMemcpyAsync (to, (const char *) b->data + offset_bytes, bytes, cudaMemcpyDeviceToHost, c->stream));
  MHAR_CUDA_TRY (c, cudaStreamSynchronize (c->stream));
  return MHAR_OK;
}

int
mhar_cuda_zero (MharContext *c, MharBuffer *b, size_t offset_bytes, size_t bytes)
{
  MHAR_CUDA_ENTER (c);
  MHAR_CUDA_TRY (c, cudaMemsetAsync ((char *) b->data + offset_bytes, 0, bytes, c->stream));
  return MHAR_OK;
}

/* bfloat16 comes down as it is, into the upper half of `to`, and is widened from the front: element i is written to
 * bytes 4i…4i+3, never past the 2·count + 2i where element i + 1 still waits. */
int
mhar_cuda_rows_get (MharContext *c, MharRows x, size_t count, float *to)
{
  const size_t size = mhar_cuda_real_size (c);
  char *landing = (char *) to + count * (sizeof (float) - size);

  MHAR_CUDA_PASS (mhar_cuda_download (c, x.buffer, x.offset * size, landing, count * size));
  if (size == sizeof (float))
    return MHAR_OK;
  for (size_t i = 0; i < count; i++) {
    uint16_t narrow;
    uint32_t wide;

    memcpy (&narrow, landing + 2 * i, sizeof narrow);
    wide = (uint32_t) narrow << 16;
    memcpy ((char *) to + 4 * i, &wide, sizeof wide);
  }
  return MHAR_OK;
}

int
mhar_cuda_rows_set (MharContext *c, MharRows x, size_t count, const float *from)
{
  void *wide;

  if (c->precision == MHAR_PRECISION_F32)
    return mhar_cuda_upload (c, x.buffer, x.offset * sizeof (float), from, count * sizeof (float));
  MHAR_CUDA_ENTER (c);
  MHAR_CUDA_PASS (mhar_cuda_scratch (c, sizeof (float) * (count < SET_CHUNK ? count : SET_CHUNK), &wide));
  for (size_t at = 0; at < count; at += SET_CHUNK) {
    const size_t n = count - at < SET_CHUNK ? count - at : SET_CHUNK;

    MHAR_CUDA_TRY (c, cudaMemcpyAsync (wide, from + at, n * sizeof (float), cudaMemcpyHostToDevice, c->stream));
    MHAR_CUDA_PASS (
        mhar_cuda_convert (c, wide, MHAR_F32, n, mhar_cuda_at<__nv_bfloat16> (x) + at, MHAR_PRECISION_BF16));
  }
  return MHAR_OK;
}
