/* SPDX-License-Identifier: MIT */
/* Nice numbers. */
#include "app/figure/ticks.h"

#include <math.h>
#include <string.h>

#define MAX_TICKS 64

static double
nice_step (double range, guint wanted)
{
  double raw = range / MAX (wanted, 1);
  double power = pow (10, floor (log10 (raw)));
  double unit = raw / power;

  return power * (unit <= 1.0001 ? 1 : unit <= 2.0001 ? 2 : unit <= 5.0001 ? 5 : 10);
}

void
mhar_ticks_init (MharTicks *ticks, double low, double high, guint wanted)
{
  double first, last;

  *ticks = (MharTicks){ 0 };
  if (!isfinite (low) || !isfinite (high) || high <= low || !isfinite (high - low))
    return;
  ticks->step = nice_step (high - low, wanted);
  if (!(ticks->step > 0) || !isfinite (ticks->step))
    return;
  first = ceil (low / ticks->step - 1e-6);
  last = floor (high / ticks->step + 1e-6);
  if (fabs (first) > 1e15 || fabs (last) > 1e15 || last < first)
    return;
  ticks->first = (gint64)first;
  ticks->count = (guint)MIN (last - first + 1, MAX_TICKS);
  ticks->decimals = (int)CLAMP (ceil (-log10 (ticks->step) - 1e-6), 0, 300);
}

void
mhar_ticks_fit (MharTicks *ticks, double low, double high, double length, double pitch)
{
  for (guint wanted = 8; wanted > 0; wanted--) {
    mhar_ticks_init (ticks, low, high, wanted);
    if (ticks->count == 0 || length * ticks->step >= pitch * (high - low))
      return;
  }
}

double
mhar_ticks_value (const MharTicks *ticks, guint i)
{
  return (double)(ticks->first + i) * ticks->step;
}

/* U+2212 for the ASCII hyphen; takes and returns an owned string. */
static char *
with_minus (const char *ascii)
{
  GString *text = g_string_new (ascii);

  g_string_replace (text, "-", "\u2212", 0);
  return g_string_free (text, FALSE);
}

char *
mhar_ticks_label (const MharTicks *ticks, guint i)
{
  double value = mhar_ticks_value (ticks, i);

  if (ticks->decimals > 5 || fabs (value) >= 1e6)
    return mhar_number (value, 3);
  return mhar_number_fixed (value, ticks->decimals);
}

double
mhar_ticks_ceiling (double high, guint wanted)
{
  double step;

  if (!(high > 0) || !isfinite (high))
    return 1;
  step = nice_step (high, wanted);
  return ceil (high / step - 1e-9) * step;
}

char *
mhar_number_fixed (double value, int decimals)
{
  char format[16], text[400]; /* a double has at most 309 digits before the point */

  if (!isfinite (value))
    return g_strdup ("n/a");
  g_snprintf (format, sizeof format, "%%.%df", CLAMP (decimals, 0, 20));
  g_ascii_formatd (text, sizeof text, format, value);
  /* What rounds to zero has no sign. */
  if (text[0] == '-' && strspn (text, "-0.") == strlen (text))
    memmove (text, text + 1, strlen (text));
  return with_minus (text);
}

int
mhar_number_decimals (double value, int digits)
{
  if (!isfinite (value) || value == 0)
    return 0;
  return CLAMP (digits - 1 - (int)floor (log10 (fabs (value))), 0, 12);
}

char *
mhar_number (double value, int digits)
{
  char format[16], text[G_ASCII_DTOSTR_BUF_SIZE * 2];
  char *e;

  if (!isfinite (value))
    return g_strdup ("n/a");
  if (value == 0)
    return g_strdup ("0");
  if (fabs (value) >= 1e-4 && fabs (value) < 1e9)
    return mhar_number_fixed (value, mhar_number_decimals (value, digits));
  g_snprintf (format, sizeof format, "%%.%de", digits - 1);
  g_ascii_formatd (text, sizeof text, format, value);
  /* "e-07" reads better as "e-7". */
  e = strchr (text, 'e');
  if (e && (e[1] == '-' || e[1] == '+')) {
    const char *from = e + 2;
    char *to = e[1] == '-' ? e + 2 : e + 1;

    while (*from == '0' && from[1])
      from++;
    memmove (to, from, strlen (from) + 1);
  }
  return with_minus (text);
}
