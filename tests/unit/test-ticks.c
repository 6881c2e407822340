/* SPDX-License-Identifier: MIT */
/* Nice numbers: few, round, inside the range, and the same text in every locale. */
#include "app/figure/ticks.h"

#include <locale.h>
#include <math.h>

static void
test_known (void)
{
  static const struct {
    double low, high;
    guint wanted, count;
    const char *first, *last;
  } cases[] = {
    { 0, 1, 5, 6, "0.0", "1.0" },
    { 0, 0.31, 6, 4, "0.0", "0.3" },
    { -0.0887, 0.0887, 5, 3, "\u22120.05", "0.05" },
    { 0, 7, 7, 8, "0", "7" },
    { 0.1, 0.30000000000000004, 2, 3, "0.1", "0.3" },
    { -3000, 3000, 6, 7, "\u22123000", "3000" },
    { 0, 3e-9, 3, 4, "0", "3.00e\u22129" },
    { 0, 4e7, 4, 5, "0", "40000000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *first = NULL, *last = NULL;
    MharTicks ticks;

    mhar_ticks_init (&ticks, cases[i].low, cases[i].high, cases[i].wanted);
    g_assert_cmpuint (ticks.count, ==, cases[i].count);
    first = mhar_ticks_label (&ticks, 0);
    last = mhar_ticks_label (&ticks, ticks.count - 1);
    g_assert_cmpstr (first, ==, cases[i].first);
    g_assert_cmpstr (last, ==, cases[i].last);
  }
}

/* Over 20,000 ranges: ticks lie inside, at most one more than wanted, no two share a label. */
static void
test_any_range (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (int round = 0; round < 20000; round++) {
    double size = pow (10, g_rand_double_range (rand, -12, 12));
    double low = g_rand_double_range (rand, -1, 1) * size, high = low + size * g_rand_double_range (rand, 0.01, 1);
    guint wanted = (guint)g_rand_int_range (rand, 1, 12);
    g_autofree char *before = NULL;
    MharTicks ticks;

    mhar_ticks_init (&ticks, low, high, wanted);
    g_assert_cmpuint (ticks.count, <=, wanted + 1);
    for (guint i = 0; i < ticks.count; i++) {
      double value = mhar_ticks_value (&ticks, i), slack = 1e-5 * ticks.step;
      g_autofree char *label = mhar_ticks_label (&ticks, i);

      g_assert_cmpfloat (value, >=, low - slack);
      g_assert_cmpfloat (value, <=, high + slack);
      if (size > 1e-4 && size < 1e5)
        g_assert_cmpstr (label, !=, before);
      g_free (before);
      before = g_steal_pointer (&label);
    }
  }
}

static void
test_no_range (void)
{
  static const double ranges[][2] = { { 0, 0 },
                                      { 1, 0 },
                                      { NAN, 1 },
                                      { 0, INFINITY },
                                      { -INFINITY, 0 },
                                      { -1.7e308, 1.7e308 },
                                      { 1e300, 1.0000000000000002e300 } };

  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++) {
    MharTicks ticks;

    mhar_ticks_init (&ticks, ranges[i][0], ranges[i][1], 5);
    g_assert_cmpuint (ticks.count, ==, 0);
    mhar_ticks_fit (&ticks, ranges[i][0], ranges[i][1], 100, 10);
    g_assert_cmpuint (ticks.count, ==, 0);
  }
}

static void
test_fit (void)
{
  for (double length = 5; length < 500; length += 5) {
    MharTicks ticks;

    mhar_ticks_fit (&ticks, 0, 1, length, 12);
    if (ticks.count > 1 && length >= 12)
      g_assert_cmpfloat (ticks.step * length, >=, 12);
    g_assert_cmpuint (ticks.count, <=, 9);
    g_assert_cmpuint (ticks.count, >, 0);
  }
}

static void
test_ceiling (void)
{
  g_assert_cmpfloat (fabs (mhar_ticks_ceiling (0.31, 6) - 0.4), <, 1e-12);
  g_assert_cmpfloat (fabs (mhar_ticks_ceiling (0.3, 6) - 0.3), <, 1e-12);
  g_assert_cmpfloat (mhar_ticks_ceiling (0, 6), ==, 1);
  g_assert_cmpfloat (mhar_ticks_ceiling (NAN, 6), ==, 1);
  g_assert_cmpfloat (mhar_ticks_ceiling (INFINITY, 6), ==, 1);
}

static void
assert_number (double value, int digits, const char *want)
{
  g_autofree char *got = mhar_number (value, digits);

  g_assert_cmpstr (got, ==, want);
}

static void
test_numbers (void)
{
  g_autofree char *none = mhar_number_fixed (-0.0001, 2), *one = mhar_number_fixed (-1.005, 1);

  assert_number (0.09744, 3, "0.0974");
  assert_number (0.0974, 2, "0.097");
  assert_number (-12.34, 3, "\u221212.3");
  assert_number (1234.5, 2, "1234");
  assert_number (1.2e-7, 3, "1.20e\u22127");
  assert_number (-3e12, 2, "\u22123.0e12");
  assert_number (1e-100, 1, "1e\u2212100");
  assert_number (0, 3, "0");
  assert_number (NAN, 3, "n/a");
  assert_number (-INFINITY, 3, "n/a");
  assert_number (1.7e308, 3, "1.70e308");
  g_assert_cmpstr (none, ==, "0.00");
  g_assert_cmpstr (one, ==, "\u22121.0");
}

/* The first installed locale that writes 1,5; NULL where there is none. */
static const char *
comma_locale (void)
{
  static const char *const names[]
      = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "nl_NL.UTF-8", "pl_PL.UTF-8" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (setlocale (LC_ALL, names[i]) && *localeconv ()->decimal_point == ',')
      return names[i];
  return NULL;
}

static void
test_locale (void)
{
  const char *name = comma_locale ();

  if (!name) {
    g_test_skip ("no locale with a decimal comma is installed");
    return;
  }
  g_test_message ("in %s", name);
  test_known ();
  test_numbers ();
  setlocale (LC_ALL, "C");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ticks/known", test_known);
  g_test_add_func ("/ticks/any-range", test_any_range);
  g_test_add_func ("/ticks/no-range", test_no_range);
  g_test_add_func ("/ticks/fit", test_fit);
  g_test_add_func ("/ticks/ceiling", test_ceiling);
  g_test_add_func ("/ticks/numbers", test_numbers);
  g_test_add_func ("/ticks/locale", test_locale);
  return g_test_run ();
}
