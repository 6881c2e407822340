/* SPDX-License-Identifier: MIT */
#include "app/cli/table-interventions.h"

#include "app/cli/jobs.h"
#include "app/cli/table-rows.h"

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

/* "+0.0123 [+0.0101, +0.0140]", all to the place that the first needs. */
static char *
change (double delta, double low, double high)
{
  int decimals = mhar_table_decimals (delta);
  g_autofree char *value = mhar_table_fixed (delta, decimals);
  g_autofree char *signed_value = g_strconcat (delta >= 0 ? "+" : "", value, NULL);

  if (!isfinite (low) || !isfinite (high))
    return g_steal_pointer (&signed_value);
  g_autofree char *from = mhar_table_fixed (low, decimals), *to = mhar_table_fixed (high, decimals);
  return g_strdup_printf ("%s [%s%s, %s%s]", signed_value, low >= 0 ? "+" : "", from, high >= 0 ? "+" : "", to);
}

/* The k-th intervention of a set; NULL where it has none that is called `spec`. */
static char *
asked_cell (const MharDataset *set, gsize k, const char *spec)
{
  const MharField *own = set != NULL ? mhar_dataset_get (set, "spec") : NULL;

  if (own == NULL || k >= own->shape[0] || g_strcmp0 (own->data.str[k], spec) != 0)
    return NULL;
  const double *ends = mhar_dataset_get (set, "delta_loss_interval")->data.f64 + 2 * k;
  return change (mhar_dataset_get (set, "delta_loss")->data.f64[k], ends[0], ends[1]);
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
  return change (mhar_dataset_get (map, "delta_loss")->data.f64[at], ends[0], ends[1]);
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

  return largest_cell (map, &at) ? mhar_table_fixed (mhar_dataset_get (map, "mass")->data.f64[at], 4) : NULL;
}

static char *
cell_rank (const MharDataset *map)
{
  double value = mhar_dataset_real (map, "rank_correlation", NAN);
  return isnan (value) ? NULL : mhar_table_fixed (value, 4);
}

static char *
cell_within (const MharDataset *map)
{
  double value = mhar_dataset_real (map, "rank_correlation_within", NAN);
  return isnan (value) ? NULL : mhar_table_fixed (value, 4);
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
      char *text = map != NULL ? rows[r].cell (map) : NULL;
      line[c + 1] = text != NULL ? text : g_strdup ("—");
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

static void
give_csv (const char *what, const MharField *delta, const MharField *ends, gsize i,
          void (*line) (const char *, double, gpointer), gpointer user)
{
  const struct {
    const char *suffix;
    double value;
  } values[] = { { "", delta->data.f64[i] }, { " low", ends->data.f64[2 * i] }, { " high", ends->data.f64[2 * i + 1] } };

  for (guint k = 0; k < G_N_ELEMENTS (values); k++) {
    g_autofree char *name = g_strdup_printf ("delta_loss %s%s", what, values[k].suffix);
    if (isfinite (values[k].value))
      line (name, values[k].value, user);
  }
}

static void
csv_map (const MharDataset *map, void (*line) (const char *, double, gpointer), gpointer user)
{
  const MharField *delta = mhar_dataset_get (map, "delta_loss"), *mass = mhar_dataset_get (map, "mass");
  const MharField *site = mhar_dataset_get (map, "site_label"), *source = mhar_dataset_get (map, "source_label");

  for (gsize i = 0; i < mhar_field_length (delta); i++) {
    const char *row = site->data.str[i / delta->shape[1]], *column = source->data.str[i];
    g_autofree char *what = g_strdup_printf ("map %s:%s", row != NULL ? row : "", column != NULL ? column : "");
    g_autofree char *name = g_strdup_printf ("mass %s", what);
    if (!isfinite (delta->data.f64[i]))
      continue;
    give_csv (what, delta, mhar_dataset_get (map, "delta_loss_interval"), i, line, user);
    line (name, mass->data.f64[i], user);
  }
  line ("ablation_rank_correlation", mhar_dataset_real (map, "rank_correlation", NAN), user);
  line ("ablation_rank_correlation_within", mhar_dataset_real (map, "rank_correlation_within", NAN), user);
}

void
mhar_csv_interventions (const MharDataset *set, void (*line) (const char *name, double value, gpointer user),
                        gpointer user)
{
  const MharDataset *asked = mhar_dataset_find_child (set, "interventions");
  const MharDataset *map = mhar_dataset_find_child (set, "ablation_map");
  const MharField *spec = asked != NULL ? mhar_dataset_get (asked, "spec") : NULL;

  for (gsize k = 0; spec != NULL && k < spec->shape[0]; k++)
    give_csv (spec->data.str[k] != NULL ? spec->data.str[k] : "", mhar_dataset_get (asked, "delta_loss"),
              mhar_dataset_get (asked, "delta_loss_interval"), k, line, user);
  if (map != NULL)
    csv_map (map, line, user);
}
