/* SPDX-License-Identifier: MIT */
#include "app/cli/table-reads.h"

#include "app/cli/jobs.h"
#include "app/cli/table-numbers.h"
#include "probes/reads.h"
#include "probes/token-kinds.h"

#include <math.h>

static const char *const lists[] = { "most", "least" };

static const struct {
  const char *prefix, *words;
} binnings[] = {
  { "position", "position" }, { "document_position", "document position" }, { "class", "class" }, { "piece", "piece" }
};

static const MharDataset *
reads_of (const GPtrArray *sets, guint c)
{
  return mhar_dataset_find_child (g_ptr_array_index ((GPtrArray *) sets, c), "reads");
}

static const MharField *
field_of (const MharDataset *reads, const char *prefix, const char *suffix)
{
  g_autofree char *name = g_strconcat (prefix, suffix, NULL);
  return mhar_dataset_get (reads, name);
}

static const char *
label_at (const MharField *field, gsize i)
{
  return field->data.str[i] != NULL ? field->data.str[i] : "";
}

static const char *
source_at (const MharDataset *reads, gsize s, gsize n)
{
  const MharField *label = mhar_dataset_get (reads, "source_label");
  return label_at (label, s * label->shape[1] + n);
}

/* ---- escapes ---- */

char *
mhar_escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *line = g_string_new (NULL);

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (c == '\n' || c == '\t' || c == '\r')
      g_string_append (line, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
    else if (g_unichar_isprint (c))
      g_string_append_unichar (line, c);
    else
      g_string_append_printf (line, "\\u%04X", c);
  }
  return g_string_free (line, FALSE);
}

/* "the cat « sat» on the"; between isolates where it holds letters that run leftward, so that they turn nothing around
 * but each other. */
static char *
in_context (const MharDataset *reads, int example)
{
  static const char *const parts[] = { "_before", "_text", "_after" };
  char *text[3];

  if (mhar_dataset_get (reads, "example_text") == NULL)
    return g_strdup_printf ("id %d", mhar_dataset_get (reads, "example_id")->data.i32[example]);
  for (guint i = 0; i < 3; i++)
    text[i] = mhar_escape (label_at (field_of (reads, "example", parts[i]), (gsize) example));
  g_autofree char *line = g_strdup_printf ("%s«%s»%s", text[0], text[1], text[2]);
  for (guint i = 0; i < 3; i++)
    g_free (text[i]);
  return mhar_text_runs_leftward (line) ? g_strdup_printf ("\u2068%s\u2069", line) : g_steal_pointer (&line);
}

/* ---- the table ---- */

/* The contribution of the largest magnitude; its head and source. */
static double
largest (const MharDataset *reads, gsize *head, gsize *source)
{
  const MharField *field = mhar_dataset_get (reads, "logit_contribution_centred");
  double most = 0;

  for (gsize i = 0; i < mhar_field_length (field); i++)
    if (fabs (field->data.f64[i]) > fabs (most)) {
      most = field->data.f64[i];
      *head = i / field->shape[1];
      *source = i % field->shape[1];
    }
  return most;
}

static char *
logit_cell (const MharDataset *reads, guint row)
{
  gsize head = 0, source = 0;
  double centred = mhar_dataset_real (reads, "target_logit_centred", NAN);
  double value = row == 0   ? mhar_dataset_real (reads, "target_logit", NAN)
                 : row == 1 ? centred
                            : largest (reads, &head, &source);

  if (!isfinite (centred))
    return g_strdup ("n/a"); /* nor is any of its parts larger than others */
  if (row < 3)
    return mhar_table_number (value);
  g_autofree char *where
      = g_strdup_printf ("head %" G_GSIZE_FORMAT ", %s", head,
                         source_at (reads, (gsize) mhar_dataset_integer (reads, "logit_site", 0), source));
  return mhar_printable (where);
}

void
mhar_table_reads (const GPtrArray *sets, GPtrArray *lines)
{
  static const char *const labels[]
    = { "of the next token", "less the vocabulary's mean", "of which the most from one source", "from" };
  gboolean any = FALSE;

  for (guint c = 0; c < sets->len; c++)
    any |= reads_of (sets, c) != NULL && mhar_dataset_get (reads_of (sets, c), "logit_contribution") != NULL;
  for (guint row = 0; any && row < G_N_ELEMENTS (labels); row++) {
    char **line = g_new0 (char *, sets->len + 2);
    if (row == 0) {
      char **heading = g_new0 (char *, 2);
      heading[0] = g_strdup ("Logit through the last read");
      g_ptr_array_add (lines, heading);
    }
    line[0] = g_strdup (labels[row]);
    for (guint c = 0; c < sets->len; c++) {
      const MharDataset *reads = reads_of (sets, c);
      gboolean there = reads != NULL && mhar_dataset_get (reads, "logit_contribution") != NULL;
      line[c + 1] = there ? logit_cell (reads, row) : g_strdup ("—");
    }
    g_ptr_array_add (lines, line);
  }
}

/* ---- the cells ---- */

/* "0", "2–3", or the bin's name. */
static char *
bin_name (const MharDataset *reads, const char *prefix, gsize bin)
{
  const MharField *label = field_of (reads, prefix, "_label");

  if (label != NULL)
    return g_strdup (label_at (label, bin));
  gint32 first = field_of (reads, prefix, "_first")->data.i32[bin],
         last = field_of (reads, prefix, "_last")->data.i32[bin];
  return first == last ? g_strdup_printf ("%d", first) : g_strdup_printf ("%d–%d", first, last);
}

static double
bin_mean (const MharDataset *reads, const char *prefix, gsize cell, gsize bin)
{
  const MharField *field = field_of (reads, "weight_by_", prefix);
  gsize s = (gsize) mhar_dataset_get (reads, "cell_site")->data.i32[cell],
        h = (gsize) mhar_dataset_get (reads, "cell_head")->data.i32[cell];
  gsize n = (gsize) mhar_dataset_get (reads, "cell_source")->data.i32[cell];

  return (double) field->data.f32[((s * field->shape[1] + h) * field->shape[2] + n) * field->shape[3] + bin];
}

char *
mhar_table_reads_cell (const MharDataset *reads, gsize cell)
{
  gsize s = (gsize) mhar_dataset_get (reads, "cell_site")->data.i32[cell],
        n = (gsize) mhar_dataset_get (reads, "cell_source")->data.i32[cell];

  return g_strdup_printf ("%s:%d:%s", label_at (mhar_dataset_get (reads, "site_label"), s),
                          mhar_dataset_get (reads, "cell_head")->data.i32[cell], source_at (reads, s, n));
}

static void
append_means (GString *out, const MharDataset *reads, gsize cell, guint b)
{
  const MharField *tokens = field_of (reads, binnings[b].prefix, "_tokens");

  if (tokens == NULL)
    return;
  g_string_append_printf (out, "  by %-17s", binnings[b].words);
  for (gsize bin = 0; bin < tokens->shape[0]; bin++) {
    g_autofree char *name = bin_name (reads, binnings[b].prefix, bin);
    g_autofree char *shown = mhar_printable (name);
    g_autofree char *mean = mhar_table_number (bin_mean (reads, binnings[b].prefix, cell, bin));
    if (tokens->data.i32[bin] > 0)
      g_string_append_printf (out, "  %s %s", shown, mean);
  }
  g_string_append_c (out, '\n');
}

static void
append_tokens (GString *out, const MharDataset *reads, gsize cell, guint which)
{
  const MharField *token = mhar_dataset_get (reads, "token"), *weight = mhar_dataset_get (reads, "token_weight");

  for (gsize k = 0; k < token->shape[2]; k++) {
    gsize i = (cell * 2 + which) * token->shape[2] + k;
    int example = mhar_reads_find_example (reads, token->data.i32[i]);
    if (example < 0)
      continue;
    g_autofree char *text = in_context (reads, example);
    g_autofree char *value = mhar_table_number ((double) weight->data.f32[i]);
    g_string_append_printf (out, "  %-6s %9s %10d  %s\n", k == 0 ? lists[which] : "", value, token->data.i32[i], text);
  }
}

/* A cell as text: a line of means a binning, a line a token. */
static void
append_text (GString *out, const MharDataset *reads, gsize cell, const char *title)
{
  g_string_append_printf (out, "\n%s\n", title);
  for (guint b = 0; b < G_N_ELEMENTS (binnings); b++)
    append_means (out, reads, cell, b);
  for (guint which = 0; which < 2; which++)
    append_tokens (out, reads, cell, which);
}

/* A line of a table: its label and `n` cells, all of them taken; of a heading none. */
static void
add_line (GPtrArray *lines, char *label, guint n, char *const *cells)
{
  char **line = g_new0 (char *, n + 2);

  line[0] = label;
  for (guint i = 0; i < n; i++)
    line[i + 1] = cells[i];
  g_ptr_array_add (lines, line);
}

void
mhar_table_reads_means (const MharDataset *reads, gsize cell, GPtrArray *lines)
{
  for (guint b = 0; b < G_N_ELEMENTS (binnings); b++) {
    const MharField *count = field_of (reads, binnings[b].prefix, "_tokens");
    if (count != NULL)
      add_line (lines, g_strconcat ("by ", binnings[b].words, NULL), 0, NULL);
    for (gsize bin = 0; count != NULL && bin < count->shape[0]; bin++) {
      g_autofree char *name = bin_name (reads, binnings[b].prefix, bin);
      if (count->data.i32[bin] > 0)
        add_line (lines, mhar_printable (name), 1,
                  (char *[]){ mhar_table_number (bin_mean (reads, binnings[b].prefix, cell, bin)) });
    }
  }
}

void
mhar_table_reads_tokens (const MharDataset *reads, gsize cell, GPtrArray *lines)
{
  const MharField *token = mhar_dataset_get (reads, "token"), *weight = mhar_dataset_get (reads, "token_weight");

  for (guint which = 0; which < 2; which++) {
    add_line (lines, g_strdup (lists[which]), 0, NULL);
    for (gsize k = 0; k < token->shape[2]; k++) {
      gsize i = (cell * 2 + which) * token->shape[2] + k;
      int example = mhar_reads_find_example (reads, token->data.i32[i]);
      if (example >= 0)
        add_line (lines, g_strdup_printf ("%" G_GSIZE_FORMAT, k + 1), 3,
                  (char *[]){ mhar_table_number ((double)weight->data.f32[i]),
                              g_strdup_printf ("%d", token->data.i32[i]), in_context (reads, example) });
    }
  }
}

/* The same as two tables, for styles that have tables only. */
static void
append_tables (GString *out, const MharDataset *reads, gsize cell, const char *title, MharTableStyle style)
{
  char *means[] = { (char *)"mean weight", NULL },
       *columns[] = { (char *)"weight", (char *)"token", (char *)"text", NULL };
  g_autoptr (GPtrArray) bins = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_autoptr (GPtrArray) tokens = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);

  add_line (bins, g_strdup (title), 0, NULL);
  mhar_table_reads_means (reads, cell, bins);
  add_line (tokens, g_strdup (title), 0, NULL);
  mhar_table_reads_tokens (reads, cell, tokens);
  g_autofree char *first = mhar_table_lines (means, bins, 1, style),
                  *second = mhar_table_lines (columns, tokens, 3, style);
  g_string_append_printf (out, "\n%s\n%s", first, second);
}

char *
mhar_table_reads_cells (const GPtrArray *sets, MharTableStyle style)
{
  GString *out = g_string_new (NULL);

  for (guint c = 0; c < sets->len; c++) {
    const MharDataset *reads = reads_of (sets, c);
    const MharField *cells = reads != NULL ? mhar_dataset_get (reads, "cell_site") : NULL;
    g_autofree char *path = mhar_printable (mhar_dataset_string (g_ptr_array_index ((GPtrArray *) sets, c), "path"));
    for (gsize cell = 0; cells != NULL && cell < cells->shape[0]; cell++) {
      g_autofree char *name = mhar_table_reads_cell (reads, cell);
      g_autofree char *shown = mhar_printable (name);
      g_autofree char *title = g_strdup_printf ("%s reads %s", path, shown);
      if (style == MHAR_TABLE_TEXT)
        append_text (out, reads, cell, title);
      else
        append_tables (out, reads, cell, title, style);
    }
  }
  return g_string_free (out, out->len == 0);
}

/* ---- CSV ---- */

static void
csv_cell (const MharCsv *csv, const MharDataset *reads, gsize cell)
{
  const MharField *token = mhar_dataset_get (reads, "token"), *weight = mhar_dataset_get (reads, "token_weight");
  g_autofree char *where = mhar_table_reads_cell (reads, cell);

  for (guint b = 0; b < G_N_ELEMENTS (binnings); b++) {
    const MharField *tokens = field_of (reads, binnings[b].prefix, "_tokens");
    for (gsize bin = 0; tokens != NULL && bin < tokens->shape[0]; bin++) {
      g_autofree char *name = bin_name (reads, binnings[b].prefix, bin);
      if (tokens->data.i32[bin] > 0)
        mhar_csv_number (csv, bin_mean (reads, binnings[b].prefix, cell, bin), "weight_by_%s[%s:%s]",
                         binnings[b].prefix, where, name);
    }
  }
  for (gsize i = 0; i < 2 * token->shape[2]; i++) {
    gsize at = cell * 2 * token->shape[2] + i, rank = i % token->shape[2] + 1;
    const char *list = lists[i / token->shape[2]];
    if (token->data.i32[at] < 0)
      continue;
    mhar_csv_number (csv, token->data.i32[at], "%s_token[%s:%" G_GSIZE_FORMAT "]", list, where, rank);
    mhar_csv_number (csv, (double)weight->data.f32[at], "%s_weight[%s:%" G_GSIZE_FORMAT "]", list, where, rank);
  }
}

void
mhar_csv_reads (const MharCsv *csv, const MharDataset *set)
{
  const MharDataset *reads = mhar_dataset_find_child (set, "reads");
  const MharField *cells = reads != NULL ? mhar_dataset_get (reads, "cell_site") : NULL;
  const char *const numbers[] = { "target_logit", "target_logit_centred" };
  const char *const names[] = { "logit_contribution", "logit_contribution_centred" };

  for (gsize cell = 0; cells != NULL && cell < cells->shape[0]; cell++)
    csv_cell (csv, reads, cell);
  if (reads == NULL || mhar_dataset_get (reads, names[0]) == NULL)
    return;
  gsize s = (gsize)mhar_dataset_integer (reads, "logit_site", 0);
  gint32 heads = mhar_dataset_get (reads, "n_heads")->data.i32[s],
         sources = mhar_dataset_get (reads, "n_sources")->data.i32[s];
  for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
    const MharField *field = mhar_dataset_get (reads, names[k]);
    mhar_csv_number (csv, mhar_dataset_real (reads, numbers[k], NAN), "%s", numbers[k]);
    for (gsize i = 0; i < mhar_field_length (field); i++)
      if (i / field->shape[1] < (gsize)heads && i % field->shape[1] < (gsize)sources)
        mhar_csv_number (csv, field->data.f64[i], "%s[%" G_GSIZE_FORMAT ":%s]", names[k], i / field->shape[1],
                         source_at (reads, s, i % field->shape[1]));
  }
}
