/* SPDX-License-Identifier: MIT */
/* Groups that grow along one dimension while a run goes on. */
#include "core/h5-private.h"

typedef struct {
  char *name;
  MharFieldType type;
  guint n_dims;
  gsize shape[MHAR_FIELD_MAX_DIMS]; /* [0] is not looked at */
  hid_t variable;
} Column;

typedef struct {
  char *dim;
  guint64 length;
  gboolean f16;
  hid_t scale;
  GPtrArray *columns; /* Column */
} MharH5Stream;

static void
column_free (gpointer data)
{
  Column *column = data;
  mhar_h5_id_release (column->variable);
  g_free (column->name);
  g_free (column);
}

void
mhar_h5_stream_free (gpointer data)
{
  MharH5Stream *stream = data;
  g_ptr_array_unref (stream->columns);
  mhar_h5_id_release (stream->scale);
  g_free (stream->dim);
  g_free (stream);
}

/* The dimension along which a slab is one: the first of the first variable that is not the coordinates of another. */
static const char *
stream_dim (const MharDataset *slab)
{
  const char *dim = NULL;
  for (guint i = 0; i < mhar_dataset_n_fields (slab); i++) {
    const MharField *field = mhar_dataset_field (slab, i);
    if (field->n_dims > 0 && !mhar_h5_is_coordinate (field))
      return field->dims[0];
    if (dim == NULL && field->n_dims > 0)
      dim = field->dims[0];
  }
  return dim;
}

/* Every variable has `dim` first and nowhere else; coordinates of the other dimensions may be there too. */
static gboolean
check_slab (MharH5Writer *writer, const char *group, const MharDataset *slab, const char *dim, GError **error)
{
  if (dim == NULL)
    return mhar_h5_write_refused (writer, error, "a slab of %s has no variable to append", group);
  for (guint i = 0; i < mhar_dataset_n_fields (slab); i++) {
    const MharField *field = mhar_dataset_field (slab, i);
    gboolean first = field->n_dims > 0 && g_str_equal (field->dims[0], dim);
    if (!first && !mhar_h5_is_coordinate (field))
      return mhar_h5_write_refused (writer, error, "variable %s/%s does not have the dimension %s first", group,
                                    field->name, dim);
    for (guint j = 1; j < field->n_dims; j++)
      if (g_str_equal (field->dims[j], dim))
        return mhar_h5_write_refused (writer, error, "variable %s/%s has the growing dimension %s twice", group,
                                      field->name, dim);
  }
  return TRUE;
}

static gboolean
open_column (MharH5Stream *stream, hid_t group, const MharField *field)
{
  Column *column = g_new0 (Column, 1);
  g_ptr_array_add (stream->columns, column);
  column->name = g_strdup (field->name);
  column->type = field->type;
  column->n_dims = field->n_dims;
  for (guint i = 0; i < field->n_dims; i++)
    column->shape[i] = field->shape[i];
  column->variable = H5Dopen2 (group, field->name, H5P_DEFAULT);
  return column->variable >= 0;
}

/* The variables stay open: closing one would write its unfilled last chunk, to be read again for the next slab. */
static MharH5Stream *
open_stream (MharH5Writer *writer, const char *path, const MharDataset *slab, const char *dim, gboolean f16,
             GError **error)
{
  g_auto (MharH5Id) group = mhar_h5_ensure_group (writer->file, path);
  if (group < 0) {
    mhar_h5_write_failed (writer, error, "group %s", path);
    return NULL;
  }
  if (!mhar_h5_write_attributes (writer, group, slab, error)
      || !mhar_h5_write_fields (writer, group, slab, dim, f16, error))
    return NULL;

  MharH5Stream *stream = g_new0 (MharH5Stream, 1);
  stream->dim = g_strdup (dim);
  stream->f16 = f16;
  stream->columns = g_ptr_array_new_with_free_func (column_free);
  stream->scale = H5Dopen2 (group, dim, H5P_DEFAULT);
  gboolean good = stream->scale >= 0;
  for (guint i = 0; good && i < mhar_dataset_n_fields (slab); i++)
    if (!mhar_h5_is_coordinate (mhar_dataset_field (slab, i)))
      good = open_column (stream, group, mhar_dataset_field (slab, i));
  if (!good) {
    mhar_h5_write_failed (writer, error, "group %s", path);
    mhar_h5_stream_free (stream);
    return NULL;
  }
  g_hash_table_insert (writer->streams, g_strdup (path), stream);
  return stream;
}

static gboolean
append_values (hid_t variable, const MharField *field, gboolean f16, guint64 start)
{
  hsize_t size[MHAR_FIELD_MAX_DIMS];
  for (guint i = 0; i < field->n_dims; i++)
    size[i] = field->shape[i];
  size[0] += start;
  return H5Dset_extent (variable, size) >= 0 && mhar_h5_write_values (variable, field, f16, start);
}

static gboolean
append_scale (MharH5Writer *writer, MharH5Stream *stream, const MharDataset *slab, gsize n, GError **error)
{
  if (stream->length + n > G_MAXINT32)
    return mhar_h5_write_refused (writer, error, "dimension %s has over 2147483647 values", stream->dim);
  g_autoptr (MharField) made = NULL;
  const MharField *field = mhar_dataset_get (slab, stream->dim);
  if (field == NULL) {
    field = made = mhar_field_new (stream->dim, "", "1", MHAR_FIELD_I32, 1, (const char *const *)&stream->dim, &n);
    for (gsize i = 0; i < n; i++)
      made->data.i32[i] = (gint32)(stream->length + i);
  }
  if (!append_values (stream->scale, field, FALSE, stream->length))
    return mhar_h5_write_failed (writer, error, "dimension %s", stream->dim);
  return TRUE;
}

static gboolean
append_column (MharH5Writer *writer, MharH5Stream *stream, const Column *column, const MharDataset *slab, gsize n,
               GError **error)
{
  const MharField *field = mhar_dataset_get (slab, column->name);
  gboolean same
      = field != NULL && field->type == column->type && field->n_dims == column->n_dims && field->shape[0] == n;
  for (guint i = 1; same && i < column->n_dims; i++)
    same = field->shape[i] == column->shape[i];
  if (!same)
    return mhar_h5_write_refused (writer, error, "variable %s is not as it was in the first slab", column->name);
  if (!append_values (column->variable, field, stream->f16 && field->type == MHAR_FIELD_F32, stream->length))
    return mhar_h5_write_failed (writer, error, "variable %s", column->name);
  return TRUE;
}

gboolean
mhar_h5_writer_append (MharH5Writer *writer, const char *group, const MharDataset *slab, gboolean f16, GError **error)
{
  mhar_h5_enter ();
  if (writer->failed)
    return mhar_h5_write_refused (writer, error, "an earlier part of it failed");
  const char *dim = stream_dim (slab);
  if (!check_slab (writer, group, slab, dim, error))
    return FALSE;
  MharH5Stream *stream = g_hash_table_lookup (writer->streams, group);
  if (stream == NULL)
    stream = open_stream (writer, group, slab, dim, f16, error);
  if (stream == NULL)
    return FALSE;
  if (!g_str_equal (stream->dim, dim))
    return mhar_h5_write_refused (writer, error, "group %s grows along %s, not %s", group, stream->dim, dim);

  gsize n = 0;
  for (guint i = 0; i < mhar_dataset_n_fields (slab) && n == 0; i++)
    n = mhar_field_dim (mhar_dataset_field (slab, i), dim);
  if (!append_scale (writer, stream, slab, n, error))
    return FALSE;
  for (guint i = 0; i < stream->columns->len; i++)
    if (!append_column (writer, stream, stream->columns->pdata[i], slab, n, error))
      return FALSE;
  stream->length += n;
  /* The driver goes on after a failed write; a run of hours should not. */
  return mhar_h5_disk_errno (writer->disk) == 0 || mhar_h5_write_failed (writer, error, "group %s", group);
}
