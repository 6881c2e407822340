/* SPDX-License-Identifier: MIT */
/* How the routing kernels are started. */
#pragma once

#include "kernels/cuda/cuda-private.cuh"

/* Starts `kernel` on the context's stream with `shared` bytes of dynamic shared memory. With `overlap` it may be set up
 * while the kernel before it ends; it must then begin with mhar_wait_for_grid. */
template <typename... Params, typename... Args>
static inline int
mhar_cuda_launch (MharContext *c, const char *name, void (*kernel) (Params...), dim3 grid, unsigned threads,
                  size_t shared, bool overlap, Args... args)
{
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3 (threads);
  config.dynamicSmemBytes = shared;
  config.stream = c->stream;
  config.attrs = &attribute;
  config.numAttrs = overlap ? 1 : 0;
  cudaError_t result = cudaSuccess;
  if (shared > 48 * 1024)
    result = cudaFuncSetAttribute ((const void *) kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared);
  if (result == cudaSuccess)
    result = cudaLaunchKernelEx (&config, kernel, Params (args)...);
  return result == cudaSuccess ? MHAR_OK : mhar_cuda_failed (c, name, result);
}

/* Whether the machine code in use was built for sm_90: only then does it wait for the grids before it. */
template <typename Kernel>
static inline bool
mhar_cuda_may_overlap (Kernel *kernel)
{
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes (&attributes, (const void *) kernel) == cudaSuccess && attributes.ptxVersion >= 90;
}
