/* SPDX-License-Identifier: MIT */
/* Attributes: numbers as scalars, text as variable-length UTF-8. */
#include "core/h5-private.h"

#include <math.h>

static gboolean
set_value (hid_t object, const char *name, hid_t type, hid_t memory_type, hid_t space, const void *value)
{
  g_auto (MharH5Id) attribute = H5Acreate2 (object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  return attribute >= 0 && H5Awrite (attribute, memory_type, value) >= 0;
}

gboolean
mhar_h5_set_string (hid_t object, const char *name, const char *value)
{
  g_auto (MharH5Id) type = mhar_h5_text_type ();
  g_auto (MharH5Id) space = H5Screate (H5S_SCALAR);
  /* Paths and command lines may be any bytes. */
  g_autofree char *text = g_utf8_make_valid (value, -1);
  return type >= 0 && space >= 0 && set_value (object, name, type, type, space, &text);
}

gboolean
mhar_h5_set_strings (hid_t object, const char *name, const char *const *values)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  for (gsize i = 0; values[i] != NULL; i++)
    g_ptr_array_add (texts, g_utf8_make_valid (values[i], -1));
  hsize_t n = texts->len;
  g_ptr_array_add (texts, NULL); /* so that there is an address where n = 0 */
  g_auto (MharH5Id) type = mhar_h5_text_type ();
  g_auto (MharH5Id) space = H5Screate_simple (1, &n, NULL);
  return type >= 0 && space >= 0 && set_value (object, name, type, type, space, texts->pdata);
}

gboolean
mhar_h5_set_fill_value (hid_t object, hid_t type)
{
  hsize_t one = 1;
  float nan_value = NAN;
  g_auto (MharH5Id) space = H5Screate_simple (1, &one, NULL);
  return space >= 0 && set_value (object, "_FillValue", type, H5T_NATIVE_FLOAT, space, &nan_value);
}

static gboolean
set_number (hid_t object, const char *name, hid_t type, hid_t memory_type, const void *value)
{
  g_auto (MharH5Id) space = H5Screate (H5S_SCALAR);
  return space >= 0 && set_value (object, name, type, memory_type, space, value);
}

gboolean
mhar_h5_set_integer (hid_t object, const char *name, gint64 value)
{
  return set_number (object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

gboolean
mhar_h5_set_attribute (hid_t object, const MharAttribute *attribute)
{
  switch (attribute->type) {
  case MHAR_ATTRIBUTE_STRING:
    return mhar_h5_set_string (object, attribute->name, attribute->string);
  case MHAR_ATTRIBUTE_STRINGS:
    return mhar_h5_set_strings (object, attribute->name, (const char *const *)attribute->strings);
  case MHAR_ATTRIBUTE_INTEGER:
    return mhar_h5_set_integer (object, attribute->name, attribute->integer);
  case MHAR_ATTRIBUTE_REAL:
    return set_number (object, attribute->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &attribute->real);
  }
  g_assert_not_reached ();
}
