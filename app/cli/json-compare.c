/* SPDX-License-Identifier: MIT */
#include "app/cli/json.h"

#include "probes/compare.h"

#include <math.h>

/* Numbers of the checkpoints and of each read; what is absent has no key. */
static const char *const numbers[] = {
  "js_identity",    "js_matched",
  "js_random",      "js_consensus",
  "null_js_a",      "null_js_b",
  "null_js",        "null_js_consensus",
  "js_ratio",       "js_ratio_consensus",
  "p_value",        "p_value_consensus",
  "max_difference", "max_difference_consensus",
};

static json_t *
real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

static void
put (json_t *object, const char *name, double value, double low, double high)
{
  g_autofree char *interval = g_strconcat (name, "_interval", NULL);

  json_object_set_new (object, name, real (value));
  if (isfinite (low) && isfinite (high))
    json_object_set_new (object, interval, json_pack ("[f, f]", low, high));
}

static double
end_of (const MharDataset *set, const char *name, const char *end, gboolean whole, gsize s)
{
  g_autofree char *full = g_strconcat (name, end, NULL);
  const MharField *field = mhar_dataset_get (set, full);

  if (whole)
    return mhar_dataset_real (set, full, NAN);
  return field != NULL ? mhar_field_value (field, s) : NAN;
}

/* Of read s, or of the checkpoints. */
static void
add_numbers (const MharDataset *set, json_t *object, gboolean whole, gsize s)
{
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    const MharField *field = mhar_dataset_get (set, numbers[i]);
    double low = end_of (set, numbers[i], "_low", whole, s), high = end_of (set, numbers[i], "_high", whole, s);
    if (field != NULL)
      put (object, numbers[i], whole ? mhar_dataset_real (set, numbers[i], NAN) : mhar_field_value (field, s), low,
           high);
  }
}

/* Elements `at` … of a field. */
static json_t *
list_of (const MharField *field, gsize at, gsize n)
{
  json_t *list = json_array ();

  for (gsize i = at; i < at + n; i++)
    json_array_append_new (list, field->type == MHAR_FIELD_I32 ? json_integer (field->data.i32[i])
                                                               : real (mhar_field_value (field, i)));
  return list;
}

/* [rows][columns], what of a field [site, …, …] a read has. */
static json_t *
matrix_of (const MharField *field, gsize s, gsize rows, gsize columns)
{
  json_t *list = json_array ();

  for (gsize r = 0; r < rows; r++)
    json_array_append_new (list, list_of (field, (s * field->shape[1] + r) * field->shape[2], columns));
  return list;
}

static json_t *
site_object (const MharDataset *set, gsize s)
{
  const MharField *js = mhar_dataset_get (set, "js"), *match = mhar_dataset_get (set, "match");
  const MharField *difference = mhar_dataset_get (set, "difference"), *label = mhar_dataset_get (set, "site_label");
  const MharField *mean = mhar_dataset_get (set, "difference_consensus");
  gsize sources = (gsize)mhar_dataset_get (set, "n_sources")->data.i32[s];
  gsize heads = (gsize)mhar_dataset_get (set, "n_heads")->data.i32[s];
  json_t *object = json_pack ("{s:i, s:o, s:i, s:i}", "site", mhar_dataset_get (set, "site")->data.i32[s], "label",
                              label->data.str[s] != NULL ? json_string (label->data.str[s]) : json_null (), "sources",
                              (int)sources, "heads", (int)heads);

  add_numbers (set, object, FALSE, s);
  json_object_set_new (object, "difference_consensus", list_of (mean, s * mean->shape[1], sources));
  if (js == NULL || match == NULL || difference == NULL) {
    json_object_set_new (object, "heads_b", json_integer (mhar_dataset_get (set, "n_heads_b")->data.i32[s]));
    return object;
  }
  json_object_set_new (object, "match", list_of (match, s * match->shape[1], heads));
  json_object_set_new (object, "js", matrix_of (js, s, heads, heads));
  json_object_set_new (object, "difference", matrix_of (difference, s, heads, sources));
  return object;
}

static void
add_matching (const MharDataset *set, json_t *object, const char *name, gboolean whole)
{
  gsize heads;
  const gint32 *match = mhar_comparison_matching (set, whole, &heads);

  if (match == NULL)
    return;
  json_t *list = json_array ();
  for (gsize h = 0; h < heads; h++)
    json_array_append_new (list, json_integer (match[h]));
  json_object_set_new (object, name, list);
}

void
mhar_json_compare (const MharDataset *root, json_t *object)
{
  const MharDataset *set = mhar_dataset_find_child (root, "compare");
  json_t *compare = json_object (), *list = json_array ();

  if (set != NULL) {
    const char *a = mhar_dataset_string (set, "a"), *b = mhar_dataset_string (set, "b");
    json_object_set_new (compare, "a", json_string (a != NULL ? a : ""));
    json_object_set_new (compare, "b", json_string (b != NULL ? b : ""));
    add_numbers (set, compare, TRUE, 0);
    add_matching (set, compare, "matching", FALSE);
    add_matching (set, compare, "matching_groups", TRUE);
    for (gsize s = 0; s < mhar_dataset_get (set, "site")->shape[0]; s++)
      if (mhar_dataset_get (set, "n_sources")->data.i32[s] > 1)
        json_array_append_new (list, site_object (set, s));
    json_object_set (compare, "per_site", list);
    json_object_set (object, "compare", compare);
  }
  json_decref (list);
  json_decref (compare);
}
