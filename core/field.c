/* SPDX-License-Identifier: MIT */
/* Named arrays and the datasets that hold them. */
#include "core/field.h"

#include <math.h>
#include <string.h>

struct _MharDataset {
  gatomicrefcount refs; /* jobs hand datasets from a worker thread to the window */
  char *name;
  GPtrArray *fields;     /* MharField */
  GPtrArray *attributes; /* MharAttribute */
  GPtrArray *children;   /* MharDataset */
  GHashTable *lost;      /* names (char *); NULL: none */
};

/* ---- fields ---- */

gsize
mhar_field_element_size (MharFieldType type)
{
  switch (type) {
  case MHAR_FIELD_F32:
    return sizeof (float);
  case MHAR_FIELD_F64:
    return sizeof (double);
  case MHAR_FIELD_I32:
    return sizeof (gint32);
  case MHAR_FIELD_STRING:
    return sizeof (char *);
  }
  g_assert_not_reached ();
}

MharField *
mhar_field_new (const char *name, const char *long_name, const char *units, MharFieldType type, guint n_dims,
                const char *const *dims, const gsize *shape)
{
  g_return_val_if_fail (name != NULL && n_dims <= MHAR_FIELD_MAX_DIMS, NULL);

  gsize length = 1;
  for (guint i = 0; i < n_dims; i++)
    if (!g_size_checked_mul (&length, length, shape[i]))
      g_error ("field %s: its shape overflows", name);
  MharField *field = g_new0 (MharField, 1);
  field->name = g_strdup (name);
  field->long_name = g_strdup (long_name != NULL ? long_name : "");
  field->units = g_strdup (units != NULL ? units : "");
  field->type = type;
  field->n_dims = n_dims;
  for (guint i = 0; i < n_dims; i++) {
    field->dims[i] = g_strdup (dims[i]);
    field->shape[i] = shape[i];
  }
  /* One element at least, so that an empty field has an address too. */
  field->data.any = g_malloc0_n (MAX (length, 1), mhar_field_element_size (type));
  if (type == MHAR_FIELD_F32)
    for (gsize i = 0; i < length; i++)
      field->data.f32[i] = NAN;
  if (type == MHAR_FIELD_F64)
    for (gsize i = 0; i < length; i++)
      field->data.f64[i] = NAN;
  return field;
}

void
mhar_field_free (MharField *field)
{
  if (field == NULL)
    return;
  if (field->type == MHAR_FIELD_STRING) {
    gsize length = mhar_field_length (field);
    for (gsize i = 0; i < length; i++)
      g_free (field->data.str[i]);
  }
  g_free (field->data.any);
  for (guint i = 0; i < field->n_dims; i++)
    g_free (field->dims[i]);
  g_free (field->name);
  g_free (field->long_name);
  g_free (field->units);
  g_free (field);
}

MharField *
mhar_field_copy (const MharField *field)
{
  MharField *to = mhar_field_new (field->name, field->long_name, field->units, field->type, field->n_dims,
                                  (const char *const *)field->dims, field->shape);
  gsize length = mhar_field_length (field);

  if (field->type != MHAR_FIELD_STRING)
    memcpy (to->data.any, field->data.any, length * mhar_field_element_size (field->type));
  else
    for (gsize i = 0; i < length; i++)
      to->data.str[i] = g_strdup (field->data.str[i]);
  return to;
}

gsize
mhar_field_length (const MharField *field)
{
  gsize length = 1;
  for (guint i = 0; i < field->n_dims; i++)
    length *= field->shape[i];
  return length;
}

gsize
mhar_field_dim (const MharField *field, const char *dim)
{
  for (guint i = 0; i < field->n_dims; i++)
    if (g_str_equal (field->dims[i], dim))
      return field->shape[i];
  return 0;
}

double
mhar_field_value (const MharField *field, gsize i)
{
  switch (field->type) {
  case MHAR_FIELD_F32:
    return field->data.f32[i];
  case MHAR_FIELD_F64:
    return field->data.f64[i];
  case MHAR_FIELD_I32:
    return field->data.i32[i];
  case MHAR_FIELD_STRING:
    return NAN;
  }
  g_assert_not_reached ();
}

/* ---- datasets ---- */

static void
attribute_clear (MharAttribute *attribute)
{
  g_clear_pointer (&attribute->string, g_free);
  g_clear_pointer (&attribute->strings, g_strfreev);
}

static void
attribute_free (gpointer data)
{
  MharAttribute *attribute = data;
  attribute_clear (attribute);
  g_free (attribute->name);
  g_free (attribute);
}

MharDataset *
mhar_dataset_new (const char *name)
{
  MharDataset *set = g_new0 (MharDataset, 1);
  g_atomic_ref_count_init (&set->refs);
  set->name = g_strdup (name != NULL ? name : "");
  set->fields = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_field_free);
  set->attributes = g_ptr_array_new_with_free_func (attribute_free);
  set->children = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_dataset_unref);
  return set;
}

MharDataset *
mhar_dataset_ref (MharDataset *set)
{
  g_return_val_if_fail (set != NULL, NULL);
  g_atomic_ref_count_inc (&set->refs);
  return set;
}

void
mhar_dataset_unref (MharDataset *set)
{
  if (set == NULL || !g_atomic_ref_count_dec (&set->refs))
    return;
  g_ptr_array_unref (set->fields);
  g_ptr_array_unref (set->attributes);
  g_ptr_array_unref (set->children);
  g_clear_pointer (&set->lost, g_hash_table_unref);
  g_free (set->name);
  g_free (set);
}

const char *
mhar_dataset_name (const MharDataset *set)
{
  return set->name;
}

void
mhar_dataset_set_name (MharDataset *set, const char *name)
{
  char *copy = g_strdup (name);
  g_free (set->name);
  set->name = copy;
}

MharField *
mhar_dataset_add (MharDataset *set, MharField *field)
{
  g_return_val_if_fail (set != NULL && field != NULL, NULL);
  for (guint i = 0; i < set->fields->len; i++) {
    MharField *old = set->fields->pdata[i];
    if (g_str_equal (old->name, field->name)) {
      set->fields->pdata[i] = field;
      if (old != field)
        mhar_field_free (old);
      return field;
    }
  }
  g_ptr_array_add (set->fields, field);
  return field;
}

MharField *
mhar_dataset_get (const MharDataset *set, const char *name)
{
  for (guint i = 0; i < set->fields->len; i++) {
    MharField *field = set->fields->pdata[i];
    if (g_str_equal (field->name, name))
      return field;
  }
  return NULL;
}

guint
mhar_dataset_n_fields (const MharDataset *set)
{
  return set->fields->len;
}

MharField *
mhar_dataset_field (const MharDataset *set, guint i)
{
  g_return_val_if_fail (i < set->fields->len, NULL);
  return set->fields->pdata[i];
}

/* ---- attributes ---- */

static MharAttribute *
attribute_find (const MharDataset *set, const char *name)
{
  for (guint i = 0; i < set->attributes->len; i++) {
    MharAttribute *attribute = set->attributes->pdata[i];
    if (g_str_equal (attribute->name, name))
      return attribute;
  }
  return NULL;
}

static const MharAttribute *
attribute_of_type (const MharDataset *set, const char *name, MharAttributeType type)
{
  const MharAttribute *attribute = attribute_find (set, name);
  return attribute != NULL && attribute->type == type ? attribute : NULL;
}

/* The attribute of that name, with any older value still in it; the setters copy what they are given first, because
 * it may be that older value. */
static MharAttribute *
attribute_ensure (MharDataset *set, const char *name)
{
  MharAttribute *attribute = attribute_find (set, name);
  if (attribute == NULL) {
    attribute = g_new0 (MharAttribute, 1);
    attribute->name = g_strdup (name);
    g_ptr_array_add (set->attributes, attribute);
  }
  return attribute;
}

void
mhar_dataset_set_string (MharDataset *set, const char *name, const char *value)
{
  char *copy = g_strdup (value != NULL ? value : "");
  MharAttribute *attribute = attribute_ensure (set, name);
  attribute_clear (attribute);
  attribute->type = MHAR_ATTRIBUTE_STRING;
  attribute->string = copy;
}

void
mhar_dataset_set_strings (MharDataset *set, const char *name, const char *const *values)
{
  char **copy = values != NULL ? g_strdupv ((char **)values) : g_new0 (char *, 1);
  MharAttribute *attribute = attribute_ensure (set, name);
  attribute_clear (attribute);
  attribute->type = MHAR_ATTRIBUTE_STRINGS;
  attribute->strings = copy;
}

void
mhar_dataset_set_integer (MharDataset *set, const char *name, gint64 value)
{
  MharAttribute *attribute = attribute_ensure (set, name);
  attribute_clear (attribute);
  attribute->type = MHAR_ATTRIBUTE_INTEGER;
  attribute->integer = value;
}

void
mhar_dataset_set_real (MharDataset *set, const char *name, double value)
{
  MharAttribute *attribute = attribute_ensure (set, name);
  attribute_clear (attribute);
  attribute->type = MHAR_ATTRIBUTE_REAL;
  attribute->real = value;
}

guint
mhar_dataset_n_attributes (const MharDataset *set)
{
  return set->attributes->len;
}

const MharAttribute *
mhar_dataset_attribute (const MharDataset *set, guint i)
{
  g_return_val_if_fail (i < set->attributes->len, NULL);
  return set->attributes->pdata[i];
}

const char *
mhar_dataset_string (const MharDataset *set, const char *name)
{
  const MharAttribute *attribute = attribute_of_type (set, name, MHAR_ATTRIBUTE_STRING);
  return attribute != NULL ? attribute->string : NULL;
}

const char *const *
mhar_dataset_strings (const MharDataset *set, const char *name)
{
  const MharAttribute *attribute = attribute_of_type (set, name, MHAR_ATTRIBUTE_STRINGS);
  return attribute != NULL ? (const char *const *)attribute->strings : NULL;
}

gint64
mhar_dataset_integer (const MharDataset *set, const char *name, gint64 otherwise)
{
  const MharAttribute *attribute = attribute_of_type (set, name, MHAR_ATTRIBUTE_INTEGER);
  return attribute != NULL ? attribute->integer : otherwise;
}

double
mhar_dataset_real (const MharDataset *set, const char *name, double otherwise)
{
  const MharAttribute *attribute = attribute_find (set, name);
  if (attribute != NULL && attribute->type == MHAR_ATTRIBUTE_REAL)
    return attribute->real;
  if (attribute != NULL && attribute->type == MHAR_ATTRIBUTE_INTEGER)
    return (double)attribute->integer;
  return otherwise;
}

gboolean
mhar_dataset_has_real (const MharDataset *set, const char *name)
{
  const MharAttribute *attribute = attribute_find (set, name);
  return attribute != NULL && attribute->type == MHAR_ATTRIBUTE_REAL;
}

/* ---- what could not be read ---- */

void
mhar_dataset_note_lost (MharDataset *set, const char *name)
{
  if (set->lost == NULL)
    set->lost = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_add (set->lost, g_strdup (name));
}

gboolean
mhar_dataset_is_lost (const MharDataset *set, const char *name)
{
  return set->lost != NULL && g_hash_table_contains (set->lost, name);
}

char **
mhar_dataset_lost (const MharDataset *set)
{
  GStrvBuilder *names = g_strv_builder_new ();
  GHashTableIter iter;
  gpointer name;
  if (set->lost != NULL) {
    g_hash_table_iter_init (&iter, set->lost);
    while (g_hash_table_iter_next (&iter, &name, NULL))
      g_strv_builder_add (names, name);
  }
  char **list = g_strv_builder_end (names);
  g_strv_builder_unref (names);
  return list;
}

/* ---- children ---- */

void
mhar_dataset_add_child (MharDataset *set, MharDataset *child)
{
  g_return_if_fail (set != NULL && child != NULL && set != child);
  g_ptr_array_add (set->children, child);
}

guint
mhar_dataset_n_children (const MharDataset *set)
{
  return set->children->len;
}

MharDataset *
mhar_dataset_child (const MharDataset *set, guint i)
{
  g_return_val_if_fail (i < set->children->len, NULL);
  return set->children->pdata[i];
}

MharDataset *
mhar_dataset_find_child (const MharDataset *set, const char *name)
{
  for (guint i = 0; i < set->children->len; i++) {
    MharDataset *child = set->children->pdata[i];
    if (g_str_equal (child->name, name))
      return child;
  }
  return NULL;
}

MharDataset *
mhar_dataset_steal_child (MharDataset *set, const char *name)
{
  MharDataset *child = mhar_dataset_find_child (set, name);
  guint i;

  if (child == NULL)
    return NULL;
  g_ptr_array_find (set->children, child, &i);
  return g_ptr_array_steal_index (set->children, i);
}
