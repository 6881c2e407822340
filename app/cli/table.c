/* SPDX-License-Identifier: MIT */
#include "app/cli/table.h"

#include "app/cli/csv-lines.h"
#include "app/cli/jobs.h"
#include "app/cli/path-names.h"
#include "app/cli/table-interventions.h"
#include "app/cli/table-reads.h"
#include "app/cli/table-rows.h"
#include "app/cli/table-weights.h"

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
      char *text = mhar_table_cell (row, g_ptr_array_index ((GPtrArray *)sets, c));
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

/* What Markdown would read as its own. */
static void
append_markdown (GString *out, const char *text)
{
  for (; *text != '\0'; text++) {
    if (strchr ("|<*`\\", *text) != NULL)
      g_string_append_c (out, '\\');
    g_string_append_c (out, *text);
  }
}

static void
format_markdown (GString *out, char **names, const GPtrArray *lines, guint n)
{
  g_string_append (out, "| |");
  for (guint c = 0; c < n; c++) {
    g_string_append_c (out, ' ');
    append_markdown (out, names[c]);
    g_string_append (out, " |");
  }
  g_string_append (out, "\n|---|");
  for (guint c = 0; c < n; c++)
    g_string_append (out, "---:|");
  g_string_append_c (out, '\n');
  for (guint l = 0; l < lines->len; l++) {
    char **line = g_ptr_array_index ((GPtrArray *) lines, l);
    g_string_append (out, line[1] == NULL ? "| **" : "| ");
    append_markdown (out, line[0]);
    g_string_append (out, line[1] == NULL ? "** |" : " |");
    for (guint c = 1; c <= n; c++) {
      g_string_append_c (out, ' ');
      append_markdown (out, line[1] == NULL ? "" : line[c]);
      g_string_append (out, " |");
    }
    g_string_append_c (out, '\n');
  }
}

/* What TeX would read as its own, or has no letter for. */
static const struct {
  gunichar c;
  const char *tex;
} tex[] = { { 0xD7, "$\\times$" }, { 0xB1, "$\\pm$" },   { 0x2013, "--" },
            { 0x2014, "---" },     { 0x2192, "$\\to$" }, { 0x2299, "$\\odot$" },
            { 0x2068, "" },        { 0x2069, "" },       { '\\', "\\textbackslash{}" },
            { '~', "\\~{}" },      { '^', "\\^{}" },     { '|', "$|$" },
            { '<', "$<$" },        { '>', "$>$" } };

static void
append_latex (GString *out, const char *text)
{
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    guint i = 0;
    while (i < G_N_ELEMENTS (tex) && tex[i].c != c)
      i++;
    if (i < G_N_ELEMENTS (tex))
      g_string_append (out, tex[i].tex);
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

/* A line a control and number: "control_excess[slice_kl:4:contiguous:random]". */
static void
csv_controls (const MharCsv *csv, const MharDataset *controls)
{
  for (gsize i = 0; controls != NULL && i < mhar_dataset_get (controls, "trained")->shape[0]; i++) {
    g_autofree char *name = mhar_table_control_name (controls, i);
    for (guint f = 0; f < mhar_dataset_n_fields (controls); f++) {
      const MharField *field = mhar_dataset_field (controls, f);
      if (field->type == MHAR_FIELD_F64)
        mhar_csv_number (csv, mhar_field_value (field, i), "control_%s[%s]", field->name, name);
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
    MharCsv csv = { out, names[c] };
    for (guint a = 0; a < mhar_dataset_n_attributes (set); a++) {
      const MharAttribute *attribute = mhar_dataset_attribute (set, a);
      if (attribute->type == MHAR_ATTRIBUTE_INTEGER || attribute->type == MHAR_ATTRIBUTE_REAL)
        mhar_csv_number (&csv, mhar_dataset_real (set, attribute->name, NAN), "%s", attribute->name);
    }
    csv_controls (&csv, mhar_dataset_find_child (set, "controls"));
    mhar_csv_interventions (&csv, set);
    mhar_csv_reads (&csv, set);
    mhar_csv_weights (&csv, set);
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
