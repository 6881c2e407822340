/* SPDX-License-Identifier: MIT */
/* What reads are made of: lists of extreme tokens, bins of positions, texts repaired and turned, the words of cells.
 * The numbers themselves are held against the oracle by tests/numeric/test_reads.py. */
#include "core/error.h"
#include "core/field.h"
#include "core/tokenizer.h"
#include "probes/reads-private.h"

#include <math.h>

/* In whatever order tokens come, in however many parts, the list is the same: by weight, equal ones by place. */
static void
test_order (void)
{
  static const float weights[] = { 0.5f, 0.25f, 0.5f, NAN, 0.75f, 0.25f, 0.5f, 0.0f, 1.0f, 0.25f, 0.5f };
  static const gint32 most[] = { 8, 4, 0, 2, 6 }, least[] = { 7, 1, 5, 9, 0 };
  guint n = G_N_ELEMENTS (weights);

  for (guint step = 1; step < n; step++) /* n is a prime: every step meets every token */
    for (guint parts = 1; parts <= 3; parts++)
      for (guint which = 0; which < 2; which++) {
        g_autoptr (MharTopTokens) all = mhar_top_tokens_new (5, which == 1);
        for (guint p = 0; p < parts; p++) {
          g_autoptr (MharTopTokens) part = mhar_top_tokens_new (5, which == 1);
          for (guint i = p; i < n; i += parts)
            mhar_top_tokens_add (part, (gint32) (i * step % n), weights[i * step % n]);
          for (guint i = 0; i < part->n; i++)
            mhar_top_tokens_add (all, part->tokens[i], part->weights[i]);
        }
        g_assert_cmpuint (all->n, ==, 5);
        for (guint i = 0; i < 5; i++) {
          g_assert_cmpint (all->tokens[i], ==, (which == 1 ? least : most)[i]);
          g_assert_true (all->weights[i] == weights[all->tokens[i]]);
        }
      }
}

static void
test_few (void)
{
  g_autoptr (MharTopTokens) list = mhar_top_tokens_new (3, FALSE);

  mhar_top_tokens_add (list, 7, NAN);
  g_assert_cmpuint (list->n, ==, 0);
  mhar_top_tokens_add (list, 7, 0.5f);
  mhar_top_tokens_add (list, 3, 0.5f);
  g_assert_cmpuint (list->n, ==, 2);
  g_assert_cmpint (list->tokens[0], ==, 3);
}

static void
test_bins (void)
{
  static const guint positions[][2]
      = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 }, { 8, 4 }, { 1023, 10 }, { 1024, 11 } };

  for (guint i = 0; i < G_N_ELEMENTS (positions); i++)
    g_assert_cmpuint (mhar_reads_bin (positions[i][0]), ==, positions[i][1]);
}

static void
test_repair (void)
{
  static const struct {
    const char *bytes;
    gsize length;
    const char *text;
  } cases[] = {
    { "", 0, "" },
    { "caf\xc3\xa9", 5, "café" },
    { "\xc3", 1, "\xef\xbf\xbd" },
    { "a\xf0\x9f\x98z", 5, "a\xef\xbf\xbdz" }, /* three of four bytes are one character that is cut */
    { "\x98\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
    { "a\0b", 3, "a\xef\xbf\xbd" "b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = mhar_text_repair (cases[i].bytes, cases[i].length);
    g_assert_cmpstr (text, ==, cases[i].text);
    g_assert_true (g_utf8_validate (text, -1, NULL));
  }
}

static void
test_leftward (void)
{
  g_assert_true (mhar_text_runs_leftward ("abc مرحبا"));
  g_assert_true (mhar_text_runs_leftward ("שלום"));
  g_assert_false (mhar_text_runs_leftward ("naïve 日本語 😀"));
  g_assert_false (mhar_text_runs_leftward (""));
}

static void
test_words (void)
{
  static const char *const bad[]
      = { "",        "L1.mlp", "L1.mlp:0", "L1.mlp:0:", ":0:0",   "L1.mlp:x:0", "L1.mlp:-1:0", "L1.mlp:70000:0",
          "a:0:0:0", "a:0:0,", ",",        "+:0:0:",    "a*b:0:0" };
  g_autoptr (GPtrArray) list = mhar_reads_specs_new ();

  g_assert_true (mhar_reads_specs_parse (list, MHAR_READS_DEFAULT "," MHAR_READS_ALL ",L1.mlp+:3:embed", NULL));
  g_assert_cmpuint (list->len, ==, 3);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (mhar_reads_specs_parse (list, bad[i], &error));
    g_assert_error (error, MHAR_ERROR, MHAR_ERROR_USAGE);
    g_assert_cmpuint (list->len, ==, 3); /* nothing of it was taken */
  }
}

static void
test_steal (void)
{
  g_autoptr (MharDataset) set = mhar_dataset_new ("a");
  MharDataset *child = mhar_dataset_new ("c");

  mhar_dataset_add_child (set, mhar_dataset_new ("b"));
  mhar_dataset_add_child (set, child);
  g_assert_null (mhar_dataset_steal_child (set, "d"));
  g_autoptr (MharDataset) taken = mhar_dataset_steal_child (set, "c");
  g_assert_true (taken == child);
  g_assert_cmpuint (mhar_dataset_n_children (set), ==, 1);
  g_assert_null (mhar_dataset_steal_child (set, "c"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reads/order", test_order);
  g_test_add_func ("/reads/few", test_few);
  g_test_add_func ("/reads/bins", test_bins);
  g_test_add_func ("/reads/repair", test_repair);
  g_test_add_func ("/reads/leftward", test_leftward);
  g_test_add_func ("/reads/words", test_words);
  g_test_add_func ("/reads/steal", test_steal);
  return g_test_run ();
}
