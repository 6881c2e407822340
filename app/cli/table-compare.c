/* SPDX-License-Identifier: MIT */
#include "app/cli/table-compare.h"

#include "app/cli/csv-lines.h"
#include "app/cli/jobs.h"
#include "app/cli/path-names.h"
#include "app/cli/table-numbers.h"
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

static char *
with_interval (const MharDataset *set, const char *name)
{
  return mhar_table_interval (mhar_dataset_real (set, name, NAN), bound (set, name, "_low"),
                              bound (set, name, "_high"));
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
    if (mhar_dataset_get (set, rows[r].name) != NULL && (heads || !rows[r].heads))
      add_line (lines, heads ? rows[r].label : rows[r].alone, with_interval (set, rows[r].name));
  add_matchings (set, lines);
  return mhar_table_lines (names, lines, 1, style);
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
      line[c + 2] = mhar_table_number (all ? mhar_dataset_real (set, columns[c]->name, NAN)
                                           : mhar_field_value (mhar_dataset_get (set, columns[c]->name), s));
    }
    g_ptr_array_add (lines, line);
  }
  return mhar_table_lines (names, lines, n + 1, style);
}

/* Every number of a field by read: "js[L1.mlp:0:3]", "difference[L1.mlp:0:embed]". */
static void
csv_field (const MharCsv *csv, const MharDataset *set, const MharField *field)
{
  const MharField *label = mhar_dataset_get (set, "site_label"), *sources = mhar_dataset_get (set, "source_label");
  const MharField *count = mhar_dataset_get (set, "n_sources"), *heads = mhar_dataset_get (set, "n_heads");
  gsize length = mhar_field_length (field), per_site = length / MAX (field->shape[0], 1);
  gsize columns = field->n_dims > 1 ? field->shape[field->n_dims - 1] : 1;
  gboolean of_sources = strcmp (field->dims[field->n_dims - 1], "source") == 0;

  for (gsize i = 0; i < length; i++) {
    gsize s = i / per_site, last = i % columns, middle = i % per_site / columns;
    gsize within = (gsize)(of_sources ? count : heads)->data.i32[s];
    if (count->data.i32[s] < 2 || (field->n_dims > 1 && last >= within)
        || (field->n_dims > 2 && middle >= (gsize)heads->data.i32[s]))
      continue;
    g_autoptr (GString) where = g_string_new (label->data.str[s] != NULL ? label->data.str[s] : "");
    const char *source = of_sources ? sources->data.str[s * sources->shape[1] + last] : NULL;
    if (field->n_dims > 2)
      g_string_append_printf (where, ":%" G_GSIZE_FORMAT, middle);
    if (of_sources)
      g_string_append_printf (where, ":%s", source != NULL ? source : "");
    else if (field->n_dims > 1)
      g_string_append_printf (where, ":%" G_GSIZE_FORMAT, last);
    mhar_csv_number (csv, mhar_field_value (field, i), "%s[%s]", field->name, where->str);
  }
}

static char *
format_csv (const MharDataset *set)
{
  GString *out = g_string_new (NULL);
  g_auto (GStrv) both = names_of (set, TRUE);
  g_autofree char *who = g_strdup_printf ("%s against %s", both[1], both[0]);
  MharCsv csv = { out, who };

  for (guint i = 0; i < mhar_dataset_n_attributes (set); i++) {
    const MharAttribute *attribute = mhar_dataset_attribute (set, i);
    if (attribute->type == MHAR_ATTRIBUTE_REAL)
      mhar_csv_number (&csv, attribute->real, "%s", attribute->name);
  }
  for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
    const MharField *field = mhar_dataset_field (set, f);
    gboolean number
        = field->type == MHAR_FIELD_F64 || field->type == MHAR_FIELD_F32 || strcmp (field->name, "match") == 0;
    if (number && field->n_dims > 0 && field->n_dims < 4 && strcmp (field->dims[0], "site") == 0
        && field->shape[0] == mhar_dataset_get (set, "site")->shape[0] && mhar_field_length (field) > 0)
      csv_field (&csv, set, field);
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
