/* SPDX-License-Identifier: MIT */
#include "app/cli/table-numbers.h"

#include <math.h>
#include <string.h>

#define LEAST_DECIMALS 4
#define MOST_DECIMALS 7
#define DIGITS 3           /* of a small number */
#define MOST_DIGITS_MORE 4 /* to keep the ends of an interval apart */

/* floor (log10 |x|), exactly: of what three digits round it to. */
static int
exponent_of (double x)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.2e", x);
  for (char *at = text; *at != '\0'; at++)
    if (*at == 'e')
      return (int)g_ascii_strtoll (at + 1, NULL, 10);
  return 0;
}

MharRounding
mhar_rounding (double value, double low, double high)
{
  gboolean some = isfinite (value) && value != 0;
  int exponent = some ? exponent_of (value) : 0;
  MharRounding r = { -LEAST_DECIMALS, some && exponent < -5 };

  if (some)
    r.place = MIN (r.place, exponent - (DIGITS - 1));
  int least = r.scientific ? r.place - MOST_DIGITS_MORE : -MOST_DECIMALS;
  r.place = MAX (r.place, least);
  while (high > low && isfinite (high - low) && r.place > least && high - low < 2 * pow (10, r.place))
    r.place--;
  return r;
}

char *
mhar_rounded (double value, MharRounding r)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[16];

  if (!isfinite (value))
    return g_strdup ("n/a");
  int digits = r.scientific && value != 0 ? exponent_of (value) - r.place : -r.place;
  if (r.scientific && (value == 0 || digits < 0))
    return g_strdup ("0");
  g_snprintf (format, sizeof format, "%%.%d%c", digits, r.scientific ? 'e' : 'f');
  g_ascii_formatd (text, sizeof text, format, value);
  gboolean nothing = text[0] == '-' && text[1 + strspn (text + 1, "0.")] == '\0';
  return g_strdup (text + nothing); /* no minus of what is rounded away */
}

char *
mhar_table_number (double value)
{
  return mhar_rounded (value, mhar_rounding (value, NAN, NAN));
}

/* A number with the sign that it is to have. */
static char *
signed_text (double value, MharRounding rounding, gboolean plus)
{
  g_autofree char *text = mhar_rounded (value, rounding);
  return g_strconcat (plus && value >= 0 ? "+" : "", text, NULL);
}

/* `value`, `sd` where it is finite, and the ends where both are. */
static char *
format (double value, double sd, double low, double high, gboolean plus)
{
  MharRounding rounding = mhar_rounding (value, low, high);
  g_autofree char *own = signed_text (value, rounding, plus);
  GString *text = g_string_new (own);

  if (isfinite (value) && isfinite (sd)) {
    g_autofree char *spread = mhar_rounded (sd, rounding);
    g_string_append_printf (text, " ± %s", spread);
  }
  if (isfinite (value) && isfinite (low) && isfinite (high)) {
    g_autofree char *from = signed_text (low, rounding, plus), *to = signed_text (high, rounding, plus);
    g_string_append_printf (text, " [%s, %s]", from, to);
  }
  return g_string_free (text, FALSE);
}

char *
mhar_table_interval (double value, double low, double high)
{
  return format (value, NAN, low, high, FALSE);
}

char *
mhar_table_change (double value, double low, double high)
{
  return format (value, NAN, low, high, TRUE);
}

char *
mhar_table_spread (double value, double sd, double low, double high)
{
  return format (value, sd, low, high, FALSE);
}
