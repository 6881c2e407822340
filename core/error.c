/* SPDX-License-Identifier: MIT */
#include "core/error.h"

G_DEFINE_QUARK (mhar-error, mhar_error)

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
