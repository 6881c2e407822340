/* SPDX-License-Identifier: MIT */
/* The random queries against the oracle's, printed by `mhar_oracle.py queries` (tests/fixtures/queries.txt), to 1e-14; and the
 * rescaling. */
#include "probes/random-query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *
fixture (const char *name)
{
  const char *tests = g_getenv ("MHAR_TEST_DATA");
  return g_build_filename (tests != NULL ? tests : "tests", "fixtures", name, NULL);
}

/* Lines "site draw z0 z1 …", each file with the seed in its first line: "# seed N". */
static void
test_oracle (void)
{
  g_autofree char *path = fixture ("queries.txt"), *text = NULL;
  g_autoptr (GError) error = NULL;
  double worst = 0;
  guint64 seed = 0;
  guint lines = 0;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_auto (GStrv) all = g_strsplit (text, "\n", -1);
  for (char **line = all; *line != NULL && **line != '\0'; line++) {
    g_auto (GStrv) words = g_strsplit (*line, " ", -1);
    if (strcmp (words[0], "#") == 0) {
      seed = g_ascii_strtoull (words[2], NULL, 10);
      continue;
    }
    gsize n = g_strv_length (words) - 2;
    g_autofree double *z = g_new (double, n);
    mhar_random_normals (seed, (guint32) g_ascii_strtoull (words[0], NULL, 10),
                         (guint32) g_ascii_strtoull (words[1], NULL, 10), n, z);
    for (gsize i = 0; i < n; i++)
      worst = fmax (worst, fabs (z[i] - g_ascii_strtod (words[i + 2], NULL)));
    lines++;
  }
  g_test_message ("%u draws, largest error %.1f %% of the allowance of 1e-14", lines, 100 * worst / 1e-14);
  g_assert_cmpuint (lines, ==, 24);
  g_assert_cmpfloat (worst, <=, 1e-14);
}

static double
norm (const double *x, gsize n)
{
  double sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sqrt (sum);
}

static void
test_rescaling (void)
{
  double q[2 * 12], z[2 * 12];
  MharNullNorm whole = { 0, FALSE }, slices = { 3, FALSE };

  for (int i = 0; i < 24; i++)
    q[i] = 0.1 * i - 1.3;
  mhar_random_query (5, 3, 2, q, 2, 12, &whole, z);
  for (int r = 0; r < 2; r++)
    g_assert_cmpfloat_with_epsilon (norm (z + 12 * r, 12), norm (q + 12 * r, 12), 1e-12);
  mhar_random_query (5, 3, 2, q, 2, 12, &slices, z);
  for (int s = 0; s < 6; s++)
    g_assert_cmpfloat_with_epsilon (norm (z + 4 * s, 4), norm (q + 4 * s, 4), 1e-12);
}

/* A draw does not depend on how many numbers are taken, nor on its neighbours. */
static void
test_prefix (void)
{
  double a[64], b[7], c[64];

  mhar_random_normals (1, 2, 3, 64, a);
  mhar_random_normals (1, 2, 3, 7, b);
  mhar_random_normals (1, 2, 4, 64, c);
  g_assert_cmpmem (a, sizeof b, b, sizeof b);
  g_assert_true (memcmp (a, c, sizeof a) != 0);
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Another order of the same numbers in each row; by slices, each slice's norm. */
static void
test_shuffled (void)
{
  double q[2 * 12], z[2 * 12], sorted[2 * 12];
  MharNullNorm whole = { 0, FALSE }, slices = { 3, TRUE };

  for (int i = 0; i < 24; i++)
    q[i] = 0.1 * i - 1.3;
  mhar_shuffled_query (5, 3, 2, q, 2, 12, &whole, z);
  g_assert_true (memcmp (z, q, sizeof q) != 0);
  memcpy (sorted, z, sizeof z);
  for (int r = 0; r < 2; r++)
    qsort (sorted + 12 * r, 12, sizeof *sorted, compare);
  g_assert_cmpmem (sorted, sizeof sorted, q, sizeof q);
  mhar_shuffled_query (5, 3, 2, q, 2, 12, &slices, z);
  for (int s = 0; s < 3; s++) {
    double zz = 0, qq = 0;
    for (int i = s; i < 12; i += 3) {
      zz += z[i] * z[i];
      qq += q[i] * q[i];
    }
    g_assert_cmpfloat_with_epsilon (zz, qq, 1e-12);
  }
}

/* Every order is one cycle: nobody keeps his own, everybody's is taken once. */
static void
test_swapped (void)
{
  for (guint n = 2; n < 40; n++)
    for (guint draw = 0; draw < 5; draw++) {
      guint to[40], at = 0, steps = 0;
      mhar_swapped_order (9, 1, draw, n, to);
      do {
        g_assert_cmpuint (to[at], <, n);
        g_assert_cmpuint (to[at], !=, at);
        at = to[at];
        steps++;
      } while (at != 0 && steps <= n);
      g_assert_cmpuint (steps, ==, n);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/random-query/oracle", test_oracle);
  g_test_add_func ("/random-query/rescaling", test_rescaling);
  g_test_add_func ("/random-query/prefix", test_prefix);
  g_test_add_func ("/random-query/shuffled", test_shuffled);
  g_test_add_func ("/random-query/swapped", test_swapped);
  return g_test_run ();
}
