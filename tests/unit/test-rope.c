/* SPDX-License-Identifier: MIT */
/* core/rope: frequencies and cosines' factor against those of transformers (tests/fixtures/hf), and what holds of any
 * table. */
#include "core/rope.h"

#include "tests/unit/scratch.h"

#include <jansson.h>
#include <math.h>

#define WINDOW 40 /* tokens that make_hf_fixtures.py ran */

static char *
fixture (const char *name, const char *file)
{
  const char *data = g_getenv ("MHAR_TEST_DATA");
  return g_build_filename (data != NULL ? data : "tests", "fixtures", "hf", name, file, NULL);
}

static MharConfig *
load_config (const char *name)
{
  g_autofree char *path = fixture (name, "config.json");
  GError *error = NULL;
  MharConfig *config = mhar_config_load (path, &error);
  g_assert_no_error (error);
  return config;
}

/* Largest relative difference from what is stored for one rotary embedding: float32 numbers. */
static double
difference (const MharRope *rope, int head_dim, const json_t *stored)
{
  json_t *want = json_object_get (stored, "inv_freq"), *value;
  g_autofree double *got = mhar_rope_frequencies (rope, head_dim, WINDOW);
  double factor = json_number_value (json_object_get (stored, "attention")), largest;
  gsize i;
  g_assert_cmpuint (json_array_size (want), ==, (gsize)head_dim / 2);
  g_assert_cmpfloat (factor, >, 0);
  largest = fabs (rope->attention / factor - 1);
  json_array_foreach (want, i, value) {
    largest = fmax (largest, fabs (got[i] / json_number_value (value) - 1));
  }
  return largest;
}

static void
test_transformers (void)
{
  g_autofree char *path = fixture ("rope.json", NULL);
  json_t *all = json_load_file (path, 0, NULL), *fixture_ropes, *one;
  const char *name, *layers;
  double allowance = 2e-6; /* float32, and its power of theta */
  g_assert_true (json_object_size (all) >= 15);
  json_object_foreach (all, name, fixture_ropes) {
    g_autoptr (MharConfig) config = load_config (name);
    const MharBody *body = mhar_config_body (config);
    json_object_foreach (fixture_ropes, layers, one) {
      gboolean sliding = strcmp (layers, "sliding_attention") == 0;
      double largest = difference (&body->rope[sliding], body->head_dim, one);
      g_test_message ("%s %s: largest difference %.1f %% of the allowance", name, layers, 100 * largest / allowance);
      g_assert_cmpfloat (largest, <=, allowance);
    }
  }
  json_decref (all);
}

static void
test_table (void)
{
  const MharRope rope
      = { MHAR_ROPE_YARN, .theta = 700, .factor = 4, .original = 16, .attention = 1.25, .fast = 32, .slow = 1 };
  g_autofree double *f = mhar_rope_frequencies (&rope, 12, 9);
  g_autofree float *table = mhar_rope_table (&rope, 12, 9, 9);
  for (int p = 0; p < 9; p++)
    for (int i = 0; i < 6; i++) {
      g_assert_cmpfloat_with_epsilon (table[12 * p + i], 1.25 * cos (p * f[i]), 1e-6);
      g_assert_cmpfloat_with_epsilon (table[12 * p + 6 + i], 1.25 * sin (p * f[i]), 1e-6);
    }
}

static void
test_dynamic (void)
{
  const MharRope dynamic = { MHAR_ROPE_DYNAMIC, .theta = 1e4, .factor = 2, .original = 16, .attention = 1 };
  const MharRope plain = { MHAR_ROPE_PLAIN, .theta = 1e4, .attention = 1 };
  g_autofree double *within = mhar_rope_frequencies (&dynamic, 8, 16),
                    *beyond = mhar_rope_frequencies (&dynamic, 8, 17), *base = mhar_rope_frequencies (&plain, 8, 17);
  g_assert_cmpmem (within, 4 * sizeof *within, base, 4 * sizeof *base);
  g_assert_cmpfloat (beyond[0], ==, 1);
  for (int i = 1; i < 4; i++)
    g_assert_cmpfloat (beyond[i], <, base[i]);
  g_assert_true (mhar_rope_same (&dynamic, 1, 16));
  g_assert_false (mhar_rope_same (&dynamic, 16, 17));
  g_assert_false (mhar_rope_same (&dynamic, 40, 17));
  g_assert_true (mhar_rope_same (&plain, 1, 1000000));
  g_autofree float *ten = mhar_rope_table (&dynamic, 8, 10, 40), *forty = mhar_rope_table (&dynamic, 8, 40, 40);
  g_assert_cmpmem (ten, 80 * sizeof *ten, forty,
                   80 * sizeof *ten); /* the window decides, not how much of it is asked for */
}

/* Each of the three ranges of llama3 and of a yarn ramp is met, with the values that they are defined by. */
static void
test_ranges (void)
{
  const MharRope llama3
      = { MHAR_ROPE_LLAMA3, .theta = 500000, .factor = 8, .original = 8192, .attention = 1, .low = 1, .high = 4 };
  const MharRope yarn
      = { MHAR_ROPE_YARN, .theta = 1e6, .factor = 4, .original = 32768, .attention = 1, .fast = 32, .slow = 1 };
  const MharRope *ropes[] = { &llama3, &yarn };
  for (gsize k = 0; k < G_N_ELEMENTS (ropes); k++) {
    guint kept = 0, divided = 0, between = 0;
    g_autofree double *f = mhar_rope_frequencies (ropes[k], 128, 1);
    for (int i = 0; i < 64; i++) {
      double plain = pow (ropes[k]->theta, -i / 64.0), ratio = f[i] / plain;
      g_assert_cmpfloat (ratio, <=, 1 + 1e-12);
      g_assert_cmpfloat (ratio, >=, 1 / ropes[k]->factor - 1e-12);
      kept += ratio > 1 - 1e-12;
      divided += ratio < 1 / ropes[k]->factor + 1e-12;
      between += ratio <= 1 - 1e-12 && ratio >= 1 / ropes[k]->factor + 1e-12;
      double turns = ropes[k]->original * plain / (2 * G_PI);
      if (k == 0)
        g_assert_true (turns > 4 ? ratio > 1 - 1e-12 : turns < 1 ? ratio < 0.125 + 1e-12 : TRUE);
    }
    g_test_message ("%u kept, %u between, %u divided", kept, between, divided);
    g_assert_cmpuint (kept, >, 0);
    g_assert_cmpuint (divided, >, 0);
    g_assert_cmpuint (between, >, 0);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rope/transformers", test_transformers);
  g_test_add_func ("/rope/table", test_table);
  g_test_add_func ("/rope/dynamic", test_dynamic);
  g_test_add_func ("/rope/ranges", test_ranges);
  return g_test_run ();
}
