/* SPDX-License-Identifier: MIT */
#include "app/cli/table-series.h"

#include "app/cli/csv-lines.h"
#include "app/cli/jobs.h"
#include "app/cli/table-numbers.h"
#include "probes/series.h"

#include <math.h>
#include <string.h>

/* Characters in a line of text, where it can be helped. */
#define WIDEST 110

/* What a scalar is called over its column, in the order of the columns; others follow under their own names. */
static const struct {
  const char *name, *label;
} labels[] = {
  { "loss", "loss" },
  { "slice_kl_trained", "slice KL" },
  { "slice_kl_median", "slice KL, median" },
  { "slice_kl_null", "slice KL, null" },
  { "slice_kl_excess", "slice KL, excess" },
  { "slice_kl_p_value", "slice KL, p-value" },
  { "matched_kl_trained", "matched KL" },
  { "matched_kl_median", "matched KL, median" },
  { "matched_kl_null", "matched KL, null" },
  { "matched_kl_excess", "matched KL, excess" },
  { "matched_kl_p_value", "matched KL, p-value" },
  { "head_js_trained", "head JS" },
  { "head_js_median", "head JS, median" },
  { "head_js_null", "head JS, null" },
  { "head_js_excess", "head JS, excess" },
  { "head_js_p_value", "head JS, p-value" },
  { "max_deviation", "largest deviation" },
  { "null_max_deviation", "deviation, null" },
  { "max_deviation_p_value", "deviation, p-value" },
  { "head_correlation", "head correlation" },
  { "replication_r", "replication r" },
  { "collinearity_mean", "mean cosine" },
  { "collinearity_mean_abs", "mean |cosine|" },
};

static const char *
label_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    if (strcmp (labels[i].name, name) == 0)
      return labels[i].label;
  return name;
}

/* Spreads and floors are for the CSV and the JSON. */
static gboolean
is_shown (const MharField *field)
{
  return mhar_series_is_scalar (field) && !g_str_has_suffix (field->name, "_sd")
         && !g_str_has_suffix (field->name, "_floor");
}

static double
end_at (const MharDataset *set, const char *name, const char *end, gsize i)
{
  g_autofree char *full = g_strconcat (name, end, NULL);
  const MharField *field = mhar_dataset_get (set, full);

  return field != NULL ? mhar_field_value (field, i) : NAN;
}

/* "3.1640 [3.1511, 3.1782]" */
static char *
cell (const MharDataset *set, const MharField *field, gsize i)
{
  double value = field->data.f64[i];

  return isnan (value)
             ? g_strdup ("n/a")
             : mhar_table_interval (value, end_at (set, field->name, "_low", i), end_at (set, field->name, "_high", i));
}

/* The table of the fields `from` … `to` − 1 of `shown`. */
static char *
format_part (const MharDataset *set, const GPtrArray *shown, guint from, guint to, MharTableStyle style)
{
  const MharField *step = mhar_dataset_get (set, "step");
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint k = from; k < to; k++)
    g_ptr_array_add (names, mhar_printable (label_of (((MharField *)g_ptr_array_index ((GPtrArray *)shown, k))->name)));
  g_ptr_array_add (names, NULL);
  for (gsize i = 0; i < step->shape[0]; i++) {
    char **line = g_new0 (char *, to - from + 2);
    line[0] = g_strdup_printf ("step %d", step->data.i32[i]);
    for (guint k = from; k < to; k++)
      line[k - from + 1] = cell (set, g_ptr_array_index ((GPtrArray *)shown, k), i);
    g_ptr_array_add (lines, line);
  }
  return mhar_table_lines ((char **)names->pdata, lines, to - from, style);
}

/* Width of a field's column in text. */
static glong
width_of (const MharDataset *set, const MharField *field)
{
  glong width = g_utf8_strlen (label_of (field->name), -1);

  for (gsize i = 0; i < field->shape[0]; i++) {
    g_autofree char *text = cell (set, field, i);
    width = MAX (width, g_utf8_strlen (text, -1));
  }
  return width + 2;
}

static char *
format_text (const MharDataset *set, const GPtrArray *shown)
{
  GString *out = g_string_new (NULL);

  for (guint from = 0, to; from < shown->len; from = to) {
    glong width = 16;
    for (to = from; to < shown->len; to++) {
      width += width_of (set, g_ptr_array_index ((GPtrArray *)shown, to));
      if (width > WIDEST && to > from)
        break;
    }
    g_autofree char *part = format_part (set, shown, from, to, MHAR_TABLE_TEXT);
    g_string_append_printf (out, "%s%s", from > 0 ? "\n" : "", part);
  }
  return g_string_free (out, FALSE);
}

static char *
format_csv (const MharDataset *set)
{
  const MharField *step = mhar_dataset_get (set, "step"), *path = mhar_dataset_get (set, "path");
  GString *out = g_string_new ("step,checkpoint");

  for (guint f = 0; f < mhar_dataset_n_fields (set); f++)
    if (mhar_dataset_field (set, f)->type == MHAR_FIELD_F64) {
      g_string_append_c (out, ',');
      mhar_csv_append_text (out, mhar_dataset_field (set, f)->name);
    }
  g_string_append_c (out, '\n');
  for (gsize i = 0; i < step->shape[0]; i++) {
    g_string_append_printf (out, "%d,", step->data.i32[i]);
    mhar_csv_append_text (out, path->data.str[i] != NULL ? path->data.str[i] : "");
    for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
      const MharField *field = mhar_dataset_field (set, f);
      if (field->type != MHAR_FIELD_F64)
        continue;
      g_string_append_c (out, ',');
      mhar_csv_append_number (out, field->data.f64[i]);
    }
    g_string_append_c (out, '\n');
  }
  return g_string_free (out, FALSE);
}

char *
mhar_table_series (const MharDataset *series, MharTableStyle style)
{
  g_autoptr (GPtrArray) shown = g_ptr_array_new ();

  if (style == MHAR_TABLE_CSV)
    return format_csv (series);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    MharField *field = mhar_dataset_get (series, labels[i].name);
    if (field != NULL && is_shown (field))
      g_ptr_array_add (shown, field);
  }
  for (guint f = 0; f < mhar_dataset_n_fields (series); f++) {
    MharField *field = mhar_dataset_field (series, f);
    if (is_shown (field) && !g_ptr_array_find (shown, field, NULL))
      g_ptr_array_add (shown, field);
  }
  return style == MHAR_TABLE_TEXT ? format_text (series, shown) : format_part (series, shown, 0, shown->len, style);
}
