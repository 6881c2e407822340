/* SPDX-License-Identifier: MIT */
/* A comparison of made-up sums whose answer is known: heads in another order are found, and nothing is left then. */
#include "probes/compare.h"

#include <math.h>
#include <string.h>

#define HEADS 5
#define WINDOWS 12

static MharPlan *
make_plan (int heads, int sites)
{
  MharPlan *plan = mhar_plan_new ("test", "full_mh", sites, 8, heads);
  int rows[8];

  for (int r = 0; r < 8; r++)
    rows[r] = mhar_plan_add_row (plan, "row %d", r);
  for (int s = 0; s < sites; s++)
    mhar_plan_add_site (plan, MHAR_SITE_ATTN, s, rows, s + 1, heads, FALSE, g_new0 (double, 8), g_new0 (double, 8));
  return plan;
}

/* Sums of weights of every window, head h having those that head order[h] is drawn with. */
static MharDataset *
make_slab (const MharPlan *plan, const guint *order)
{
  const char *dims[] = { "window", "site", "head", "source" };
  gsize sites = plan->sites->len, heads = (gsize)plan->heads, shape[] = { WINDOWS, sites, heads, sites };
  MharDataset *slab = mhar_dataset_new ("slab");
  MharField *weight = mhar_dataset_add (slab, mhar_field_new ("weight", "", "1", MHAR_FIELD_F64, 4, dims, shape));

  for (gsize w = 0; w < WINDOWS; w++)
    for (gsize s = 0; s < sites; s++)
      for (gsize h = 0; h < heads; h++)
        for (gsize n = 0; n <= s; n++) {
          guint32 seed = (guint32)(((w * 16 + s) * 16 + order[h]) * 16 + n + 1) * 2654435761u;
          weight->data.f64[((w * sites + s) * heads + h) * sites + n]
              = 1 + (double)(seed >> 16) / 8192 + 3.0 * ((order[h] + s) % (n + 2) == 0);
        }
  return slab;
}

static MharDataset *
compare (const MharPlan *a, const MharPlan *b, const guint *order_a, const guint *order_b)
{
  g_autoptr (MharComparison) comparison = mhar_comparison_new (a, b);
  g_autoptr (MharDataset) first = make_slab (a, order_a);
  g_autoptr (MharDataset) second = make_slab (b, order_b);

  mhar_comparison_add (comparison, 0, first);
  mhar_comparison_add (comparison, 1, second);
  return mhar_comparison_finish (comparison, 7);
}

static void
test_permuted_heads (void)
{
  static const guint order_a[HEADS] = { 0, 1, 2, 3, 4 }, order_b[HEADS] = { 3, 0, 4, 2, 1 };
  g_autoptr (MharPlan) plan = make_plan (HEADS, 4);
  g_autoptr (MharDataset) out = compare (plan, plan, order_a, order_b);
  gsize heads = 0;
  const gint32 *match = mhar_comparison_matching (out, FALSE, &heads);

  g_assert_cmpuint (heads, ==, HEADS);
  for (gsize h = 0; h < HEADS; h++)
    g_assert_cmpuint (order_b[match[h]], ==, order_a[h]);
  g_assert_null (mhar_comparison_matching (out, TRUE, &heads));
  g_assert_cmpfloat (mhar_dataset_real (out, "js_matched", NAN), <, 1e-15);
  g_assert_cmpfloat (mhar_dataset_real (out, "max_difference", NAN), <, 1e-15);
  g_assert_cmpfloat (mhar_dataset_real (out, "js_consensus", NAN), <, 1e-15);
  g_assert_cmpfloat (mhar_dataset_real (out, "js_identity", NAN), >, 1e-3);
  g_assert_cmpfloat (mhar_dataset_real (out, "null_js", NAN), >, 0);
  g_assert_cmpfloat (mhar_dataset_real (out, "p_value", NAN), ==, 1);
  g_assert_true (mhar_comparison_check (out, "test", NULL));
}

/* The mean over reads, from the reads; 0 to ln 2; and what is not there is not there. */
static void
test_means_and_bounds (void)
{
  static const guint order_a[HEADS] = { 0, 1, 2, 3, 4 }, order_b[HEADS] = { 5, 6, 7, 8, 9 };
  g_autoptr (MharPlan) plan = make_plan (HEADS, 4);
  g_autoptr (MharDataset) out = compare (plan, plan, order_a, order_b);
  const MharField *matched = mhar_dataset_get (out, "js_matched"), *same = mhar_dataset_get (out, "js_identity");
  double sum = 0;

  g_assert_true (isnan (matched->data.f64[0])); /* one source */
  for (gsize s = 1; s < 4; s++) {
    sum += matched->data.f64[s] / 3;
    g_assert_cmpfloat (matched->data.f64[s], >, 0);
    g_assert_cmpfloat (same->data.f64[s], <=, G_LN2);
  }
  g_assert_cmpfloat_with_epsilon (sum, mhar_dataset_real (out, "js_matched", NAN), 1e-15);
  g_assert_cmpfloat (mhar_dataset_real (out, "js_matched_low", NAN), <,
                     mhar_dataset_real (out, "js_matched_high", NAN));
}

static void
test_refusals (void)
{
  g_autoptr (MharPlan) four = make_plan (2, 4);
  g_autoptr (MharPlan) five = make_plan (2, 5);
  g_autoptr (MharPlan) one = make_plan (2, 1);
  g_autoptr (MharPlan) more = make_plan (3, 4);
  g_autoptr (GError) error = NULL;

  g_assert_true (mhar_comparison_possible (four, "A", more, "B", NULL));
  g_assert_false (mhar_comparison_possible (four, "A", five, "B", &error));
  g_assert_nonnull (strstr (error->message, "4 reads and the other 5"));
  g_clear_error (&error);
  g_assert_false (mhar_comparison_possible (four, "A", one, "B", &error));
  g_assert_nonnull (strstr (error->message, "B has no read"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compare/permuted-heads", test_permuted_heads);
  g_test_add_func ("/compare/means", test_means_and_bounds);
  g_test_add_func ("/compare/refusals", test_refusals);
  return g_test_run ();
}
