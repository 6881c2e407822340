/* SPDX-License-Identifier: MIT */
/* probes/intervention and what it leans on: words that are interventions and words that are not, labels that are near,
 * ranks with ties, intervals over windows. What interventions do is tests/numeric/test_interventions.py's. */
#include "core/error.h"
#include "probes/intervention.h"
#include "probes/nearest-label.h"
#include "probes/pool.h"
#include "probes/statistics.h"
#include "probes/window-interval.h"

#include <math.h>
#include <string.h>

static void
test_words (void)
{
  static const struct {
    MharInterventionKind kind;
    const char *text, *specs; /* what they become, separated by blanks */
  } good[] = {
    { MHAR_INTERVENTION_ABLATE, "L3.mlp:embed", "L3.mlp:embed" },
    { MHAR_INTERVENTION_ABLATE, "L3.mlp:embed,*:newest,7+:0", "L3.mlp:embed *:newest 7+:0" },
    { MHAR_INTERVENTION_ABLATE, "final:block 2", "final:block 2" },
    { MHAR_INTERVENTION_ABLATE, "L1.mlp:stream (= block 1)", "L1.mlp:stream (= block 1)" },
    { MHAR_INTERVENTION_CONSENSUS, "*", "consensus=*" },
    { MHAR_INTERVENTION_CONSENSUS, "L3.mlp+,final", "consensus=L3.mlp+ consensus=final" },
    { MHAR_INTERVENTION_SWAP, "0-1", "swap-heads=*:0-1" },
    { MHAR_INTERVENTION_SWAP, "L3.mlp:2-3", "swap-heads=L3.mlp:2-3" },
    { MHAR_INTERVENTION_PERMUTE, "*", "permute-heads=*" },
    { MHAR_INTERVENTION_NULL, "4", "null-query=4" },
    { MHAR_INTERVENTION_UNIFORM, "*", "uniform=*" },
    { MHAR_INTERVENTION_TOP, "2", "top-k=*:2" },
    { MHAR_INTERVENTION_TOP, "1,final:3", "top-k=*:1 top-k=final:3" },
    { MHAR_INTERVENTION_REGROUP, "L2.attn+:8", "regroup=L2.attn+:8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autoptr (GPtrArray) list = mhar_interventions_new ();
    g_autoptr (GString) specs = g_string_new (NULL);
    GError *error = NULL;
    g_assert_true (mhar_interventions_parse (list, good[i].kind, good[i].text, &error));
    g_assert_no_error (error);
    for (guint k = 0; k < list->len; k++)
      g_string_append_printf (specs, "%s%s", k > 0 ? " " : "", ((MharIntervention *) g_ptr_array_index (list, k))->spec);
    g_assert_cmpstr (specs->str, ==, good[i].specs);
  }
}

static void
test_refused_words (void)
{
  static const struct {
    MharInterventionKind kind;
    const char *text;
  } bad[] = {
    { MHAR_INTERVENTION_ABLATE, "" },        { MHAR_INTERVENTION_ABLATE, "L3.mlp" },
    { MHAR_INTERVENTION_ABLATE, "L3.mlp:" }, { MHAR_INTERVENTION_ABLATE, ":embed" },
    { MHAR_INTERVENTION_ABLATE, "a:b," },    { MHAR_INTERVENTION_ABLATE, "+:embed" },
    { MHAR_INTERVENTION_ABLATE, "*+:embed" }, { MHAR_INTERVENTION_ABLATE, "L1.mlp++:embed" },
    { MHAR_INTERVENTION_CONSENSUS, "" },     { MHAR_INTERVENTION_CONSENSUS, "a:b" },
    { MHAR_INTERVENTION_CONSENSUS, "+" },    { MHAR_INTERVENTION_SWAP, "1" },
    { MHAR_INTERVENTION_SWAP, "1-1" },       { MHAR_INTERVENTION_SWAP, "0-1-2" },
    { MHAR_INTERVENTION_SWAP, "a-b" },       { MHAR_INTERVENTION_SWAP, "*:" },
    { MHAR_INTERVENTION_TOP, "0" },          { MHAR_INTERVENTION_TOP, "-1" },
    { MHAR_INTERVENTION_TOP, "1.5" },        { MHAR_INTERVENTION_TOP, "99999999999999999999" },
    { MHAR_INTERVENTION_REGROUP, "0" },      { MHAR_INTERVENTION_REGROUP, "*:x" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GPtrArray) list = mhar_interventions_new ();
    g_autoptr (GError) error = NULL;
    g_autofree char *option = g_strdup_printf ("--%s takes ", mhar_intervention_name (bad[i].kind));
    g_assert_false (mhar_interventions_parse (list, bad[i].kind, bad[i].text, &error));
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_USAGE);
    g_assert_true (g_str_has_prefix (error->message, option));
    g_assert_cmpuint (list->len, ==, 0);
  }
}

/* Words of every letter, short ones: none crashes, and what is taken is taken again as it is written. */
static void
test_any_words (void)
{
  static const char letters[] = "a1:,+*-=.L ";

  for (guint n = 0; n < 20000; n++) {
    char text[8] = "";
    for (guint i = 0, rest = n; i < 1 + n % 6; i++, rest /= 11)
      text[i] = letters[(rest + i * 7) % 11];
    for (MharInterventionKind kind = MHAR_INTERVENTION_ABLATE; kind <= MHAR_INTERVENTION_REGROUP; kind++) {
      g_autoptr (GPtrArray) list = mhar_interventions_new (), again = mhar_interventions_new ();
      if (!mhar_interventions_parse (list, kind, text, NULL))
        continue;
      for (guint k = 0; k < list->len; k++) {
        const char *spec = ((MharIntervention *) g_ptr_array_index (list, k))->spec;
        const char *words = kind == MHAR_INTERVENTION_ABLATE ? spec : strchr (spec, '=') + 1;
        g_assert_true (mhar_interventions_parse (again, kind, words, NULL));
        g_assert_cmpstr (((MharIntervention *) g_ptr_array_index (again, k))->spec, ==, spec);
      }
    }
  }
}

static void
test_nearest (void)
{
  g_autoptr (GPtrArray) labels = g_ptr_array_new ();
  g_autofree char *one = NULL, *three = NULL, *two = NULL;

  g_ptr_array_add (labels, (gpointer) "L3.mlp");
  g_ptr_array_add (labels, (gpointer) "L3.mlp");
  one = mhar_nearest_labels ("x", labels);
  g_assert_cmpstr (one, ==, "L3.mlp");
  g_ptr_array_add (labels, (gpointer) "final");
  two = mhar_nearest_labels ("finale", labels);
  g_assert_cmpstr (two, ==, "final or L3.mlp");
  g_ptr_array_add (labels, (gpointer) "L13.mlp");
  g_ptr_array_add (labels, (gpointer) "L3.attn");
  three = mhar_nearest_labels ("l3.MPL", labels);
  g_assert_cmpstr (three, ==, "L3.mlp, L13.mlp or L3.attn");
}

static void
test_ranks (void)
{
  const double a[] = { 1, 2, 3, 4 }, b[] = { 1, 8, 27, 1e9 }, c[] = { 4, 3, 2, 1 }, tied[] = { 5, 5, 6, 6 }, flat[] = { 2, 2, 2, 2 };

  g_assert_cmpfloat (mhar_spearman (a, b, 4), ==, 1);
  g_assert_cmpfloat (mhar_spearman (a, c, 4), ==, -1);
  g_assert_cmpfloat_with_epsilon (mhar_spearman (a, tied, 4), 2 / sqrt (5), 1e-15); /* ranks 0.5, 0.5, 2.5, 2.5 */
  g_assert_true (isnan (mhar_spearman (a, flat, 4)));
}

static gboolean
interval_of (guint64 seed, const double *value, gsize stride, const double *count, gsize n, double *low, double *high)
{
  g_autoptr (MharWindowResamples) resamples = mhar_window_resamples_new (seed, count, n);
  return mhar_window_interval (resamples, value, stride, low, high);
}

static void
test_interval (void)
{
  double value[40], count[40], low, high, again_low, again_high, sum = 0;

  for (guint w = 0; w < 40; w++) {
    value[w] = (w * 7919) % 13;
    count[w] = 2;
    sum += value[w];
  }
  g_assert_true (interval_of (3, value, 1, count, 40, &low, &high));
  g_assert_cmpfloat (low, <, sum / 80);
  g_assert_cmpfloat (high, >, sum / 80);
  g_assert_true (interval_of (3, value, 1, count, 40, &again_low, &again_high));
  g_assert_cmpfloat (low, ==, again_low);
  g_assert_cmpfloat (high, ==, again_high);
  g_assert_true (interval_of (4, value, 1, count, 40, &again_low, &again_high));
  g_assert_true (low != again_low || high != again_high);
  for (guint w = 0; w < 40; w++)
    value[w] = 6;
  g_assert_true (interval_of (3, value, 1, count, 40, &low, &high));
  g_assert_cmpfloat (low, ==, 3);
  g_assert_cmpfloat (high, ==, 3);
  g_assert_true (interval_of (3, value, 2, count, 20, &low, &high));
  g_assert_false (interval_of (3, value, 1, count, 2, &low, &high));
  g_assert_true (isnan (low) && isnan (high));
}

static void
test_series (void)
{
  g_autoptr (MharPool) pool = mhar_pool_new ();
  const char *dims[] = { "window", "site" };

  mhar_pool_keep (pool, "x");
  for (guint64 first = 0; first < 4; first += 2) {
    g_autoptr (MharDataset) slab = mhar_dataset_new ("sums");
    gsize shape[] = { 2, 3 };
    MharField *x = mhar_dataset_add (slab, mhar_field_new ("x", "x", "1", MHAR_FIELD_F64, 2, dims, shape));
    MharField *y = mhar_dataset_add (slab, mhar_field_new ("y", "y", "1", MHAR_FIELD_F64, 2, dims, shape));
    for (guint i = 0; i < 6; i++)
      x->data.f64[i] = y->data.f64[i] = (double) first * 3 + i;
    mhar_pool_add (pool, slab, first);
  }
  for (guint i = 0; i < 12; i++)
    g_assert_cmpfloat (mhar_pool_series (pool, "x")[i], ==, i);
  g_assert_cmpfloat (mhar_pool_total (pool, "x")[0], ==, 0 + 3 + 6 + 9);
  g_assert_null (mhar_pool_series (pool, "y"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/intervention/words", test_words);
  g_test_add_func ("/intervention/refused-words", test_refused_words);
  g_test_add_func ("/intervention/any-words", test_any_words);
  g_test_add_func ("/intervention/nearest", test_nearest);
  g_test_add_func ("/intervention/ranks", test_ranks);
  g_test_add_func ("/intervention/interval", test_interval);
  g_test_add_func ("/intervention/series", test_series);
  return g_test_run ();
}
