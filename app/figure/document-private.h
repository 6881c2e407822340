/* SPDX-License-Identifier: MIT */
/* What the writers of documents share: the blocks, and text cut into runs of one look. */
#pragma once

#include "app/figure/document.h"
#include "app/figure/drawing.h"

typedef enum {
  MHAR_BLOCK_HEADING,
  MHAR_BLOCK_PARAGRAPH,
  MHAR_BLOCK_CODE,
  MHAR_BLOCK_TERM,
  MHAR_BLOCK_TABLE,
  MHAR_BLOCK_FIGURE
} MharBlockKind;

typedef struct {
  MharBlockKind kind;
  guint level;  /* of a heading */
  char *number; /* "3.1" of a heading, "4" of a table or figure; else NULL */
  char *text;   /* a caption, of tables and figures; the definition of a term */
  char *term;
  guint n_columns;
  char **columns, *align;
  GPtrArray *rows;      /* char **, n_columns cells or one */
  MharDrawing *drawing; /* placed at its natural size */
  double width, height;
} MharBlock;

struct _MharDocument {
  char *title, *subtitle, *date;
  GPtrArray *blocks; /* MharBlock * */
  guint section, subsection, tables, figures;
};

/* Numbered as their marks are. */
typedef enum { MHAR_LOOK_PLAIN, MHAR_LOOK_EMPHASIS, MHAR_LOOK_STRONG, MHAR_LOOK_CODE } MharLook;

/* The next run of `*text`: its look and bytes; moves `*text` behind it. FALSE at the end. */
gboolean mhar_document_run (const char **text, MharLook *look, const char **start, gsize *length);
/* The text without marks; g_free. */
char *mhar_document_plain (const char *text);

/* "Table 3", "Figure 2", "4.1": what a numbered block is called; NULL for others. g_free. */
char *mhar_block_name (const MharBlock *block);
