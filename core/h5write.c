/* SPDX-License-Identifier: MIT */
/* A dataset and its children as the groups of a file. */
#include "core/h5-private.h"

static gboolean write_group (MharH5Writer *writer, const char *path, const MharDataset *set, GError **error);

static gboolean
write_children (MharH5Writer *writer, const char *path, const MharDataset *set, GError **error)
{
  for (guint i = 0; i < mhar_dataset_n_children (set); i++) {
    const MharDataset *child = mhar_dataset_child (set, i);
    g_autofree char *below = g_strdup_printf ("%s/%s", path, mhar_dataset_name (child));
    if (!write_group (writer, below, child, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
write_group (MharH5Writer *writer, const char *path, const MharDataset *set, GError **error)
{
  g_auto (MharH5Id) group = mhar_h5_ensure_group (writer->file, path);
  if (group < 0)
    return mhar_h5_write_failed (writer, error, "group %s", path);
  return mhar_h5_write_attributes (writer, group, set, error)
         && mhar_h5_write_fields (writer, group, set, NULL, FALSE, error) && write_children (writer, path, set, error);
}

/* The child that a viewer opens first. */
static const char *
first_plottable (const MharDataset *root)
{
  for (guint i = 0; i < mhar_dataset_n_children (root); i++) {
    const MharDataset *child = mhar_dataset_child (root, i);
    const char *signal_name = mhar_dataset_string (child, "signal");
    if (signal_name != NULL && mhar_dataset_get (child, signal_name) != NULL)
      return mhar_dataset_name (child);
  }
  return NULL;
}

static gboolean
has_attribute (const MharDataset *set, const char *name)
{
  for (guint i = 0; i < mhar_dataset_n_attributes (set); i++)
    if (g_str_equal (mhar_dataset_attribute (set, i)->name, name))
      return TRUE;
  return FALSE;
}

gboolean
mhar_h5_writer_write (MharH5Writer *writer, const MharDataset *root, GError **error)
{
  mhar_h5_enter ();
  if (writer->failed || writer->written)
    return mhar_h5_write_refused (writer, error,
                                  writer->failed ? "an earlier part of it failed" : "it is written already");
  if (!write_group (writer, "", root, error))
    return FALSE;

  g_auto (MharH5Id) top = H5Gopen2 (writer->file, "/", H5P_DEFAULT);
  const char *first = has_attribute (root, "default") ? NULL : first_plottable (root);
  gboolean good = top >= 0;
  if (good && !has_attribute (root, "mhar_schema"))
    good = mhar_h5_set_integer (top, "mhar_schema", MHAR_H5_SCHEMA);
  if (good && !has_attribute (root, "signal"))
    good = mhar_h5_set_string (top, "NX_class", "NXroot");
  if (good && first != NULL)
    good = mhar_h5_set_string (top, "default", first);
  if (!good || mhar_h5_disk_errno (writer->disk) != 0)
    return mhar_h5_write_failed (writer, error, "the file's attributes");
  writer->written = TRUE;
  return TRUE;
}
