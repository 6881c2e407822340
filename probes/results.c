/* SPDX-License-Identifier: MIT */
#include "probes/results.h"

#include "core/error.h"
#include "probes/intervention.h"
#include "probes/reads.h"

#include <string.h>

typedef struct {
  const char *name;
  MharFieldType type;
  const char *dims[4]; /* NULL-ended */
} Expected;

static const Expected expected[] = {
  { "site", MHAR_FIELD_I32, { "site" } },
  { "site_label", MHAR_FIELD_STRING, { "site" } },
  { "n_sources", MHAR_FIELD_I32, { "site" } },
  { "n_heads", MHAR_FIELD_I32, { "site" } },
  { "source_label", MHAR_FIELD_STRING, { "site", "source" } },
  { "output_label", MHAR_FIELD_STRING, { "output" } },
  { "weight", MHAR_FIELD_F32, { "site", "head", "source" } },
  { "deviation", MHAR_FIELD_F32, { "site", "head", "source" } },
  { "contribution", MHAR_FIELD_F32, { "site", "head", "source" } },
  { "entropy", MHAR_FIELD_F32, { "site", "head" } },
  { "slice_kl", MHAR_FIELD_F32, { "site", "slice" } },
  { "slice_kl_null", MHAR_FIELD_F32, { "site", "draw" } },
  { "matched_kl", MHAR_FIELD_F32, { "site", "slice" } },
  { "matched_kl_null", MHAR_FIELD_F32, { "site", "draw" } },
  { "head_js", MHAR_FIELD_F32, { "site" } },
  { "head_js_null", MHAR_FIELD_F32, { "site", "draw" } },
  { "slice_kl_site", MHAR_FIELD_F64, { "site" } },
  { "slice_kl_site_low", MHAR_FIELD_F64, { "site" } },
  { "slice_kl_site_high", MHAR_FIELD_F64, { "site" } },
  { "slice_kl_null_site", MHAR_FIELD_F64, { "site" } },
  { "slice_kl_null_site_low", MHAR_FIELD_F64, { "site" } },
  { "slice_kl_null_site_high", MHAR_FIELD_F64, { "site" } },
  { "slice_kl_p_value", MHAR_FIELD_F64, { "site" } },
  { "matched_kl_site", MHAR_FIELD_F64, { "site" } },
  { "matched_kl_site_low", MHAR_FIELD_F64, { "site" } },
  { "matched_kl_site_high", MHAR_FIELD_F64, { "site" } },
  { "matched_kl_null_site", MHAR_FIELD_F64, { "site" } },
  { "matched_kl_null_site_low", MHAR_FIELD_F64, { "site" } },
  { "matched_kl_null_site_high", MHAR_FIELD_F64, { "site" } },
  { "matched_kl_p_value", MHAR_FIELD_F64, { "site" } },
  { "head_js_site", MHAR_FIELD_F64, { "site" } },
  { "head_js_site_low", MHAR_FIELD_F64, { "site" } },
  { "head_js_site_high", MHAR_FIELD_F64, { "site" } },
  { "head_js_null_site", MHAR_FIELD_F64, { "site" } },
  { "head_js_null_site_low", MHAR_FIELD_F64, { "site" } },
  { "head_js_null_site_high", MHAR_FIELD_F64, { "site" } },
  { "head_js_p_value", MHAR_FIELD_F64, { "site" } },
  { "max_deviation_site", MHAR_FIELD_F64, { "site" } },
  { "max_deviation_site_low", MHAR_FIELD_F64, { "site" } },
  { "max_deviation_site_high", MHAR_FIELD_F64, { "site" } },
  { "max_deviation_null", MHAR_FIELD_F64, { "site", "draw" } },
  { "whole_rows", MHAR_FIELD_I32, { "site" } },
  { "max_deviation_p_value", MHAR_FIELD_F64, { "site" } },
  { "deviation_p_value", MHAR_FIELD_F64, { "site", "head" } },
  { "weight_sd", MHAR_FIELD_F32, { "site", "head", "source" } },
  { "cosine", MHAR_FIELD_F32, { "output", "output_b" } },
  { "input_label", MHAR_FIELD_STRING, { "input" } },
  { "coefficient", MHAR_FIELD_F32, { "input", "output" } },
};

/* Of the child "controls"; the first six are always there. */
static const Expected control_fields[] = {
  { "measure", MHAR_FIELD_STRING, { "control" } },     { "slices", MHAR_FIELD_I32, { "control" } },
  { "slice_width", MHAR_FIELD_I32, { "control" } },    { "slicing", MHAR_FIELD_STRING, { "control" } },
  { "null_kind", MHAR_FIELD_STRING, { "control" } },   { "trained", MHAR_FIELD_F64, { "control" } },
  { "trained_low", MHAR_FIELD_F64, { "control" } },    { "trained_high", MHAR_FIELD_F64, { "control" } },
  { "median", MHAR_FIELD_F64, { "control" } },         { "median_low", MHAR_FIELD_F64, { "control" } },
  { "median_high", MHAR_FIELD_F64, { "control" } },    { "null", MHAR_FIELD_F64, { "control" } },
  { "null_low", MHAR_FIELD_F64, { "control" } },       { "null_high", MHAR_FIELD_F64, { "control" } },
  { "null_sd", MHAR_FIELD_F64, { "control" } },        { "excess", MHAR_FIELD_F64, { "control" } },
  { "excess_low", MHAR_FIELD_F64, { "control" } },     { "excess_high", MHAR_FIELD_F64, { "control" } },
  { "p_value", MHAR_FIELD_F64, { "control" } },        { "null_draw_low", MHAR_FIELD_F64, { "control" } },
  { "null_draw_high", MHAR_FIELD_F64, { "control" } }, { "null_norm", MHAR_FIELD_STRING, { "control" } },
};

#define CONTROL_FIELDS_NEEDED 6

static gboolean
fits (const MharField *field, const Expected *want)
{
  guint n = 0;

  while (n < 4 && want->dims[n] != NULL)
    n++;
  if (field->type != want->type || field->n_dims != n)
    return FALSE;
  for (guint d = 0; d < n; d++)
    if (strcmp (field->dims[d], want->dims[d]) != 0)
      return FALSE;
  return TRUE;
}

/* The length of a dimension over all known fields, which must agree; 0 where none has it. */
static gboolean
dimension (const MharDataset *set, const char *dim, gsize *length)
{
  *length = 0;
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const MharField *field = mhar_dataset_get (set, expected[i].name);
    for (guint d = 0; field != NULL && d < field->n_dims; d++) {
      if (strcmp (field->dims[d], dim) != 0)
        continue;
      if (*length != 0 && field->shape[d] != *length)
        return FALSE;
      *length = field->shape[d];
    }
  }
  return TRUE;
}

/* Every count of a site lies within the arrays it counts in. */
static gboolean
counts_fit (const MharDataset *set)
{
  const MharField *sources = mhar_dataset_get (set, "n_sources"), *heads = mhar_dataset_get (set, "n_heads");
  const MharField *weight = mhar_dataset_get (set, "weight"), *label = mhar_dataset_get (set, "source_label");
  const MharField *by_head = mhar_dataset_get (set, "deviation_p_value");

  for (gsize s = 0; sources != NULL && heads != NULL && s < sources->shape[0]; s++) {
    gint32 n = sources->data.i32[s], h = heads->data.i32[s];
    if (n < 0 || h < 0 || (weight != NULL && ((gsize)n > weight->shape[2] || (gsize)h > weight->shape[1]))
        || (label != NULL && (gsize)n > label->shape[1]) || (by_head != NULL && (gsize)h > by_head->shape[1]))
      return FALSE;
  }
  return TRUE;
}

/* Whether what stands of the controls is whole: a list as long as every other. */
static gboolean
controls_fit (const MharDataset *set)
{
  const MharDataset *controls = mhar_dataset_find_child (set, "controls");
  const MharField *first = controls != NULL ? mhar_dataset_get (controls, control_fields[0].name) : NULL;

  for (guint i = 0; controls != NULL && i < G_N_ELEMENTS (control_fields); i++) {
    const MharField *field = mhar_dataset_get (controls, control_fields[i].name);
    if (field == NULL && i >= CONTROL_FIELDS_NEEDED)
      continue;
    if (field == NULL || !fits (field, &control_fields[i]) || field->shape[0] != first->shape[0])
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_checkpoint (const MharDataset *set, const char *path, GError **error)
{
  static const char *const dims[] = { "site", "head", "source", "slice", "draw", "output", "input" };
  static const char *const together[] = { "site", "site_label", "n_sources", "n_heads", "source_label" };
  const char *name = mhar_dataset_name (set);
  guint present = 0;

  if (mhar_dataset_string (set, "path") == NULL)
    return mhar_bad_input (error, "%s: %s does not say which checkpoint it is; the file is damaged", path, name);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const MharField *field = mhar_dataset_get (set, expected[i].name);
    if (mhar_dataset_is_lost (set, expected[i].name))
      return mhar_bad_input (error,
                             "%s: %s/%s lacks the dimension scale of an axis, or has a type that schema 1 does not give "
                             "it; the file is damaged",
                             path, name, expected[i].name);
    if (field != NULL && !fits (field, &expected[i]))
      return mhar_bad_input (
          error, "%s: %s/%s has another type or other dimensions than schema 1 gives it; the file is damaged", path,
          name, expected[i].name);
  }
  for (guint i = 0; i < G_N_ELEMENTS (together); i++)
    present += mhar_dataset_get (set, together[i]) != NULL;
  if (present != 0 && present != G_N_ELEMENTS (together))
    return mhar_bad_input (error, "%s: %s lacks some labels of its sites; the file is damaged", path, name);
  if (present == 0
      && (mhar_dataset_get (set, "weight") != NULL || mhar_dataset_get (set, "slice_kl") != NULL
          || mhar_dataset_get (set, "head_js") != NULL || mhar_dataset_get (set, "max_deviation_site") != NULL))
    return mhar_bad_input (error, "%s: %s lacks the labels of its sites; the file is damaged", path, name);
  for (guint d = 0; d < G_N_ELEMENTS (dims); d++) {
    gsize length;
    if (!dimension (set, dims[d], &length))
      return mhar_bad_input (error, "%s: the arrays of %s disagree on the length of “%s”; the file is damaged", path,
                             name, dims[d]);
  }
  if (!controls_fit (set))
    return mhar_bad_input (error, "%s: the controls of %s are not what schema 1 makes of them; the file is damaged",
                           path, name);
  if (!counts_fit (set))
    return mhar_bad_input (error, "%s: %s counts more heads or sources than it holds; the file is damaged", path, name);
  return mhar_interventions_results_check (set, path, error) && mhar_reads_results_check (set, path, error);
}

GPtrArray *
mhar_results_checkpoints (const MharDataset *root)
{
  GPtrArray *sets = g_ptr_array_new ();

  for (guint c = 0; c < mhar_dataset_n_children (root); c++)
    if (g_str_has_prefix (mhar_dataset_name (mhar_dataset_child (root, c)), "checkpoint_"))
      g_ptr_array_add (sets, mhar_dataset_child (root, c));
  return sets;
}

gboolean
mhar_results_check (const MharDataset *root, const char *path, GError **error)
{
  g_autoptr (GPtrArray) sets = mhar_results_checkpoints (root);

  if (sets->len == 0)
    return mhar_bad_input (error, "%s: the file holds no checkpoint's results", path);
  if (mhar_dataset_find_child (root, "provenance") == NULL)
    return mhar_bad_input (error, "%s: the file does not say how it was made (no /provenance); it is damaged", path);
  for (guint i = 0; i < sets->len; i++)
    if (!check_checkpoint (g_ptr_array_index (sets, i), path, error))
      return FALSE;
  return TRUE;
}

gboolean
mhar_results_site_counts (const MharDataset *set, const char *measure, gsize site)
{
  gboolean heads = strcmp (measure, "head_js") == 0 || strcmp (measure, "max_deviation") == 0;
  gint64 least = strcmp (measure, "matched_kl") == 0 ? mhar_dataset_integer (set, "match_sources", 0) : 0;
  gint32 sources = mhar_dataset_get (set, "n_sources")->data.i32[site];

  return sources > 1 && sources >= least && (mhar_dataset_get (set, "n_heads")->data.i32[site] > 1) == heads;
}
