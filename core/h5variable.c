/* SPDX-License-Identifier: MIT */
/* Fields as variables: every axis attached to a dimension scale of its own group. */
#include "core/h5-private.h"

#include <hdf5_hl.h>
#include <math.h>

#define CHUNK_BYTES (1u << 20)
#define CONTIGUOUS_BYTES (64u << 10) /* up to here a filter saves nothing worth a chunk index */
#define GROWTH_ROWS 256              /* a growing variable's chunk holds at least so many rows, where 1 MiB does */

typedef struct {
  const char *name; /* of the dataset that was given */
  gsize length;
  hid_t scale;
} Dim;

gboolean
mhar_h5_is_coordinate (const MharField *field)
{
  return field->n_dims == 1 && g_str_equal (field->dims[0], field->name);
}

/* ---- values ---- */

static gboolean
write_texts (hid_t variable, const MharField *field, hid_t memory, hid_t place)
{
  gsize length = mhar_field_length (field);
  g_autoptr (GPtrArray) texts = g_ptr_array_new_full ((guint)MIN (length, G_MAXINT32), g_free);
  for (gsize i = 0; i < length; i++)
    g_ptr_array_add (texts, g_utf8_make_valid (field->data.str[i] != NULL ? field->data.str[i] : "", -1));
  g_auto (MharH5Id) type = mhar_h5_text_type ();
  return type >= 0 && H5Dwrite (variable, type, memory, place, H5P_DEFAULT, texts->pdata) >= 0;
}

static gboolean
write_halves (hid_t variable, const MharField *field, hid_t memory, hid_t place)
{
  gsize length = mhar_field_length (field);
  g_autofree guint16 *halves = g_new (guint16, length);
  for (gsize i = 0; i < length; i++)
    halves[i] = GUINT16_TO_LE (mhar_h5_half (field->data.f32[i]));
  g_auto (MharH5Id) type = mhar_h5_half_type ();
  return type >= 0 && H5Dwrite (variable, type, memory, place, H5P_DEFAULT, halves) >= 0;
}

gboolean
mhar_h5_write_values (hid_t variable, const MharField *field, gboolean f16, gsize start)
{
  hsize_t from[MHAR_FIELD_MAX_DIMS] = { start, 0 }, count[MHAR_FIELD_MAX_DIMS];
  for (guint i = 0; i < field->n_dims; i++)
    count[i] = field->shape[i];
  if (mhar_field_length (field) == 0)
    return TRUE;

  g_auto (MharH5Id) place = H5Dget_space (variable);
  g_auto (MharH5Id) memory
      = field->n_dims > 0 ? H5Screate_simple ((int)field->n_dims, count, NULL) : H5Screate (H5S_SCALAR);
  if (place < 0 || memory < 0)
    return FALSE;
  if (field->n_dims > 0 && H5Sselect_hyperslab (place, H5S_SELECT_SET, from, NULL, count, NULL) < 0)
    return FALSE;
  switch (field->type) {
  case MHAR_FIELD_STRING:
    return write_texts (variable, field, memory, place);
  case MHAR_FIELD_F32:
    if (f16)
      return write_halves (variable, field, memory, place);
    return H5Dwrite (variable, H5T_NATIVE_FLOAT, memory, place, H5P_DEFAULT, field->data.f32) >= 0;
  case MHAR_FIELD_F64:
    return H5Dwrite (variable, H5T_NATIVE_DOUBLE, memory, place, H5P_DEFAULT, field->data.f64) >= 0;
  case MHAR_FIELD_I32:
    return H5Dwrite (variable, H5T_NATIVE_INT32, memory, place, H5P_DEFAULT, field->data.i32) >= 0;
  }
  g_assert_not_reached ();
}

/* ---- making a variable ---- */

/* Whole trailing axes, as many rows of the leading ones as fit. */
static void
chunk_shape (const MharField *field, gsize element, gboolean grows, hsize_t *chunk)
{
  for (guint i = 0; i < field->n_dims; i++)
    chunk[i] = MAX (field->shape[i], 1);
  if (grows)
    chunk[0] = MAX (field->shape[0], GROWTH_ROWS);
  for (guint axis = 0; axis < field->n_dims; axis++) {
    hsize_t row = element;
    for (guint i = axis + 1; i < field->n_dims; i++)
      row *= chunk[i];
    chunk[axis] = CLAMP (CHUNK_BYTES / row, 1, chunk[axis]);
    if (row <= CHUNK_BYTES)
      break;
  }
}

/* The creation list: order of attributes, NaN where nothing is written, chunks and filters where they pay. */
static hid_t
variable_list (const MharField *field, hid_t type, gboolean grows)
{
  g_auto (MharH5Id) list = H5Pcreate (H5P_DATASET_CREATE);
  gsize element = H5Tget_size (type);
  float nan_value = NAN;
  if (list < 0 || element == 0 || H5Pset_attr_creation_order (list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0)
    return H5I_INVALID_HID;
  if ((field->type == MHAR_FIELD_F32 || field->type == MHAR_FIELD_F64)
      && H5Pset_fill_value (list, H5T_NATIVE_FLOAT, &nan_value) < 0)
    return H5I_INVALID_HID;

  /* Text is stored as references into a heap: filters would not see it. */
  gboolean filtered
      = field->type != MHAR_FIELD_STRING && (grows || mhar_field_length (field) > CONTIGUOUS_BYTES / element);
  if (grows || filtered) {
    hsize_t chunk[MHAR_FIELD_MAX_DIMS];
    chunk_shape (field, element, grows, chunk);
    if (H5Pset_chunk (list, (int)field->n_dims, chunk) < 0)
      return H5I_INVALID_HID;
  }
  if (filtered && (H5Pset_shuffle (list) < 0 || H5Pset_deflate (list, 4) < 0))
    return H5I_INVALID_HID;
  hid_t made = list;
  list = H5I_INVALID_HID;
  return made;
}

static hid_t
create_variable (hid_t group, const MharField *field, gboolean grows, gboolean f16)
{
  hsize_t shape[MHAR_FIELD_MAX_DIMS], most[MHAR_FIELD_MAX_DIMS];
  for (guint i = 0; i < field->n_dims; i++) {
    shape[i] = field->shape[i];
    /* An empty axis of a chunked variable needs a limit above its length: no chunk is shorter than 1. */
    most[i] = grows && shape[i] == 0 ? H5S_UNLIMITED : shape[i];
  }
  if (grows) {
    shape[0] = 0;
    most[0] = H5S_UNLIMITED;
  }
  g_auto (MharH5Id) type = mhar_h5_file_type (field->type, f16);
  g_auto (MharH5Id) space
      = field->n_dims > 0 ? H5Screate_simple ((int)field->n_dims, shape, most) : H5Screate (H5S_SCALAR);
  g_auto (MharH5Id) list = type >= 0 ? variable_list (field, type, grows) : H5I_INVALID_HID;
  if (type < 0 || space < 0 || list < 0)
    return H5I_INVALID_HID;
  g_auto (MharH5Id) variable = H5Dcreate2 (group, field->name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (variable < 0 || !mhar_h5_set_string (variable, "long_name", field->long_name)
      || !mhar_h5_set_string (variable, "units", field->units))
    return H5I_INVALID_HID;
  /* Coordinates may not be missing (CF). */
  gboolean may_miss
      = (field->type == MHAR_FIELD_F32 || field->type == MHAR_FIELD_F64) && !mhar_h5_is_coordinate (field);
  if (may_miss && !mhar_h5_set_fill_value (variable, type))
    return H5I_INVALID_HID;
  hid_t made = variable;
  variable = H5I_INVALID_HID;
  return made;
}

/* ---- dimensions ---- */

static void
dim_clear (gpointer data)
{
  Dim *dim = data;
  mhar_h5_id_release (dim->scale);
}

static Dim *
find_dim (GArray *dims, const char *name)
{
  for (guint i = 0; i < dims->len; i++)
    if (g_str_equal (g_array_index (dims, Dim, i).name, name))
      return &g_array_index (dims, Dim, i);
  return NULL;
}

static gboolean
add_dims (MharH5Writer *writer, GArray *dims, const MharField *field, GError **error)
{
  for (guint i = 0; i < field->n_dims; i++) {
    Dim *known = find_dim (dims, field->dims[i]);
    if (known != NULL && known->length != field->shape[i])
      return mhar_h5_write_refused (writer, error,
                                    "variable %s has %" G_GSIZE_FORMAT " %s where others have %" G_GSIZE_FORMAT,
                                    field->name, field->shape[i], field->dims[i], known->length);
    Dim dim = { field->dims[i], field->shape[i], H5I_INVALID_HID };
    if (known == NULL)
      g_array_append_val (dims, dim);
  }
  return TRUE;
}

/* The dimensions of all fields, in order of appearance. */
static GArray *
collect_dims (MharH5Writer *writer, const MharDataset *set, GError **error)
{
  g_autoptr (GArray) dims = g_array_new (FALSE, FALSE, sizeof (Dim));
  g_array_set_clear_func (dims, dim_clear);
  for (guint i = 0; i < mhar_dataset_n_fields (set); i++)
    if (!add_dims (writer, dims, mhar_dataset_field (set, i), error))
      return NULL;
  for (guint i = 0; i < dims->len; i++) {
    const char *name = g_array_index (dims, Dim, i).name;
    const MharField *field = mhar_dataset_get (set, name);
    if (field != NULL && (!mhar_h5_is_coordinate (field) || field->type == MHAR_FIELD_STRING)) {
      mhar_h5_write_refused (writer, error, "variable %s is named as a dimension but is not a list of numbers along it",
                             name);
      return NULL;
    }
  }
  return g_steal_pointer (&dims);
}

/* 0, 1, 2 … for a dimension without coordinates of its own. */
static MharField *
index_field (const Dim *dim)
{
  g_autofree char *long_name = g_strdup_printf ("index along %s", dim->name);
  MharField *field = mhar_field_new (dim->name, long_name, "1", MHAR_FIELD_I32, 1, &dim->name, &dim->length);
  for (gsize i = 0; i < dim->length; i++)
    field->data.i32[i] = (gint32)i;
  return field;
}

static gboolean
write_scale (MharH5Writer *writer, hid_t group, const MharDataset *set, Dim *dim, gboolean grows, GError **error)
{
  if (dim->length > G_MAXINT32)
    return mhar_h5_write_refused (writer, error, "dimension %s has over 2147483647 values", dim->name);
  g_autoptr (MharField) made = NULL;
  const MharField *field = mhar_dataset_get (set, dim->name);
  if (field == NULL)
    field = made = index_field (dim);
  dim->scale = create_variable (group, field, grows, FALSE);
  if (dim->scale < 0 || (!grows && !mhar_h5_write_values (dim->scale, field, FALSE, 0))
      || H5DSset_scale (dim->scale, dim->name) < 0)
    return mhar_h5_write_failed (writer, error, "dimension %s", dim->name);
  return TRUE;
}

/* ---- variables ---- */

static gboolean
lies_along (const MharField *inner, const MharField *outer)
{
  for (guint i = 0; i < inner->n_dims; i++)
    if (mhar_field_dim (outer, inner->dims[i]) != inner->shape[i])
      return FALSE;
  return inner->n_dims > 0;
}

/* CF's attribute `coordinates`: the labels that go with a variable's axes. xarray makes them coordinates of it. */
static gboolean
name_labels (hid_t variable, const MharField *field, const MharDataset *set)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < mhar_dataset_n_fields (set); i++) {
    const MharField *label = mhar_dataset_field (set, i);
    if (label->type == MHAR_FIELD_STRING && lies_along (label, field))
      g_string_append_printf (names, "%s%s", names->len > 0 ? " " : "", label->name);
  }
  return field->type == MHAR_FIELD_STRING || names->len == 0
         || mhar_h5_set_string (variable, "coordinates", names->str);
}

static gboolean
write_variable (hid_t group, const MharDataset *set, const MharField *field, GArray *dims, gboolean grows, gboolean f16)
{
  f16 = f16 && field->type == MHAR_FIELD_F32;
  g_auto (MharH5Id) variable = create_variable (group, field, grows, f16);
  if (variable < 0 || !name_labels (variable, field, set))
    return FALSE;
  if (!grows && !mhar_h5_write_values (variable, field, f16, 0))
    return FALSE;
  for (guint i = 0; i < field->n_dims; i++)
    if (H5DSattach_scale (variable, find_dim (dims, field->dims[i])->scale, i) < 0)
      return FALSE;
  return TRUE;
}

gboolean
mhar_h5_write_fields (MharH5Writer *writer, hid_t group, const MharDataset *set, const char *stream, gboolean f16,
                      GError **error)
{
  g_autoptr (GArray) dims = collect_dims (writer, set, error);
  if (dims == NULL)
    return FALSE;
  for (guint i = 0; i < dims->len; i++) {
    Dim *dim = &g_array_index (dims, Dim, i);
    if (!write_scale (writer, group, set, dim, g_strcmp0 (dim->name, stream) == 0, error))
      return FALSE;
  }
  for (guint i = 0; i < mhar_dataset_n_fields (set); i++) {
    const MharField *field = mhar_dataset_field (set, i);
    gboolean grows = stream != NULL && field->n_dims > 0 && g_str_equal (field->dims[0], stream);
    if (!mhar_h5_is_coordinate (field) && !write_variable (group, set, field, dims, grows, f16))
      return mhar_h5_write_failed (writer, error, "variable %s", field->name);
  }
  return TRUE;
}

/* ---- group attributes ---- */

gboolean
mhar_h5_write_attributes (MharH5Writer *writer, hid_t group, const MharDataset *set, GError **error)
{
  for (guint i = 0; i < mhar_dataset_n_attributes (set); i++) {
    const MharAttribute *attribute = mhar_dataset_attribute (set, i);
    if (!mhar_h5_set_attribute (group, attribute))
      return mhar_h5_write_failed (writer, error, "attribute %s", attribute->name);
  }
  const char *signal_name = mhar_dataset_string (set, "signal");
  const MharField *field = signal_name != NULL ? mhar_dataset_get (set, signal_name) : NULL;
  if (field == NULL)
    return TRUE;
  const char *axes[MHAR_FIELD_MAX_DIMS + 1] = { NULL };
  for (guint i = 0; i < field->n_dims; i++)
    axes[i] = field->dims[i];
  if (!mhar_h5_set_string (group, "NX_class", "NXdata") || !mhar_h5_set_strings (group, "axes", axes))
    return mhar_h5_write_failed (writer, error, "NXdata attributes of %s", mhar_dataset_name (set));
  return TRUE;
}
