/* SPDX-License-Identifier: MIT */
/* The assignment against every permutation, and against what a permuted matrix must give. */
#include "probes/assignment.h"

#include <math.h>

/* The least sum over all permutations, by Heap's algorithm. */
static double
brute_force (const double *cost, gsize n)
{
  guint order[8], count[8] = { 0 };
  double best = INFINITY;

  for (guint i = 0; i < n; i++)
    order[i] = i;
  for (gsize i = 0; i <= n;) {
    double sum = 0;
    for (gsize k = 0; k < n; k++)
      sum += cost[k * n + order[k]];
    best = fmin (best, sum);
    for (i = 1; i < n && count[i] >= i; i++)
      count[i] = 0;
    if (i >= n)
      break;
    gsize other = i % 2 == 0 ? 0 : count[i];
    guint held = order[other];
    order[other] = order[i];
    order[i] = held;
    count[i]++;
  }
  return best;
}

static void
check (const double *cost, gsize n, double want)
{
  guint to[64];
  gboolean taken[64] = { FALSE };
  double got = mhar_assignment (cost, n, to), sum = 0;

  for (gsize i = 0; i < n; i++) {
    g_assert_cmpuint (to[i], <, n);
    g_assert_false (taken[to[i]]);
    taken[to[i]] = TRUE;
    sum += cost[i * n + to[i]];
  }
  g_assert_cmpfloat_with_epsilon (sum, got, 1e-12 * (1 + fabs (got)));
  g_assert_cmpfloat_with_epsilon (got, want, 1e-12 * (1 + fabs (want)));
}

static void
test_against_all_permutations (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  double cost[49];

  for (gsize n = 1; n <= 7; n++)
    for (guint round = 0; round < 60; round++) {
      for (gsize i = 0; i < n * n; i++) /* every third round with many ties, every fourth with negative costs */
        cost[i] = round % 3 == 0 ? g_rand_int_range (rand, 0, 4) : g_rand_double (rand) - (round % 4 == 0 ? 0.5 : 0);
      check (cost, n, brute_force (cost, n));
    }
}

/* A cost that is 0 along a hidden permutation and above 0 elsewhere has that one only. */
static void
test_hidden_permutation (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  double cost[64 * 64];
  guint hidden[64], to[64];

  for (gsize n = 2; n <= 64; n *= 2) {
    for (guint i = 0; i < n; i++)
      hidden[i] = (guint)((i * 5 + 3) % n);
    for (gsize i = 0; i < n * n; i++)
      cost[i] = hidden[i / n] == i % n ? 0 : 1e-9 + g_rand_double (rand);
    g_assert_cmpfloat (mhar_assignment (cost, n, to), ==, 0);
    for (guint i = 0; i < n; i++)
      g_assert_cmpuint (to[i], ==, hidden[i]);
  }
}

static void
test_identity_where_it_is_as_good (void)
{
  double cost[36];
  guint to[6];

  for (gsize i = 0; i < 36; i++)
    cost[i] = 0.25;
  g_assert_cmpfloat (mhar_assignment (cost, 6, to), ==, 1.5);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpuint (to[i], ==, i);
}

/* Weights that are NaN have no least cost: the search would not end. */
static void
test_costs_that_are_no_numbers (void)
{
  double cost[9] = { 0, 1, 2, 3, NAN, 5, 6, INFINITY, 8 };
  guint to[3];

  g_assert_true (isnan (mhar_assignment (cost, 3, to)));
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (to[i], ==, i);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/assignment/all-permutations", test_against_all_permutations);
  g_test_add_func ("/assignment/hidden", test_hidden_permutation);
  g_test_add_func ("/assignment/identity", test_identity_where_it_is_as_good);
  g_test_add_func ("/assignment/not-finite", test_costs_that_are_no_numbers);
  return g_test_run ();
}
