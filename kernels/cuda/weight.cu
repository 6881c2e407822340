/* SPDX-License-Identifier: MIT */
/* The checkpoint's matrices and vectors on the device: copied once, converted there when the stored type is another. */
#include "kernels/cuda/cuda-private.cuh"

#include <cstdio>
#include <cstdlib>

/* Elements converted at a time, so that scratch stays small. */
#define CONVERT_CHUNK ((size_t) 8 << 20)

static __device__ __forceinline__ float
widen (__half x)
{
  return __half2float (x);
}

static __device__ __forceinline__ float
widen (float x)
{
  return x;
}

static __device__ __forceinline__ float
widen (__nv_bfloat16 x)
{
  return __bfloat162float (x);
}

template <typename Stored, typename Real>
static __global__ void __launch_bounds__ (256)
convert_kernel (const Stored *from, size_t count, Real *to)
{
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = mhar_from_float<Real> (widen (from[i]));
}

template <typename Stored>
static int
convert_from (MharContext *c, const void *from, size_t count, void *to, MharPrecision type)
{
  const size_t wanted = (count + 255) / 256, most = (size_t) c->n_multiprocessors * 16;
  const unsigned blocks = (unsigned) (wanted < most ? wanted : most);

  if (type == MHAR_PRECISION_BF16)
    convert_kernel<<<blocks, 256, 0, c->stream>>> ((const Stored *) from, count, (__nv_bfloat16 *) to);
  else
    convert_kernel<<<blocks, 256, 0, c->stream>>> ((const Stored *) from, count, (float *) to);
  MHAR_CUDA_LAUNCHED (c, convert);
  return MHAR_OK;
}

int
mhar_cuda_convert (MharContext *c, const void *from, MharDtype stored, size_t count, void *to, MharPrecision type)
{
  if (count == 0)
    return MHAR_OK;
  if (stored == MHAR_F16)
    return convert_from<__half> (c, from, count, to, type);
  if (stored == MHAR_BF16)
    return convert_from<__nv_bfloat16> (c, from, count, to, type);
  return convert_from<float> (c, from, count, to, type);
}

/* One stored tensor of `count` elements to `to`: as it is where the types agree, else by way of scratch. */
static int
place (MharContext *c, const MharStored *part, size_t count, void *to, MharPrecision type)
{
  const size_t size = mhar_dtype_size (part->type), wide = type == MHAR_PRECISION_BF16 ? 2 : 4;
  void *scratch;

  if (part->type == (type == MHAR_PRECISION_BF16 ? MHAR_BF16 : MHAR_F32)) {
    MHAR_CUDA_TRY (c, cudaMemcpyAsync (to, part->data, count * size, cudaMemcpyHostToDevice, c->stream));
    return MHAR_OK;
  }
  MHAR_CUDA_PASS (mhar_cuda_scratch (c, size * (count < CONVERT_CHUNK ? count : CONVERT_CHUNK), &scratch));
  for (size_t at = 0; at < count; at += CONVERT_CHUNK) {
    const size_t n = count - at < CONVERT_CHUNK ? count - at : CONVERT_CHUNK;

    MHAR_CUDA_TRY (c, cudaMemcpyAsync (scratch, (const char *) part->data + at * size, n * size,
                                       cudaMemcpyHostToDevice, c->stream));
    MHAR_CUDA_PASS (mhar_cuda_convert (c, scratch, part->type, n, (char *) to + at * wide, type));
  }
  return MHAR_OK;
}

static int
fill (MharContext *c, MharWeight *w, const MharStored *parts, size_t n_parts)
{
  const MharPrecision type = w->rows == 1 ? MHAR_PRECISION_F32 : c->precision;
  const size_t size = type == MHAR_PRECISION_BF16 ? 2 : 4, bytes = w->rows * w->cols * size;
  size_t done = 0;

  MHAR_CUDA_TRY (c, cudaMalloc (&w->data, bytes > 0 ? bytes : 1));
  for (size_t i = 0; i < n_parts; i++) {
    const size_t count = parts[i].rows * w->cols;

    if (count > 0)
      MHAR_CUDA_PASS (place (c, &parts[i], count, (char *) w->data + done * size, type));
    done += count;
  }
  return MHAR_OK;
}

int
mhar_cuda_weight_new (MharContext *c, const MharStored *parts, size_t n_parts, size_t cols, MharWeight **out)
{
  MharWeight *w;
  int status;

  *out = NULL;
  MHAR_CUDA_ENTER (c);
  w = (MharWeight *) calloc (1, sizeof *w);
  if (w == NULL) {
    snprintf (c->error, sizeof c->error, "out of host memory");
    return MHAR_NO_MEMORY;
  }
  w->cols = cols;
  for (size_t i = 0; i < n_parts; i++)
    w->rows += parts[i].rows;
  status = fill (c, w, parts, n_parts);
  if (status != MHAR_OK) {
    mhar_cuda_weight_free (c, w);
    return status;
  }
  *out = w;
  return MHAR_OK;
}

void
mhar_cuda_weight_free (MharContext *c, MharWeight *w)
{
  if (w == NULL)
    return;
  (void) cudaSetDevice (c->device);
  (void) cudaFree (w->data);
  free (w);
}

int
mhar_cuda_weight_rows (MharContext *c, const MharWeight *w, size_t first, const void **out)
{
  void *rounded;

  if (w->rows != 1 || c->precision == MHAR_PRECISION_F32) {
    *out = (const char *) w->data + first * w->cols * mhar_cuda_real_size (c);
    return MHAR_OK;
  }
  MHAR_CUDA_PASS (mhar_cuda_scratch (c, w->cols * sizeof (__nv_bfloat16), &rounded));
  MHAR_CUDA_PASS (mhar_cuda_convert (c, w->data, MHAR_F32, w->cols, rounded, MHAR_PRECISION_BF16));
  *out = rounded;
  return MHAR_OK;
}
