/* SPDX-License-Identifier: MIT */
#include "app/figure/document.h"

#include "app/figure/document-private.h"
#include "app/figure/figure-private.h"

#include <stdarg.h>
#include <string.h>

/* A square map of few rows needs no more than this on a page, in points. */
#define SQUARE 330.0
#define SQUARE_ROWS 20

static void
block_free (gpointer data)
{
  MharBlock *block = data;

  g_free (block->number);
  g_free (block->text);
  g_free (block->term);
  g_strfreev (block->columns);
  g_free (block->align);
  g_clear_pointer (&block->rows, g_ptr_array_unref);
  mhar_drawing_free (block->drawing);
  g_free (block);
}

MharDocument *
mhar_document_new (const char *title, const char *subtitle, const char *date)
{
  MharDocument *document = g_new0 (MharDocument, 1);

  document->title = g_strdup (title);
  document->subtitle = g_strdup (subtitle);
  document->date = g_strdup (date);
  document->blocks = g_ptr_array_new_with_free_func (block_free);
  return document;
}

void
mhar_document_free (MharDocument *document)
{
  if (!document)
    return;
  g_free (document->title);
  g_free (document->subtitle);
  g_free (document->date);
  g_ptr_array_unref (document->blocks);
  g_free (document);
}

static MharBlock *
append (MharDocument *document, MharBlockKind kind)
{
  MharBlock *block = g_new0 (MharBlock, 1);

  block->kind = kind;
  g_ptr_array_add (document->blocks, block);
  return block;
}

void
mhar_document_heading (MharDocument *document, guint level, const char *text)
{
  MharBlock *block = append (document, MHAR_BLOCK_HEADING);

  if (level == 1) {
    document->section++;
    document->subsection = 0;
    block->number = g_strdup_printf ("%u", document->section);
  } else {
    block->number = g_strdup_printf ("%u.%u", document->section, ++document->subsection);
  }
  block->level = level;
  block->text = g_strdup (text);
}

void
mhar_document_paragraph (MharDocument *document, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  append (document, MHAR_BLOCK_PARAGRAPH)->text = g_strdup_vprintf (format, args);
  va_end (args);
}

void
mhar_document_code (MharDocument *document, const char *text)
{
  append (document, MHAR_BLOCK_CODE)->text = g_strdup (text);
}

void
mhar_document_term (MharDocument *document, const char *term, const char *format, ...)
{
  MharBlock *block = append (document, MHAR_BLOCK_TERM);
  va_list args;

  block->term = g_strdup (term);
  va_start (args, format);
  block->text = g_strdup_vprintf (format, args);
  va_end (args);
}

void
mhar_document_table (MharDocument *document, const char *const *columns, const char *align, const char *format, ...)
{
  MharBlock *block = append (document, MHAR_BLOCK_TABLE);
  va_list args;

  g_return_if_fail (g_strv_length ((char **)columns) == strlen (align));
  block->number = g_strdup_printf ("%u", ++document->tables);
  block->columns = g_strdupv ((char **)columns);
  block->n_columns = g_strv_length (block->columns);
  block->align = g_strdup (align);
  block->rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  va_start (args, format);
  block->text = g_strdup_vprintf (format, args);
  va_end (args);
}

void
mhar_document_row (MharDocument *document, const char *const *cells)
{
  MharBlock *block = document->blocks->pdata[document->blocks->len - 1];
  guint n = g_strv_length ((char **)cells);

  g_return_if_fail (block->kind == MHAR_BLOCK_TABLE && (n == 1 || n == block->n_columns));
  g_ptr_array_add (block->rows, g_strdupv ((char **)cells));
}

gboolean
mhar_document_figure (MharDocument *document, const MharDataset *set, MharFigureKind kind,
                      const MharFigureOptions *options, const char *format, ...)
{
  MharFigureOptions own;
  va_list args;

  if (!mhar_figure_available (set, kind))
    return FALSE;
  mhar_figure_options_init (&own);
  if (options)
    own = *options;
  own.bare = TRUE; /* the caption is text */
  MharBlock *block = append (document, MHAR_BLOCK_FIGURE);
  block->drawing = mhar_drawing_new (set, kind, &own, NULL);
  mhar_drawing_natural_size (block->drawing, &block->width, &block->height);
  if (kind == MHAR_FIGURE_COLLINEARITY && block->height > SQUARE && block->drawing->out.n_rows <= SQUARE_ROWS) {
    block->width *= SQUARE / block->height;
    block->height = SQUARE;
  }
  mhar_drawing_place (block->drawing, block->width, block->height);
  block->number = g_strdup_printf ("%u", ++document->figures);
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  const char *legend = mhar_drawing_legend (block->drawing);
  block->text = g_strjoin (" ", text, legend, NULL);
  return TRUE;
}

gboolean
mhar_document_run (const char **text, MharLook *look, const char **start, gsize *length)
{
  *look = MHAR_LOOK_PLAIN;
  for (; **text > 0 && **text <= MHAR_PLAIN[0]; (*text)++)
    *look = **text == MHAR_PLAIN[0] ? MHAR_LOOK_PLAIN : (MharLook) * *text;
  *start = *text;
  *length = strcspn (*text, MHAR_EMPHASIS MHAR_STRONG MHAR_CODE MHAR_PLAIN);
  *text += *length;
  return *length > 0;
}

char *
mhar_document_plain (const char *text)
{
  GString *plain = g_string_new (NULL);
  const char *start;
  MharLook look;
  gsize length;

  while (mhar_document_run (&text, &look, &start, &length))
    g_string_append_len (plain, start, (gssize)length);
  return g_string_free (plain, FALSE);
}

char *
mhar_block_name (const MharBlock *block)
{
  if (!block->number)
    return NULL;
  if (block->kind == MHAR_BLOCK_HEADING)
    return g_strdup (block->number);
  return g_strdup_printf ("%s %s", block->kind == MHAR_BLOCK_TABLE ? "Table" : "Figure", block->number);
}
