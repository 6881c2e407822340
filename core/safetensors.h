/* SPDX-License-Identifier: MIT */
/* One safetensors file, mapped, every header field checked before anything points into it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MHAR_TENSOR_MAX_DIMS 8

/* A tensor of a checkpoint. The bytes are where the file put them: at any alignment, little-endian. Owned by the file
 * it came from. */
typedef struct {
  const char *name;
  const char *dtype; /* as written: "BF16", "F16", "F32", "I64" … */
  guint n_dims;
  guint64 shape[MHAR_TENSOR_MAX_DIMS];
  const guint8 *data;
  gsize bytes;
} MharTensor;

typedef struct _MharSafetensors MharSafetensors;

/* Maps the file. Fails with MHAR_ERROR_INPUT, naming the file and the tensor, where it is not a regular file, is a
 * git-lfs pointer, is too short, has a header over 100 MB or not JSON, or a tensor whose dtype is unknown, whose shape
 * is negative or over 8 dimensions, whose shape × dtype is not its bytes, whose bytes lie outside the file or overlap
 * another's, or where bytes belong to no tensor. Names are unique. */
MharSafetensors *mhar_safetensors_open (const char *path, GError **error);
void mhar_safetensors_free (MharSafetensors *file);

guint mhar_safetensors_n_tensors (const MharSafetensors *file);
const MharTensor *mhar_safetensors_tensor (const MharSafetensors *file, guint i); /* in the order of their data */
const MharTensor *mhar_safetensors_find (const MharSafetensors *file, const char *name); /* NULL where absent */
/* What the header's __metadata__ says under `key`; NULL where it says nothing. Owned by the file. */
const char *mhar_safetensors_metadata (const MharSafetensors *file, const char *key);
/* The header's JSON text, `*length` bytes (for digests). */
const guint8 *mhar_safetensors_header (const MharSafetensors *file, gsize *length);
/* The whole file, `*length` bytes (for digests). */
const guint8 *mhar_safetensors_contents (const MharSafetensors *file, gsize *length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharSafetensors, mhar_safetensors_free)

G_END_DECLS
