/* SPDX-License-Identifier: MIT */
/* The CPU's table of operations. */
#include "kernels/cpu/cpu-private.h"

static const MharOps cpu_ops = {
  .abi = MHAR_OPS_ABI,
  .struct_size = sizeof (MharOps),
  .name = "cpu",
  .device_count = mhar_cpu_device_count,
  .context_new = mhar_cpu_context_new,
  .context_free = mhar_cpu_context_free,
  .describe = mhar_cpu_describe,
  .synchronize = mhar_cpu_synchronize,
  .error_text = mhar_cpu_error_text,
  .buffer_new = mhar_cpu_buffer_new,
  .buffer_free = mhar_cpu_buffer_free,
  .upload = mhar_cpu_upload,
  .download = mhar_cpu_download,
  .zero = mhar_cpu_zero,
  .weight_new = mhar_cpu_weight_new,
  .weight_free = mhar_cpu_weight_free,
  .rows_get = mhar_cpu_rows_get,
  .rows_set = mhar_cpu_rows_set,
  .embed = mhar_cpu_embed,
  .rms_norm = mhar_cpu_rms_norm,
  .matmul = mhar_cpu_matmul,
  .rope = mhar_cpu_rope,
  .attention = mhar_cpu_attention,
  .swiglu = mhar_cpu_swiglu,
  .combine = mhar_cpu_combine,
  .blend = mhar_cpu_blend,
  .cross_entropy = mhar_cpu_cross_entropy,
  .route_new = mhar_cpu_route_new,
  .route_free = mhar_cpu_route_free,
  .route_begin = mhar_cpu_route_begin,
  .route_row = mhar_cpu_route_row,
  .route_stored = mhar_cpu_route_stored,
  .route_read = mhar_cpu_route_read,
  .route_read_edited = mhar_cpu_route_read_edited,
  .route_sums = mhar_cpu_route_sums,
  .route_weights = mhar_cpu_route_weights,
  .null_new = mhar_cpu_null_new,
  .null_free = mhar_cpu_null_free,
  .null_run = mhar_cpu_null_run,
  .cosines = mhar_cpu_cosines,
};

const MharOps *
mhar_cpu_ops (void)
{
  return &cpu_ops;
}
