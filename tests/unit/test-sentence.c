/* SPDX-License-Identifier: MIT */
/* The window's words and its table of numbers, on a small made-up run: two sites that count, two heads, three sources.
 */
#include "app/gui/comparison-words.h"
#include "app/gui/dataset-look.h"
#include "app/gui/display.h"
#include "app/gui/numbers.h"
#include "app/gui/sentence.h"
#include "app/gui/verdict-words.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#define SITES 3
#define HEADS 2
#define SOURCES 3
#define DRAWS 39

static MharField *
add (MharDataset *set, const char *name, MharFieldType type, guint n_dims, const char *const *dims, const gsize *shape)
{
  return mhar_dataset_add (set, mhar_field_new (name, name, "1", type, n_dims, dims, shape));
}

static void
add_labels (MharDataset *set)
{
  static const char *const sites[] = { "L0.attn", "L0.mlp", "final" }, *const sources[]
                                                                       = { "embed", "L0.attn", "L0.mlp" };
  const char *dims[] = { "site", "source" };
  const gsize shape[] = { SITES, SOURCES };
  MharField *site = add (set, "site_label", MHAR_FIELD_STRING, 1, dims, shape);
  MharField *source = add (set, "source_label", MHAR_FIELD_STRING, 2, dims, shape);
  MharField *n_sources = add (set, "n_sources", MHAR_FIELD_I32, 1, dims, shape);
  MharField *n_heads = add (set, "n_heads", MHAR_FIELD_I32, 1, dims, shape);

  for (int s = 0; s < SITES; s++) {
    site->data.str[s] = g_strdup (sites[s]);
    n_sources->data.i32[s] = s + 1;
    n_heads->data.i32[s] = HEADS;
    for (int n = 0; n <= s; n++)
      source->data.str[s * SOURCES + n] = g_strdup (sources[n]);
  }
}

static double *
add_f64 (MharDataset *set, const char *name, gsize columns, const char *dim)
{
  const char *dims[] = { "site", dim };
  const gsize shape[] = { SITES, columns };
  return add (set, name, MHAR_FIELD_F64, columns > 1 ? 2 : 1, dims, shape)->data.f64;
}

/* A null of DRAWS draws whose largest deviations at L0.mlp are 0.01, 0.02 …, and p-values as given. */
static void
add_null (MharDataset *set, double p)
{
  double *null = add_f64 (set, "max_deviation_null", DRAWS, "draw");

  for (gsize i = 0; i < SITES * DRAWS; i++)
    null[i] = i / DRAWS == 1 ? 0.01 * (double)(i % DRAWS + 1) : NAN;
  add_f64 (set, "head_js_p_value", 1, "")[1] = p;
  add_f64 (set, "head_js_site_low", 1, "")[1] = 0.04;
  add_f64 (set, "head_js_site_high", 1, "")[1] = 0.06;
  mhar_dataset_set_integer (set, "draws", DRAWS);
}

/* At L0.mlp head 0 reads 80 % of embed, head 1 60 %: deviations of ±10 points. */
static MharDataset *
new_run (void)
{
  const char *dims[] = { "site", "head", "source" }, *null_dims[] = { "site", "draw" };
  const gsize shape[] = { SITES, HEADS, SOURCES }, null_shape[] = { SITES, 3 };
  static const float embed[HEADS] = { 0.8f, 0.6f };
  MharDataset *set = mhar_dataset_new ("checkpoint");

  add_labels (set);
  MharField *weight = add (set, "weight", MHAR_FIELD_F32, 3, dims, shape);
  MharField *spread = add (set, "weight_sd", MHAR_FIELD_F32, 3, dims, shape);
  MharField *deviation = add (set, "deviation", MHAR_FIELD_F32, 3, dims, shape);
  MharField *entropy = add (set, "entropy", MHAR_FIELD_F32, 2, dims, shape);
  MharField *js = add (set, "head_js", MHAR_FIELD_F32, 1, dims, shape);
  MharField *null = add (set, "head_js_null", MHAR_FIELD_F32, 2, null_dims, null_shape);
  for (int h = 0; h < HEADS; h++) {
    gsize at = (gsize)(HEADS + h) * SOURCES;
    weight->data.f32[h * SOURCES] = 1;
    weight->data.f32[at] = embed[h];
    weight->data.f32[at + 1] = 1 - embed[h];
    spread->data.f32[at] = spread->data.f32[at + 1] = 0.07f;
    deviation->data.f32[at] = embed[h] - 0.7f;
    deviation->data.f32[at + 1] = 0.7f - embed[h];
    entropy->data.f32[HEADS + h] = 0.5f;
  }
  js->data.f32[1] = 0.05f;
  for (int j = 0; j < 3; j++)
    null->data.f32[3 + j] = 0.01f * (float)(j + 1); /* 0.02 ± 0.01 */
  mhar_dataset_set_integer (set, "sites", SITES);
  return set;
}

static void
says (const MharDataset *set, const MharDataset *other, MharPage page, int site, int head, int source,
      const char *wanted)
{
  g_autofree char *said = mhar_sentence (set, other, FALSE, &(MharPoint){ page, site, head, source });
  g_assert_cmpstr (said, ==, wanted);
}

static void
test_maps (void)
{
  g_autoptr (MharDataset) set = new_run (), with = new_run ();

  says (set, NULL, MHAR_PAGE_MAPS, 1, 0, 0,
        "L0.mlp, head 0 reads 80.0 % of embed (± 7.0 between tokens), 10.0 points above the head mean; there is no null "
        "to compare with");
  add_null (with, 0.5);
  /* 30 of 39 draws reach 0.1. */
  says (with, NULL, MHAR_PAGE_MAPS, 1, 1, 0,
        "L0.mlp, head 1 reads 60.0 % of embed (± 7.0 between tokens), 10.0 points below the head mean — the deviation: not "
        "distinguishable from its null (p = 0.78)");
  says (set, NULL, MHAR_PAGE_MAPS, 1, -1, 1,
        "L0.mlp, mean of 2 heads, reads 30.0 % of L0.attn — 0.6 times its even share (50.0 %) of 2 sources");
  says (set, NULL, MHAR_PAGE_MAPS, 0, 0, 0, "L0.attn has one source, embed, and reads all of it");
  says (set, NULL, MHAR_PAGE_MAPS, -1, -1, -1, "Point at a cell or a site to read its value here");
}

/* A cell against the largest of each draw: only beyond nearly all of them is it above. */
static void
test_deviation (void)
{
  static const struct {
    double deviation;
    const char *said;
  } cases[] = { { 0.385, "above its null (p = 0.050)" },
                { -0.395, "above its null (p = 0.025)" },
                { 0.375, "not distinguishable from its null (p = 0.075)" },
                { 0.001, "not distinguishable from its null (p = 1)" } };
  g_autoptr (MharDataset) set = new_run ();

  g_assert_null (mhar_deviation_verdict (set, 0.1));
  add_null (set, 0.5);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *said = mhar_deviation_verdict (set, cases[i].deviation);
    g_assert_cmpstr (said, ==, cases[i].said);
  }
}

static void
test_disagreement (void)
{
  g_autoptr (MharDataset) set = new_run (), none = new_run ();

  add_null (set, 0.025);
  says (set, NULL, MHAR_PAGE_DISAGREEMENT, 1, 0, 0,
        "L0.mlp: its heads disagree by 0.0500 [0.0400, 0.0600] nat, its null (random queries) by 0.0200 ± 0.0100 — above its null (p = "
        "0.025)");
  mhar_dataset_get (set, "head_js_p_value")->data.f64[1] = 0.42;
  says (set, NULL, MHAR_PAGE_DISAGREEMENT, 1, 0, 0,
        "L0.mlp: its heads disagree by 0.0500 [0.0400, 0.0600] nat, its null (random queries) by 0.0200 ± 0.0100 — not distinguishable "
        "from its null (p = 0.42)");
  says (none, NULL, MHAR_PAGE_DISAGREEMENT, 1, 0, 0,
        "L0.mlp: its heads disagree by 0.0500 nat, its null (random queries) by 0.0200 ± 0.0100 — this run holds no p-value");
  says (set, NULL, MHAR_PAGE_DISAGREEMENT, 0, 0, 0, "L0.attn has one source: there is nothing to disagree about");
}

/* Window, table and figures say the same. */
static void
test_verdict_words (void)
{
  for (int v = MHAR_VERDICT_NONE; v <= MHAR_VERDICT_TOO_FEW; v++)
    g_assert_cmpstr (mhar_verdict_shown ((MharVerdict)v), ==, mhar_verdict_words ((MharVerdict)v));
}

static void
test_others (void)
{
  g_autoptr (MharDataset) set = new_run (), other = new_run ();

  mhar_dataset_get (other, "weight")->data.f32[HEADS * SOURCES] = 0.7f;
  says (set, other, MHAR_PAGE_COMPARE, 1, 0, 0,
        "L0.mlp, head 0 reads 80.0 % of embed in A and 70.0 % in B: a difference of −10.0 points");
  says (set, NULL, MHAR_PAGE_COMPARE, 1, 0, 0, "Choose a second checkpoint to compare with");
  says (set, NULL, MHAR_PAGE_SOURCES, 1, 0, -1,
        "L0.mlp, head 0 uses its 2 sources as if they were 1.6 (entropy 0.500 nat)");
  says (set, NULL, MHAR_PAGE_COLLINEARITY, 1, 0, 0, "This run holds no collinearity");
  says (NULL, NULL, MHAR_PAGE_MAPS, 1, 0, 0, "");
}

/* The same with one head, which reads 50 % of embed at L0.mlp. */
static MharDataset *
new_run_of_one_head (void)
{
  MharDataset *set = mhar_dataset_new ("checkpoint");
  const char *dims[] = { "site", "head", "source" };
  const gsize shape[] = { SITES, 1, SOURCES };
  float *weight;

  add_labels (set);
  for (int s = 0; s < SITES; s++)
    mhar_dataset_get (set, "n_heads")->data.i32[s] = 1;
  weight = add (set, "weight", MHAR_FIELD_F32, 3, dims, shape)->data.f32;
  weight[0] = 1;
  weight[SOURCES] = weight[SOURCES + 1] = 0.5f;
  return set;
}

/* A head of several is not the one head of another checkpoint: all that is compared is the mean over heads. */
static void
test_numbers_of_heads (void)
{
  g_autoptr (MharDataset) set = new_run (), other = new_run_of_one_head ();
  g_autoptr (MharNumbers) table
      = mhar_numbers_new (&(MharNumbersSource){ .page = MHAR_PAGE_COMPARE, .set = set, .other = other });
  g_autoptr (MharNumbers) alike = mhar_numbers_new (&(MharNumbersSource){ .page = MHAR_PAGE_COMPARE, .set = set, .other = set });

  for (int head = -1; head < HEADS; head++)
    says (set, other, MHAR_PAGE_COMPARE, 1, head, 0,
          "L0.mlp, mean over heads (2 in A, 1 in B), reads 70.0 % of embed in A and 50.0 % in B: a difference of −20.0 points");
  g_assert_cmpuint (mhar_numbers_n_rows (table), ==, 1 + 2 + 3);
  g_assert_cmpstr (mhar_numbers_text (table, 1, 1), ==, "mean");
  g_assert_cmpfloat_with_epsilon (mhar_numbers_value (table, 1, 3), 0.7, 1e-6);
  g_assert_cmpfloat_with_epsilon (mhar_numbers_value (table, 1, 4), 0.5, 1e-6);
  g_assert_cmpfloat_with_epsilon (mhar_numbers_value (table, 1, 5), -0.2, 1e-6);
  g_assert_cmpuint (mhar_numbers_n_rows (alike), ==, HEADS * (1 + 2 + 3));
  g_assert_cmpstr (mhar_numbers_text (alike, 4, 1), ==, "1");
}

/* Under a map of deviations the sentence is of deviations, where there are some. */
static void
test_compared_deviations (void)
{
  g_autoptr (MharDataset) set = new_run (), other = new_run (), single = new_run_of_one_head ();
  g_autofree char *said = NULL;

  mhar_dataset_get (other, "deviation")->data.f32[HEADS * SOURCES] = -0.05f;
  said = mhar_sentence (set, other, TRUE, &(MharPoint){ MHAR_PAGE_COMPARE, 1, 0, 0 });
  g_assert_cmpstr (said, ==,
                   "L0.mlp, head 0 reads embed +10.0 points off the head mean in A and −5.0 in B: a difference of −15.0 points");
  g_assert_null (mhar_comparison_no_deviation (set, other, 0));
  g_assert_nonnull (mhar_comparison_no_deviation (set, other, -1));
  g_assert_cmpstr (mhar_comparison_no_deviation (set, single, 0), ==, "B has one head: its weights deviate from nothing");
}

static MharDataset *
new_root (const char *text, const char *digest)
{
  MharDataset *root = mhar_dataset_new ("/"), *provenance = mhar_dataset_new ("provenance");

  mhar_dataset_set_string (provenance, "text", text);
  mhar_dataset_set_string (provenance, "text_sha256", digest);
  mhar_dataset_add_child (root, provenance);
  return root;
}

static void
test_compared_texts (void)
{
  g_autoptr (MharDataset) a = new_run (), b = new_run (), bundled = new_root ("bundled text", "aa"), own = new_root ("my.txt", "bb"),
                          none = mhar_dataset_new ("/");

  mhar_dataset_set_integer (a, "tokens", 1024);
  mhar_dataset_set_integer (b, "tokens", 1024);
  g_assert_null (mhar_comparison_text_words (bundled, a, bundled, b));
  g_assert_null (mhar_comparison_text_words (bundled, a, none, b));
  mhar_dataset_set_integer (b, "tokens", 41);
  g_autofree char *text = mhar_comparison_text_words (bundled, a, own, b),
                  *length = mhar_comparison_text_words (bundled, a, bundled, b);
  g_assert_cmpstr (text, ==,
                   "B ran another text: 41 tokens of my.txt, A 1024 tokens of bundled text. The difference may be the texts’ and not "
                   "the checkpoints’.");
  g_assert_true (g_str_has_prefix (length, "B ran another length of the text: 41 tokens"));
}

/* Whatever a file lacks, and wherever a selection points: words, not a crash. */
static void
test_lacking (void)
{
  static const char *const fields[] = { "weight",     "weight_sd",    "deviation", "entropy", "head_js",  "head_js_null",
                                        "site_label", "source_label", "n_heads", "n_sources" };

  for (guint f = 0; f <= G_N_ELEMENTS (fields); f++) {
    g_autoptr (MharDataset) whole = new_run (), set = mhar_dataset_new ("checkpoint");
    for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
      if (i != f) {
        const MharField *from = mhar_dataset_get (whole, fields[i]);
        MharField *to = mhar_field_new (from->name, "", "", from->type, from->n_dims, (const char *const *)from->dims,
                                        from->shape);
        for (gsize k = 0; from->type == MHAR_FIELD_I32 && k < mhar_field_length (from); k++)
          to->data.i32[k] = from->data.i32[k];
        mhar_dataset_add (set, to);
      }
    for (int page = 0; page < MHAR_N_PAGES; page++)
      for (int at = -1; at < 5; at++) {
        g_autofree char *said = mhar_sentence (set, whole, at % 2 == 0, &(MharPoint){ (MharPage)page, at, at, at });
        g_autoptr (MharNumbers) numbers
            = mhar_numbers_new (&(MharNumbersSource){ .page = (MharPage)page, .set = set, .other = whole });
        g_autofree char *csv = mhar_numbers_csv (numbers);
        g_assert_nonnull (said);
        g_assert_nonnull (csv);
      }
  }
}

static void
test_numbers (void)
{
  g_autoptr (MharDataset) set = new_run ();
  g_autoptr (MharNumbers) maps = mhar_numbers_new (&(MharNumbersSource){ .page = MHAR_PAGE_MAPS, .set = set });
  g_autoptr (MharNumbers) table = mhar_numbers_new (&(MharNumbersSource){ .page = MHAR_PAGE_DISAGREEMENT, .set = set });
  g_autofree char *csv = mhar_numbers_csv (table);

  g_assert_cmpuint (mhar_numbers_n_rows (maps), ==, HEADS * (1 + 2 + 3));
  g_assert_cmpstr (mhar_numbers_text (maps, 2, 0), ==, "L0.mlp");
  g_assert_cmpstr (mhar_numbers_text (maps, 3, 2), ==, "L0.attn");
  g_assert_cmpfloat_with_epsilon (mhar_numbers_value (maps, 2, 3), 0.8, 1e-6);
  g_assert_true (isnan (mhar_numbers_value (maps, 0, 4)));
  g_assert_true (g_str_has_prefix (
      csv, "site,sources,heads,trained,low,high,null,null_sd,excess,p_value\r\nL0.attn,1,2,,,,,,,\r\nL0.mlp,2,2,"
           "0.0500000007,,,"));
}

/* A comma between digits in the program's language is none in the file. */
static void
test_locale (void)
{
  g_autoptr (MharDataset) set = new_run ();
  g_autoptr (MharNumbers) table = mhar_numbers_new (&(MharNumbersSource){ .page = MHAR_PAGE_DISAGREEMENT, .set = set });
  g_autofree char *before = mhar_numbers_csv (table), *locale = g_strdup (setlocale (LC_NUMERIC, NULL));

  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL) {
    g_test_skip ("no locale de_DE.UTF-8");
    return;
  }
  g_autofree char *after = mhar_numbers_csv (table);
  setlocale (LC_NUMERIC, locale);
  g_assert_cmpstr (after, ==, before);
}

static void
test_number_shown (void)
{
  static const struct {
    double value;
    int decimals;
    gboolean plus;
    const char *text;
  } cases[] = { { -0.0221, 3, TRUE, "−0.022" }, { 0.0009, 3, TRUE, "+0.001" }, { -0.0001, 3, TRUE, "0.000" },
                { 0.0001, 3, TRUE, "0.000" },   { 1.25, 1, FALSE, "1.2" },     { -12, 0, FALSE, "−12" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = mhar_display_number (cases[i].value, cases[i].decimals, cases[i].plus);
    g_assert_cmpstr (text, ==, cases[i].text);
  }
}

/* A label with a comma and quotes is one cell, and comes back as it was. */
static void
test_quoting (void)
{
  g_autoptr (MharDataset) set = new_run ();
  char **label = &mhar_dataset_get (set, "site_label")->data.str[0];

  g_free (*label);
  *label = g_strdup ("a \"b\", c");
  g_autoptr (MharNumbers) table = mhar_numbers_new (&(MharNumbersSource){ .page = MHAR_PAGE_DISAGREEMENT, .set = set });
  g_autofree char *csv = mhar_numbers_csv (table);
  g_assert_nonnull (strstr (csv, "\r\n\"a \"\"b\"\", c\",1,2,"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sentence/maps", test_maps);
  g_test_add_func ("/sentence/deviation", test_deviation);
  g_test_add_func ("/sentence/verdict-words", test_verdict_words);
  g_test_add_func ("/sentence/disagreement", test_disagreement);
  g_test_add_func ("/sentence/others", test_others);
  g_test_add_func ("/sentence/numbers-of-heads", test_numbers_of_heads);
  g_test_add_func ("/sentence/compared-deviations", test_compared_deviations);
  g_test_add_func ("/sentence/compared-texts", test_compared_texts);
  g_test_add_func ("/sentence/lacking", test_lacking);
  g_test_add_func ("/numbers/rows", test_numbers);
  g_test_add_func ("/numbers/quoting", test_quoting);
  g_test_add_func ("/numbers/shown", test_number_shown);
  g_test_add_func ("/numbers/locale", test_locale);
  return g_test_run ();
}
