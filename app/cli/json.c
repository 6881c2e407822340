/* SPDX-License-Identifier: MIT */
#include "app/cli/json.h"

#include "probes/results.h"
#include "probes/weights-only.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *
real (double value)
{
  return isfinite (value) ? json_real (value) : json_null ();
}

static const MharAttribute *
find_real (const MharDataset *set, const char *name)
{
  for (guint a = 0; a < mhar_dataset_n_attributes (set); a++) {
    const MharAttribute *attribute = mhar_dataset_attribute (set, a);
    if (attribute->type == MHAR_ATTRIBUTE_REAL && strcmp (attribute->name, name) == 0)
      return attribute;
  }
  return NULL;
}

/* "KEY": [low, high], where attributes NAME_low and NAME_high are. */
static void
copy_interval (const MharDataset *set, const char *name, json_t *object, const char *key)
{
  g_autofree char *low_name = g_strconcat (name, "_low", NULL), *high_name = g_strconcat (name, "_high", NULL);
  const MharAttribute *low = find_real (set, low_name), *high = find_real (set, high_name);

  if (low != NULL && high != NULL)
    json_object_set_new (object, key, json_pack ("[o, o]", real (low->real), real (high->real)));
}

/* A scalar, with its interval beside it. */
static void
copy_real (const MharDataset *set, const char *from, json_t *object, const char *key)
{
  const MharAttribute *attribute = find_real (set, from);
  g_autofree char *interval = g_strconcat (key, "_interval", NULL);

  if (attribute == NULL)
    return;
  json_object_set_new (object, key, real (attribute->real));
  copy_interval (set, from, object, interval);
}

/* A field's number at i, where the field is, with its interval. */
static void
copy_element (const MharDataset *set, const char *from, gsize i, json_t *object, const char *key)
{
  g_autofree char *low_name = g_strconcat (from, "_low", NULL), *high_name = g_strconcat (from, "_high", NULL);
  g_autofree char *interval = g_strconcat (key, "_interval", NULL);
  const MharField *field = mhar_dataset_get (set, from);
  const MharField *low = mhar_dataset_get (set, low_name), *high = mhar_dataset_get (set, high_name);

  if (field == NULL)
    return;
  json_object_set_new (object, key, real (mhar_field_value (field, i)));
  if (low != NULL && high != NULL && isfinite (mhar_field_value (low, i)))
    json_object_set_new (object, interval,
                         json_pack ("[o, o]", real (mhar_field_value (low, i)), real (mhar_field_value (high, i))));
}

static void
copy_integer (const MharDataset *set, const char *from, json_t *object, const char *key)
{
  json_object_set_new (object, key, json_integer (mhar_dataset_integer (set, from, 0)));
}

static void
copy_string (const MharDataset *set, const char *from, json_t *object, const char *key)
{
  const char *text = mhar_dataset_string (set, from);
  if (text != NULL)
    json_object_set_new (object, key, json_string (text));
}

/* Mean over the last dimension of site s; NaN where the site has none. */
static double
site_mean (const MharField *field, gsize s)
{
  gsize last = field->n_dims > 1 ? field->shape[1] : 1;
  double sum = 0;

  for (gsize i = 0; i < last; i++)
    sum += mhar_field_value (field, s * last + i);
  return last > 0 ? sum / (double) last : NAN;
}

/* One site of a disagreement. Files of before have no numbers by site in double precision. */
static json_t *
disagreement_site (const MharDataset *set, const char *name, gsize s, const MharField *trained, const MharField *null)
{
  const MharField *site = mhar_dataset_get (set, "site"), *label = mhar_dataset_get (set, "site_label");
  g_autofree char *trained_name = g_strconcat (name, "_site", NULL),
                  *null_name = g_strconcat (name, "_null_site", NULL);
  g_autofree char *p_name = g_strconcat (name, "_p_value", NULL);
  json_t *entry
      = json_pack ("{s:i, s:s, s:i, s:o}", "site", site->data.i32[s], "label", label->data.str[s], "sources",
                   mhar_dataset_get (set, "n_sources")->data.i32[s], "trained", real (site_mean (trained, s)));

  copy_element (set, trained_name, s, entry, "trained");
  json_object_set_new (entry, "null", null != NULL ? real (site_mean (null, s)) : json_null ());
  copy_element (set, null_name, s, entry, "null");
  copy_element (set, p_name, s, entry, "p_value");
  return entry;
}

/* trained, median, null, null_sd, excess, p_value, draws and per_site of one disagreement. */
static json_t *
disagreement (const MharDataset *set, const char *name)
{
  static const char *const keys[] = { "trained", "median", "null", "null_sd", "excess", "p_value" };
  g_autofree char *null_name = g_strconcat (name, "_null", NULL);
  const MharField *trained = mhar_dataset_get (set, name), *null = mhar_dataset_get (set, null_name);
  g_autofree char *draw_name = g_strconcat (name, "_null_draw", NULL);
  json_t *object, *list;

  if (trained == NULL || mhar_dataset_get (set, "site") == NULL)
    return NULL;
  object = json_object ();
  list = json_array ();
  if (null != NULL) {
    copy_integer (set, "draws", object, "draws");
    copy_string (set, "null_kind", object, "null_kind");
  }
  for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
    g_autofree char *from = g_strconcat (name, "_", keys[k], NULL);
    copy_real (set, from, object, keys[k]);
  }
  copy_interval (set, draw_name, object, "null_draw_interval");
  for (gsize s = 0; s < trained->shape[0]; s++)
    if (mhar_results_site_counts (set, name, s))
      json_array_append_new (list, disagreement_site (set, name, s, trained, null));
  json_object_set_new (object, "per_site", list);
  return object;
}

static void
add_disagreements (const MharDataset *set, json_t *object)
{
  json_t *slices = disagreement (set, "slice_kl"), *js = disagreement (set, "head_js");

  if (slices != NULL) {
    json_t *matched = disagreement (set, "matched_kl");
    copy_integer (set, "slices", slices, "slices");
    copy_string (set, "slicing", slices, "slicing");
    if (matched != NULL) {
      copy_integer (set, "match_sources", matched, "count");
      json_object_set_new (slices, "matched", matched);
    }
    json_object_set_new (object, "slice_kl", slices);
  }
  if (js != NULL)
    json_object_set_new (object, "head_js", js);
}

static void
add_group (const MharDataset *set, json_t *object, const char *key, const char *const (*pairs)[2])
{
  json_t *group = json_object ();

  for (; (*pairs)[0] != NULL; pairs++)
    copy_real (set, (*pairs)[0], group, (*pairs)[1]);
  if (json_object_size (group) > 0)
    json_object_set_new (object, key, group);
  else
    json_decref (group);
}

/* How large a site's deviation is, and what of it chance would make. */
static json_t *
deviation_site (const MharDataset *set, gsize s)
{
  const MharField *site = mhar_dataset_get (set, "site"), *label = mhar_dataset_get (set, "site_label");
  const MharField *null = mhar_dataset_get (set, "max_deviation_null"),
                  *p = mhar_dataset_get (set, "deviation_p_value");
  gint32 heads = mhar_dataset_get (set, "n_heads")->data.i32[s];
  json_t *entry = json_pack ("{s:i, s:s, s:i}", "site", site->data.i32[s], "label", label->data.str[s], "sources",
                             mhar_dataset_get (set, "n_sources")->data.i32[s]);

  copy_element (set, "max_deviation_site", s, entry, "max_deviation");
  if (null == NULL || p == NULL)
    return entry;
  json_t *list = json_array ();
  double least = 1;
  for (gint32 h = 0; h < heads; h++) {
    double one = mhar_field_value (p, s * p->shape[1] + (gsize)h);
    json_array_append_new (list, real (one));
    least = isnan (one) || isnan (least) ? NAN : fmin (least, one);
  }
  json_object_set_new (entry, "null_max_deviation", real (site_mean (null, s)));
  copy_element (set, "max_deviation_p_value", s, entry, "p_value");
  json_object_set_new (entry, "p_value_corrected", real (least));
  json_object_set_new (entry, "p_value_heads", list);
  return entry;
}

static void
add_depth_map (const MharDataset *set, json_t *object)
{
  static const char *const pairs[][2] = { { "max_deviation", "max_deviation" },
                                          { "null_max_deviation", "null_max_deviation" },
                                          { "max_deviation_p_value", "p_value" },
                                          { "head_correlation", "head_correlation" },
                                          { "head_correlation_floor", "head_correlation_floor" },
                                          { "replication_r", "replication_r" },
                                          { NULL, NULL } };
  const MharField *sites = mhar_dataset_get (set, "max_deviation_site");

  add_group (set, object, "depth_map", pairs);
  json_t *group = json_object_get (object, "depth_map");
  if (group == NULL)
    return;
  copy_interval (set, "max_deviation_null_draw", group, "null_draw_interval");
  if (sites == NULL || mhar_dataset_get (set, "site") == NULL)
    return;
  json_t *list = json_array ();
  for (gsize s = 0; s < sites->shape[0]; s++)
    if (mhar_results_site_counts (set, "max_deviation", s))
      json_array_append_new (list, deviation_site (set, s));
  json_object_set_new (group, "per_site", list);
}

static void
add_bootstrap (const MharDataset *set, json_t *object)
{
  if (mhar_dataset_integer (set, "bootstrap_resamples", 0) == 0)
    return;
  json_t *group = json_object ();
  copy_integer (set, "bootstrap_resamples", group, "resamples");
  copy_integer (set, "bootstrap_entries", group, "entries");
  copy_integer (set, "bootstrap_block", group, "block");
  json_object_set_new (object, "bootstrap", group);
}

/* [head][source] of one site, only what is there. */
static json_t *
matrix (const MharField *field, gsize s, int heads, int sources)
{
  json_t *list = json_array ();

  for (int h = 0; h < heads; h++) {
    json_t *row = json_array ();
    for (int n = 0; n < sources; n++)
      json_array_append_new (row,
                             real (field->data.f32[(s * field->shape[1] + (gsize) h) * field->shape[2] + (gsize) n]));
    json_array_append_new (list, row);
  }
  return list;
}

static void
add_sites (const MharDataset *set, json_t *object)
{
  const MharField *weight = mhar_dataset_get (set, "weight"), *entropy = mhar_dataset_get (set, "entropy");
  const MharField *spread = mhar_dataset_get (set, "weight_sd");
  const MharField *contribution = mhar_dataset_get (set, "contribution"), *site = mhar_dataset_get (set, "site");
  const MharField *label = mhar_dataset_get (set, "site_label"), *sources = mhar_dataset_get (set, "n_sources");
  const MharField *heads = mhar_dataset_get (set, "n_heads");
  json_t *list = json_array ();

  for (gsize s = 0; site != NULL && s < site->shape[0]; s++) {
    int h = heads->data.i32[s], n = sources->data.i32[s];
    json_t *entry = json_pack ("{s:i, s:s, s:i, s:i}", "site", site->data.i32[s], "label", label->data.str[s],
                               "sources", n, "heads", h);
    if (weight != NULL && entropy != NULL && contribution != NULL) {
      json_t *row = json_array ();
      for (int k = 0; k < h; k++)
        json_array_append_new (row, real (entropy->data.f32[s * entropy->shape[1] + (gsize) k]));
      json_object_set_new (entry, "entropy", row);
      json_object_set_new (entry, "weight", matrix (weight, s, h, n));
      if (spread != NULL) /* files of before have none */
        json_object_set_new (entry, "weight_sd", matrix (spread, s, h, n));
      json_object_set_new (entry, "contribution", matrix (contribution, s, h, n));
    }
    json_array_append_new (list, entry);
  }
  json_object_set_new (object, "per_site", list);
}

static void
add_text (const MharField *field, gsize i, json_t *object, const char *key)
{
  const char *text = field != NULL && field->data.str[i] != NULL ? field->data.str[i] : "";

  if (text[0] != '\0')
    json_object_set_new (object, key, json_string (text));
}

/* One control: what it is of and against, and its scalars. */
static json_t *
control (const MharDataset *root, const MharDataset *set, gsize i)
{
  static const char *const keys[] = { "trained", "median", "null", "null_sd", "excess", "p_value" };
  const MharField *slices = mhar_dataset_get (set, "slices"), *width = mhar_dataset_get (set, "slice_width");
  const MharField *low = mhar_dataset_get (set, "null_draw_low"), *high = mhar_dataset_get (set, "null_draw_high");
  json_t *object = json_object ();

  add_text (mhar_dataset_get (set, "measure"), i, object, "measure");
  if (slices->data.i32[i] > 0) {
    json_object_set_new (object, "slices", json_integer (slices->data.i32[i]));
    json_object_set_new (object, "slice_width", json_integer (width->data.i32[i]));
    add_text (mhar_dataset_get (set, "slicing"), i, object, "slicing");
  }
  if (mhar_dataset_get (set, "null") != NULL) {
    add_text (mhar_dataset_get (set, "null_kind"), i, object, "null_kind");
    add_text (mhar_dataset_get (set, "null_norm"), i, object, "null_norm");
    copy_integer (root, "draws", object, "draws");
  }
  for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
    copy_element (set, keys[k], i, object, keys[k]);
  if (low != NULL && high != NULL && isfinite (mhar_field_value (low, i)))
    json_object_set_new (object, "null_draw_interval",
                         json_pack ("[o, o]", real (mhar_field_value (low, i)), real (mhar_field_value (high, i))));
  return object;
}

static void
add_controls (const MharDataset *set, json_t *object)
{
  const MharDataset *controls = mhar_dataset_find_child (set, "controls");

  if (controls == NULL)
    return;
  json_t *list = json_array ();
  for (gsize i = 0; i < mhar_dataset_get (controls, "trained")->shape[0]; i++)
    json_array_append_new (list, control (set, controls, i));
  json_object_set_new (object, "controls", list);
}

static json_t *
strings (const MharField *field)
{
  json_t *list = json_array ();

  for (gsize i = 0; i < field->shape[0]; i++)
    json_array_append_new (list, json_string (field->data.str[i]));
  return list;
}

/* [input][output] of a hyper-connected model, null where the output comes after the input. */
static void
add_coefficients (const MharDataset *set, json_t *object)
{
  const MharField *field = mhar_dataset_get (set, "coefficient"), *input = mhar_dataset_get (set, "input_label");
  const MharField *output = mhar_dataset_get (set, "output_label");
  json_t *list;

  if (field == NULL || input == NULL || output == NULL)
    return;
  list = json_array ();
  for (gsize r = 0; r < field->shape[0]; r++) {
    json_t *row = json_array ();
    for (gsize k = 0; k < field->shape[1]; k++)
      json_array_append_new (row, real (mhar_field_value (field, r * field->shape[1] + k)));
    json_array_append_new (list, row);
  }
  json_object_set_new (object, "depth_coefficients",
                       json_pack ("{s:o, s:o, s:o}", "inputs", strings (input), "outputs", strings (output),
                                  "coefficient", list));
}

static json_t *
checkpoint (const MharDataset *set)
{
  static const char *const cosine[][2] = { { "collinearity_mean", "mean" },
                                           { "collinearity_mean_abs", "mean_abs" },
                                           { NULL, NULL } };
  static const char *const numbers[] = { "layers", "width", "heads", "sites", "tokens", "windows" };
  const char *const *warnings = mhar_dataset_strings (set, "warnings");
  json_t *object = json_object (), *list = json_array ();

  copy_string (set, "path", object, "path");
  copy_string (set, "mode", object, "mode");
  copy_string (set, "dialect", object, "dialect");
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    copy_integer (set, numbers[i], object, numbers[i]);
  copy_real (set, "loss", object, "loss");
  add_bootstrap (set, object);
  add_disagreements (set, object);
  add_controls (set, object);
  add_depth_map (set, object);
  add_group (set, object, "collinearity", cosine);
  add_coefficients (set, object);
  add_sites (set, object);
  mhar_json_interventions (set, object);
  mhar_json_reads (set, object);
  for (guint w = 0; warnings != NULL && warnings[w] != NULL; w++)
    json_array_append_new (list, json_string (warnings[w]));
  json_object_set_new (object, "warnings", list);
  return object;
}

char *
mhar_json_format (const MharDataset *root)
{
  const MharDataset *provenance = mhar_dataset_find_child (root, "provenance");
  json_t *object = json_pack ("{s:i}", "schema", 1), *list = json_array ();
  const char *seed = mhar_dataset_string (provenance, "seed");

  copy_string (provenance, "command", object, "command");
  copy_string (provenance, "device", object, "device");
  copy_string (provenance, "precision", object, "precision");
  /* Seeds beyond 2^63 do not fit a JSON integer of jansson: they stay text. */
  guint64 value = 0;
  if (seed != NULL && g_ascii_string_to_unsigned (seed, 10, 0, G_MAXINT64, &value, NULL))
    json_object_set_new (object, "seed", json_integer ((json_int_t) value));
  else
    copy_string (provenance, "seed", object, "seed");
  for (guint c = 0; c < mhar_dataset_n_children (root); c++) {
    const MharDataset *set = mhar_dataset_child (root, c);
    if (g_str_has_prefix (mhar_dataset_name (set), "checkpoint_"))
      json_array_append_new (list, mhar_weights_only_is (set) ? mhar_json_weights (set) : checkpoint (set));
  }
  json_object_set_new (object, "checkpoints", list);
  mhar_json_compare (root, object);
  mhar_json_series (root, object);
  char *text = json_dumps (object, JSON_INDENT (1) | JSON_REAL_PRECISION (17));
  char *line = g_strconcat (text, "\n", NULL);
  free (text);
  json_decref (object);
  return line;
}
