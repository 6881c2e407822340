/* SPDX-License-Identifier: MIT */
/* A line a query: the table above it has only their means. */
#include "app/cli/table.h"

#include "app/cli/jobs.h"
#include "probes/weights-only.h"

#include <math.h>

/* Four decimals in six columns or more; a dash where there is no number. */
static void
append_number (GString *out, double value, const char *format, int width)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_string_append_printf (out, " %*s", width, g_ascii_formatd (text, sizeof text, format, value));
  else
    g_string_append_printf (out, " %*s—", width - 1, "");
}

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

static void
append_set (GString *out, const MharDataset *set)
{
  const MharField *label = mhar_dataset_get (set, "site_label"), *site = mhar_dataset_get (set, "site");
  const MharField *q = mhar_dataset_get (set, "query_norm"), *u = mhar_dataset_get (set, "scored_norm");
  const MharField *between = mhar_dataset_get (set, "query_cosine"), *within = mhar_dataset_get (set, "slice_cosine");
  const char *path = mhar_dataset_string (set, "path");
  g_autofree char *name = mhar_printable (path != NULL ? path : "");

  g_string_append_printf (out, "\n%s\n%4s  %-12s %10s %10s  %9s  %-12s %13s\n", name, "site", "label", "norm of q",
                          "of q ⊙ g", "most like", "", "slices' most");
  for (gsize s = 0; s < site->shape[0]; s++) {
    gsize other = most_alike (between, s);
    gboolean any = other < between->shape[0];
    g_autofree char *own = mhar_printable (label->data.str[s] != NULL ? label->data.str[s] : "");
    g_autofree char *its = mhar_printable (any && label->data.str[other] != NULL ? label->data.str[other] : "");
    g_string_append_printf (out, "%4d  %-12s", site->data.i32[s], own);
    append_number (out, mhar_field_value (q, s), "%.4g", 10);
    append_number (out, mhar_field_value (u, s), "%.4g", 10);
    append_number (out, any ? mhar_field_value (between, s * between->shape[0] + other) : NAN, "%+.4f", 10);
    g_string_append_printf (out, "  %-12s", its);
    append_number (out, largest_within (within, s), "%+.4f", 13);
    g_string_append_c (out, '\n');
  }
}

char *
mhar_table_weights (const GPtrArray *sets)
{
  GString *out = g_string_new (NULL);

  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *set = g_ptr_array_index ((GPtrArray *)sets, c);
    if (mhar_weights_only_is (set))
      append_set (out, set);
  }
  return g_string_free (out, out->len == 0);
}
