/* SPDX-License-Identifier: MIT */
/* Comma-separated values as RFC 4180 has them, but with line feeds alone. Numbers in the C locale whatever the
 * program's. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A field and the comma or line end after it. Text is quoted where it has to be; a number that is not finite is an
 * empty field, others have as many digits as tell floats apart. */
void mhar_csv_add_text (GString *csv, const char *text, char after);
void mhar_csv_add_number (GString *csv, double value, char after);
void mhar_csv_add_integer (GString *csv, gint64 value, char after);

G_END_DECLS
