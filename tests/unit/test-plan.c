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

/* Two streams and one layer, by hand: streams (e, e); attention takes e; then (e + 2a, 3e + a); the MLP takes ¼ of the first and ¾ of
 * the second; after it (m, e + 2a). The last norm takes their mean. */
static MharPlan *
connected_plan (void)
{
  static const double read[][2] = { { 0.5, 0.5 }, { 0.25, 0.75 }, { 0.5, 0.5 } };
  static const double carry[][4] = { { 1, 0, 1, 2 }, { 0, 0, 1, 0 } }, write[][2] = { { 2, 1 }, { 1, 0 } };
  MharPlan *plan = mhar_plan_new ("test", "hyper_connection", 1, 4, 1);

  plan->streams = 2;
  for (int k = 0; k < 3; k++)
    mhar_plan_add_connection (plan, g_memdup2 (read[k], sizeof read[k]), k < 2 ? g_memdup2 (carry[k], sizeof carry[k]) : NULL,
                              k < 2 ? g_memdup2 (write[k], sizeof write[k]) : NULL);
  for (int r = 0; r < 3; r++) {
    mhar_plan_add_row (plan, "row %d", r);
    g_array_append_val (plan->outputs, r);
  }
  mhar_plan_add_step (plan, MHAR_STEP_STORE, 0, MHAR_VALUE_EMBED);
  for (int k = 0; k < 2; k++) {
    mhar_plan_add_step (plan, MHAR_STEP_MIX, k, MHAR_VALUE_STREAM);
    mhar_plan_add_step (plan, k == 0 ? MHAR_STEP_ATTN : MHAR_STEP_MLP, 0, MHAR_VALUE_OUT);
    mhar_plan_add_step (plan, MHAR_STEP_STORE, k + 1, MHAR_VALUE_OUT);
    mhar_plan_add_step (plan, MHAR_STEP_SPREAD, k, MHAR_VALUE_OUT);
  }
  mhar_plan_add_step (plan, MHAR_STEP_MIX, 2, MHAR_VALUE_STREAM);
  return plan;
}

static void
test_depth_coefficients (void)
{
  static const double want[] = { 1, 0, 0, 2.5, 1.25, 0, 0.5, 1, 0.5 };
  g_autoptr (MharPlan) plan = connected_plan ();
  g_autoptr (GError) error = NULL;

  g_assert_true (mhar_plan_check (plan, &error));
  g_assert_no_error (error);
  g_autofree double *map = mhar_plan_depth_coefficients (plan);
  for (guint i = 0; i < G_N_ELEMENTS (want); i++)
    g_assert_cmpfloat_with_epsilon (map[i], want[i], 1e-15);
  plan->streams = 0;
  g_assert_false (mhar_plan_check (plan, NULL));
  plan->streams = 2;
  g_array_index (plan->steps, MharStep, 4).index = 2; /* written through a connection that only reads */
  g_assert_false (mhar_plan_check (plan, NULL));
}

static void
test_source_label (void)
{
  g_autoptr (MharPlan) plan = small_plan ();
  MharSite *site = g_ptr_array_index (plan->sites, 1);

  g_assert_cmpuint (mhar_plan_count_twice (plan), ==, 0);
  site->sources[1] = 0;
  g_autofree char *first = mhar_plan_source_label (plan, site, 0), *second = mhar_plan_source_label (plan, site, 1);
  g_assert_cmpstr (first, ==, "embed");
  g_assert_cmpstr (second, ==, "stream (= embed)");
  g_assert_cmpuint (mhar_plan_count_twice (plan), ==, 1);
}

/* Each gate or whole read that cannot be run. */
static void
test_bad_site (void)
{
  for (int what = 0; what < 5; what++) {
    g_autoptr (MharPlan) plan = small_plan ();
    g_autoptr (GError) error = NULL;
    MharSite *first = g_ptr_array_index (plan->sites, 0), *last = g_ptr_array_index (plan->sites, 1);
    if (what == 0)
      first->gate = (MharGate){ MHAR_GATE_VECTOR, 0, 0, 0 };
    else if (what == 1) {
      first->whole = TRUE;
      first->mode = MHAR_READ_ADD;
    } else if (what == 2) {
      first->gate.kind = MHAR_GATE_ALPHA;
      first->base = MHAR_VALUE_EMBED;
    } else if (what == 3)
      last->whole = TRUE; /* nothing after it takes a mix a group */
    else
      g_array_set_size (plan->outputs, 1), g_array_index (plan->outputs, int, 0) = 7;
    g_assert_false (mhar_plan_check (plan, &error));
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_INPUT);
    g_test_message ("%s", error->message);
  }
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
    { "source-not-stored", 3, { MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT, -1 } },
    { "read-out-of-order", 1, { MHAR_STEP_READ, 1, MHAR_VALUE_OUT, -1 } },
    { "site-never-read", 1, { MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT, -1 } },
    { "stored-twice", 3, { MHAR_STEP_STORE, 0, MHAR_VALUE_OUT, -1 } },
    { "row-out-of-range", 3, { MHAR_STEP_STORE, 7, MHAR_VALUE_OUT, -1 } },
    { "layer-out-of-range", 2, { MHAR_STEP_MLP, 1, MHAR_VALUE_OUT, -1 } },
    { "no-last-read", 4, { MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT, -1 } },
    { "row-less-a-later-row", 0, { MHAR_STEP_STORE, 0, MHAR_VALUE_STREAM_LESS, 1 } },
    { "row-of-no-tensor", 3, { MHAR_STEP_STORE, 1, MHAR_VALUE_TENSOR, 0 } },
    { "output-before-any", 0, { MHAR_STEP_STORE, 0, MHAR_VALUE_OUT, -1 } },
    { "stream-set-before-any", 0, { MHAR_STEP_STREAM_SET, 0, MHAR_VALUE_OUT, -1 } },
    { "mix-without-streams", 1, { MHAR_STEP_MIX, 0, MHAR_VALUE_OUT, -1 } },
    { "read-for-nobody", 2, { MHAR_STEP_STREAM_ADD, 0, MHAR_VALUE_OUT, -1 } },
    { "unknown-step", 2, { (MharStepKind) 99, 0, MHAR_VALUE_OUT, -1 } },
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/good", test_good);
  g_test_add_func ("/plan/scored-query", test_scored_query);
  g_test_add_func ("/plan/depth-coefficients", test_depth_coefficients);
  g_test_add_func ("/plan/source-label", test_source_label);
  g_test_add_func ("/plan/bad-site", test_bad_site);
  for (guint i = 0; i < G_N_ELEMENTS (spoilt); i++) {
    g_autofree char *path = g_strdup_printf ("/plan/bad/%s", spoilt[i].what);
    g_test_add_data_func (path, &spoilt[i], test_bad);
  }
  return g_test_run ();
}
