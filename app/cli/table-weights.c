/* SPDX-License-Identifier: MIT */
/* A line a query: the table above it has only their means. */
#include "app/cli/table-weights.h"

#include "app/cli/jobs.h"
#include "app/cli/table-numbers.h"
#include "probes/weights-only.h"

#include <math.h>

#define N_COLUMNS 6

/* The other site that site s is most alike, by absolute cosine; `sites` where there is none. */
static gsize
most_alike (const MharField *cosine, gsize s)
{
  gsize n = cosine->shape[0], best = n;

  for (gsize other = 0; other < n; other++) {
    double value = fabs (mhar_field_value (cosine, s * n + other));
    if (other != s && !isnan (value) && (best == n || value > fabs (mhar_field_value (cosine, s * n + best))))
      best = other;
  }
  return best;
}

/* The largest absolute cosine between two slices of site s, with its sign. */
static double
largest_within (const MharField *cosine, gsize s)
{
  gsize n = cosine->shape[1];
  double best = NAN;

  for (gsize a = 0; a < n; a++)
    for (gsize b = 0; b < a; b++) {
      double value = mhar_field_value (cosine, (s * n + a) * n + b);
      if (!isnan (value) && !(fabs (value) <= fabs (best)))
        best = value;
    }
  return best;
}

/* A number, signed where it is a cosine; a dash where there is none. */
static char *
cell_of (double value, gboolean cosine)
{
  return !isfinite (value) ? g_strdup ("—") : cosine ? mhar_table_change (value, NAN, NAN) : mhar_table_number (value);
}

static void
add_set (GPtrArray *lines, const MharDataset *set)
{
  const MharField *label = mhar_dataset_get (set, "site_label"), *site = mhar_dataset_get (set, "site");
  const MharField *q = mhar_dataset_get (set, "query_norm"), *u = mhar_dataset_get (set, "scored_norm");
  const MharField *between = mhar_dataset_get (set, "query_cosine"), *within = mhar_dataset_get (set, "slice_cosine");
  const char *path = mhar_dataset_string (set, "path");
  char **heading = g_new0 (char *, 2);

  heading[0] = mhar_printable (path != NULL ? path : "");
  g_ptr_array_add (lines, heading);
  for (gsize s = 0; s < site->shape[0]; s++) {
    gsize other = most_alike (between, s);
    gboolean any = other < between->shape[0];
    char **line = g_new0 (char *, N_COLUMNS + 2);
    line[0] = mhar_printable (label->data.str[s] != NULL ? label->data.str[s] : "");
    line[1] = g_strdup_printf ("%d", site->data.i32[s]);
    line[2] = cell_of (mhar_field_value (q, s), FALSE);
    line[3] = cell_of (mhar_field_value (u, s), FALSE);
    line[4] = mhar_printable (any && label->data.str[other] != NULL ? label->data.str[other] : "—");
    line[5] = cell_of (any ? mhar_field_value (between, s * between->shape[0] + other) : NAN, TRUE);
    line[6] = cell_of (largest_within (within, s), TRUE);
    g_ptr_array_add (lines, line);
  }
}

char *
mhar_table_weights (const GPtrArray *sets, MharTableStyle style)
{
  static const char *const columns[N_COLUMNS + 1]
      = { "site", "norm of q", "norm of q ⊙ g", "most like", "cosine", "slices' most", NULL };
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);

  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *set = g_ptr_array_index ((GPtrArray *)sets, c);
    if (mhar_weights_only_is (set))
      add_set (lines, set);
  }
  if (lines->len == 0)
    return NULL;
  g_autofree char *table = mhar_table_lines ((char **)columns, lines, N_COLUMNS, style);
  return g_strconcat ("\n", table, NULL);
}

/* ---- CSV ---- */

static const char *
label_at (const MharField *label, gsize s)
{
  return label->data.str[s] != NULL ? label->data.str[s] : "";
}

void
mhar_csv_weights (const MharCsv *csv, const MharDataset *set)
{
  const MharField *label = mhar_dataset_get (set, "site_label"), *norm = mhar_dataset_get (set, "slice_norm");
  const MharField *q = mhar_dataset_get (set, "query_norm"), *u = mhar_dataset_get (set, "scored_norm");
  const MharField *between = mhar_dataset_get (set, "query_cosine"), *within = mhar_dataset_get (set, "slice_cosine");

  if (!mhar_weights_only_is (set))
    return;
  gsize n = between->shape[0], slices = norm->shape[1];
  for (gsize s = 0; s < n; s++) {
    mhar_csv_number (csv, mhar_field_value (q, s), "query_norm[%s]", label_at (label, s));
    mhar_csv_number (csv, mhar_field_value (u, s), "scored_norm[%s]", label_at (label, s));
    for (gsize a = 0; a < slices; a++)
      mhar_csv_number (csv, mhar_field_value (norm, s * slices + a), "slice_norm[%s:%" G_GSIZE_FORMAT "]",
                       label_at (label, s), a);
    for (gsize other = 0; other < s; other++)
      mhar_csv_number (csv, mhar_field_value (between, s * n + other), "query_cosine[%s:%s]", label_at (label, other),
                       label_at (label, s));
    for (gsize a = 0; a < slices * slices; a++)
      if (a / slices < a % slices)
        mhar_csv_number (csv, mhar_field_value (within, s * slices * slices + a),
                         "slice_cosine[%s:%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT "]", label_at (label, s), a / slices,
                         a % slices);
  }
}
