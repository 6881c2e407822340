/* SPDX-License-Identifier: MIT */
/* Checked reading. */
#include "app/figure/figure-data.h"

#include "app/figure/figure-text.h"

#include <math.h>

const MharField *
mhar_figure_field (const MharDataset *set, const char *name, guint n_dims)
{
  const MharField *field = mhar_dataset_get (set, name);

  if (!field || field->type == MHAR_FIELD_STRING || field->n_dims != n_dims || !field->data.any)
    return NULL;
  for (guint i = 0; i < n_dims; i++)
    if (field->shape[i] == 0 || field->shape[i] > G_MAXINT / 2)
      return NULL;
  return field;
}

gsize
mhar_figure_length (const MharField *field, guint axis)
{
  return field && axis < field->n_dims ? field->shape[axis] : 0;
}

double
mhar_figure_value (const MharField *field, gsize i, gsize j, gsize k)
{
  gsize index[3] = { i, j, k };
  gsize flat = 0;

  if (!field || field->n_dims > 3)
    return NAN;
  for (guint axis = 0; axis < field->n_dims; axis++) {
    if (index[axis] >= field->shape[axis])
      return NAN;
    flat = flat * field->shape[axis] + index[axis];
  }
  return mhar_field_value (field, flat);
}

gboolean
mhar_figure_any_finite (const MharField *field)
{
  gsize n = field ? mhar_field_length (field) : 0;

  for (gsize i = 0; i < n; i++)
    if (isfinite (mhar_field_value (field, i)))
      return TRUE;
  return FALSE;
}

const char *
mhar_figure_raw_label (const MharDataset *set, const char *name, gsize i, gsize j)
{
  const MharField *field = mhar_dataset_get (set, name);
  gsize flat = i;

  if (!field || field->type != MHAR_FIELD_STRING || !field->data.str || field->n_dims < 1 || field->n_dims > 2
      || i >= field->shape[0])
    return NULL;
  if (field->n_dims == 2) {
    if (j >= field->shape[1])
      return NULL;
    flat = i * field->shape[1] + j;
  }
  return field->data.str[flat];
}

char *
mhar_figure_label (const MharDataset *set, const char *name, gsize i, gsize j)
{
  const char *raw = mhar_figure_raw_label (set, name, i, j);

  return raw ? mhar_text_clean (raw) : NULL;
}

gsize
mhar_figure_n_sources (const MharDataset *set, const MharField *weight, gsize i)
{
  gsize heads = mhar_figure_length (weight, 1), sources = mhar_figure_length (weight, 2);
  double given = mhar_figure_value (mhar_figure_field (set, "n_sources", 1), i, 0, 0);

  if (given >= 0)
    return given < (double)sources ? (gsize)given : sources;
  for (gsize n = sources; n > 0; n--)
    for (gsize h = 0; h < heads; h++)
      if (isfinite (mhar_figure_value (weight, i, h, n - 1)))
        return n;
  return 0;
}

char *
mhar_figure_checkpoint (const MharDataset *set)
{
  const char *path = mhar_dataset_string (set, "path");
  const char *name = mhar_dataset_name (set);
  g_autofree char *base = path && *path ? g_path_get_basename (path) : NULL;

  if (base && !g_str_equal (base, ".") && !g_str_equal (base, "/"))
    return mhar_text_clean (base);
  return mhar_text_clean (name && *name ? name : "checkpoint");
}

void
mhar_figure_row_statistics (const MharField *field, gsize row, double *mean, double *sd)
{
  gsize n = 0, length = field && field->n_dims == 2 ? field->shape[1] : 1;
  double sum = 0, squares = 0;

  for (gsize i = 0; i < length; i++) {
    double value = mhar_figure_value (field, row, i, 0);

    if (isfinite (value)) {
      sum += value;
      n++;
    }
  }
  *mean = n ? sum / (double)n : NAN;
  for (gsize i = 0; i < length; i++) {
    double off = mhar_figure_value (field, row, i, 0) - *mean;

    if (isfinite (off))
      squares += off * off;
  }
  *sd = n > 1 ? sqrt (squares / (double)(n - 1)) : n ? 0 : NAN;
}
