/* SPDX-License-Identifier: MIT */
/* A variable of a file that anyone may have made. Everything it says of its size is checked before memory is taken. */
#include "core/h5-private.h"
#include "core/input.h"

#include <string.h>

#define MAX_FIELD_BYTES (1ull << 30)
#define MAX_CHUNK_BYTES (16ull << 20) /* ours are of 1 MiB */
#define MAX_CHUNKS 16384
#define MAX_DEFLATE 1100 /* deflate cannot shrink more: 1032 */

/* ---- size ---- */

static gboolean
read_type (hid_t variable, MharFieldType *type, gsize *element)
{
  g_auto (MharH5Id) stored = H5Dget_type (variable);
  g_auto (MharH5Id) half = mhar_h5_half_type ();
  if (stored < 0 || half < 0)
    return FALSE;
  *element = H5Tget_size (stored);
  if (H5Tget_class (stored) == H5T_STRING)
    *element = MHAR_H5_REFERENCE; /* H5Tget_size tells the size of a pointer */
  if (H5Tequal (stored, H5T_IEEE_F32LE) > 0 || H5Tequal (stored, half) > 0)
    *type = MHAR_FIELD_F32;
  else if (H5Tequal (stored, H5T_IEEE_F64LE) > 0)
    *type = MHAR_FIELD_F64;
  else if (H5Tequal (stored, H5T_STD_I32LE) > 0)
    *type = MHAR_FIELD_I32;
  else if (H5Tget_class (stored) == H5T_STRING && H5Tis_variable_str (stored) > 0)
    *type = MHAR_FIELD_STRING;
  else
    return FALSE;
  return TRUE;
}

static gboolean
refuse (const MharH5Reader *reader, const char *name, const char *why, GError **error)
{
  g_autofree char *quoted = mhar_input_quote (name);
  return mhar_bad_input (error, "%s: variable %s %s", reader->shown, quoted, why);
}

/* Only filters that are part of HDF5: for others it would search for plug-ins. */
static gboolean
filters_are_known (hid_t list, int *n)
{
  *n = H5Pget_nfilters (list);
  for (int i = 0; i < *n; i++) {
    unsigned flags, config, values[8];
    size_t n_values = G_N_ELEMENTS (values);
    H5Z_filter_t filter = H5Pget_filter2 (list, (unsigned)i, &flags, &n_values, values, 0, NULL, &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
      return FALSE;
  }
  return *n >= 0 && *n <= 8;
}

/* Chunks are unpacked whole, into memory of the size they claim; a packed one is never longer than unpacked. */
static gboolean
chunks_are_sane (hid_t variable, hid_t list, guint n_dims, const hsize_t *shape, gsize element)
{
  hsize_t chunk[MHAR_FIELD_MAX_DIMS], at[MHAR_FIELD_MAX_DIMS] = { 0 }, stored;
  guint64 bytes = element, n = 1;
  if (H5Pget_chunk (list, (int)n_dims, chunk) != (int)n_dims)
    return FALSE;
  for (guint i = 0; i < n_dims; i++) {
    if (chunk[i] == 0 || !g_uint64_checked_mul (&bytes, bytes, chunk[i]) || bytes > MAX_CHUNK_BYTES)
      return FALSE;
    if (!g_uint64_checked_mul (&n, n, shape[i] / chunk[i] + (shape[i] % chunk[i] != 0)) || n > MAX_CHUNKS)
      return FALSE;
  }
  for (guint64 c = 0; c < n; c++) {
    if (H5Dget_chunk_storage_size (variable, at, &stored) < 0 || stored > bytes + 64)
      return FALSE;
    for (guint i = n_dims; i-- > 0;) {
      at[i] += chunk[i];
      if (at[i] < shape[i])
        break;
      at[i] = 0;
    }
  }
  return TRUE;
}

/* Whether the bytes that the variable takes in the file can hold `bytes` of values. Values in another file (external
 * and virtual layouts) are not looked for. */
static gboolean
storage_is_sane (const MharH5Reader *reader, hid_t variable, guint n_dims, const hsize_t *shape, gsize element,
                 guint64 bytes)
{
  g_auto (MharH5Id) list = H5Dget_create_plist (variable);
  int n_filters = 0;
  if (list < 0 || H5Pget_external_count (list) != 0)
    return FALSE;
  H5D_layout_t layout = H5Pget_layout (list);
  if (layout == H5D_CHUNKED) {
    if (!filters_are_known (list, &n_filters) || !chunks_are_sane (variable, list, n_dims, shape, element))
      return FALSE;
  } else if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) {
    return FALSE;
  }
  guint64 stored = H5Dget_storage_size (variable);
  return stored <= reader->file_bytes && bytes / (n_filters > 0 ? MAX_DEFLATE : 1) <= stored;
}

/* ---- dimensions ---- */

gboolean
mhar_h5_address (hid_t object, guint64 *address)
{
  H5O_info_t info;
  if (H5Oget_info2 (object, &info, H5O_INFO_BASIC) < 0)
    return FALSE;
  *address = info.addr;
  return TRUE;
}

/* The type of the attribute DIMENSION_LIST: a list of references for each axis. The library's own H5DS calls trust that
 * it is so, and as long as the rank. */
static hid_t
open_dimension_list (hid_t variable, guint n_dims, hid_t wanted)
{
  if (H5Aexists (variable, "DIMENSION_LIST") <= 0)
    return H5I_INVALID_HID;
  g_auto (MharH5Id) attribute = H5Aopen (variable, "DIMENSION_LIST", H5P_DEFAULT);
  g_auto (MharH5Id) type = attribute >= 0 ? H5Aget_type (attribute) : H5I_INVALID_HID;
  g_auto (MharH5Id) space = attribute >= 0 ? H5Aget_space (attribute) : H5I_INVALID_HID;
  if (type < 0 || space < 0 || H5Tequal (type, wanted) <= 0 || H5Sget_simple_extent_ndims (space) != 1
      || H5Sget_simple_extent_npoints (space) != (hssize_t)n_dims)
    return H5I_INVALID_HID;
  hid_t found = attribute;
  attribute = H5I_INVALID_HID;
  return found;
}

/* `dims` [n_dims] point into `names`. */
static gboolean
read_dims (MharH5Reader *reader, hid_t variable, const char *name, guint n_dims, GHashTable *names, const char **dims)
{
  guint8 raw[MHAR_FIELD_MAX_DIMS * MHAR_H5_REFERENCE];
  g_auto (MharH5Id) wanted = H5Tvlen_create (H5T_STD_REF_OBJ);
  g_auto (MharH5Id) type = mhar_h5_reference_type ();
  g_auto (MharH5Id) attribute = wanted >= 0 ? open_dimension_list (variable, n_dims, wanted) : H5I_INVALID_HID;
  if (attribute < 0) { /* scales themselves have none */
    dims[0] = name;
    return n_dims <= 1;
  }
  if (type < 0 || H5Aread (attribute, type, raw) < 0)
    return FALSE;
  for (guint i = 0; i < n_dims; i++) {
    const guint8 *scales;
    gsize n;
    guint64 address;
    if (!mhar_h5_heap_find (reader, raw + i * MHAR_H5_REFERENCE, sizeof address, &scales, &n) || n == 0)
      return FALSE;
    memcpy (&address, scales, sizeof address);
    address = GUINT64_FROM_LE (address);
    dims[i] = g_hash_table_lookup (names, &address);
    if (dims[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

/* ---- values ---- */

static gboolean
read_texts (MharH5Reader *reader, hid_t variable, MharField *field)
{
  gsize length = mhar_field_length (field);
  g_auto (MharH5Id) type = mhar_h5_reference_type ();
  g_autofree guint8 *raw = g_try_malloc0_n (length, MHAR_H5_REFERENCE);
  if (type < 0 || raw == NULL || H5Dread (variable, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) < 0)
    return FALSE;
  for (gsize i = 0; i < length; i++) {
    field->data.str[i] = mhar_h5_heap_text (reader, raw + i * MHAR_H5_REFERENCE);
    if (field->data.str[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_values (MharH5Reader *reader, hid_t variable, MharField *field)
{
  if (mhar_field_length (field) == 0)
    return TRUE;
  switch (field->type) {
  case MHAR_FIELD_STRING:
    return read_texts (reader, variable, field);
  case MHAR_FIELD_F32:
    return H5Dread (variable, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, field->data.f32) >= 0;
  case MHAR_FIELD_F64:
    return H5Dread (variable, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field->data.f64) >= 0;
  case MHAR_FIELD_I32:
    return H5Dread (variable, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, field->data.i32) >= 0;
  }
  g_assert_not_reached ();
}

/* ---- the whole ---- */

/* The shape, or -1 where its rank is not one that a field may have. */
static int
read_shape (hid_t variable, hsize_t *shape)
{
  g_auto (MharH5Id) space = H5Dget_space (variable);
  int rank = space >= 0 && H5Sget_simple_extent_type (space) != H5S_NULL ? H5Sget_simple_extent_ndims (space) : -1;
  if (rank < 0 || rank > MHAR_FIELD_MAX_DIMS || H5Sget_simple_extent_dims (space, shape, NULL) < 0)
    return -1;
  return rank;
}

static gboolean
check_size (MharH5Reader *reader, hid_t variable, const char *name, guint n_dims, const hsize_t *shape, gsize element,
            GError **error)
{
  guint64 bytes = element;
  for (guint i = 0; i < n_dims; i++)
    if (!g_uint64_checked_mul (&bytes, bytes, shape[i]) || shape[i] > G_MAXINT32)
      return refuse (reader, name, "is too large to open", error);
  if (bytes > MIN (MAX_FIELD_BYTES, reader->bytes_left))
    return refuse (reader, name, "is too large to open", error);
  if (bytes > 0 && !storage_is_sane (reader, variable, n_dims, shape, element, bytes))
    return refuse (reader, name, "is damaged, or stored in a way that mhar-probe does not write; make the file anew",
                   error);
  reader->bytes_left -= bytes;
  return TRUE;
}

gboolean
mhar_h5_read_variable (MharH5Reader *reader, hid_t variable, const char *name, GHashTable *names, MharField **field,
                       GError **error)
{
  MharFieldType type;
  gsize element = 0;
  hsize_t shape[MHAR_FIELD_MAX_DIMS] = { 0 };
  const char *dims[MHAR_FIELD_MAX_DIMS] = { NULL };
  *field = NULL;
  int rank = read_shape (variable, shape);
  if (rank < 0 || !read_type (variable, &type, &element)
      || !read_dims (reader, variable, name, (guint)rank, names, dims))
    return TRUE;
  if (!check_size (reader, variable, name, (guint)rank, shape, element, error))
    return FALSE;

  gsize lengths[MHAR_FIELD_MAX_DIMS];
  for (int i = 0; i < rank; i++)
    lengths[i] = shape[i];
  g_autofree char *long_name = mhar_h5_read_text (reader, variable, "long_name");
  g_autofree char *units = mhar_h5_read_text (reader, variable, "units");
  g_autoptr (MharField) made = mhar_field_new (name, long_name, units, type, (guint)rank, dims, lengths);
  if (!read_values (reader, variable, made))
    return refuse (reader, name, "cannot be read because the file is damaged; make it anew", error);
  *field = g_steal_pointer (&made);
  return TRUE;
}
