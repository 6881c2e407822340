/* SPDX-License-Identifier: MIT */
/* A torch.save archive (.pt, .pth, .bin): a state dict in a zip of stored entries, mapped; tensors stay in the file. */
#pragma once

#include "core/safetensors.h"

G_BEGIN_DECLS

typedef struct _MharTorchArchive MharTorchArchive;

/* The state dict is the dict saved, or what it holds under one of "model", "state_dict", "model_state" and
 * "model_state_dict"; what is in it beside tensors is left aside. Names lose the prefixes "module." and "_orig_mod.",
 * as often as they stand. MHAR_ERROR_INPUT naming the file and the tensor, entry or Python name where it is an archive
 * of the old kind (a bare pickle), cut short, compressed or big-endian, its pickle holds anything but plain data and
 * tensors (core/unpickle.h; nothing is ever run), there are two state dicts or none, a name stands twice, or a tensor
 * is not contiguous, transposed say, or reaches beyond its storage. */
MharTorchArchive *mhar_torch_archive_open (const char *path, GError **error);
void mhar_torch_archive_free (MharTorchArchive *archive);

guint mhar_torch_archive_n_tensors (const MharTorchArchive *archive);
const MharTensor *mhar_torch_archive_tensor (const MharTorchArchive *archive, guint i); /* as the state dict has them */
const MharTensor *mhar_torch_archive_find (const MharTorchArchive *archive, const char *name); /* NULL where absent */
/* data.pkl, `*length` bytes: names, types, shapes and places (for digests). */
const guint8 *mhar_torch_archive_header (const MharTorchArchive *archive, gsize *length);
/* The whole file, `*length` bytes (for digests). */
const guint8 *mhar_torch_archive_contents (const MharTorchArchive *archive, gsize *length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharTorchArchive, mhar_torch_archive_free)

G_END_DECLS
