/* SPDX-License-Identifier: MIT */
/* Plans: a right one passes, each kind of wrong one is refused. */
#include "core/error.h"
#include "core/plan.h"

static MharPlan *
small_plan (void)
{
  MharPlan *plan = mhar_plan_new ("test", "full", 1, 4, 1);
  int sources[] = { 0, 1 };

  mhar_plan_add_row (plan, "embed");
  mhar_plan_add_row (plan, "L%d.attn", 0);
  mhar_plan_add_site (plan, MHAR_SITE_ATTN, 0, sources, 1, 1, FALSE, g_new0 (double, 4), g_new0 (double, 4));
  mhar_plan_add_site (plan, MHAR_SITE_FINAL, -1, sources, 2, 1, FALSE, g_new0 (double, 4), g_new0 (double, 4));
  mhar_plan_add_step (plan, MHAR_STEP_STORE, 0, MHAR_VALUE_EMBED);
  mhar_plan_add_step (plan, MHAR_STEP_READ, 0, MHAR_VALUE_OUT);
  mhar_plan_add_step (plan, MHAR_STEP_ATTN, 0, MHAR_VALUE_OUT);
  mhar_plan_add_step (plan, MHAR_STEP_STORE, 1, MHAR_VALUE_OUT);
  mhar_plan_add_step (plan, MHAR_STEP_READ, 1, MHAR_VALUE_OUT);
  return plan;
}

static void
test_good (void)
{
  g_autoptr (MharPlan) plan = small_plan ();
  g_autoptr (GError) error = NULL;

  g_assert_true (mhar_plan_check (plan, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (mhar_plan_site (plan, 0)->label, ==, "L0.attn");
  g_assert_cmpint (mhar_plan_site (plan, 0)->number, ==, 0);
  g_assert_cmpstr (mhar_plan_site (plan, 1)->label, ==, "final");
  g_assert_cmpint (mhar_plan_site (plan, 1)->number, ==, 2);
  g_assert_cmpstr (mhar_plan_row (plan, 1), ==, "L0.attn");
}

typedef struct {
  const char *what;
  guint step; /* which step of the small plan is spoilt */
  MharStep with;
} Spoilt;

static void
test_bad (gconstpointer data)
{
  const Spoilt *spoilt = data;
  g_autoptr (MharPlan) plan = small_plan ();
  g_autoptr (GError) error = NULL;

  g_array_index (plan->steps, MharStep, spoilt->step) = spoilt->with;
  g_assert_false (mhar_plan_check (plan, &error));
  g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
}

static void
test_scored_query (void)
{
  MharSite site = { .heads = 2, .whole = TRUE };
  double query[] = { 1, 2, 3, 4, 5, 6 }, gain[] = { 10, 100, 1000 };

  site.query = query;
  site.gain = gain;
  g_autofree double *scored = mhar_site_scored_query (&site, NULL, 3);
  const double want[] = { 10, 200, 3000, 40, 500, 6000 };
  g_assert_cmpmem (scored, sizeof want, want, sizeof want);
}

int
main (int argc, char **argv)
{
  static const Spoilt spoilt[] = {
    { "source-not-stored", 3, { MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT } },
    { "read-out-of-order", 1, { MHAR_STEP_READ, 1, MHAR_VALUE_OUT } },
    { "site-never-read", 1, { MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT } },
    { "stored-twice", 3, { MHAR_STEP_STORE, 0, MHAR_VALUE_OUT } },
    { "row-out-of-range", 3, { MHAR_STEP_STORE, 7, MHAR_VALUE_OUT } },
    { "layer-out-of-range", 2, { MHAR_STEP_MLP, 1, MHAR_VALUE_OUT } },
    { "no-last-read", 4, { MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT } },
    { "unknown-step", 2, { (MharStepKind) 99, 0, MHAR_VALUE_OUT } },
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/good", test_good);
  g_test_add_func ("/plan/scored-query", test_scored_query);
  for (guint i = 0; i < G_N_ELEMENTS (spoilt); i++) {
    g_autofree char *path = g_strdup_printf ("/plan/bad/%s", spoilt[i].what);
    g_test_add_data_func (path, &spoilt[i], test_bad);
  }
  return g_test_run ();
}
