/* SPDX-License-Identifier: MIT */
/* Where the arithmetic runs: the CPU, or an NVIDIA GPU through the plug-in mhar-cuda.so, opened here and nowhere else.
 *
 * The plug-in is looked for in $MHAR_BACKEND_DIR, else beside the program as it was built or installed; never in the
 * current folder. The program links no CUDA library, so it runs where there is no driver, and says why it fell back. */
#pragma once

#include "kernels/ops.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct _MharDevice MharDevice;

typedef enum { MHAR_PRECISION_DEFAULT, MHAR_PRECISION_WANT_F32, MHAR_PRECISION_WANT_BF16 } MharPrecisionWish;

/* `spec`: "auto" (the GPU where there is one, else the CPU), "cpu", "cuda", "cuda:1". `bf16_stored` says whether the
 * checkpoint is stored in bf16, which the GPU then computes in by default. MHAR_ERROR_USAGE for a spec that is none of
 * these; MHAR_ERROR_RUN, with the reason, where a device asked for by name cannot be had. */
MharDevice *mhar_device_open (const char *spec, MharPrecisionWish precision, gboolean bf16_stored, GError **error);
void mhar_device_free (MharDevice *device);

const MharOps *mhar_device_ops (const MharDevice *device);
MharContext *mhar_device_context (const MharDevice *device);
const char *mhar_device_spec (const MharDevice *device); /* "cpu", "cuda:0" */
MharPrecision mhar_device_precision (const MharDevice *device);
const char *mhar_device_precision_name (const MharDevice *device); /* "fp32", "bf16" */
void mhar_device_describe (const MharDevice *device, MharDeviceInfo *info);
/* Why "auto" did not take a GPU; NULL where it did, or the CPU was asked for. */
const char *mhar_device_fallback (const MharDevice *device);

/* The number of GPUs the plug-in sees; 0 and *reason (g_free) where it sees none. */
int mhar_device_count_cuda (char **reason);

/* The devices of one run: that of `spec`, or with "cuda:all" every GPU. MharDevice *, owned by the array (g_ptr_array_unref).
 * Errors as mhar_device_open. */
GPtrArray *mhar_devices_open (const char *spec, MharPrecisionWish precision, gboolean bf16_stored, GError **error);

/* TRUE for MHAR_OK; else MHAR_ERROR_MEMORY for MHAR_NO_MEMORY, MHAR_ERROR_RUN for the rest: "cuda:0: … while <what>". */
gboolean mhar_device_check (const MharDevice *device, int status, const char *what, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharDevice, mhar_device_free)

G_END_DECLS
