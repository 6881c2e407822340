/* SPDX-License-Identifier: MIT */
/* Numbers as tables have them: four decimals; of a number below 0.01 as many more as show three digits, up to seven;
 * below 0.00001 in the form 2.92e-06, with three digits. What stands beside a number (the ends of its interval, the
 * spread of a null) is rounded to the number's place. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* To which place a number, and all beside it, is rounded. */
typedef struct {
  int place;           /* of the last digit, a power of ten: -4 is four decimals */
  gboolean scientific; /* written with an exponent */
} MharRounding;

/* That of `value`; where both ends are finite as many places more as keep them apart. */
MharRounding mhar_rounding (double value, double low, double high);
/* In the C locale, whatever is set; "n/a" of what is not finite. g_free. */
char *mhar_rounded (double value, MharRounding rounding);

/* "0.1763"; with its interval "0.1763 [0.1702, 0.1823]", without it where an end is not finite; the same of a change,
 * with its sign: "+0.0123 [-0.0101, +0.0340]". g_free. */
char *mhar_table_number (double value);
char *mhar_table_interval (double value, double low, double high);
char *mhar_table_change (double value, double low, double high);
/* "0.0301 ± 0.0012 [0.0280, 0.0322]", what is not finite left out; g_free. */
char *mhar_table_spread (double value, double sd, double low, double high);

G_END_DECLS
