/* SPDX-License-Identifier: MIT */
#include "core/dataset-stream.h"

#include <errno.h>
#include <string.h>

#define MAX_DEPTH 10
#define MAX_COUNT (1u << 20) /* attributes, fields, children of one dataset; texts of one attribute */
#define MAX_TEXT (1u << 30)  /* bytes */
#define FIRST_ROOM 4096      /* bytes */

typedef struct {
  FILE *from;
  guint64 left; /* bytes that arrays may still take */
} Source;

/* ---- bytes ---- */

static gboolean
put (FILE *to, const void *bytes, gsize size)
{
  return size == 0 || fwrite (bytes, 1, size, to) == size;
}

static gboolean
put_number (FILE *to, guint64 number)
{
  return put (to, &number, sizeof number);
}

static gboolean
take (FILE *from, void *bytes, gsize size)
{
  gsize done = 0;
  while (done < size) {
    errno = 0;
    done += fread ((guint8 *)bytes + done, 1, size - done, from);
    if (done < size && errno != EINTR)
      return FALSE;
    clearerr (from);
  }
  return TRUE;
}

static gboolean
take_number (FILE *from, guint64 most, guint64 *number)
{
  return take (from, number, sizeof *number) && *number <= most;
}

gboolean
mhar_text_send (FILE *to, const char *text)
{
  gsize length = text != NULL ? strlen (text) : 0;
  return put_number (to, length) && put (to, text, length);
}

/* Memory grows with what arrives, whatever length was told. */
char *
mhar_text_receive (FILE *from)
{
  guint64 length;
  g_autofree char *text = NULL;
  if (!take_number (from, MAX_TEXT, &length))
    return NULL;
  gsize have = 0, room = MIN (length, FIRST_ROOM);
  for (;;) {
    text = g_realloc (text, room + 1);
    if (!take (from, text + have, room - have))
      return NULL;
    if (room == length)
      break;
    have = room;
    room = MIN (length, 2 * room);
  }
  text[length] = '\0';
  return g_utf8_validate_len (text, length, NULL) ? g_steal_pointer (&text) : NULL;
}

static gboolean
put_texts (FILE *to, char *const *texts, gsize n)
{
  gboolean good = put_number (to, n);
  for (gsize i = 0; good && i < n; i++)
    good = mhar_text_send (to, texts[i]);
  return good;
}

/* NULL-ended. */
static char **
take_texts (FILE *from)
{
  guint64 n;
  if (!take_number (from, MAX_COUNT, &n))
    return NULL;
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  for (guint64 i = 0; i < n; i++) {
    char *text = mhar_text_receive (from);
    if (text == NULL)
      return NULL;
    g_ptr_array_add (texts, text);
  }
  g_ptr_array_add (texts, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&texts), FALSE);
}

/* ---- attributes ---- */

static gboolean
put_attribute (FILE *to, const MharAttribute *attribute)
{
  if (!mhar_text_send (to, attribute->name) || !put_number (to, attribute->type))
    return FALSE;
  switch (attribute->type) {
  case MHAR_ATTRIBUTE_STRING:
    return mhar_text_send (to, attribute->string);
  case MHAR_ATTRIBUTE_INTEGER:
    return put (to, &attribute->integer, sizeof attribute->integer);
  case MHAR_ATTRIBUTE_REAL:
    return put (to, &attribute->real, sizeof attribute->real);
  case MHAR_ATTRIBUTE_STRINGS:
    return put_texts (to, attribute->strings, g_strv_length (attribute->strings));
  }
  g_assert_not_reached ();
}

static gboolean
take_text_value (FILE *from, const char *name, MharDataset *set)
{
  g_autofree char *text = mhar_text_receive (from);
  if (text != NULL)
    mhar_dataset_set_string (set, name, text);
  return text != NULL;
}

static gboolean
take_texts_value (FILE *from, const char *name, MharDataset *set)
{
  g_auto (GStrv) texts = take_texts (from);
  if (texts != NULL)
    mhar_dataset_set_strings (set, name, (const char *const *)texts);
  return texts != NULL;
}

static gboolean
take_attribute (FILE *from, MharDataset *set)
{
  g_autofree char *name = mhar_text_receive (from);
  guint64 type;
  gint64 integer;
  double real;
  if (name == NULL || !take_number (from, MHAR_ATTRIBUTE_STRINGS, &type))
    return FALSE;
  switch ((MharAttributeType)type) {
  case MHAR_ATTRIBUTE_STRING:
    return take_text_value (from, name, set);
  case MHAR_ATTRIBUTE_INTEGER:
    if (!take (from, &integer, sizeof integer))
      return FALSE;
    mhar_dataset_set_integer (set, name, integer);
    return TRUE;
  case MHAR_ATTRIBUTE_REAL:
    if (!take (from, &real, sizeof real))
      return FALSE;
    mhar_dataset_set_real (set, name, real);
    return TRUE;
  case MHAR_ATTRIBUTE_STRINGS:
    return take_texts_value (from, name, set);
  }
  g_assert_not_reached ();
}

/* ---- fields ---- */

static gboolean
put_field (FILE *to, const MharField *field)
{
  gboolean good = mhar_text_send (to, field->name) && mhar_text_send (to, field->long_name)
                  && mhar_text_send (to, field->units) && put_number (to, field->type)
                  && put_number (to, field->n_dims);
  for (guint i = 0; good && i < field->n_dims; i++)
    good = mhar_text_send (to, field->dims[i]) && put_number (to, field->shape[i]);
  gsize length = mhar_field_length (field);
  if (field->type != MHAR_FIELD_STRING)
    return good && put (to, field->data.any, length * mhar_field_element_size (field->type));
  for (gsize i = 0; good && i < length; i++)
    good = mhar_text_send (to, field->data.str[i]);
  return good;
}

static gboolean
take_values (FILE *from, MharField *field)
{
  gsize length = mhar_field_length (field);
  if (field->type != MHAR_FIELD_STRING)
    return take (from, field->data.any, length * mhar_field_element_size (field->type));
  for (gsize i = 0; i < length; i++)
    if ((field->data.str[i] = mhar_text_receive (from)) == NULL)
      return FALSE;
  return TRUE;
}

/* Names and lengths of the dimensions, and whether their product fits what is left. `dims` [n] are to be freed. */
static gboolean
take_shape (Source *source, MharFieldType type, guint n, char **dims, gsize *shape)
{
  guint64 bytes = mhar_field_element_size (type);
  for (guint i = 0; i < n; i++) {
    guint64 length;
    dims[i] = mhar_text_receive (source->from);
    if (dims[i] == NULL || !take_number (source->from, G_MAXINT32, &length)
        || !g_uint64_checked_mul (&bytes, bytes, length))
      return FALSE;
    shape[i] = length;
  }
  if (bytes > source->left)
    return FALSE;
  source->left -= bytes;
  return TRUE;
}

static gboolean
take_field (Source *source, MharDataset *set)
{
  g_autofree char *name = mhar_text_receive (source->from);
  g_autofree char *long_name = name != NULL ? mhar_text_receive (source->from) : NULL;
  g_autofree char *units = long_name != NULL ? mhar_text_receive (source->from) : NULL;
  guint64 type, n_dims;
  gsize shape[MHAR_FIELD_MAX_DIMS];
  if (units == NULL || !take_number (source->from, MHAR_FIELD_STRING, &type)
      || !take_number (source->from, MHAR_FIELD_MAX_DIMS, &n_dims))
    return FALSE;
  g_auto (GStrv) dims = g_new0 (char *, MHAR_FIELD_MAX_DIMS + 1);
  if (!take_shape (source, (MharFieldType)type, (guint)n_dims, dims, shape))
    return FALSE;
  g_autoptr (MharField) field
      = mhar_field_new (name, long_name, units, (MharFieldType)type, (guint)n_dims, (const char *const *)dims, shape);
  if (!take_values (source->from, field))
    return FALSE;
  mhar_dataset_add (set, g_steal_pointer (&field));
  return TRUE;
}

/* ---- datasets ---- */

static gboolean
put_lost (FILE *to, const MharDataset *set)
{
  g_auto (GStrv) lost = mhar_dataset_lost (set);
  return put_texts (to, lost, g_strv_length (lost));
}

gboolean
mhar_dataset_send (FILE *to, const MharDataset *set)
{
  guint n_attributes = mhar_dataset_n_attributes (set), n_fields = mhar_dataset_n_fields (set);
  guint n_children = mhar_dataset_n_children (set);
  gboolean good = mhar_text_send (to, mhar_dataset_name (set)) && put_number (to, n_attributes);
  for (guint i = 0; good && i < n_attributes; i++)
    good = put_attribute (to, mhar_dataset_attribute (set, i));
  good = good && put_number (to, n_fields);
  for (guint i = 0; good && i < n_fields; i++)
    good = put_field (to, mhar_dataset_field (set, i));
  good = good && put_lost (to, set) && put_number (to, n_children);
  for (guint i = 0; good && i < n_children; i++)
    good = mhar_dataset_send (to, mhar_dataset_child (set, i));
  return good;
}

static gboolean
take_lost (FILE *from, MharDataset *set)
{
  g_auto (GStrv) lost = take_texts (from);
  for (guint i = 0; lost != NULL && lost[i] != NULL; i++)
    mhar_dataset_note_lost (set, lost[i]);
  return lost != NULL;
}

static MharDataset *
take_dataset (Source *source, guint depth)
{
  guint64 n;
  g_autofree char *name = depth < MAX_DEPTH ? mhar_text_receive (source->from) : NULL;
  if (name == NULL || !take_number (source->from, MAX_COUNT, &n))
    return NULL;
  g_autoptr (MharDataset) set = mhar_dataset_new (name);
  for (guint64 i = 0; i < n; i++)
    if (!take_attribute (source->from, set))
      return NULL;
  if (!take_number (source->from, MAX_COUNT, &n))
    return NULL;
  for (guint64 i = 0; i < n; i++)
    if (!take_field (source, set))
      return NULL;
  if (!take_lost (source->from, set) || !take_number (source->from, MAX_COUNT, &n))
    return NULL;
  for (guint64 i = 0; i < n; i++) {
    MharDataset *child = take_dataset (source, depth + 1);
    if (child == NULL)
      return NULL;
    mhar_dataset_add_child (set, child);
  }
  return g_steal_pointer (&set);
}

MharDataset *
mhar_dataset_receive (FILE *from, guint64 most)
{
  Source source = { from, most };
  return take_dataset (&source, 0);
}
