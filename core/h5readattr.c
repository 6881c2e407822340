/* SPDX-License-Identifier: MIT */
/* Attributes of a file that anyone may have made. */
#include "core/h5-private.h"

#define MAX_ATTRIBUTES 4096
#define MAX_FIXED_BYTES (64u << 10)

static herr_t
take_name (hid_t object G_GNUC_UNUSED, const char *name, const H5A_info_t *info G_GNUC_UNUSED, void *data)
{
  GPtrArray *names = data;
  g_ptr_array_add (names, g_strdup (name));
  return names->len > MAX_ATTRIBUTES || !g_utf8_validate (name, -1, NULL) ? -1 : 0;
}

GPtrArray *
mhar_h5_attribute_names (hid_t object)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  hsize_t at = 0;
  H5O_info_t info;
  /* HDF5 takes memory for as many as the object claims. */
  if (H5Oget_info2 (object, &info, H5O_INFO_NUM_ATTRS) < 0 || info.num_attrs > MAX_ATTRIBUTES)
    return NULL;
  if (H5Aiterate2 (object, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, take_name, names) >= 0)
    return g_steal_pointer (&names);
  /* Other programs need not have tracked the order. */
  g_ptr_array_set_size (names, 0);
  at = 0;
  if (H5Aiterate2 (object, H5_INDEX_NAME, H5_ITER_INC, &at, take_name, names) < 0)
    return NULL;
  return g_steal_pointer (&names);
}

/* The number of elements of an attribute of rank 0 or 1; -1 for others. */
static hssize_t
count (hid_t attribute, int *rank)
{
  g_auto (MharH5Id) space = H5Aget_space (attribute);
  if (space < 0 || H5Sget_simple_extent_type (space) == H5S_NULL)
    return -1;
  *rank = H5Sget_simple_extent_ndims (space);
  return *rank == 0 || *rank == 1 ? H5Sget_simple_extent_npoints (space) : -1;
}

static gboolean
is_text (hid_t type)
{
  return H5Tget_class (type) == H5T_STRING && H5Tis_variable_str (type) > 0;
}

/* `n` strings of an attribute of variable-length text, NULL-ended; NULL where they cannot be read. */
static char **
read_texts (MharH5Reader *reader, hid_t attribute, gsize n)
{
  g_auto (MharH5Id) type = mhar_h5_reference_type ();
  g_autofree guint8 *raw = g_malloc0 ((n + 1) * MHAR_H5_REFERENCE);
  if (type < 0 || (n > 0 && H5Aread (attribute, type, raw) < 0))
    return NULL;
  g_auto (GStrv) texts = g_new0 (char *, n + 1);
  for (gsize i = 0; i < n; i++) {
    texts[i] = mhar_h5_heap_text (reader, raw + i * MHAR_H5_REFERENCE);
    if (texts[i] == NULL)
      return NULL;
  }
  return g_steal_pointer (&texts);
}

/* One string of fixed length, as older tools rewrite attributes. */
static char *
read_fixed (hid_t attribute, hid_t type)
{
  gsize size = H5Tget_size (type);
  if (size == 0 || size > MAX_FIXED_BYTES)
    return NULL;
  g_autofree char *raw = g_malloc0 (size + 1);
  if (H5Aread (attribute, type, raw) < 0)
    return NULL;
  return g_utf8_make_valid (raw, -1);
}

char *
mhar_h5_read_text (MharH5Reader *reader, hid_t object, const char *name)
{
  int rank;
  if (H5Aexists (object, name) <= 0)
    return NULL;
  g_auto (MharH5Id) attribute = H5Aopen (object, name, H5P_DEFAULT);
  g_auto (MharH5Id) type = attribute >= 0 ? H5Aget_type (attribute) : H5I_INVALID_HID;
  if (type < 0 || H5Tget_class (type) != H5T_STRING || count (attribute, &rank) != 1)
    return NULL;
  if (!is_text (type))
    return read_fixed (attribute, type);
  g_auto (GStrv) texts = read_texts (reader, attribute, 1);
  return texts != NULL ? g_strdup (texts[0]) : NULL;
}

/* Only plain numbers: HDF5 would convert any layout of bits that a file makes up. */
static gboolean
is_one_of (hid_t type, const hid_t *known, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (H5Tequal (type, known[i]) > 0)
      return TRUE;
  return FALSE;
}

static gboolean
read_number (hid_t attribute, hid_t type, const char *name, MharDataset *set)
{
  const hid_t integers[]
      = { H5T_STD_I64LE, H5T_STD_I32LE, H5T_STD_I16LE, H5T_STD_I8LE, H5T_STD_U32LE, H5T_STD_U16LE, H5T_STD_U8LE };
  const hid_t reals[] = { H5T_IEEE_F64LE, H5T_IEEE_F32LE };
  gint64 integer = 0;
  double real = 0;
  if (is_one_of (type, integers, G_N_ELEMENTS (integers))) {
    if (H5Aread (attribute, H5T_NATIVE_INT64, &integer) < 0)
      return FALSE;
    mhar_dataset_set_integer (set, name, integer);
  } else if (is_one_of (type, reals, G_N_ELEMENTS (reals))) {
    if (H5Aread (attribute, H5T_NATIVE_DOUBLE, &real) < 0)
      return FALSE;
    mhar_dataset_set_real (set, name, real);
  }
  return TRUE;
}

gboolean
mhar_h5_read_attribute (MharH5Reader *reader, hid_t object, const char *name, MharDataset *set)
{
  g_auto (MharH5Id) attribute = H5Aopen (object, name, H5P_DEFAULT);
  g_auto (MharH5Id) type = attribute >= 0 ? H5Aget_type (attribute) : H5I_INVALID_HID;
  if (type < 0)
    return FALSE;
  int rank = 0;
  hssize_t n = count (attribute, &rank);
  if (n < 0)
    return TRUE;
  if ((guint64)n > reader->file_bytes / MHAR_H5_REFERENCE)
    return FALSE;
  if (is_text (type)) {
    g_auto (GStrv) texts = read_texts (reader, attribute, (gsize)n);
    if (texts == NULL)
      return FALSE;
    if (rank == 0)
      mhar_dataset_set_string (set, name, texts[0]);
    else
      mhar_dataset_set_strings (set, name, (const char *const *)texts);
    return TRUE;
  }
  if (n != 1)
    return TRUE;
  if (H5Tget_class (type) == H5T_STRING) {
    g_autofree char *text = read_fixed (attribute, type);
    if (text != NULL)
      mhar_dataset_set_string (set, name, text);
    return TRUE;
  }
  return read_number (attribute, type, name, set);
}
