/* SPDX-License-Identifier: MIT */
/* A file of tensors, of either kind that a checkpoint has: safetensors or a torch archive. */
#pragma once

#include "core/safetensors.h"

G_BEGIN_DECLS

typedef struct _MharTensorFile MharTensorFile;

/* Maps folder/name: a torch archive where `torch`, else safetensors. Errors are those of either's open. */
MharTensorFile *mhar_tensor_file_open (const char *folder, const char *name, gboolean torch, GError **error);
void mhar_tensor_file_free (MharTensorFile *file);

const char *mhar_tensor_file_name (const MharTensorFile *file); /* the base name */
guint mhar_tensor_file_n_tensors (const MharTensorFile *file);
const MharTensor *mhar_tensor_file_tensor (const MharTensorFile *file, guint i);
const MharTensor *mhar_tensor_file_find (const MharTensorFile *file, const char *name); /* NULL where absent */
/* What describes the tensors, `*length` bytes: the JSON header, or data.pkl (for digests). */
const guint8 *mhar_tensor_file_header (const MharTensorFile *file, gsize *length);
/* The whole file, `*length` bytes (for digests). */
const guint8 *mhar_tensor_file_contents (const MharTensorFile *file, gsize *length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTensorFile, mhar_tensor_file_free)

G_END_DECLS
