/* SPDX-License-Identifier: MIT */
#include "core/error.h"

/* Looked up each time: G_DEFINE_QUARK keeps the number in a variable that threads read and set in no order. */
GQuark
mhar_error_quark (void)
{
  return g_quark_from_static_string ("mhar-error-quark");
}

gboolean
mhar_bad_input (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (MHAR_ERROR, MHAR_ERROR_INPUT, format, args));
  va_end (args);
  return FALSE;
}

gboolean
mhar_bad_usage (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (MHAR_ERROR, MHAR_ERROR_USAGE, format, args));
  va_end (args);
  return FALSE;
}
