/* SPDX-License-Identifier: MIT */
#include "core/tensor-file.h"

#include "core/torch-archive.h"

struct _MharTensorFile {
  char *name;
  MharSafetensors *plain; /* one of the two */
  MharTorchArchive *torch;
};

MharTensorFile *
mhar_tensor_file_open (const char *folder, const char *name, gboolean torch, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (MharTensorFile) file = g_new0 (MharTensorFile, 1);
  file->name = g_strdup (name);
  if (torch)
    file->torch = mhar_torch_archive_open (path, error);
  else
    file->plain = mhar_safetensors_open (path, error);
  return file->torch != NULL || file->plain != NULL ? g_steal_pointer (&file) : NULL;
}

void
mhar_tensor_file_free (MharTensorFile *file)
{
  if (file == NULL)
    return;
  mhar_safetensors_free (file->plain);
  mhar_torch_archive_free (file->torch);
  g_free (file->name);
  g_free (file);
}

const char *
mhar_tensor_file_name (const MharTensorFile *file)
{
  return file->name;
}

guint
mhar_tensor_file_n_tensors (const MharTensorFile *file)
{
  return file->torch != NULL ? mhar_torch_archive_n_tensors (file->torch) : mhar_safetensors_n_tensors (file->plain);
}

const MharTensor *
mhar_tensor_file_tensor (const MharTensorFile *file, guint i)
{
  return file->torch != NULL ? mhar_torch_archive_tensor (file->torch, i) : mhar_safetensors_tensor (file->plain, i);
}

const MharTensor *
mhar_tensor_file_find (const MharTensorFile *file, const char *name)
{
  return file->torch != NULL ? mhar_torch_archive_find (file->torch, name) : mhar_safetensors_find (file->plain, name);
}

const guint8 *
mhar_tensor_file_header (const MharTensorFile *file, gsize *length)
{
  return file->torch != NULL ? mhar_torch_archive_header (file->torch, length)
                             : mhar_safetensors_header (file->plain, length);
}

const guint8 *
mhar_tensor_file_contents (const MharTensorFile *file, gsize *length)
{
  return file->torch != NULL ? mhar_torch_archive_contents (file->torch, length)
                             : mhar_safetensors_contents (file->plain, length);
}
