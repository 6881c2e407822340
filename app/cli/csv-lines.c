/* SPDX-License-Identifier: MIT */
#include "app/cli/csv-lines.h"

#include <math.h>
#include <string.h>

void
mhar_csv_append_text (GString *out, const char *text)
{
  if (strpbrk (text, ",\"\n\r") == NULL) {
    g_string_append (out, text);
    return;
  }
  g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
  g_autofree char *doubled = g_strjoinv ("\"\"", parts);
  g_string_append_printf (out, "\"%s\"", doubled);
}

void
mhar_csv_append_number (GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_string_append (out, g_ascii_dtostr (text, sizeof text, value));
}

void
mhar_csv_number (const MharCsv *csv, double value, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *quantity = g_strdup_vprintf (format, args);
  va_end (args);
  mhar_csv_append_text (csv->out, csv->who);
  g_string_append_c (csv->out, ',');
  mhar_csv_append_text (csv->out, quantity);
  g_string_append_c (csv->out, ',');
  mhar_csv_append_number (csv->out, value);
  g_string_append_c (csv->out, '\n');
}
