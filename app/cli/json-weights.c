/* SPDX-License-Identifier: MIT */
#include "app/cli/json.h"

#include <math.h>

static json_t *
real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

/* `n` values of a field from `at` on, `step` apart. */
static json_t *
values (const MharField *field, gsize at, gsize n, gsize step)
{
  json_t *list = json_array ();

  for (gsize i = 0; i < n; i++)
    json_array_append_new (list, real (mhar_field_value (field, at + i * step)));
  return list;
}

/* [row][column] of a matrix that begins at `at`, its rows `step` apart. */
static json_t *
matrix (const MharField *field, gsize at, gsize rows, gsize columns, gsize step)
{
  json_t *list = json_array ();

  for (gsize r = 0; r < rows; r++)
    json_array_append_new (list, values (field, at + r * step, columns, 1));
  return list;
}

/* "mean" and "mean_abs" of one kind of cosine. */
static json_t *
means (const MharDataset *set, const char *name)
{
  g_autofree char *mean = g_strconcat (name, "_mean", NULL), *absolute = g_strconcat (name, "_mean_abs", NULL);

  return json_pack ("{s:o, s:o}", "mean", real (mhar_dataset_real (set, mean, NAN)), "mean_abs",
                    real (mhar_dataset_real (set, absolute, NAN)));
}

static json_t *
site_object (const MharDataset *set, gsize s)
{
  const MharField *q = mhar_dataset_get (set, "query_norm"), *u = mhar_dataset_get (set, "scored_norm");
  const MharField *parts = mhar_dataset_get (set, "slice_norm"), *between = mhar_dataset_get (set, "query_cosine");
  const MharField *within = mhar_dataset_get (set, "slice_cosine"),
                  *across = mhar_dataset_get (set, "slice_site_cosine");
  const MharField *site = mhar_dataset_get (set, "site"), *label = mhar_dataset_get (set, "site_label");
  gsize n = between->shape[0], slices = parts->shape[1];

  return json_pack ("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "site", site->data.i32[s], "label",
                    label->data.str[s] != NULL ? label->data.str[s] : "", "query_norm", real (mhar_field_value (q, s)),
                    "scored_norm", real (mhar_field_value (u, s)), "slice_norm", values (parts, s * slices, slices, 1),
                    "query_cosine", values (between, s * n, n, 1), "slice_cosine",
                    matrix (within, s * slices * slices, slices, slices, slices), "slice_site_cosine",
                    matrix (across, s * n, slices, n, n * n));
}

json_t *
mhar_json_weights (const MharDataset *set)
{
  static const char *const texts[] = { "path", "mode", "dialect", "model_type", "slicing" };
  static const char *const numbers[] = { "layers", "width", "heads", "sites", "slices" };
  static const char *const cosines[] = { "query_cosine", "slice_site_cosine", "slice_cosine" };
  const char *const *warnings = mhar_dataset_strings (set, "warnings");
  json_t *object = json_object (), *sites = json_array (), *list = json_array ();

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (mhar_dataset_string (set, texts[i]) != NULL)
      json_object_set_new (object, texts[i], json_string (mhar_dataset_string (set, texts[i])));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    json_object_set_new (object, numbers[i], json_integer (mhar_dataset_integer (set, numbers[i], 0)));
  for (guint i = 0; i < G_N_ELEMENTS (cosines); i++)
    json_object_set_new (object, cosines[i], means (set, cosines[i]));
  for (gsize s = 0; s < mhar_dataset_get (set, "site")->shape[0]; s++)
    json_array_append_new (sites, site_object (set, s));
  json_object_set_new (object, "per_site", sites);
  for (guint w = 0; warnings != NULL && warnings[w] != NULL; w++)
    json_array_append_new (list, json_string (warnings[w]));
  json_object_set_new (object, "warnings", list);
  return object;
}
