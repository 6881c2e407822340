/* SPDX-License-Identifier: MIT */
/* CSV. */
#include "app/gui/csv.h"

#include <math.h>
#include <string.h>

void
mhar_csv_add_text (GString *csv, const char *text, char after)
{
  if (strpbrk (text, ",\"\r\n") == NULL) {
    g_string_append (csv, text);
  } else {
    g_string_append_c (csv, '"');
    for (const char *p = text; *p != '\0'; p++) {
      if (*p == '"')
        g_string_append_c (csv, '"');
      g_string_append_c (csv, *p);
    }
    g_string_append_c (csv, '"');
  }
  g_string_append_c (csv, after);
}

void
mhar_csv_add_number (GString *csv, double value, char after)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_string_append (csv, g_ascii_formatd (text, sizeof text, "%.9g", value));
  g_string_append_c (csv, after);
}

void
mhar_csv_add_integer (GString *csv, gint64 value, char after)
{
  g_string_append_printf (csv, "%" G_GINT64_FORMAT "%c", value, after);
}
