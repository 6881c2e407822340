/* SPDX-License-Identifier: MIT */
#include "app/cli/table-interventions.h"

#include "app/cli/jobs.h"
#include "app/cli/table-numbers.h"

#include <math.h>
#include <string.h>

static const MharDataset *
child_of (const GPtrArray *sets, guint c, const char *name)
{
  return mhar_dataset_find_child (g_ptr_array_index ((GPtrArray *) sets, c), name);
}

static void
add_heading (GPtrArray *lines, const char *text)
{
  char **line = g_new0 (char *, 2);

  line[0] = g_strdup (text);
  g_ptr_array_add (lines, line);
}

/* The k-th intervention of a set; NULL where it has none that is called `spec`. */
static char *
asked_cell (const MharDataset *set, gsize k, const char *spec)
{
  const MharField *own = set != NULL ? mhar_dataset_get (set, "spec") : NULL;

  if (own == NULL || k >= own->shape[0] || g_strcmp0 (own->data.str[k], spec) != 0)
    return NULL;
  const double *ends = mhar_dataset_get (set, "delta_loss_interval")->data.f64 + 2 * k;
  return mhar_table_change (mhar_dataset_get (set, "delta_loss")->data.f64[k], ends[0], ends[1]);
}

/* A line for every intervention of set `c`, but for those that a set before it has. */
static void
add_asked (const GPtrArray *sets, guint c, GPtrArray *lines)
{
  const MharField *spec = mhar_dataset_get (child_of (sets, c, "interventions"), "spec");

  for (gsize k = 0; k < spec->shape[0]; k++) {
    char **line = g_new0 (char *, sets->len + 2);
    gboolean before = FALSE;
    line[0] = mhar_printable (spec->data.str[k] != NULL ? spec->data.str[k] : "");
    for (guint other = 0; other < sets->len; other++) {
      line[other + 1] = asked_cell (child_of (sets, other, "interventions"), k, spec->data.str[k]);
      before |= other < c && line[other + 1] != NULL;
      if (line[other + 1] == NULL)
        line[other + 1] = g_strdup ("—");
    }
    if (before)
      g_strfreev (line);
    else
      g_ptr_array_add (lines, line);
  }
}

/* The cell of the map that changes the loss most; FALSE where there is none. */
static gboolean
largest_cell (const MharDataset *map, gsize *at)
{
  const MharField *delta = mhar_dataset_get (map, "delta_loss");
  double most = -1;

  for (gsize i = 0; i < mhar_field_length (delta); i++)
    if (fabs (delta->data.f64[i]) > most) {
      most = fabs (delta->data.f64[i]);
      *at = i;
    }
  return most >= 0;
}

static char *
cell_largest (const MharDataset *map)
{
  gsize at = 0;

  if (!largest_cell (map, &at))
    return NULL;
  const double *ends = mhar_dataset_get (map, "delta_loss_interval")->data.f64 + 2 * at;
  return mhar_table_change (mhar_dataset_get (map, "delta_loss")->data.f64[at], ends[0], ends[1]);
}

static char *
cell_where (const MharDataset *map)
{
  gsize at = 0;

  if (!largest_cell (map, &at))
    return NULL;
  const MharField *source = mhar_dataset_get (map, "source_label"), *site = mhar_dataset_get (map, "site_label");
  const char *row = site->data.str[at / source->shape[1]], *column = source->data.str[at];
  g_autofree char *text = g_strdup_printf ("%s:%s", row != NULL ? row : "", column != NULL ? column : "");
  return mhar_printable (text);
}

static char *
cell_its_mass (const MharDataset *map)
{
  gsize at = 0;

  return largest_cell (map, &at) ? mhar_table_number (mhar_dataset_get (map, "mass")->data.f64[at]) : NULL;
}

static char *
cell_rank (const MharDataset *map)
{
  return mhar_table_number (mhar_dataset_real (map, "rank_correlation", NAN));
}

static char *
cell_within (const MharDataset *map)
{
  return mhar_table_number (mhar_dataset_real (map, "rank_correlation_within", NAN));
}

static void
add_map (const GPtrArray *sets, GPtrArray *lines)
{
  static const struct {
    const char *label;
    char *(*cell) (const MharDataset *map);
  } rows[] = { { "largest change", cell_largest },
               { "where", cell_where },
               { "its routing mass", cell_its_mass },
               { "rank correlation with the mass", cell_rank },
               { "the same within a site", cell_within } };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    char **line = g_new0 (char *, sets->len + 2);
    line[0] = g_strdup (rows[r].label);
    for (guint c = 0; c < sets->len; c++) {
      const MharDataset *map = child_of (sets, c, "ablation_map");
      char *text = map != NULL ? rows[r].cell (map) : g_strdup ("—");
      line[c + 1] = text != NULL ? text : g_strdup ("n/a");
    }
    g_ptr_array_add (lines, line);
  }
}

void
mhar_table_interventions (const GPtrArray *sets, GPtrArray *lines)
{
  gboolean asked = FALSE, map = FALSE;

  for (guint c = 0; c < sets->len; c++) {
    map |= child_of (sets, c, "ablation_map") != NULL;
    if (child_of (sets, c, "interventions") == NULL)
      continue;
    if (!asked)
      add_heading (lines, "Interventions, change of the loss (nat/token)");
    asked = TRUE;
    add_asked (sets, c, lines);
  }
  if (!map)
    return;
  add_heading (lines, "Ablation map: each source of each site left out (nat/token)");
  add_map (sets, lines);
}

/* "delta_loss[top-k=*:2]" and the ends of its interval; `prefix` stands before the name. */
static void
csv_change (const MharCsv *csv, const char *prefix, const char *what, const MharDataset *set, gsize i)
{
  const MharField *delta = mhar_dataset_get (set, "delta_loss"), *ends = mhar_dataset_get (set, "delta_loss_interval");

  mhar_csv_number (csv, delta->data.f64[i], "%sdelta_loss[%s]", prefix, what);
  if (!isfinite (ends->data.f64[2 * i]) || !isfinite (ends->data.f64[2 * i + 1]))
    return;
  mhar_csv_number (csv, ends->data.f64[2 * i], "%sdelta_loss_low[%s]", prefix, what);
  mhar_csv_number (csv, ends->data.f64[2 * i + 1], "%sdelta_loss_high[%s]", prefix, what);
}

static void
csv_map (const MharCsv *csv, const MharDataset *map)
{
  const MharField *delta = mhar_dataset_get (map, "delta_loss"), *mass = mhar_dataset_get (map, "mass");
  const MharField *site = mhar_dataset_get (map, "site_label"), *source = mhar_dataset_get (map, "source_label");

  for (gsize i = 0; i < mhar_field_length (delta); i++) {
    gsize s = i / delta->shape[1];
    const char *row = site->data.str[s], *column = source->data.str[i];
    g_autofree char *what = g_strdup_printf ("%s:%s", row != NULL ? row : "", column != NULL ? column : "");
    if (i % delta->shape[1] >= (gsize)mhar_dataset_get (map, "n_sources")->data.i32[s])
      continue;
    csv_change (csv, "ablation_", what, map, i);
    mhar_csv_number (csv, mass->data.f64[i], "ablation_mass[%s]", what);
  }
  mhar_csv_number (csv, mhar_dataset_real (map, "rank_correlation", NAN), "ablation_rank_correlation");
  mhar_csv_number (csv, mhar_dataset_real (map, "rank_correlation_within", NAN), "ablation_rank_correlation_within");
}

void
mhar_csv_interventions (const MharCsv *csv, const MharDataset *set)
{
  const MharDataset *asked = mhar_dataset_find_child (set, "interventions");
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");
  const MharField *spec = asked != NULL ? mhar_dataset_get (asked, "spec") : NULL;

  for (gsize k = 0; spec != NULL && k < spec->shape[0]; k++)
    csv_change (csv, "", spec->data.str[k] != NULL ? spec->data.str[k] : "", asked, k);
  if (map != NULL)
    csv_map (csv, map);
}
