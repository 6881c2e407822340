/* SPDX-License-Identifier: MIT */
#include "app/cli/json.h"

#include "probes/series.h"

#include <math.h>
#include <string.h>

static json_t *
real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

/* "KEY_interval": [[low, high], …], null where a step has none. */
static void
add_interval (const MharDataset *set, const char *name, const MharField *low, json_t *object)
{
  g_autofree char *high_name = g_strconcat (name, "_high", NULL), *key = g_strconcat (name, "_interval", NULL);
  const MharField *high = mhar_dataset_get (set, high_name);
  json_t *list = json_array ();

  for (gsize i = 0; low != NULL && high != NULL && i < low->shape[0]; i++) {
    double from = mhar_field_value (low, i), to = mhar_field_value (high, i);
    json_array_append_new (list, isfinite (from) && isfinite (to) ? json_pack ("[f, f]", from, to) : json_null ());
  }
  if (json_array_size (list) > 0)
    json_object_set (object, key, list);
  json_decref (list);
}

static void
add_curve (const MharDataset *set, const MharField *field, json_t *object)
{
  g_autofree char *low_name = g_strconcat (field->name, "_low", NULL);
  json_t *list = json_array ();

  for (gsize i = 0; i < field->shape[0]; i++)
    json_array_append_new (list, real (field->data.f64[i]));
  json_object_set_new (object, field->name, list);
  add_interval (set, field->name, mhar_dataset_get (set, low_name), object);
}

/* The ends of an interval of draws, which is about no scalar of that name. */
static void
add_draws (const MharDataset *set, const MharField *field, json_t *object)
{
  if (!g_str_has_suffix (field->name, "_null_draw_low"))
    return;
  g_autofree char *name = g_strndup (field->name, strlen (field->name) - strlen ("_low"));
  add_interval (set, name, field, object);
}

void
mhar_json_series (const MharDataset *root, json_t *object)
{
  const MharDataset *set = mhar_dataset_find_child (root, "series");
  const char *const *skipped = set != NULL ? mhar_dataset_strings (set, "skipped") : NULL;
  json_t *series, *steps = json_array (), *paths = json_array (), *left_out = json_array ();

  if (set != NULL) {
    const MharField *step = mhar_dataset_get (set, "step"), *path = mhar_dataset_get (set, "path");
    series = json_pack ("{s:O, s:O, s:O}", "step", steps, "path", paths, "skipped", left_out);
    for (gsize i = 0; i < step->shape[0]; i++) {
      json_array_append_new (steps, json_integer (step->data.i32[i]));
      json_array_append_new (paths, path->data.str[i] != NULL ? json_string (path->data.str[i]) : json_null ());
    }
    for (guint i = 0; skipped != NULL && skipped[i] != NULL; i++)
      json_array_append_new (left_out, json_string (skipped[i]));
    for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
      const MharField *field = mhar_dataset_field (set, f);
      if (mhar_series_is_scalar (field))
        add_curve (set, field, series);
      else
        add_draws (set, field, series);
    }
    json_object_set_new (object, "series", series);
  }
  json_decref (steps);
  json_decref (paths);
  json_decref (left_out);
}
