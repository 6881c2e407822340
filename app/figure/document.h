/* SPDX-License-Identifier: MIT */
/* A paper's worth of text, tables and figures, and two ways to write it: one self-contained HTML file, and a PDF. Both
 * say the same in the same order, and number sections, tables and figures alike.
 *
 * Text is UTF-8 and plain but for the marks below, which no text of a file can hold once its control characters are
 * gone. The same document and fonts give the same bytes. */
#pragma once

#include "app/figure/figure.h"

G_BEGIN_DECLS

/* A word from here to MHAR_PLAIN. They do not nest. */
#define MHAR_EMPHASIS "\001"
#define MHAR_STRONG "\002"
#define MHAR_CODE "\003"
#define MHAR_PLAIN "\004"

typedef struct _MharDocument MharDocument;

/* `title` and `subtitle` stand at the top; `date` (ISO 8601, may be NULL) becomes the file's own where it is one. */
MharDocument *mhar_document_new (const char *title, const char *subtitle, const char *date);
void mhar_document_free (MharDocument *document);

/* All append. A heading of level 1 or 2 gets its number. */
void mhar_document_heading (MharDocument *document, guint level, const char *text);
void mhar_document_paragraph (MharDocument *document, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Lines kept as they are, wrapped where they are too long. */
void mhar_document_code (MharDocument *document, const char *text);
/* Terms that follow each other make one list. */
void mhar_document_term (MharDocument *document, const char *term, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* A table, numbered, its caption above. `columns`, NULL-ended, are the heads; `align` has a letter for each, l, r or c.
 * Rows are appended to the table begun last: as many cells as columns, NULL-ended, or one, which is a heading within
 * it. */
void mhar_document_table (MharDocument *document, const char *const *columns, const char *align, const char *format,
                          ...) G_GNUC_PRINTF (4, 5);
void mhar_document_row (MharDocument *document, const char *const *cells);

/* A figure of app/figure/figure.h, numbered, its caption below, in place of the figure's own, of which the legend
 * follows. Returns FALSE, and appends nothing, where `set` holds nothing for the kind. The document borrows `set` until
 * it is freed. */
gboolean mhar_document_figure (MharDocument *document, const MharDataset *set, MharFigureKind kind,
                               const MharFigureOptions *options, const char *format, ...) G_GNUC_PRINTF (5, 6);

/* Bytes of the file, or NULL and MHAR_ERROR_RUN. HTML: UTF-8, also well-formed XML; no script, nothing from elsewhere;
 * ids are unique; light and dark. PDF: A4, with page numbers, outline and metadata. g_byte_array_unref. */
GByteArray *mhar_document_html (const MharDocument *document, GError **error);
GByteArray *mhar_document_pdf (const MharDocument *document, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharDocument, mhar_document_free)

G_END_DECLS
