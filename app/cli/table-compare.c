/* SPDX-License-Identifier: MIT */
#include "app/cli/table-compare.h"

#include "app/cli/jobs.h"
#include "app/cli/path-names.h"
#include "app/cli/table-rows.h"
#include "probes/compare.h"

#include <math.h>
#include <string.h>

/* A number of the comparison: what its row is called, and its column where reads have one; `heads`: said only where
 * reads have several. */
typedef struct {
  const char *label, *alone, *column, *name; /* `alone`: what it is called where every read has one head */
  gboolean heads;
} Row;

static const Row rows[] = {
  { "JS, heads matched (nat)", "JS (nat)", "matched", "js_matched", FALSE },
  { "JS, heads of the same number (nat)", NULL, "same number", "js_identity", TRUE },
  { "JS, heads paired at random (nat)", NULL, "at random", "js_random", TRUE },
  { "null: halves of the text (nat)", "null: halves of the text (nat)", "null", "null_js", FALSE },
  { "ratio to the null", "ratio to the null", "ratio", "js_ratio", FALSE },
  { "p-value", "p-value", "p", "p_value", FALSE },
  { "largest difference of a weight", "largest difference of a weight", "largest", "max_difference", FALSE },
  { "JS of the consensus (nat)", NULL, "consensus", "js_consensus", TRUE },
  { "its null (nat)", NULL, "its null", "null_js_consensus", TRUE },
  { "its ratio to the null", NULL, "its ratio", "js_ratio_consensus", TRUE },
  { "its p-value", NULL, "its p", "p_value_consensus", TRUE },
  { "its largest difference", NULL, "its largest", "max_difference_consensus", TRUE },
};

static gboolean
has_heads (const MharDataset *set)
{
  const MharField *a = mhar_dataset_get (set, "n_heads"), *b = mhar_dataset_get (set, "n_heads_b");

  for (gsize s = 0; s < a->shape[0]; s++)
    if (a->data.i32[s] > 1 || b->data.i32[s] > 1)
      return TRUE;
  return FALSE;
}

/* What A and B are called, whole (for programs) or short. g_strfreev. */
static char **
names_of (const MharDataset *set, gboolean whole)
{
  const char *a = mhar_dataset_string (set, "a"), *b = mhar_dataset_string (set, "b");
  const char *paths[] = { a != NULL ? a : "A", b != NULL ? b : "B" };

  return whole ? mhar_path_names (paths, 2) : mhar_path_short_names (paths, 2);
}

static double
bound (const MharDataset *set, const char *name, const char *end)
{
  g_autofree char *full = g_strconcat (name, end, NULL);
  return mhar_dataset_real (set, full, NAN);
}

/* "0.0086 [0.0081, 0.0138]", to the place that the first needs. */
static char *
with_interval (const MharDataset *set, const char *name)
{
  double value = mhar_dataset_real (set, name, NAN), low = bound (set, name, "_low"), high = bound (set, name, "_high");
  int decimals = mhar_table_decimals (value);
  g_autofree char *text = mhar_table_fixed (value, decimals);

  if (!isfinite (low) || !isfinite (high))
    return g_steal_pointer (&text);
  g_autofree char *from = mhar_table_fixed (low, decimals), *to = mhar_table_fixed (high, decimals);
  return g_strdup_printf ("%s [%s, %s]", text, from, to);
}

static void
add_line (GPtrArray *lines, const char *label, char *cell)
{
  char **line = g_new0 (char *, 3);

  line[0] = g_strdup (label);
  line[1] = cell;
  g_ptr_array_add (lines, line);
}

/* "0→3, 1→2": of the reads whose heads share rows, and of those whose heads mix whole ones. */
static void
add_matchings (const MharDataset *set, GPtrArray *lines)
{
  for (int whole = 0; whole < 2; whole++) {
    gsize heads;
    const gint32 *match = mhar_comparison_matching (set, whole, &heads);
    GString *text = match != NULL ? g_string_new (NULL) : NULL;
    for (gsize h = 0; match != NULL && h < heads; h++)
      g_string_append_printf (text, "%s%" G_GSIZE_FORMAT "→%d", h > 0 ? ", " : "", h, match[h]);
    if (text != NULL)
      add_line (lines, whole ? "groups of A → of B" : "heads of A → of B", g_string_free (text, FALSE));
  }
}

static char *
format_summary (const MharDataset *set, MharTableStyle style)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_auto (GStrv) both = names_of (set, FALSE);
  g_autofree char *a = mhar_printable (both[0]), *b = mhar_printable (both[1]);
  g_autofree char *name = g_strdup_printf ("%s against %s", b, a);
  gboolean heads = has_heads (set);
  char *names[] = { name, NULL };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    if (!isnan (mhar_dataset_real (set, rows[r].name, NAN)) && (heads || !rows[r].heads))
      add_line (lines, heads ? rows[r].label : rows[r].alone, with_interval (set, rows[r].name));
  add_matchings (set, lines);
  return mhar_table_lines (names, lines, 1, style);
}

static char *
cell_at (const MharDataset *set, const Row *row, gsize s)
{
  double value = mhar_field_value (mhar_dataset_get (set, row->name), s);
  return isnan (value) ? g_strdup ("—") : mhar_table_fixed (value, mhar_table_decimals (value));
}

static char *
format_sites (const MharDataset *set, MharTableStyle style)
{
  const MharField *label = mhar_dataset_get (set, "site_label"), *sources = mhar_dataset_get (set, "n_sources");
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  const Row *columns[G_N_ELEMENTS (rows)];
  char *names[G_N_ELEMENTS (rows) + 2] = { (char *)"N" };
  gboolean heads = has_heads (set);
  guint n = 0;

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    if (mhar_dataset_get (set, rows[r].name) != NULL && (heads || !rows[r].heads)) {
      names[n + 1] = (char *)(heads || strcmp (rows[r].name, "js_matched") != 0 ? rows[r].column : "JS");
      columns[n++] = &rows[r];
    }
  for (gsize s = 0; s <= label->shape[0]; s++) {
    gboolean all = s == label->shape[0];
    char **line = g_new0 (char *, n + 3);
    if (!all && sources->data.i32[s] < 2) {
      g_free (line);
      continue;
    }
    line[0] = all ? g_strdup ("all") : mhar_printable (label->data.str[s] != NULL ? label->data.str[s] : "");
    line[1] = all ? g_strdup ("") : g_strdup_printf ("%d", sources->data.i32[s]);
    for (guint c = 0; c < n; c++) {
      double value = mhar_dataset_real (set, columns[c]->name, NAN);
      line[c + 2] = all ? mhar_table_fixed (value, mhar_table_decimals (value)) : cell_at (set, columns[c], s);
    }
    g_ptr_array_add (lines, line);
  }
  return mhar_table_lines (names, lines, n + 1, style);
}

typedef struct {
  GString *out;
  const char *who;
} CsvLine;

static void
add_csv (const CsvLine *to, const char *quantity, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    return;
  mhar_table_append_csv (to->out, to->who);
  g_string_append_c (to->out, ',');
  mhar_table_append_csv (to->out, quantity);
  g_string_append_printf (to->out, ",%s\n", g_ascii_dtostr (text, sizeof text, value));
}

/* Every number of a field by read, the read's label, and further places, behind its name. */
static void
add_csv_field (const CsvLine *to, const MharDataset *set, const MharField *field)
{
  const MharField *label = mhar_dataset_get (set, "site_label"), *sources = mhar_dataset_get (set, "source_label");
  gsize length = mhar_field_length (field), per_site = length / MAX (field->shape[0], 1);
  gboolean last_is_source = strcmp (field->dims[field->n_dims - 1], "source") == 0;

  for (gsize i = 0; i < length; i++) {
    gsize s = i / per_site, last = i % field->shape[field->n_dims - 1],
          middle = i % per_site / field->shape[field->n_dims - 1];
    const char *source = last_is_source ? sources->data.str[s * sources->shape[1] + last] : NULL;
    g_autoptr (GString) name = g_string_new (field->name);
    if (field->type == MHAR_FIELD_I32 && field->data.i32[i] < 0)
      continue;
    g_string_append_printf (name, " %s", label->data.str[s] != NULL ? label->data.str[s] : "");
    if (source != NULL)
      g_string_append_printf (name, ":%s", source);
    if (field->n_dims == 3)
      g_string_append_printf (name, " %" G_GSIZE_FORMAT, middle);
    if (field->n_dims > 1 && !last_is_source)
      g_string_append_printf (name, " %" G_GSIZE_FORMAT, last);
    add_csv (to, name->str, mhar_field_value (field, i));
  }
}

static char *
format_csv (const MharDataset *set)
{
  GString *out = g_string_new (NULL);
  g_auto (GStrv) both = names_of (set, TRUE);
  g_autofree char *who = g_strdup_printf ("%s against %s", both[1], both[0]);
  CsvLine to = { out, who };

  for (guint i = 0; i < mhar_dataset_n_attributes (set); i++) {
    const MharAttribute *attribute = mhar_dataset_attribute (set, i);
    if (attribute->type == MHAR_ATTRIBUTE_REAL)
      add_csv (&to, attribute->name, attribute->real);
  }
  for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
    const MharField *field = mhar_dataset_field (set, f);
    gboolean number
        = field->type == MHAR_FIELD_F64 || field->type == MHAR_FIELD_F32 || strcmp (field->name, "match") == 0;
    if (number && field->n_dims > 0 && field->n_dims < 4 && strcmp (field->dims[0], "site") == 0
        && field->shape[0] == mhar_dataset_get (set, "site")->shape[0] && mhar_field_length (field) > 0)
      add_csv_field (&to, set, field);
  }
  return g_string_free (out, FALSE);
}

char *
mhar_table_compare (const MharDataset *compare, MharTableStyle style)
{
  if (style == MHAR_TABLE_CSV)
    return format_csv (compare);
  g_autofree char *summary = format_summary (compare, style), *sites = format_sites (compare, style);
  return g_strconcat ("\n", summary, "\n", sites, NULL);
}
