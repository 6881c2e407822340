/* SPDX-License-Identifier: MIT */
#include "probes/series.h"

#include "core/error.h"

#include <string.h>

/* What a scalar is, where its name does not say enough, and its unit. */
static const struct {
  const char *start, *units;
} units[] = { { "loss", "nat" }, { "slice_kl", "nat" }, { "matched_kl", "nat" }, { "head_js", "nat" } };

/* Of the config: the same at every step. */
static const char *const constant[] = { "rope_theta", "rms_norm_eps", "routing_eps" };

gboolean
mhar_series_possible (const MharPlan *a, const char *path_a, const MharPlan *b, const char *path_b, GError **error)
{
  const struct {
    const char *what;
    int one, other;
  } numbers[] = { { "layers", a->layers, b->layers },
                  { "a width of", a->width, b->width },
                  { "routing heads", a->heads, b->heads },
                  { "reads", (int)a->sites->len, (int)b->sites->len } };

  if (strcmp (a->mode, b->mode) != 0)
    return mhar_bad_input (error, "%s is %s and %s is %s, so they are not steps of one run; leave one of them out",
                           path_a, a->mode, path_b, b->mode);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i].one != numbers[i].other)
      return mhar_bad_input (error,
                             "%s has %d %s and %s has %d, so they are not steps of one run; leave one of them out",
                             path_a, numbers[i].one, numbers[i].what, path_b, numbers[i].other);
  return TRUE;
}

static gboolean
is_constant (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (constant); i++)
    if (strcmp (name, constant[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_end (const char *name)
{
  return g_str_has_suffix (name, "_low") || g_str_has_suffix (name, "_high");
}

static const char *
units_of (const char *name)
{
  if (strstr (name, "p_value") != NULL)
    return "1";
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_str_has_prefix (name, units[i].start))
      return units[i].units;
  return "1";
}

static MharField *
add (MharDataset *out, const char *name, const char *long_name, const char *of_units, MharFieldType type, gsize n)
{
  const char *dim = "step";
  return mhar_dataset_add (out, mhar_field_new (name, long_name, of_units, type, 1, &dim, &n));
}

/* The scalars of a set that no set before it has had. */
static void
add_scalars (const MharDataset *set, gsize n, MharDataset *out)
{
  for (guint a = 0; a < mhar_dataset_n_attributes (set); a++) {
    const MharAttribute *attribute = mhar_dataset_attribute (set, a);
    if (attribute->type != MHAR_ATTRIBUTE_REAL || is_constant (attribute->name)
        || mhar_dataset_get (out, attribute->name) != NULL)
      continue;
    g_auto (GStrv) words = g_strsplit (attribute->name, "_", -1);
    g_autofree char *phrase = g_strjoinv (" ", words);
    g_autofree char *long_name = g_strdup_printf ("%s of the checkpoint", phrase);
    add (out, attribute->name, long_name, units_of (attribute->name), MHAR_FIELD_F64, n);
  }
}

MharDataset *
mhar_series_new (const GPtrArray *sets, const gint32 *steps)
{
  MharDataset *out = mhar_dataset_new ("series");
  MharField *step
      = add (out, "step", "the step of training, as the checkpoint's name has it", "1", MHAR_FIELD_I32, sets->len);
  MharField *path = add (out, "path", "the checkpoint's path", "", MHAR_FIELD_STRING, sets->len);

  for (guint i = 0; i < sets->len; i++) {
    const MharDataset *set = g_ptr_array_index ((GPtrArray *)sets, i);
    step->data.i32[i] = steps[i];
    path->data.str[i] = g_strdup (mhar_dataset_string (set, "path"));
    add_scalars (set, sets->len, out);
  }
  for (guint f = 0; f < mhar_dataset_n_fields (out); f++) {
    MharField *field = mhar_dataset_field (out, f);
    for (guint i = 0; field->type == MHAR_FIELD_F64 && i < sets->len; i++)
      field->data.f64[i]
          = mhar_dataset_real (g_ptr_array_index ((GPtrArray *)sets, i), field->name, field->data.f64[i]);
  }
  g_autofree char *folder = g_path_get_dirname (path->data.str[0] != NULL ? path->data.str[0] : "");
  if (strcmp (folder, ".") != 0)
    mhar_dataset_set_string (out, "path", folder);
  mhar_dataset_set_string (out, "signal", "loss");
  return out;
}

gboolean
mhar_series_is_scalar (const MharField *field)
{
  return field->type == MHAR_FIELD_F64 && field->n_dims == 1 && strcmp (field->dims[0], "step") == 0
         && !is_end (field->name);
}

static gboolean
is_series_field (const MharDataset *set, const char *name, MharFieldType type, gsize n)
{
  const MharField *field = mhar_dataset_get (set, name);

  return field != NULL && field->type == type && field->n_dims == 1 && strcmp (field->dims[0], "step") == 0
         && field->shape[0] > 0 && (n == 0 || field->shape[0] == n);
}

gboolean
mhar_series_check (const MharDataset *set, const char *path, GError **error)
{
  const MharField *step = mhar_dataset_get (set, "step");
  guint scalars = 0;

  if (!is_series_field (set, "step", MHAR_FIELD_I32, 0)
      || !is_series_field (set, "path", MHAR_FIELD_STRING, step->shape[0]))
    return mhar_bad_input (error, "%s: series lacks the steps or the paths of its checkpoints; the file is damaged",
                           path);
  for (gsize i = 1; i < step->shape[0]; i++)
    if (step->data.i32[i] <= step->data.i32[i - 1])
      return mhar_bad_input (error, "%s: the steps of the series are not in order; the file is damaged", path);
  for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
    const MharField *field = mhar_dataset_field (set, f);
    if (field->type != MHAR_FIELD_F64)
      continue;
    if (!is_series_field (set, field->name, MHAR_FIELD_F64, step->shape[0]))
      return mhar_bad_input (error, "%s: series/%s has other dimensions than schema 1 gives it; the file is damaged",
                             path, field->name);
    scalars += mhar_series_is_scalar (field);
  }
  if (scalars == 0)
    return mhar_bad_input (error, "%s: the series has no curve; the file is damaged", path);
  return TRUE;
}
