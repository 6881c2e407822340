/* SPDX-License-Identifier: MIT */
#include "app/gui/numbers.h"

#include "app/gui/dataset-look.h"

#include <math.h>
#include <string.h>

#define MAX_COLUMNS 68 /* a token's text and place, and up to 64 heads */

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
  add_value (self, mhar_look_cell (from->set, "deviation", site, head, source));
  add_value (self, mhar_look_cell (from->set, "contribution", site, head, source));
}

static void
fill_maps (MharNumbers *self, const MharNumbersSource *from)
{
  each_cell (self, from, map_row);
  add_column (self, "weight", FALSE);
  add_column (self, "deviation", FALSE);
  add_column (self, "contribution", FALSE);
}

static void
compare_row (MharNumbers *self, const MharNumbersSource *from, int site, int head, int source)
{
  double a = mhar_look_cell (from->set, "weight", site, head, source);
  double b = mhar_look_counterpart (from->set, from->other, "weight", site, head, source);

  add_value (self, a);
  add_value (self, b);
  add_value (self, b - a);
}

static void
fill_compare (MharNumbers *self, const MharNumbersSource *from)
{
  if (from->other != NULL)
    each_cell (self, from, compare_row);
  add_column (self, "weight_a", FALSE);
  add_column (self, "weight_b", FALSE);
  add_column (self, "difference", FALSE);
}

static void
fill_disagreement (MharNumbers *self, const MharNumbersSource *from)
{
  static const char *const titles[] = { "sources", "heads", "trained", "null", "null_sd", "excess" };

  add_column (self, "site", TRUE);
  for (guint c = 0; c < G_N_ELEMENTS (titles); c++)
    add_column (self, titles[c], FALSE);
  for (int s = 0; s < (int) mhar_look_n_sites (from->set); s++) {
    MharDisagreement d = mhar_look_disagreement (from->set, s);
    double values[] = { mhar_look_n_sources (from->set, s),
                        mhar_look_n_heads (from->set, s),
                        d.trained,
                        d.null,
                        d.null_sd,
                        d.trained - d.null };
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

MharNumbers *
mhar_numbers_new (const MharNumbersSource *source)
{
  static void (*const fill[MHAR_N_PAGES]) (MharNumbers *, const MharNumbersSource *) = {
    fill_maps, fill_disagreement, fill_collinearity, fill_tokens, fill_sources, fill_compare,
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
