/* SPDX-License-Identifier: MIT */
/* A results file back as datasets. */
#include "core/h5-private.h"
#include "core/input.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 8
#define MAX_NAME 1023
#define MAX_OBJECTS 16384

static gboolean read_group (MharH5Reader *reader, hid_t group, MharDataset *set, guint depth, GError **error);

static gboolean
damaged (const MharH5Reader *reader, GError **error, const char *thing, const char *name)
{
  g_autofree char *quoted = mhar_input_quote (name);
  return mhar_bad_input (error, "%s: %s %s cannot be read because the file is damaged; make it anew", reader->shown,
                         thing, quoted);
}

/* ---- attributes ---- */

static gboolean
read_attributes (MharH5Reader *reader, hid_t group, MharDataset *set, GError **error)
{
  g_autoptr (GPtrArray) names = mhar_h5_attribute_names (group);
  if (names == NULL)
    return damaged (reader, error, "attributes of group", mhar_dataset_name (set));
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    /* The writer derives these two anew. */
    if (g_str_equal (name, "NX_class") || g_str_equal (name, "axes"))
      continue;
    if (!mhar_h5_read_attribute (reader, group, name, set))
      return damaged (reader, error, "attribute", name);
  }
  return TRUE;
}

/* ---- members ---- */

/* Name of the link at `i`, or NULL (where it is no UTF-8, too); *hard: it is to an object of this file. */
static char *
link_name (hid_t group, H5_index_t by, H5_iter_order_t order, hsize_t i, gboolean *hard)
{
  char name[MAX_NAME + 1];
  H5L_info_t info;
  gssize length = H5Lget_name_by_idx (group, ".", by, order, i, name, sizeof name, H5P_DEFAULT);
  if (length <= 0 || length > MAX_NAME || !g_utf8_validate (name, -1, NULL)
      || H5Lget_info_by_idx (group, ".", by, order, i, &info, H5P_DEFAULT) < 0)
    return NULL;
  *hard = info.type == H5L_TYPE_HARD;
  return g_strdup (name);
}

/* Names of what is in the group, in the order it was made. One by one, because HDF5's own iteration frees what it never
 * set where part of a group is damaged. Soft and external links lead elsewhere, perhaps to another file, and are left
 * out. */
static GPtrArray *
list_members (const MharH5Reader *reader, hid_t group)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_auto (MharH5Id) list = H5Gget_create_plist (group);
  H5G_info_t info;
  unsigned tracked = 0;
  if (list < 0 || H5Pget_link_creation_order (list, &tracked) < 0 || H5Gget_info (group, &info) < 0
      || info.nlinks > reader->objects_left)
    return NULL;
  /* Other programs need not have tracked the order. */
  gboolean indexed = (tracked & H5P_CRT_ORDER_INDEXED) != 0;
  for (hsize_t i = 0; i < info.nlinks; i++) {
    gboolean hard = FALSE;
    char *name = link_name (group, indexed ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, indexed ? H5_ITER_INC : H5_ITER_NATIVE,
                            i, &hard);
    if (name == NULL)
      return NULL;
    if (hard)
      g_ptr_array_add (names, name);
    else
      g_free (name);
  }
  return g_steal_pointer (&names);
}

static gboolean
is_skipped (const MharH5Reader *reader, const char *name)
{
  return reader->skip != NULL && g_strv_contains (reader->skip, name);
}

/* Address -> name of the group's members, by which variables find their scales. */
static GHashTable *
map_addresses (hid_t group, GPtrArray *members)
{
  GHashTable *names = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint i = 0; i < members->len; i++) {
    g_auto (MharH5Id) object = H5Oopen (group, members->pdata[i], H5P_DEFAULT);
    guint64 address;
    if (object >= 0 && mhar_h5_address (object, &address))
      g_hash_table_insert (names, g_memdup2 (&address, sizeof address), members->pdata[i]);
  }
  return names;
}

static gboolean
read_member (MharH5Reader *reader, hid_t group, const char *name, GHashTable *names, MharDataset *set, guint depth,
             GError **error)
{
  g_auto (MharH5Id) object = H5Oopen (group, name, H5P_DEFAULT);
  if (object < 0)
    return damaged (reader, error, "object", name);
  if (reader->objects_left-- == 0)
    return mhar_bad_input (error, "%s holds too many groups and variables", reader->shown);
  H5I_type_t kind = H5Iget_type (object);
  if (kind == H5I_GROUP) {
    g_autoptr (MharDataset) child = mhar_dataset_new (name);
    if (!read_group (reader, object, child, depth + 1, error))
      return FALSE;
    mhar_dataset_add_child (set, g_steal_pointer (&child));
  } else if (kind == H5I_DATASET) {
    MharField *field = NULL;
    if (!mhar_h5_read_variable (reader, object, name, names, &field, error))
      return FALSE;
    if (field != NULL)
      mhar_dataset_add (set, field);
    else
      mhar_dataset_note_lost (set, name);
  }
  return TRUE;
}

static gboolean
read_group (MharH5Reader *reader, hid_t group, MharDataset *set, guint depth, GError **error)
{
  if (depth > MAX_DEPTH)
    return mhar_bad_input (error, "%s: groups are nested too deeply", reader->shown);
  g_autoptr (GPtrArray) members = list_members (reader, group);
  if (members == NULL)
    return damaged (reader, error, "group", mhar_dataset_name (set));
  if (!read_attributes (reader, group, set, error))
    return FALSE;
  for (guint i = members->len; i-- > 0;)
    if (is_skipped (reader, members->pdata[i])) {
      mhar_dataset_note_lost (set, members->pdata[i]);
      g_ptr_array_remove_index (members, i);
    }
  g_autoptr (GHashTable) names = map_addresses (group, members);
  for (guint i = 0; i < members->len; i++)
    if (!read_member (reader, group, members->pdata[i], names, set, depth, error))
      return FALSE;
  return TRUE;
}

/* ---- the file ---- */

static gboolean
check_schema (MharH5Reader *reader, hid_t group, GError **error)
{
  g_autoptr (MharDataset) set = mhar_dataset_new ("/");
  if (H5Aexists (group, "mhar_schema") <= 0 || !mhar_h5_read_attribute (reader, group, "mhar_schema", set))
    return mhar_bad_input (error, "%s is an HDF5 file but not one of mhar-probe's: it has no attribute mhar_schema",
                           reader->shown);
  gint64 schema = mhar_dataset_integer (set, "mhar_schema", 0);
  if (schema > MHAR_H5_SCHEMA)
    return mhar_bad_input (error,
                           "%s was written by a newer mhar-probe (schema %" G_GINT64_FORMAT "); update mhar-probe",
                           reader->shown, schema);
  if (schema < MHAR_H5_SCHEMA)
    return mhar_bad_input (error, "%s: attribute mhar_schema is not a schema number; make the file anew",
                           reader->shown);
  return TRUE;
}

static MharDataset *
read_file (MharH5Reader *reader, hid_t file, GError **error)
{
  g_autoptr (MharDataset) root = mhar_dataset_new ("/");
  g_auto (MharH5Id) top = file >= 0 ? H5Gopen2 (file, "/", H5P_DEFAULT) : H5I_INVALID_HID;
  if (top < 0) {
    g_autofree char *said = mhar_h5_reason ();
    g_autofree char *reason = mhar_input_quote (said);
    mhar_bad_input (error, "%s cannot be opened as HDF5 (%s): it is damaged or cut off; make it anew", reader->shown,
                    reason);
    return NULL;
  }
  g_auto (MharH5Id) list = H5Fget_create_plist (file);
  size_t of_address = 0, of_length = 0;
  if (list < 0 || H5Pget_sizes (list, &of_address, &of_length) < 0 || of_address != 8 || of_length != 8) {
    mhar_bad_input (error, "%s does not have 8-byte addresses, as mhar-probe writes them; make it anew", reader->shown);
    return NULL;
  }
  if (!check_schema (reader, top, error) || !read_group (reader, top, root, 0, error))
    return NULL;
  if (reader->heap_damaged) { /* units or dimensions of a variable, without which it was left out */
    mhar_bad_input (error, "%s: lists and texts in it are damaged; make the file anew", reader->shown);
    return NULL;
  }
  return g_steal_pointer (&root);
}

MharDataset *
mhar_h5_read_here (int fd, const char *shown, const char *const *skip, GError **error)
{
  struct stat status;
  mhar_h5_enter ();
  MharH5Reader reader = { .shown = shown, .skip = skip, .bytes_left = MHAR_H5_MAX_BYTES, .objects_left = MAX_OBJECTS };
  if (fstat (fd, &status) != 0) {
    mhar_h5_cannot_read (shown, errno, error);
    close (fd);
    return NULL;
  }
  reader.file_bytes = (guint64)status.st_size;
  g_autoptr (GHashTable) heaps = mhar_h5_heaps_new ();
  reader.heaps = heaps;
  reader.heap_bytes_left = reader.file_bytes;
  reader.disk = mhar_h5_disk_new (fd, FALSE);
  hid_t file = mhar_h5_disk_open_file (reader.disk);
  g_autoptr (GError) failure = NULL;
  MharDataset *root = read_file (&reader, file, &failure);
  if (file >= 0)
    H5Fclose (file);
  /* HDF5 passes over some reads that fail, and what it then lacks looks like a file that never had it. */
  if (mhar_h5_disk_errno (reader.disk) != 0) {
    mhar_h5_cannot_read (shown, mhar_h5_disk_errno (reader.disk), error);
    g_clear_pointer (&root, mhar_dataset_unref);
  } else if (failure != NULL)
    g_propagate_error (error, g_steal_pointer (&failure));
  mhar_h5_disk_free (reader.disk);
  return root;
}
