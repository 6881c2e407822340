/* SPDX-License-Identifier: MIT */
#include "app/cli/table.h"

#include "app/cli/jobs.h"
#include "app/cli/path-names.h"
#include "app/cli/table-interventions.h"
#include "app/cli/table-reads.h"
#include "app/cli/table-rows.h"

#include <math.h>
#include <string.h>

static const char *
path_of (const GPtrArray *sets, guint c)
{
  return mhar_dataset_string (g_ptr_array_index ((GPtrArray *) sets, c), "path");
}

/* path_of each; g_free. */
static const char **
paths_of (const GPtrArray *sets)
{
  const char **paths = g_new0 (const char *, sets->len + 1);

  for (guint c = 0; c < sets->len; c++)
    paths[c] = path_of (sets, c);
  return paths;
}

char **
mhar_table_names (const GPtrArray *sets)
{
  g_autofree const char **paths = paths_of (sets);
  g_auto (GStrv) names = mhar_path_short_names (paths, sets->len);
  char **shown = g_new0 (char *, sets->len + 1);

  for (guint c = 0; c < sets->len; c++)
    shown[c] = mhar_printable (names[c]);
  return shown;
}

GPtrArray *
mhar_table_build (const GPtrArray *sets)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  char *heading = NULL;

  for (const MharTableRow *row = mhar_table_rows; row->label != NULL; row++) {
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

static void
csv_line (GString *out, const char *path, const char *prefix, const char *name, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    return;
  g_autofree char *quantity = g_strconcat (prefix, name, NULL);
  mhar_table_append_csv (out, path);
  g_string_append_c (out, ',');
  mhar_table_append_csv (out, quantity);
  g_string_append_printf (out, ",%s\n", g_ascii_dtostr (text, sizeof text, value));
}

typedef struct {
  GString *out;
  const char *path;
} CsvPlace;

static void
append_csv_number (const char *name, double value, gpointer user)
{
  const CsvPlace *to = user;
  csv_line (to->out, to->path, "", name, value);
}

/* "control.slice_kl.4.contiguous.random.excess", a line a control and number. */
static void
csv_controls (GString *out, const char *path, const MharDataset *controls)
{
  for (gsize i = 0; controls != NULL && i < mhar_dataset_get (controls, "trained")->shape[0]; i++) {
    g_autofree char *name = mhar_table_control_name (controls, i, ".");
    g_autofree char *prefix = g_strdup_printf ("control.%s.", name);
    for (guint f = 0; f < mhar_dataset_n_fields (controls); f++) {
      const MharField *field = mhar_dataset_field (controls, f);
      if (field->type == MHAR_FIELD_F64)
        csv_line (out, path, prefix, field->name, mhar_field_value (field, i));
    }
  }
}

/* One line a checkpoint and number, at full precision: for programs, not for eyes. */
static void
format_csv (GString *out, const GPtrArray *sets)
{
  g_autofree const char **paths = paths_of (sets);
  g_auto (GStrv) names = mhar_path_names (paths, sets->len);

  g_string_append (out, "checkpoint,quantity,value\n");
  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *set = g_ptr_array_index ((GPtrArray *) sets, c);
    for (guint a = 0; a < mhar_dataset_n_attributes (set); a++) {
      const MharAttribute *attribute = mhar_dataset_attribute (set, a);
      if (attribute->type == MHAR_ATTRIBUTE_INTEGER) {
        mhar_table_append_csv (out, names[c]);
        g_string_append_printf (out, ",%s,%" G_GINT64_FORMAT "\n", attribute->name, attribute->integer);
      } else if (attribute->type == MHAR_ATTRIBUTE_REAL) {
        csv_line (out, names[c], "", attribute->name, attribute->real);
      }
    }
    csv_controls (out, names[c], mhar_dataset_find_child (set, "controls"));
    CsvPlace place = { out, names[c] };
    mhar_csv_interventions (set, append_csv_number, &place);
    mhar_csv_reads (set, append_csv_number, &place);
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
  g_auto (GStrv) names = mhar_table_names (sets);
  g_autoptr (GPtrArray) lines = mhar_table_build (sets);

  mhar_table_add_controls (sets, lines);
  if (style == MHAR_TABLE_CSV) {
    GString *out = g_string_new (NULL);
    format_csv (out, sets);
    return g_string_free (out, FALSE);
  }
  mhar_table_interventions (sets, lines);
  mhar_table_reads (sets, lines);
  return mhar_table_lines (names, lines, sets->len, style);
}
