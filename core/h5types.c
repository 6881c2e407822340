/* SPDX-License-Identifier: MIT */
/* The types our variables have in a file, and groups. */
#include "core/h5-private.h"

#include <string.h>

hid_t
mhar_h5_text_type (void)
{
  hid_t type = H5Tcopy (H5T_C_S1);
  if (type >= 0 && (H5Tset_size (type, H5T_VARIABLE) < 0 || H5Tset_cset (type, H5T_CSET_UTF8) < 0)) {
    mhar_h5_id_release (type);
    return H5I_INVALID_HID;
  }
  return type;
}

/* By hand, because H5T_IEEE_F16LE came with HDF5 1.14.4. */
hid_t
mhar_h5_half_type (void)
{
  hid_t type = H5Tcopy (H5T_IEEE_F32LE);
  if (type >= 0
      && (H5Tset_fields (type, 15, 10, 5, 0, 10) < 0 || H5Tset_size (type, 2) < 0 || H5Tset_ebias (type, 15) < 0)) {
    mhar_h5_id_release (type);
    return H5I_INVALID_HID;
  }
  return type;
}

hid_t
mhar_h5_file_type (MharFieldType type, gboolean f16)
{
  switch (type) {
  case MHAR_FIELD_F32:
    return f16 ? mhar_h5_half_type () : H5Tcopy (H5T_IEEE_F32LE);
  case MHAR_FIELD_F64:
    return H5Tcopy (H5T_IEEE_F64LE);
  case MHAR_FIELD_I32:
    return H5Tcopy (H5T_STD_I32LE);
  case MHAR_FIELD_STRING:
    return mhar_h5_text_type ();
  }
  g_assert_not_reached ();
}

/* HDF5 converts to half in its slow general path; captures are gigabytes of halves. */
guint16
mhar_h5_half (float value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  guint16 sign = (guint16)(bits >> 16 & 0x8000);
  guint32 size = bits & 0x7fffffff;
  if (size > 0x7f800000) /* NaN stays NaN */
    return sign | 0x7e00;
  if (size >= 0x477ff000) /* rounds to 65536 or more, or is infinite */
    return sign | 0x7c00;
  if (size < 0x33000001) /* up to half the smallest subnormal: the tie goes to 0 */
    return sign;

  int exponent = (int)(size >> 23) - 127;
  guint32 mantissa = (size & 0x7fffff) | 0x800000;
  int shift = exponent < -14 ? -1 - exponent : 13; /* bits that fall off; more of them for a subnormal */
  guint32 kept = mantissa >> shift;
  guint32 rest = mantissa & ((1u << shift) - 1), tie = 1u << (shift - 1);
  if (rest > tie || (rest == tie && (kept & 1)))
    kept++;
  /* `kept` holds the leading one of a normal number, so the exponent goes in less 1; a carry then counts it up. */
  guint32 biased = exponent < -14 ? 0 : (guint32)(exponent + 14) << 10;
  return sign | (guint16)(biased + kept);
}

static hid_t
group_list (void)
{
  hid_t list = H5Pcreate (H5P_GROUP_CREATE);
  unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  if (list >= 0 && (H5Pset_link_creation_order (list, order) < 0 || H5Pset_attr_creation_order (list, order) < 0)) {
    mhar_h5_id_release (list);
    return H5I_INVALID_HID;
  }
  return list;
}

hid_t
mhar_h5_ensure_group (hid_t file, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);
  g_auto (MharH5Id) list = group_list ();
  hid_t group = H5Gopen2 (file, "/", H5P_DEFAULT);
  for (char **part = parts; *part != NULL && group >= 0; part++) {
    if (**part == '\0')
      continue;
    g_auto (MharH5Id) parent = group;
    htri_t there = H5Lexists (parent, *part, H5P_DEFAULT);
    group = there < 0   ? H5I_INVALID_HID
            : there > 0 ? H5Gopen2 (parent, *part, H5P_DEFAULT)
                        : H5Gcreate2 (parent, *part, H5P_DEFAULT, list, H5P_DEFAULT);
  }
  return group;
}
