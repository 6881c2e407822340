/* SPDX-License-Identifier: MIT */
/* Named arrays: what probes return, files hold, figures draw and the window lists.
 *
 * A field is an array with named dimensions, units and a sentence saying what it is (xarray calls it a DataArray). A
 * dataset is an ordered set of fields that share dimensions, with attributes (a Dataset): one checkpoint's results.
 * Two fields of a dataset with a dimension of the same name agree on its length; a field of the dimension's own name
 * holds its coordinates, else they are 0, 1, 2 … */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MHAR_FIELD_MAX_DIMS 4

typedef enum { MHAR_FIELD_F32, MHAR_FIELD_F64, MHAR_FIELD_I32, MHAR_FIELD_STRING } MharFieldType;

typedef struct {
  char *name;
  char *long_name; /* a phrase: "token mean of the routing weight" */
  char *units;     /* "1", "nat"; "" for labels */
  MharFieldType type;
  guint n_dims;
  char *dims[MHAR_FIELD_MAX_DIMS];
  gsize shape[MHAR_FIELD_MAX_DIMS];
  union { /* row-major; NaN where a ragged array has nothing, NULL strings likewise */
    float *f32;
    double *f64;
    gint32 *i32;
    char **str;
    gpointer any;
  } data;
} MharField;

typedef struct _MharDataset MharDataset;

/* A field of the given shape: floats NaN, integers 0, strings NULL. `dims` lists n_dims names. Free with
 * mhar_field_free, or give it to a dataset. */
MharField *mhar_field_new (const char *name, const char *long_name, const char *units, MharFieldType type,
                           guint n_dims, const char *const *dims, const gsize *shape);
void mhar_field_free (MharField *field);
MharField *mhar_field_copy (const MharField *field); /* mhar_field_free */
gsize mhar_field_length (const MharField *field); /* product of the shape */
gsize mhar_field_element_size (MharFieldType type); /* bytes; of strings, of the pointer */
/* Length of the named dimension; 0 where the field has none of that name. */
gsize mhar_field_dim (const MharField *field, const char *dim);
/* Element `i` of the flat array as a double; NaN for strings. */
double mhar_field_value (const MharField *field, gsize i);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharField, mhar_field_free)

typedef enum { MHAR_ATTRIBUTE_STRING, MHAR_ATTRIBUTE_INTEGER, MHAR_ATTRIBUTE_REAL, MHAR_ATTRIBUTE_STRINGS } MharAttributeType;

typedef struct {
  char *name;
  MharAttributeType type;
  char *string;
  gint64 integer;
  double real;
  char **strings;
} MharAttribute;

MharDataset *mhar_dataset_new (const char *name);
MharDataset *mhar_dataset_ref (MharDataset *set);
void mhar_dataset_unref (MharDataset *set);
const char *mhar_dataset_name (const MharDataset *set);
void mhar_dataset_set_name (MharDataset *set, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharDataset, mhar_dataset_unref)

/* Takes the field; a field of the same name is replaced. Returns it, owned by the dataset. */
MharField *mhar_dataset_add (MharDataset *set, MharField *field);
MharField *mhar_dataset_get (const MharDataset *set, const char *name); /* NULL where absent */
/* Notes that what the dataset was read from holds an array of this name that no field could be made of, or a group that
 * was not to be read; and whether one was noted. Not written anywhere. */
void mhar_dataset_note_lost (MharDataset *set, const char *name);
gboolean mhar_dataset_is_lost (const MharDataset *set, const char *name);
char **mhar_dataset_lost (const MharDataset *set); /* all of them, NULL-ended; g_strfreev */
guint mhar_dataset_n_fields (const MharDataset *set);
MharField *mhar_dataset_field (const MharDataset *set, guint i);

/* Attributes keep the order in which they were first set. */
void mhar_dataset_set_string (MharDataset *set, const char *name, const char *value);
void mhar_dataset_set_strings (MharDataset *set, const char *name, const char *const *values);
void mhar_dataset_set_integer (MharDataset *set, const char *name, gint64 value);
void mhar_dataset_set_real (MharDataset *set, const char *name, double value);
guint mhar_dataset_n_attributes (const MharDataset *set);
const MharAttribute *mhar_dataset_attribute (const MharDataset *set, guint i);
/* NULL / `otherwise` where there is none of that name and type (an integer is also a real). */
const char *mhar_dataset_string (const MharDataset *set, const char *name);
const char *const *mhar_dataset_strings (const MharDataset *set, const char *name);
gint64 mhar_dataset_integer (const MharDataset *set, const char *name, gint64 otherwise);
double mhar_dataset_real (const MharDataset *set, const char *name, double otherwise);
/* Whether there is a real attribute of that name, finite or not. */
gboolean mhar_dataset_has_real (const MharDataset *set, const char *name);

/* Datasets inside this one, in order; each becomes a group of the file. Takes the child. */
void mhar_dataset_add_child (MharDataset *set, MharDataset *child);
guint mhar_dataset_n_children (const MharDataset *set);
MharDataset *mhar_dataset_child (const MharDataset *set, guint i);
MharDataset *mhar_dataset_find_child (const MharDataset *set, const char *name);
/* Takes the first child of that name out; NULL where there is none. mhar_dataset_unref. */
MharDataset *mhar_dataset_steal_child (MharDataset *set, const char *name);

G_END_DECLS
