/* SPDX-License-Identifier: MIT */
#include "app/figure/document-table.h"

#include <string.h>

#define SIZE 7.6
#define SMALL 6.6 /* nor smaller to keep every cell in one line, */
#define LEAST 5.5 /* or every word and number */
#define GAP 11.0  /* between columns */
#define PAD 1.6   /* above and below a line's text */
#define PART_ABOVE 5.0

static PangoAlignment
alignment_of (char align)
{
  return align == 'r' ? PANGO_ALIGN_RIGHT : align == 'c' ? PANGO_ALIGN_CENTER : PANGO_ALIGN_LEFT;
}

static MharTextStyle
style_of (const MharPageTable *table, gboolean bold)
{
  return (MharTextStyle){ .size = table->size, .bold = bold };
}

static double
text_width (PangoContext *context, const char *text, const MharTextStyle *style)
{
  PangoLayout *layout = mhar_page_layout (context, text, style);
  double width, height;

  mhar_page_layout_size (layout, &width, &height);
  g_object_unref (layout);
  return width;
}

/* What each column needs for its longest word and would like for its longest text. */
static void
measure (const MharPageTable *table, PangoContext *context, double *least, double *most)
{
  const MharBlock *block = table->block;
  MharTextStyle head = style_of (table, TRUE), body = style_of (table, FALSE);

  for (guint c = 0; c < block->n_columns; c++) {
    least[c] = mhar_page_word_width (context, block->columns[c], &head);
    most[c] = text_width (context, block->columns[c], &head);
    for (guint r = 0; r < block->rows->len; r++) {
      char **cells = block->rows->pdata[r];

      if (cells[1] == NULL && block->n_columns > 1)
        continue;
      double whole = text_width (context, cells[c], &body);

      most[c] = MAX (most[c], whole); /* a number and its interval stay in one line */
      least[c] = MAX (least[c], block->align[c] == 'r' ? whole : mhar_page_word_width (context, cells[c], &body));
    }
    most[c] = MAX (most[c], least[c]);
  }
}

static double
sum (const double *values, guint n)
{
  double total = 0;

  for (guint i = 0; i < n; i++)
    total += values[i];
  return total;
}

/* Everyone gets what it would like, or what it needs and a share of what is left, or a share of what there is. */
static void
share (MharPageTable *table, const double *least, const double *most, double room)
{
  guint n = table->block->n_columns;
  double low = sum (least, n), high = sum (most, n);

  for (guint c = 0; c < n; c++)
    if (high <= room)
      table->widths[c] = most[c];
    else if (low <= room)
      table->widths[c] = least[c] + (most[c] - least[c]) * (room - low) / (high - low);
    else
      table->widths[c] = least[c] * room / low;
}

static void
set_widths (MharPageTable *table, PangoContext *context, double width)
{
  guint n = table->block->n_columns;
  g_autofree double *least = g_new0 (double, n), *most = g_new0 (double, n);
  double room = width - GAP * (n - 1), x = 0;

  for (table->size = SIZE; table->size > SMALL; table->size -= 0.3) {
    measure (table, context, least, most);
    if (sum (most, n) <= room)
      break;
  }
  for (table->size = table->size > SMALL ? table->size : SIZE;; table->size -= 0.3) {
    measure (table, context, least, most);
    if (sum (least, n) <= room || table->size - 0.3 < LEAST)
      break;
  }
  share (table, least, most, room);
  for (guint c = 0; c < n; c++) {
    table->widths[c] += 0.02; /* or rounding would break a line that just fits */
    table->lefts[c] = x;
    x += table->widths[c] + GAP;
  }
  table->width = MIN (x - GAP, width);
}

static MharTableLine *
lay_out (const MharPageTable *table, PangoContext *context, char **cells, gboolean head)
{
  MharTableLine *line = g_new0 (MharTableLine, 1);
  guint n = table->block->n_columns;

  line->part = cells[1] == NULL && n > 1;
  line->cells = g_new0 (PangoLayout *, n);
  for (guint c = 0; cells[c] != NULL; c++) {
    MharTextStyle style = style_of (table, head || line->part);
    double width, height;

    style.width = line->part ? table->width : table->widths[c];
    style.align = alignment_of (line->part ? 'l' : table->block->align[c]);
    line->cells[c] = mhar_page_layout (context, cells[c], &style);
    mhar_page_layout_size (line->cells[c], &width, &height);
    line->height = MAX (line->height, height);
  }
  line->height += 2 * PAD + (line->part ? PART_ABOVE : 0);
  return line;
}

static void
line_free (MharTableLine *line, guint n)
{
  for (guint c = 0; c < n; c++)
    g_clear_object (&line->cells[c]);
  g_free (line->cells);
  g_free (line);
}

MharPageTable *
mhar_page_table_new (PangoContext *context, const MharBlock *block, double width)
{
  MharPageTable *table = g_new0 (MharPageTable, 1);

  table->block = block;
  table->lefts = g_new0 (double, block->n_columns);
  table->widths = g_new0 (double, block->n_columns);
  set_widths (table, context, width);
  table->head = lay_out (table, context, block->columns, TRUE);
  table->head->part = FALSE;
  table->lines = g_ptr_array_new ();
  for (guint r = 0; r < block->rows->len; r++)
    g_ptr_array_add (table->lines, lay_out (table, context, block->rows->pdata[r], FALSE));
  return table;
}

void
mhar_page_table_free (MharPageTable *table)
{
  for (guint i = 0; i < table->lines->len; i++)
    line_free (table->lines->pdata[i], table->block->n_columns);
  line_free (table->head, table->block->n_columns);
  g_ptr_array_unref (table->lines);
  g_free (table->lefts);
  g_free (table->widths);
  g_free (table);
}

void
mhar_page_table_draw (const MharPageTable *table, const MharTableLine *line, cairo_t *cr, double x, double y)
{
  for (guint c = 0; c < table->block->n_columns && line->cells[c]; c++) {
    double width, height, drop = 0;

    mhar_page_layout_size (line->cells[c], &width, &height);
    if (line == table->head) /* heads stand on the rule */
      drop = line->height - 2 * PAD - height;
    cairo_move_to (cr, x + table->lefts[c], y + PAD + (line->part ? PART_ABOVE : 0) + drop);
    pango_cairo_show_layout (cr, line->cells[c]);
  }
}
