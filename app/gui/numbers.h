/* SPDX-License-Identifier: MIT */
/* What a page shows, as rows of numbers: the table view and the CSV file of it are the same. */
#pragma once

#include "app/gui/pages.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  MharPage page;
  const MharDataset *set;     /* NULL: no rows */
  const MharDataset *other;   /* of the compare page */
  const MharDataset *capture; /* of the tokens page: weight [token, site, head, source] */
  GPtrArray *texts;           /* likewise: each token as text (char *) */
  int site, source;           /* likewise, and of reads: which weights */
  int head;                   /* of reads; −1: all */
} MharNumbersSource;

/* A finished table: nothing of its source is kept. */
typedef struct _MharNumbers MharNumbers;

MharNumbers *mhar_numbers_new (const MharNumbersSource *source);
MharNumbers *mhar_numbers_ref (MharNumbers *numbers);
void mhar_numbers_unref (MharNumbers *numbers);

guint mhar_numbers_n_columns (const MharNumbers *numbers);
guint mhar_numbers_n_rows (const MharNumbers *numbers);
const char *mhar_numbers_title (const MharNumbers *numbers, guint column);
gboolean mhar_numbers_is_text (const MharNumbers *numbers, guint column);
const char *mhar_numbers_text (const MharNumbers *numbers, guint row, guint column); /* of a text column */
double mhar_numbers_value (const MharNumbers *numbers, guint row,
                           guint column); /* of another; NaN where there is none */

/* RFC 4180, a heading line first, numbers in the C locale with all their digits, empty where there is none. g_free. */
char *mhar_numbers_csv (const MharNumbers *numbers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MharNumbers, mhar_numbers_unref)

G_END_DECLS
