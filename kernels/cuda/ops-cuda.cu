/* SPDX-License-Identifier: MIT */
/* The table of the CUDA backend, and the one symbol the plug-in exports. */
#include "kernels/cuda/cuda-private.cuh"

static const MharOps cuda_ops = {
  .abi = MHAR_OPS_ABI,
  .struct_size = sizeof (MharOps),
  .name = "cuda",
  .device_count = mhar_cuda_device_count,
  .context_new = mhar_cuda_context_new,
  .context_free = mhar_cuda_context_free,
  .describe = mhar_cuda_describe,
  .synchronize = mhar_cuda_synchronize,
  .error_text = mhar_cuda_error_text,
  .buffer_new = mhar_cuda_buffer_new,
  .buffer_free = mhar_cuda_buffer_free,
  .upload = mhar_cuda_upload,
  .download = mhar_cuda_download,
  .zero = mhar_cuda_zero,
  .weight_new = mhar_cuda_weight_new,
  .weight_free = mhar_cuda_weight_free,
  .rows_get = mhar_cuda_rows_get,
  .rows_set = mhar_cuda_rows_set,
  .embed = mhar_cuda_embed,
  .rms_norm = mhar_cuda_rms_norm,
  .matmul = mhar_cuda_matmul,
  .rope = mhar_cuda_rope,
  .attention = mhar_cuda_attention,
  .swiglu = mhar_cuda_swiglu,
  .combine = mhar_cuda_combine,
  .blend = mhar_cuda_blend,
  .cross_entropy = mhar_cuda_cross_entropy,
  .route_new = mhar_cuda_route_new,
  .route_free = mhar_cuda_route_free,
  .route_begin = mhar_cuda_route_begin,
  .route_row = mhar_cuda_route_row,
  .route_stored = mhar_cuda_route_stored,
  .route_read = mhar_cuda_route_read,
  .route_read_edited = mhar_cuda_route_read_edited,
  .route_sums = mhar_cuda_route_sums,
  .route_weights = mhar_cuda_route_weights,
  .null_new = mhar_cuda_null_new,
  .null_free = mhar_cuda_null_free,
  .null_run = mhar_cuda_null_run,
  .cosines = mhar_cuda_cosines,
};

extern "C" __attribute__ ((visibility ("default"))) const MharOps *
mhar_backend_get (void)
{
  return &cuda_ops;
}
