/* SPDX-License-Identifier: MIT */
#include "app/cli/table.h"

#include "app/cli/jobs.h"
#include "app/cli/table-interventions.h"
#include "probes/weights-only.h"

#include <math.h>
#include <string.h>

typedef char *(*Cell) (const MharDataset *set, const char *name);

/* A row of the table: what it says of a dataset; NULL where the dataset has nothing to say. A row without a cell is a
 * heading. */
typedef struct {
  const char *label, *units;
  const char *name; /* of the attribute */
  Cell cell;
} Row;

/* Four decimals, or as many more as show three digits of a small value, up to seven. */
int
mhar_table_decimals (double value)
{
  int decimals = 4;

  for (double least = 0.01; decimals < 7 && fabs (value) < least && value != 0; least /= 10)
    decimals++;
  return decimals;
}

/* In the C locale, whatever is set. What seven decimals cannot show is not printed as 0 but in scientific form. */
char *
mhar_table_number (double value, int decimals)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[] = "%.4f";

  if (!isfinite (value))
    return g_strdup ("n/a");
  format[2] = (char) ('0' + decimals);
  return g_strdup (g_ascii_formatd (text, sizeof text, value != 0 && fabs (value) < 1e-5 ? "%.2e" : format, value));
}

static char *
cell_real (const MharDataset *set, const char *name)
{
  double value = mhar_dataset_real (set, name, NAN);
  return isnan (value) ? NULL : mhar_table_number (value, mhar_table_decimals (value));
}

static char *
cell_integer (const MharDataset *set, const char *name)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT, mhar_dataset_integer (set, name, 0));
}

/* A plain Transformer has none. */
static char *
cell_heads (const MharDataset *set, const char *name)
{
  return mhar_dataset_integer (set, "sites", 0) > 0 ? cell_integer (set, name) : NULL;
}

static char *
cell_string (const MharDataset *set, const char *name)
{
  const char *text = mhar_dataset_string (set, name);
  return text != NULL ? mhar_printable (text) : NULL;
}

static char *
cell_shape (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " × %" G_GINT64_FORMAT, mhar_dataset_integer (set, "layers", 0),
                          mhar_dataset_integer (set, "width", 0));
}

static char *
cell_sources (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  if (mhar_weights_only_is (set))
    return NULL;
  const MharField *n = mhar_dataset_get (set, "n_sources");
  gint32 low = G_MAXINT32, high = 0;

  for (gsize i = 0; n != NULL && i < n->shape[0]; i++) {
    low = MIN (low, n->data.i32[i]);
    high = MAX (high, n->data.i32[i]);
  }
  if (high == 0)
    return g_strdup ("no reads");
  return low == high ? g_strdup_printf ("%d", low) : g_strdup_printf ("%d–%d", low, high);
}

static char *
cell_tokens (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  if (mhar_weights_only_is (set))
    return NULL;
  return g_strdup_printf ("%" G_GINT64_FORMAT " / %" G_GINT64_FORMAT, mhar_dataset_integer (set, "tokens", 0),
                          mhar_dataset_integer (set, "windows", 0));
}

static char *
cell_slicing (const MharDataset *set, const char *name)
{
  if (mhar_dataset_get (set, name) == NULL)
    return NULL;
  g_autofree char *slicing = cell_string (set, "slicing");
  return g_strdup_printf ("%" G_GINT64_FORMAT " %s", mhar_dataset_integer (set, "slices", 0),
                          slicing != NULL ? slicing : "");
}

/* "0.0301 ± 0.0012": a null and its standard deviation over draws, to the same place; `prefix` is of their names. */
static char *
cell_null (const MharDataset *set, const char *prefix)
{
  g_autofree char *null_name = g_strconcat (prefix, "_null", NULL), *sd_name = g_strconcat (prefix, "_null_sd", NULL);
  double null = mhar_dataset_real (set, null_name, NAN), sd = mhar_dataset_real (set, sd_name, NAN);
  int decimals = mhar_table_decimals (null);

  if (isnan (null) || isnan (sd))
    return cell_real (set, null_name);
  g_autofree char *value = mhar_table_number (null, decimals), *spread = mhar_table_number (sd, decimals);
  return g_strdup_printf ("%s ± %s", value, spread);
}

static char *
cell_matched (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  if (mhar_dataset_get (set, "matched_kl") == NULL)
    return NULL;
  return g_strdup_printf ("%" G_GINT64_FORMAT " sources", mhar_dataset_integer (set, "match_sources", 0));
}

static char *
cell_verdict (const MharDataset *set, const char *name G_GNUC_UNUSED)
{
  double trained = mhar_dataset_real (set, "max_deviation", NAN),
         null = mhar_dataset_real (set, "null_max_deviation", NAN);

  if (isnan (trained) || isnan (null))
    return NULL;
  if (mhar_dataset_integer (set, "draws", 0) < 2)
    return g_strdup ("none: one draw has no spread");
  return g_strdup (trained > null ? "above the null's mean" : "not above the null");
}

/* "0.1201–1.4402": least and most of a field. */
static char *
cell_range (const MharDataset *set, const char *name)
{
  const MharField *field = mhar_dataset_get (set, name);
  double low = INFINITY, high = -INFINITY;

  for (gsize i = 0; field != NULL && i < mhar_field_length (field); i++) {
    low = fmin (low, mhar_field_value (field, i));
    high = fmax (high, mhar_field_value (field, i));
  }
  if (low > high)
    return NULL;
  int decimals = mhar_table_decimals (low);
  g_autofree char *least = mhar_table_number (low, decimals), *most = mhar_table_number (high, decimals);
  return g_strdup_printf ("%s–%s", least, most);
}

static char *
cell_floor (const MharDataset *set, const char *name)
{
  g_autofree char *value = cell_real (set, name), *floor = cell_real (set, "head_correlation_floor");
  return value != NULL && floor != NULL ? g_strdup_printf ("%s (%s)", value, floor) : NULL;
}

static const Row rows[] = {
  { "mode", "", "mode", cell_string },
  { "layers × width", "", NULL, cell_shape },
  { "routing heads", "", "heads", cell_heads },
  { "sites", "", "sites", cell_integer },
  { "sources N", "", NULL, cell_sources },
  { "tokens / windows", "", NULL, cell_tokens },
  { "loss", "nat/token", "loss", cell_real },
  { "Routing queries, from the weights alone", "", NULL, NULL },
  { "norm of q", "", "query_norm", cell_range },
  { "norm of q ⊙ g", "", "scored_norm", cell_range },
  { "mean cosine of two sites", "", "query_cosine_mean", cell_real },
  { "mean |cosine| of two sites", "", "query_cosine_mean_abs", cell_real },
  { "mean cosine of two sites' slices", "", "slice_site_cosine_mean", cell_real },
  { "mean |cosine| of two sites' slices", "", "slice_site_cosine_mean_abs", cell_real },
  { "mean cosine of a site's slices", "", "slice_cosine_mean", cell_real },
  { "mean |cosine| of a site's slices", "", "slice_cosine_mean_abs", cell_real },
  { "slices", "", "query_norm", cell_slicing },
  { "Slice disagreement KL", "nat", NULL, NULL },
  { "slices", "", "slice_kl", cell_slicing },
  { "trained", "", "slice_kl_trained", cell_real },
  { "median over sites", "", "slice_kl_median", cell_real },
  { "null (random queries)", "", "slice_kl", cell_null },
  { "excess", "", "slice_kl_excess", cell_real },
  { "Slice disagreement, matched count", "nat", NULL, NULL },
  { "over", "", NULL, cell_matched },
  { "trained", "", "matched_kl_trained", cell_real },
  { "median over sites", "", "matched_kl_median", cell_real },
  { "null (random queries)", "", "matched_kl", cell_null },
  { "excess", "", "matched_kl_excess", cell_real },
  { "Head disagreement", "nat", NULL, NULL },
  { "trained", "", "head_js_trained", cell_real },
  { "median over sites", "", "head_js_median", cell_real },
  { "null (random queries)", "", "head_js", cell_null },
  { "excess", "", "head_js_excess", cell_real },
  { "Deviation from consensus", "", NULL, NULL },
  { "largest", "", "max_deviation", cell_real },
  { "largest, random queries", "", "null_max_deviation", cell_real },
  { "verdict", "", NULL, cell_verdict },
  { "head correlation (floor)", "", "head_correlation", cell_floor },
  { "replication r", "", "replication_r", cell_real },
  { "Collinearity of outputs", "", NULL, NULL },
  { "mean cosine", "", "collinearity_mean", cell_real },
  { "mean |cosine|", "", "collinearity_mean_abs", cell_real },
};

static const char *
path_of (const GPtrArray *sets, guint c)
{
  return mhar_dataset_string (g_ptr_array_index ((GPtrArray *) sets, c), "path");
}

/* Base names, or whole paths where two base names are alike. */
static char **
column_names (const GPtrArray *sets)
{
  char **names = g_new0 (char *, sets->len + 1);

  for (guint c = 0; c < sets->len; c++) {
    g_autofree char *base = g_path_get_basename (path_of (sets, c));
    gboolean alone = TRUE;
    for (guint other = 0; other < sets->len && alone; other++) {
      g_autofree char *its = g_path_get_basename (path_of (sets, other));
      alone = other == c || strcmp (base, its) != 0;
    }
    names[c] = mhar_printable (alone ? base : path_of (sets, c));
  }
  return names;
}

/* Rows as lines of cells (GPtrArray of char **, label first); a heading is a line of one cell. Headings with no rows
 * left under them are dropped. */
static GPtrArray *
build (const GPtrArray *sets)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  char *heading = NULL;

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    const Row *row = &rows[r];
    char *label = row->units[0] != '\0' ? g_strdup_printf ("%s (%s)", row->label, row->units) : g_strdup (row->label);
    gboolean any = FALSE;
    if (row->cell == NULL) {
      g_free (heading);
      heading = label;
      continue;
    }
    char **line = g_new0 (char *, sets->len + 2);
    line[0] = label;
    for (guint c = 0; c < sets->len; c++) {
      char *text = row->cell (g_ptr_array_index ((GPtrArray *) sets, c), row->name);
      any = any || text != NULL;
      line[c + 1] = text != NULL ? text : g_strdup ("—");
    }
    if (!any) {
      g_strfreev (line);
      continue;
    }
    if (heading != NULL) {
      char **head = g_new0 (char *, 2);
      head[0] = g_steal_pointer (&heading);
      g_ptr_array_add (lines, head);
    }
    g_ptr_array_add (lines, line);
  }
  g_free (heading);
  return lines;
}

static void
pad (GString *out, const char *text, glong width, gboolean right)
{
  glong fill = MAX (0, width - g_utf8_strlen (text, -1));

  if (right)
    g_string_append_printf (out, "%*s", (int) fill, "");
  g_string_append (out, text);
  if (!right)
    g_string_append_printf (out, "%*s", (int) fill, "");
}

static void
format_text (GString *out, char **names, const GPtrArray *lines, guint n)
{
  g_autofree glong *widths = g_new0 (glong, n + 1);

  for (guint c = 0; c < n; c++)
    widths[c + 1] = g_utf8_strlen (names[c], -1);
  for (guint l = 0; l < lines->len; l++) {
    char **line = g_ptr_array_index ((GPtrArray *) lines, l);
    widths[0] = MAX (widths[0], g_utf8_strlen (line[0], -1) + 2);
    for (guint c = 1; line[1] != NULL && c <= n; c++)
      widths[c] = MAX (widths[c], g_utf8_strlen (line[c], -1));
  }
  pad (out, "", widths[0], FALSE);
  for (guint c = 0; c < n; c++) {
    g_string_append (out, "  ");
    pad (out, names[c], widths[c + 1], TRUE);
  }
  g_string_append_c (out, '\n');
  gboolean under = FALSE;
  for (guint l = 0; l < lines->len; l++) {
    char **line = g_ptr_array_index ((GPtrArray *) lines, l);
    if (line[1] == NULL) {
      g_string_append_printf (out, "\n%s\n", line[0]);
      under = TRUE;
      continue;
    }
    g_autofree char *label = g_strconcat (under ? "  " : "", line[0], NULL);
    pad (out, label, widths[0], FALSE);
    for (guint c = 1; c <= n; c++) {
      g_string_append (out, "  ");
      pad (out, line[c], widths[c], TRUE);
    }
    g_string_append_c (out, '\n');
  }
}

static void
format_markdown (GString *out, char **names, const GPtrArray *lines, guint n)
{
  g_string_append (out, "| |");
  for (guint c = 0; c < n; c++) {
    g_auto (GStrv) parts = g_strsplit (names[c], "|", -1);
    g_autofree char *escaped = g_strjoinv ("\\|", parts);
    g_string_append_printf (out, " %s |", escaped);
  }
  g_string_append (out, "\n|---|");
  for (guint c = 0; c < n; c++)
    g_string_append (out, "---:|");
  g_string_append_c (out, '\n');
  for (guint l = 0; l < lines->len; l++) {
    char **line = g_ptr_array_index ((GPtrArray *) lines, l);
    g_auto (GStrv) parts = g_strsplit (line[0], "|", -1);
    g_autofree char *label = g_strjoinv ("\\|", parts);
    g_string_append_printf (out, line[1] == NULL ? "| **%s** |" : "| %s |", label);
    for (guint c = 1; c <= n; c++)
      g_string_append_printf (out, " %s |", line[1] == NULL ? "" : line[c]);
    g_string_append_c (out, '\n');
  }
}

/* What TeX would read as its own. */
static void
append_latex (GString *out, const char *text)
{
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (c == 0xD7)
      g_string_append (out, "$\\times$");
    else if (c == 0xB1)
      g_string_append (out, "$\\pm$");
    else if (c == 0x2013)
      g_string_append (out, "--");
    else if (c == 0x2014)
      g_string_append (out, "---");
    else if (c == '\\')
      g_string_append (out, "\\textbackslash{}");
    else if (c == '~' || c == '^')
      g_string_append_printf (out, "\\%c{}", (char) c);
    else if (c == '|')
      g_string_append (out, "$|$");
    else if (c < 128 && strchr ("&%$#_{}", (int) c) != NULL)
      g_string_append_printf (out, "\\%c", (char) c);
    else
      g_string_append_unichar (out, c);
  }
}

static void
format_latex (GString *out, char **names, const GPtrArray *lines, guint n)
{
  g_string_append (out, "\\begin{tabular}{l");
  for (guint c = 0; c < n; c++)
    g_string_append_c (out, 'r');
  g_string_append (out, "}\n\\hline\n");
  for (guint c = 0; c < n; c++) {
    g_string_append (out, " & ");
    append_latex (out, names[c]);
  }
  g_string_append (out, " \\\\\n\\hline\n");
  for (guint l = 0; l < lines->len; l++) {
    char **line = g_ptr_array_index ((GPtrArray *) lines, l);
    g_string_append (out, line[1] == NULL ? "\\textit{" : "");
    append_latex (out, line[0]);
    g_string_append (out, line[1] == NULL ? "}" : "");
    for (guint c = 1; c <= n; c++) {
      g_string_append (out, " & ");
      if (line[1] != NULL)
        append_latex (out, line[c]);
    }
    g_string_append (out, " \\\\\n");
  }
  g_string_append (out, "\\hline\n\\end{tabular}\n");
}

void
mhar_table_append_csv (GString *out, const char *text)
{
  if (strpbrk (text, ",\"\n\r") == NULL) {
    g_string_append (out, text);
    return;
  }
  g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
  g_autofree char *doubled = g_strjoinv ("\"\"", parts);
  g_string_append_printf (out, "\"%s\"", doubled);
}

typedef struct {
  GString *out;
  const char *path;
} CsvLine;

static void
append_csv_number (const char *name, double value, gpointer user)
{
  CsvLine *to = user;
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    return;
  mhar_table_append_csv (to->out, to->path);
  g_string_append_c (to->out, ',');
  mhar_table_append_csv (to->out, name);
  g_string_append_printf (to->out, ",%s\n", g_ascii_dtostr (text, sizeof text, value));
}

/* One line a checkpoint and number, at full precision: for programs, not for eyes. */
static void
format_csv (GString *out, const GPtrArray *sets)
{
  g_string_append (out, "checkpoint,quantity,value\n");
  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *set = g_ptr_array_index ((GPtrArray *) sets, c);
    for (guint a = 0; a < mhar_dataset_n_attributes (set); a++) {
      const MharAttribute *attribute = mhar_dataset_attribute (set, a);
      char text[G_ASCII_DTOSTR_BUF_SIZE];
      if (attribute->type == MHAR_ATTRIBUTE_INTEGER)
        g_snprintf (text, sizeof text, "%" G_GINT64_FORMAT, attribute->integer);
      else if (attribute->type == MHAR_ATTRIBUTE_REAL && isfinite (attribute->real))
        g_ascii_dtostr (text, sizeof text, attribute->real);
      else
        continue;
      mhar_table_append_csv (out, path_of (sets, c));
      g_string_append_printf (out, ",%s,%s\n", attribute->name, text);
    }
    CsvLine line = { out, path_of (sets, c) };
    mhar_csv_interventions (set, append_csv_number, &line);
  }
}

char *
mhar_table_lines (char **names, const GPtrArray *lines, guint n, MharTableStyle style)
{
  GString *out = g_string_new (NULL);

  if (style == MHAR_TABLE_MARKDOWN)
    format_markdown (out, names, lines, n);
  else if (style == MHAR_TABLE_LATEX)
    format_latex (out, names, lines, n);
  else
    format_text (out, names, lines, n);
  return g_string_free (out, FALSE);
}

char *
mhar_table_format (const GPtrArray *sets, MharTableStyle style)
{
  g_auto (GStrv) names = column_names (sets);
  g_autoptr (GPtrArray) lines = build (sets);

  if (style == MHAR_TABLE_CSV) {
    GString *out = g_string_new (NULL);
    format_csv (out, sets);
    return g_string_free (out, FALSE);
  }
  mhar_table_interventions (sets, lines);
  return mhar_table_lines (names, lines, sets->len, style);
}
