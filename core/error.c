/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#include <string.h>

/* Looked up each time: G_DEFINE_QUARK keeps the number in a variable that threads read and set in no order. */
GQuark
mhar_error_quark (void)
{
  return g_quark_from_static_string ("mhar-error-quark");
}

/* Messages hold names and words of files, which may be anything: one line is what a reader is shown. */
static void G_GNUC_PRINTF (3, 0)
take (GError **error, MharErrorCode code, const char *format, va_list args)
{
  g_autofree char *message = g_strdup_vprintf (format, args), *valid = g_utf8_make_valid (message, -1);
  GString *line = g_string_sized_new (strlen (valid));

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);
    g_string_append_unichar (line, g_unichar_isprint (c) ? c : '?');
  }
  g_set_error_literal (error, MHAR_ERROR, code, line->str);
  g_string_free (line, TRUE);
}

gboolean
mhar_bad_input (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  take (error, MHAR_ERROR_INPUT, format, args);
  va_end (args);
  return FALSE;
}

gboolean
mhar_bad_usage (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  take (error, MHAR_ERROR_USAGE, format, args);
  va_end (args);
  return FALSE;
}
