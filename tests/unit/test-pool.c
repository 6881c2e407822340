/* SPDX-License-Identifier: MIT */
/* Pools: windows cut as the oracle cuts them, sums in window order whatever the slabs, halves kept apart. */
#include "probes/disagreement.h"
#include "probes/pool.h"
#include "probes/resample.h"
#include "probes/statistics.h"
#include "probes/verdict.h"
#include "probes/windows.h"

#include <math.h>

static MharDataset *
slab (guint64 first, gsize windows)
{
  const char *dims[] = { "window", "site" };
  gsize shape[] = { windows, 2 };
  MharDataset *set = mhar_dataset_new ("sums");
  MharField *field = mhar_dataset_add (set, mhar_field_new ("x", "x", "1", MHAR_FIELD_F64, 2, dims, shape));

  for (gsize w = 0; w < windows; w++) {
    field->data.f64[2 * w] = 1.0 / (double) (first + w + 1);
    field->data.f64[2 * w + 1] = (double) (first + w);
  }
  mhar_dataset_add_child (set, mhar_dataset_new ("pooled"));
  mhar_dataset_add (mhar_dataset_find_child (set, "pooled"), mhar_field_new ("hidden", "", "1", MHAR_FIELD_F64, 1, dims, shape));
  for (gsize w = 0; w < windows; w++)
    mhar_dataset_get (mhar_dataset_find_child (set, "pooled"), "hidden")->data.f64[w] = 1;
  return set;
}

/* Seven windows in slabs of `step`. */
static MharPool *
fill (gsize step)
{
  MharPool *pool = mhar_pool_new ();

  for (gsize w = 0; w < 7; w += step) {
    g_autoptr (MharDataset) set = slab (w, MIN (step, 7 - w));
    mhar_pool_add (pool, set, w);
  }
  return pool;
}

static void
test_order (void)
{
  g_autoptr (MharPool) one = fill (1), three = fill (3), all = fill (7);

  g_assert_cmpuint (mhar_pool_windows (three), ==, 7);
  g_assert_cmpfloat (mhar_pool_total (one, "x")[0], ==, mhar_pool_total (three, "x")[0]);
  g_assert_cmpfloat (mhar_pool_total (one, "x")[0], ==, mhar_pool_total (all, "x")[0]);
  g_assert_cmpfloat (mhar_pool_total (all, "x")[1], ==, 21);
  g_assert_cmpfloat (mhar_pool_parity (all, "x", 0)[1], ==, 0 + 2 + 4 + 6);
  g_assert_cmpfloat (mhar_pool_parity (all, "x", 1)[1], ==, 1 + 3 + 5);
  g_assert_cmpfloat (mhar_pool_scalar (three, "hidden"), ==, 7);
  g_assert_null (mhar_pool_total (one, "absent"));
}

/* What came pooled goes out and in again, by halves or as a total; what came by window stays. */
static void
test_pooled (void)
{
  g_autoptr (MharPool) from = fill (3), halves = mhar_pool_new (), totals = mhar_pool_new ();
  g_autoptr (MharDataset) half = mhar_pool_pooled (from), total = mhar_pool_pooled_totals (from);

  g_assert_cmpuint (mhar_dataset_n_fields (half), ==, 1);
  g_assert_cmpuint (mhar_dataset_get (half, "hidden")->shape[0], ==, 2);
  g_assert_cmpuint (mhar_dataset_get (total, "hidden")->n_dims, ==, 0);
  mhar_pool_add_pooled (halves, half);
  for (guint p = 0; p < 2; p++)
    g_assert_cmpfloat (mhar_pool_parity_scalar (halves, "hidden", p), ==, mhar_pool_parity_scalar (from, "hidden", p));
  for (guint i = 0; i < 2; i++)
    mhar_pool_add_pooled_totals (totals, total);
  g_assert_cmpfloat (mhar_pool_scalar (totals, "hidden"), ==, 14);
  g_autoptr (MharDataset) again = mhar_pool_pooled_totals (totals);
  g_assert_cmpfloat (mhar_dataset_get (again, "hidden")->data.f64[0], ==, 14);
  g_assert_null (mhar_pool_total (halves, "x"));
}

/* Sums of `windows` windows, window w being 1 in "ones" and w in "places", kept in slabs of three. */
static MharResampler *
kept (gsize windows)
{
  MharResampler *resampler = mhar_resampler_new ();
  const char *dims[] = { "window" };

  mhar_resampler_keep (resampler, "ones");
  mhar_resampler_keep (resampler, "pla*");
  for (gsize w = 0; w < windows; w += 3) {
    gsize n = MIN (3, windows - w);
    g_autoptr (MharDataset) set = mhar_dataset_new ("sums");
    MharField *ones = mhar_dataset_add (set, mhar_field_new ("ones", "", "1", MHAR_FIELD_F64, 1, dims, &n));
    MharField *places = mhar_dataset_add (set, mhar_field_new ("places", "", "1", MHAR_FIELD_F64, 1, dims, &n));
    mhar_dataset_add (set, mhar_field_new ("other", "", "1", MHAR_FIELD_F64, 1, dims, &n));
    for (gsize i = 0; i < n; i++) {
      ones->data.f64[i] = 1;
      places->data.f64[i] = (double)(w + i);
    }
    mhar_resampler_add (resampler, set, w);
  }
  return resampler;
}

/* As many entries as before, of either parity where they were; on average the sums of the run; and no more than 256. */
static void
test_resample (void)
{
  static const guint64 lengths[][3]
      = { { 1, 1, 1 },     { 2, 2, 2 },     { 8, 8, 2 },     { 28, 28, 4 },           { 255, 255, 7 },
          { 256, 256, 7 }, { 257, 129, 6 }, { 512, 256, 7 }, { 1025, 257 / 2 + 1, 6 } };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    g_autoptr (MharResampler) resampler = kept (lengths[i][0]);
    gsize windows = lengths[i][0];
    double ones = 0, places = 0;

    g_assert_cmpuint (mhar_resampler_entries (resampler), ==, lengths[i][1]);
    g_assert_cmpuint (mhar_resampler_block (resampler), ==, lengths[i][2]);
    for (guint b = 0; b < 500; b++) {
      g_autoptr (MharPool) pool = mhar_resampler_pool (resampler, 3, b);
      g_assert_null (mhar_pool_total (pool, "other"));
      g_assert_cmpuint (mhar_pool_windows (pool), ==, windows);
      if (lengths[i][1] == windows)
        g_assert_cmpfloat (mhar_pool_scalar (pool, "ones"), ==, (double)windows);
      ones += mhar_pool_scalar (pool, "ones") / 500;
      places += mhar_pool_scalar (pool, "places") / 500;
    }
    g_assert_cmpfloat_with_epsilon (ones, (double)windows, 0.02 * (double)windows);
    g_assert_cmpfloat_with_epsilon (places, (double)(windows * (windows - 1)) / 2, 0.05 * (double)(windows * windows));
  }
}

/* Quantiles as NumPy's, what is not finite left out; p-values and what they say. */
static void
test_intervals (void)
{
  double values[] = { 4, NAN, 1, 3, 2, INFINITY, 5 }, few[] = { 1, NAN, NAN }, low, high;
  const double null[] = { 1, 9, 2, 9, 3, 9 };

  g_assert_true (mhar_interval (values, 7, &low, &high));
  g_assert_cmpfloat_with_epsilon (low, 1.1, 1e-15);
  g_assert_cmpfloat_with_epsilon (high, 4.9, 1e-15);
  g_assert_false (mhar_interval (few, 3, &low, &high));
  /* resamples that all lie on one side of their number, which the interval holds; and no number beyond what it can be */
  double lower[] = { 4, NAN, 1, 3, 2, INFINITY, 5 };
  g_assert_true (mhar_interval_about (10, (MharRange){ 0, INFINITY }, lower, 7, &low, &high));
  g_assert_cmpfloat_with_epsilon (low, 8.1, 1e-15);
  g_assert_cmpfloat_with_epsilon (high, 11.9, 1e-14);
  g_assert_true (mhar_interval_about (1, (MharRange){ 0, 2 }, lower, 5, &low, &high));
  g_assert_cmpfloat (low, ==, 0);
  g_assert_cmpfloat (high, ==, 2);
  g_assert_false (mhar_interval_about (NAN, (MharRange){ 0, 2 }, lower, 5, &low, &high));
  g_assert_false (mhar_interval_about (1, (MharRange){ 0, 2 }, few, 3, &low, &high));
  g_assert_cmpfloat (mhar_p_value (2, null, 3, 2), ==, 3.0 / 4);
  g_assert_cmpfloat (mhar_p_value (4, null, 3, 2), ==, 1.0 / 4);
  const double lost[] = { 1, NAN, 3 };
  g_assert_true (isnan (mhar_p_value (2, lost, 3, 1)) && isnan (mhar_p_value (NAN, null, 3, 1)));
  g_assert_cmpint (mhar_verdict (1.0 / 19, 18, NAN), ==, MHAR_VERDICT_TOO_FEW);
  g_assert_cmpint (mhar_verdict (1.0 / 20, 19, NAN), ==, MHAR_VERDICT_ABOVE);
  g_assert_cmpint (mhar_verdict (2.0 / 40, 39, NAN), ==, MHAR_VERDICT_ABOVE);
  g_assert_cmpint (mhar_verdict (3.0 / 40, 39, NAN), ==, MHAR_VERDICT_ALIKE);
  g_assert_cmpint (mhar_verdict (39.0 / 40, 39, NAN), ==, MHAR_VERDICT_BELOW);
  g_assert_cmpint (mhar_verdict (1, 39, NAN), ==, MHAR_VERDICT_BELOW);
  g_assert_cmpint (mhar_verdict (1, 39, -1e-6), ==, MHAR_VERDICT_BELOW);
  g_assert_cmpint (mhar_verdict (1, 39, -1e-9), ==, MHAR_VERDICT_ALIKE); /* every draw is the same */
  g_assert_cmpint (mhar_verdict (NAN, 39, NAN), ==, MHAR_VERDICT_NONE);
  g_assert_cmpint (mhar_verdict (1, 0, NAN), ==, MHAR_VERDICT_NONE);
}

static void
check_cut (gsize n, gsize context, gsize skip, gsize full, gsize rest)
{
  MharWindows w = mhar_windows_cut (n, context, skip);
  g_assert_cmpuint (w.full, ==, full);
  g_assert_cmpuint (w.rest, ==, rest);
  g_assert_cmpuint (w.total, ==, full * context + rest);
}

static void
test_windows (void)
{
  check_cut (600, 256, 0, 2, 88);
  check_cut (513, 256, 0, 2, 0); /* a last window of one id has nothing to predict */
  check_cut (514, 256, 0, 2, 2);
  check_cut (300, 128, 8, 2, 44);
  check_cut (262, 128, 8, 2, 0); /* six ids, eight skipped */
  check_cut (100, 64, 64, 0, 0);
  check_cut (1, 64, 0, 0, 0);
  check_cut (0, 64, 0, 0, 0);
}

/* Four sites that take part and one that does not, two columns; two draws, whose means are 1 and 3. */
static void
test_disagreement (void)
{
  g_autoptr (MharDataset) out = mhar_dataset_new ("x");
  double trained[] = { 40, 40, 10, 10, NAN, NAN, 60, 0, 0, 40 };
  const double null[] = { 5, 10, 5, 10, NAN, NAN, 5, 20, 5, 20 };
  g_autoptr (MharPlan) plan = mhar_plan_new ("test", "full", 5, 8, 1);
  int rows[2] = { mhar_plan_add_row (plan, "a"), mhar_plan_add_row (plan, "b") };
  MharDisagreement d
    = { .plan = plan, .trained = trained, .null = null, .n_sites = 5, .columns = 2, .draws = 2, .tokens = 10, .null_tokens = 5 };

  for (int s = 0; s < 5; s++)
    mhar_plan_add_site (plan, MHAR_SITE_ATTN, s, rows, s == 2 ? 1 : 2, 1, FALSE, g_new0 (double, 8), g_new0 (double, 8));
  mhar_disagreement_scalars (&d, "kl", out);
  g_assert_cmpfloat (mhar_dataset_real (out, "kl_trained", NAN), ==, 2.5);
  g_assert_cmpfloat (mhar_dataset_real (out, "kl_median", NAN), ==, 2.5);
  g_assert_cmpfloat (mhar_dataset_real (out, "kl_null", NAN), ==, 2);
  g_assert_cmpfloat_with_epsilon (mhar_dataset_real (out, "kl_null_sd", NAN), sqrt (2), 1e-15);
  g_assert_cmpfloat (mhar_dataset_real (out, "kl_excess", NAN), ==, 0.5);
  g_assert_cmpfloat (mhar_dataset_get (out, "kl_site")->data.f64[0], ==, 4);
  g_assert_true (isnan (mhar_dataset_get (out, "kl_site")->data.f64[2]));
  g_assert_cmpfloat (mhar_dataset_get (out, "kl_null_site")->data.f64[4], ==, 2.5);
  mhar_disagreement_p_values (&d, "kl", out);
  g_assert_cmpfloat (mhar_dataset_real (out, "kl_p_value", NAN), ==, 2.0 / 3); /* of 1 and 3, one is at least 2.5 */
  g_assert_cmpfloat (mhar_dataset_get (out, "kl_p_value")->data.f64[0], ==, 1.0 / 3);
  g_assert_true (isnan (mhar_dataset_get (out, "kl_p_value")->data.f64[2]));
  g_assert_cmpfloat_with_epsilon (mhar_dataset_real (out, "kl_null_draw_low", NAN), 1 + 0.025 * 2, 1e-15);
  g_autoptr (MharDataset) bare = mhar_dataset_new ("x");
  d.null = NULL;
  d.draws = 0;
  mhar_disagreement_scalars (&d, "kl", bare);
  mhar_disagreement_p_values (&d, "kl", bare);
  g_assert_true (isnan (mhar_dataset_real (bare, "kl_null", NAN)));
  g_assert_true (isnan (mhar_dataset_real (bare, "kl_p_value", NAN)));
  /* a number that is none at a site that takes part is not left out of the mean, nor judged */
  trained[6] = NAN;
  d.null = null;
  d.draws = 2;
  mhar_disagreement_scalars (&d, "nan", bare);
  mhar_disagreement_p_values (&d, "nan", bare);
  g_assert_true (isnan (mhar_dataset_real (bare, "nan_trained", 0)) && isnan (mhar_dataset_real (bare, "nan_median", 0)));
  g_assert_true (isnan (mhar_dataset_real (bare, "nan_p_value", 0)));
}

static void
test_pearson (void)
{
  const double a[] = { 1, 2, 3, 4 }, b[] = { -2, -4, -6, -8 }, c[] = { 1, 0, 0, 1 }, flat[] = { 5, 5, 5, 5 };

  g_assert_cmpfloat_with_epsilon (mhar_pearson (a, b, 4), -1, 1e-15);
  g_assert_cmpfloat_with_epsilon (mhar_pearson (a, c, 4), 0, 1e-15);
  g_assert_true (isnan (mhar_pearson (a, flat, 4)));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pool/order", test_order);
  g_test_add_func ("/pool/pooled", test_pooled);
  g_test_add_func ("/pool/resample", test_resample);
  g_test_add_func ("/pool/intervals", test_intervals);
  g_test_add_func ("/pool/windows", test_windows);
  g_test_add_func ("/pool/disagreement", test_disagreement);
  g_test_add_func ("/pool/pearson", test_pearson);
  return g_test_run ();
}
