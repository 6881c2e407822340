/* SPDX-License-Identifier: MIT */
#include "app/gui/numbers.h"

#include "app/gui/dataset-look.h"
#include "probes/reads.h"

#include <math.h>
#include <string.h>

#define MAX_COLUMNS 256 /* of a token: its text and place, and up to 64 heads; of a step: every scalar there is */

typedef union {
  double value;
  char *text; /* interned: labels repeat */
} Cell;

struct _MharNumbers {
  gatomicrefcount refs;
  guint n_columns;
  char *titles[MAX_COLUMNS];
  gboolean text[MAX_COLUMNS];
  GArray *cells; /* Cell, row-major */
  GStringChunk *chunk;
};

static void
add_column (MharNumbers *self, const char *title, gboolean text)
{
  self->titles[self->n_columns] = g_strdup (title);
  self->text[self->n_columns++] = text;
}

static void
add_text (MharNumbers *self, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  Cell cell = { .text = g_string_chunk_insert_const (self->chunk, valid) };
  g_array_append_val (self->cells, cell);
}

static void
add_value (MharNumbers *self, double value)
{
  Cell cell = { .value = value };
  g_array_append_val (self->cells, cell);
}

/* Calls `row` for every source of every head of every site. */
static void
each_cell (MharNumbers *self, const MharNumbersSource *from,
           void (*row) (MharNumbers *, const MharNumbersSource *, int site, int head, int source))
{
  add_column (self, "site", TRUE);
  add_column (self, "head", FALSE);
  add_column (self, "source", TRUE);
  for (int s = 0; s < (int) mhar_look_n_sites (from->set); s++)
    for (int h = 0; h < mhar_look_n_heads (from->set, s); h++)
      for (int n = 0; n < mhar_look_n_sources (from->set, s); n++) {
        add_text (self, mhar_look_site (from->set, s));
        add_value (self, h);
        add_text (self, mhar_look_source (from->set, s, n));
        row (self, from, s, h, n);
      }
}

static void
map_row (MharNumbers *self, const MharNumbersSource *from, int site, int head, int source)
{
  add_value (self, mhar_look_cell (from->set, "weight", site, head, source));
  add_value (self, mhar_look_cell (from->set, "weight_sd", site, head, source));
  add_value (self, mhar_look_cell (from->set, "deviation", site, head, source));
  add_value (self, mhar_look_cell (from->set, "contribution", site, head, source));
}

/* Of a hyper-connected model. */
static void
fill_coefficients (MharNumbers *self, const MharField *coefficient, const MharField *input, const MharField *output)
{
  add_column (self, "input", TRUE);
  add_column (self, "output", TRUE);
  add_column (self, "coefficient", FALSE);
  for (gsize i = 0; i < coefficient->shape[0] && i < mhar_field_length (input); i++)
    for (gsize j = 0; j < coefficient->shape[1] && j < mhar_field_length (output); j++) {
      double value = mhar_field_value (coefficient, i * coefficient->shape[1] + j);
      if (isnan (value))
        continue;
      add_text (self, input->data.str[i] != NULL ? input->data.str[i] : "?");
      add_text (self, output->data.str[j] != NULL ? output->data.str[j] : "?");
      add_value (self, value);
    }
}

static gboolean
is_labels (const MharField *field)
{
  return field != NULL && field->type == MHAR_FIELD_STRING && field->n_dims == 1;
}

static void
fill_maps (MharNumbers *self, const MharNumbersSource *from)
{
  const MharField *coefficient = mhar_dataset_get (from->set, "coefficient");
  const MharField *input = mhar_dataset_get (from->set, "input_label"), *output = mhar_dataset_get (from->set, "output_label");

  if (coefficient != NULL && coefficient->n_dims == 2 && is_labels (input) && is_labels (output)) {
    fill_coefficients (self, coefficient, input, output);
    return;
  }
  each_cell (self, from, map_row);
  add_column (self, "weight", FALSE);
  add_column (self, "weight_sd", FALSE);
  add_column (self, "deviation", FALSE);
  add_column (self, "contribution", FALSE);
}

/* Heads of the sites where both have as many, of the others the mean over heads. */
static void
compare_row (MharNumbers *self, const MharNumbersSource *from, int site, int head, int source)
{
  g_autofree char *which = head >= 0 ? g_strdup_printf ("%d", head) : g_strdup ("mean");
  double a, b;

  mhar_look_pair (from->set, from->other, "weight", site, head, source, &a, &b);
  add_text (self, mhar_look_site (from->set, site));
  add_text (self, which);
  add_text (self, mhar_look_source (from->set, site, source));
  add_value (self, a);
  add_value (self, b);
  add_value (self, b - a);
}

static void
fill_compare (MharNumbers *self, const MharNumbersSource *from)
{
  add_column (self, "site", TRUE);
  add_column (self, "head", TRUE);
  add_column (self, "source", TRUE);
  add_column (self, "weight_a", FALSE);
  add_column (self, "weight_b", FALSE);
  add_column (self, "difference", FALSE);
  for (int s = 0; from->other != NULL && s < (int) mhar_look_n_sites (from->set); s++) {
    gboolean heads = mhar_look_common_head (from->set, from->other, s, 0) >= 0;
    for (int h = heads ? 0 : -1; h < (heads ? mhar_look_n_heads (from->set, s) : 0); h++)
      for (int n = 0; n < mhar_look_n_sources (from->set, s); n++)
        compare_row (self, from, s, h, n);
  }
}

static void
fill_disagreement (MharNumbers *self, const MharNumbersSource *from)
{
  static const char *const titles[] = { "sources", "heads", "trained", "low", "high", "null", "null_sd", "excess", "p_value" };

  add_column (self, "site", TRUE);
  for (guint c = 0; c < G_N_ELEMENTS (titles); c++)
    add_column (self, titles[c], FALSE);
  for (int s = 0; s < (int) mhar_look_n_sites (from->set); s++) {
    MharDisagreement d = mhar_look_disagreement (from->set, s);
    double values[] = { mhar_look_n_sources (from->set, s),
                        mhar_look_n_heads (from->set, s),
                        d.trained,
                        d.low,
                        d.high,
                        d.null,
                        d.null_sd,
                        d.trained - d.null,
                        d.p };
    add_text (self, mhar_look_site (from->set, s));
    for (guint c = 0; c < G_N_ELEMENTS (values); c++)
      add_value (self, values[c]);
  }
}

static void
fill_collinearity (MharNumbers *self, const MharNumbersSource *from)
{
  const MharField *cosine = mhar_dataset_get (from->set, "cosine"),
                  *label = mhar_dataset_get (from->set, "output_label");

  add_column (self, "output", TRUE);
  add_column (self, "output_b", TRUE);
  add_column (self, "cosine", FALSE);
  if (cosine == NULL || cosine->n_dims != 2 || label == NULL || label->type != MHAR_FIELD_STRING
      || mhar_field_length (label) != cosine->shape[0] || cosine->shape[0] != cosine->shape[1])
    return;
  for (gsize i = 0; i < cosine->shape[0]; i++)
    for (gsize j = i + 1; j < cosine->shape[1]; j++) {
      add_text (self, label->data.str[i] != NULL ? label->data.str[i] : "?");
      add_text (self, label->data.str[j] != NULL ? label->data.str[j] : "?");
      add_value (self, mhar_field_value (cosine, i * cosine->shape[1] + j));
    }
}

static void
fill_sources (MharNumbers *self, const MharNumbersSource *from)
{
  add_column (self, "site", TRUE);
  add_column (self, "head", FALSE);
  add_column (self, "sources", FALSE);
  add_column (self, "entropy", FALSE);
  add_column (self, "effective_sources", FALSE);
  for (int s = 0; s < (int) mhar_look_n_sites (from->set); s++)
    for (int h = 0; h < mhar_look_n_heads (from->set, s); h++) {
      double nats = mhar_look_head (from->set, "entropy", s, h);
      add_text (self, mhar_look_site (from->set, s));
      add_value (self, h);
      add_value (self, mhar_look_n_sources (from->set, s));
      add_value (self, nats);
      add_value (self, exp (nats));
    }
}

static void
fill_tokens (MharNumbers *self, const MharNumbersSource *from)
{
  const MharField *weight = from->capture != NULL ? mhar_dataset_get (from->capture, "weight") : NULL;
  int heads = MIN (mhar_look_n_heads (from->set, from->site), MAX_COLUMNS - 2);

  add_column (self, "token", FALSE);
  add_column (self, "text", TRUE);
  for (int h = 0; h < heads; h++) {
    g_autofree char *title = g_strdup_printf ("head_%d", h);
    add_column (self, title, FALSE);
  }
  if (weight == NULL || weight->n_dims != 4 || from->source < 0 || (gsize) heads > weight->shape[2]
      || (gsize) from->source >= weight->shape[3] || (gsize) from->site >= weight->shape[1])
    return;
  const MharField *token = mhar_dataset_get (from->capture, "token");
  for (gsize t = 0; t < weight->shape[0]; t++) {
    guint at = (guint) token->data.i32[t];
    add_value (self, at);
    add_text (self, from->texts != NULL && at < from->texts->len ? g_ptr_array_index (from->texts, at) : "");
    for (int h = 0; h < heads; h++)
      add_value (self,
                 mhar_field_value (weight, ((t * weight->shape[1] + (gsize) from->site) * weight->shape[2] + (gsize) h)
                                                   * weight->shape[3]
                                               + (gsize) from->source));
  }
}

/* ---- reads: of the selected site and source ---- */

static void
read_row (MharNumbers *self, const MharNumbersSource *from, const char *by, const char *which, int head, double token,
          double tokens, double value)
{
  add_text (self, mhar_look_site (from->set, from->site));
  add_value (self, head);
  add_text (self, mhar_look_source (from->set, from->site, from->source));
  add_text (self, by);
  add_text (self, which);
  add_value (self, token);
  add_value (self, tokens);
  add_value (self, value);
}

/* "letter", "4–7". */
static char *
bin_name (const MharDataset *reads, const char *by, gsize bin)
{
  g_autofree char *label = g_strconcat (by, "_label", NULL), *first = g_strconcat (by, "_first", NULL);
  g_autofree char *last = g_strconcat (by, "_last", NULL);
  const MharField *names = mhar_dataset_get (reads, label);

  if (names != NULL)
    return g_strdup (names->data.str[bin] != NULL ? names->data.str[bin] : "?");
  gint32 low = mhar_dataset_get (reads, first)->data.i32[bin], high = mhar_dataset_get (reads, last)->data.i32[bin];
  return low == high ? g_strdup_printf ("%d", low) : g_strdup_printf ("%d–%d", low, high);
}

static void
read_bins (MharNumbers *self, const MharNumbersSource *from, const MharDataset *reads, int head)
{
  static const char *const kinds[] = { "position", "document_position", "class", "piece" };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    g_autofree char *name = g_strconcat ("weight_by_", kinds[k], NULL),
                    *counts = g_strconcat (kinds[k], "_tokens", NULL);
    const MharField *field = mhar_dataset_get (reads, name);
    for (gsize bin = 0; field != NULL && bin < field->shape[3]; bin++) {
      g_autofree char *which = bin_name (reads, kinds[k], bin);
      gsize at = (((gsize) from->site * field->shape[1] + (gsize) head) * field->shape[2] + (gsize) from->source)
                     * field->shape[3]
                 + bin;
      read_row (self, from, kinds[k], which, head, NAN, mhar_dataset_get (reads, counts)->data.i32[bin],
                (double) field->data.f32[at]);
    }
  }
}

static void
read_tokens (MharNumbers *self, const MharNumbersSource *from, const MharDataset *reads, int head)
{
  static const char *const lists[] = { "most", "least" };
  int cell = mhar_reads_find_cell (reads, from->site, head, from->source);
  const MharField *token = cell >= 0 ? mhar_dataset_get (reads, "token") : NULL,
                  *text = mhar_dataset_get (reads, "example_text");

  for (gsize k = 0; token != NULL && k < 2 * token->shape[2]; k++) {
    gsize at = (gsize) cell * 2 * token->shape[2] + k;
    int example = mhar_reads_find_example (reads, token->data.i32[at]);
    if (example >= 0)
      read_row (self, from, lists[k / token->shape[2]],
                text != NULL && text->data.str[example] != NULL ? text->data.str[example] : "", head,
                token->data.i32[at], NAN, (double) mhar_dataset_get (reads, "token_weight")->data.f32[at]);
  }
}

static void
fill_reads (MharNumbers *self, const MharNumbersSource *from)
{
  const MharDataset *reads = mhar_dataset_find_child (from->set, "reads");
  int heads = mhar_look_n_heads (from->set, from->site);

  add_column (self, "site", TRUE);
  add_column (self, "head", FALSE);
  add_column (self, "source", TRUE);
  add_column (self, "by", TRUE);
  add_column (self, "which", TRUE);
  add_column (self, "token", FALSE);  /* of a list: its place in the text */
  add_column (self, "tokens", FALSE); /* of a bin: how many */
  add_column (self, "weight", FALSE);
  if (reads == NULL || from->site < 0 || from->source < 0)
    return;
  for (int h = MAX (from->head, 0); h < (from->head < 0 ? heads : MIN (from->head + 1, heads)); h++) {
    read_bins (self, from, reads, h);
    read_tokens (self, from, reads, h);
  }
}

/* Element `at` of a field of numbers. */
static double
element (const MharDataset *map, const char *name, gsize at)
{
  const MharField *field = mhar_dataset_get (map, name);

  return field != NULL && field->type != MHAR_FIELD_STRING && at < mhar_field_length (field) ? mhar_field_value (field, at) : NAN;
}

static void
fill_ablation (MharNumbers *self, const MharNumbersSource *from)
{
  static const char *const titles[] = { "delta_loss", "low", "high", "mass" };
  const MharDataset *map = mhar_dataset_find_child (from->set, "ablation_map");
  const MharField *change = map != NULL ? mhar_dataset_get (map, "delta_loss") : NULL;

  add_column (self, "site", TRUE);
  add_column (self, "source", TRUE);
  for (guint c = 0; c < G_N_ELEMENTS (titles); c++)
    add_column (self, titles[c], FALSE);
  if (change == NULL || change->n_dims != 2)
    return;
  for (int s = 0; s < (int) mhar_look_n_sites (map); s++)
    for (int n = 0; n < mhar_look_n_sources (map, s) && (gsize) n < change->shape[1]; n++) {
      gsize at = (gsize) s * change->shape[1] + (gsize) n;
      add_text (self, mhar_look_site (map, s));
      add_text (self, mhar_look_source (map, s, n));
      add_value (self, element (map, "delta_loss", at));
      add_value (self, element (map, "delta_loss_interval", 2 * at));
      add_value (self, element (map, "delta_loss_interval", 2 * at + 1));
      add_value (self, element (map, "mass", at));
    }
}

/* A row a step, a column a scalar. */
static void
fill_series (MharNumbers *self, const MharNumbersSource *from)
{
  const MharField *step = mhar_dataset_get (from->set, "step"), *columns[MAX_COLUMNS];
  guint n = 0;

  add_column (self, "step", FALSE);
  for (guint f = 0; step != NULL && f < mhar_dataset_n_fields (from->set) && n < MAX_COLUMNS - 1; f++) {
    const MharField *field = mhar_dataset_field (from->set, f);
    if (field->type != MHAR_FIELD_F64 || field->n_dims != 1 || field->shape[0] != step->shape[0])
      continue;
    add_column (self, field->name, FALSE);
    columns[n++] = field;
  }
  for (gsize i = 0; step != NULL && step->n_dims == 1 && i < step->shape[0]; i++) {
    add_value (self, mhar_field_value (step, i));
    for (guint c = 0; c < n; c++)
      add_value (self, mhar_field_value (columns[c], i));
  }
}

MharNumbers *
mhar_numbers_new (const MharNumbersSource *source)
{
  static void (*const fill[MHAR_N_PAGES]) (MharNumbers *, const MharNumbersSource *) = {
    fill_maps, fill_disagreement, fill_collinearity, fill_tokens, fill_sources, fill_compare,
    fill_reads, fill_ablation, fill_series,
  };
  MharNumbers *self = g_new0 (MharNumbers, 1);

  g_atomic_ref_count_init (&self->refs);
  self->cells = g_array_new (FALSE, FALSE, sizeof (Cell));
  self->chunk = g_string_chunk_new (4096);
  if (source->set != NULL)
    fill[source->page](self, source);
  return self;
}

MharNumbers *
mhar_numbers_ref (MharNumbers *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
mhar_numbers_unref (MharNumbers *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->refs))
    return;
  for (guint c = 0; c < self->n_columns; c++)
    g_free (self->titles[c]);
  g_array_unref (self->cells);
  g_string_chunk_free (self->chunk);
  g_free (self);
}

guint
mhar_numbers_n_columns (const MharNumbers *self)
{
  return self->n_columns;
}

guint
mhar_numbers_n_rows (const MharNumbers *self)
{
  return self->n_columns > 0 ? self->cells->len / self->n_columns : 0;
}

const char *
mhar_numbers_title (const MharNumbers *self, guint column)
{
  return self->titles[column];
}

gboolean
mhar_numbers_is_text (const MharNumbers *self, guint column)
{
  return self->text[column];
}

const char *
mhar_numbers_text (const MharNumbers *self, guint row, guint column)
{
  return g_array_index (self->cells, Cell, row * self->n_columns + column).text;
}

double
mhar_numbers_value (const MharNumbers *self, guint row, guint column)
{
  return g_array_index (self->cells, Cell, row * self->n_columns + column).value;
}

/* Quoted where it has to be. */
static void
append_text (GString *csv, const char *text)
{
  if (strpbrk (text, ",\"\r\n") == NULL) {
    g_string_append (csv, text);
    return;
  }
  g_string_append_c (csv, '"');
  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '"')
      g_string_append_c (csv, '"');
    g_string_append_c (csv, *at);
  }
  g_string_append_c (csv, '"');
}

static void
append_value (GString *csv, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isnan (value))
    g_string_append (csv, g_ascii_formatd (text, sizeof text, "%.9g", value));
}

char *
mhar_numbers_csv (const MharNumbers *self)
{
  GString *csv = g_string_new (NULL);
  guint rows = mhar_numbers_n_rows (self);

  for (guint c = 0; c < self->n_columns; c++)
    g_string_append_printf (csv, "%s%s", c > 0 ? "," : "", self->titles[c]);
  g_string_append (csv, "\r\n");
  for (guint r = 0; r < rows; r++) {
    for (guint c = 0; c < self->n_columns; c++) {
      if (c > 0)
        g_string_append_c (csv, ',');
      if (self->text[c])
        append_text (csv, mhar_numbers_text (self, r, c));
      else
        append_value (csv, mhar_numbers_value (self, r, c));
    }
    g_string_append (csv, "\r\n");
  }
  return g_string_free (csv, FALSE);
}
