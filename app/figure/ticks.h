/* SPDX-License-Identifier: MIT */
/* Axis ticks at 1, 2 or 5 times a power of ten, and numbers as text. Always in the C locale, with a true minus sign. */
#pragma once

#include <glib.h>

typedef struct {
  double step;
  gint64 first; /* the first tick is first * step */
  guint count;
  int decimals; /* that tell neighbours apart */
} MharTicks;

/* About `wanted` ticks in [low, high]; none where the two are not finite or not in order. */
void mhar_ticks_init (MharTicks *ticks, double low, double high, guint wanted);
/* As many ticks in [low, high], at most 8, as fit into `length` with `pitch` between neighbours. */
void mhar_ticks_fit (MharTicks *ticks, double low, double high, double length, double pitch);
double mhar_ticks_value (const MharTicks *ticks, guint i);
char *mhar_ticks_label (const MharTicks *ticks, guint i); /* g_free */
/* The smallest tick at or above `high` > 0 on an axis from 0 with about `wanted` ticks. */
double mhar_ticks_ceiling (double high, guint wanted);

/* `value` with so many decimals. g_free. */
char *mhar_number_fixed (double value, int decimals);
/* The decimals that show `digits` significant digits of `value`; 0 where that is none, at most 12. */
int mhar_number_decimals (double value, int digits);
/* `value` to so many significant digits: "0.0974", "−12.3", "1.20e−7"; "n/a" where not finite. g_free. */
char *mhar_number (double value, int digits);
