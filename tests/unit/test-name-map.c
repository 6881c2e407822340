/* SPDX-License-Identifier: MIT */
/* core/name-map: what a map says, what is refused, and maps that were damaged. */
#include "core/name-map.h"

#include "tests/unit/scratch.h"

#define SITES "\"attn\":{\"query\":\"a.{i}.q\",\"norm\":\"a.{i}.g\"},\"mlp\":{\"product\":\"m.{i}\",\"bias\":\"b.{i}\"}"
#define FULL                                                                                                           \
  "{\"name\":\"ours\"," SITES ",\"final\":{\"query\":\"f\"},\"read\":\"add\",\"blocks\":\"layers:3\",\"heads\":4,"     \
  "\"eps\":1e-5,\"body\":{\"model.norm.weight\":\"n\",\"model.layers.{i}.mlp.up_proj.weight\":\"u.{i}\"}}"

static MharNameMap *
parse (const char *text, GError **error)
{
  return mhar_name_map_parse (text, strlen (text), "map.json", error);
}

static void
test_full (void)
{
  GError *error = NULL;
  g_autoptr (MharNameMap) map = parse (FULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (map->name, ==, "ours");
  g_assert_cmpstr (map->attn.query, ==, "a.{i}.q");
  g_assert_cmpstr (map->attn.norm, ==, "a.{i}.g");
  g_assert_null (map->attn.product);
  g_assert_cmpstr (map->mlp.product, ==, "m.{i}");
  g_assert_cmpstr (map->mlp.bias, ==, "b.{i}");
  g_assert_cmpstr (map->final.query, ==, "f");
  g_assert_true (map->add);
  g_assert_cmpint (map->period, ==, 6);
  g_assert_cmpint (map->heads, ==, 4);
  g_assert_true (map->eps == 1e-5);
  g_assert_cmpuint (map->body->len, ==, 2);
}

static void
test_defaults (void)
{
  GError *error = NULL;
  g_autoptr (MharNameMap) map = parse ("{" SITES "}", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (map->name, ==, "name map");
  g_assert_false (map->add);
  g_assert_cmpint (map->period, ==, 0);
  g_assert_cmpint (map->heads, ==, 1);
  g_assert_true (map->eps == 0);
  g_assert_null (map->final.query);
  g_autoptr (MharNameMap) sublayers = parse ("{" SITES ",\"blocks\":\"sublayers:3\"}", &error);
  g_assert_no_error (error);
  g_assert_cmpint (sublayers->period, ==, 3);
}

static const struct {
  const char *text, *words;
} bad[] = {
  { "", "map.json: |not valid JSON" },
  { "[]", "map.json: |not an object" },
  { "{}", "'attn' is missing" },
  { "{\"attn\":{\"query\":\"a.{i}\"}}", "'mlp' is missing" },
  { "{\"attn\":[]," SITES "}", "duplicate" },
  { "{\"attn\":7}", "'attn' is not an object" },
  { "{\"attn\":{}}", "'attn' must name either a query or a product" },
  { "{\"attn\":{\"query\":\"a.{i}\",\"product\":\"b.{i}\"}}", "'attn' must name either" },
  { "{\"attn\":{\"norm\":\"a.{i}\",\"product\":\"b.{i}\"}}", "'attn' names a norm beside a product" },
  { "{\"attn\":{\"query\":\"a\"}}", "'attn.query' must have {i}" },
  { "{\"attn\":{\"query\":\"a.{i}0w\"}}", "'attn.query' has a digit behind {i}" },
  { "{\"attn\":{\"query\":\"a.{i}.{i}\"}}", "'attn.query' must have {i}" },
  { "{\"attn\":{\"query\":\"\"}}", "'attn.query' is not the name of a tensor" },
  { "{\"attn\":{\"query\":7}}", "'attn.query' is not the name of a tensor" },
  { "{\"attn\":{\"query\":null}}", "'attn.query' is not the name of a tensor" },
  { "{\"attn\":{\"gate\":\"a.{i}\"}}", "'attn.gate' is not a key of a name map" },
  { "{" SITES ",\"final\":{\"query\":\"a.{i}\"}}", "'final.query' belongs to no layer" },
  { "{" SITES ",\"final\":{}}", "'final' must name either" },
  { "{" SITES ",\"extra\":1}", "'extra' is not a key of a name map|name-map.md" },
  { "{" SITES ",\"read\":\"plus\"}", "'read' must be replace or add" },
  { "{" SITES ",\"read\":1}", "'read' must be replace or add" },
  { "{" SITES ",\"blocks\":\"layers\"}", "'blocks' must be none" },
  { "{" SITES ",\"blocks\":\"layers:0\"}", "'blocks' must be none" },
  { "{" SITES ",\"blocks\":\"layers:-1\"}", "'blocks' must be none" },
  { "{" SITES ",\"blocks\":\"layers:32769\"}", "'blocks' must be none" },
  { "{" SITES ",\"blocks\":\"sublayers:99999999999999999999\"}", "'blocks' must be none" },
  { "{" SITES ",\"blocks\":4}", "'blocks' must be none" },
  { "{" SITES ",\"heads\":0}", "'heads' must be a whole number" },
  { "{" SITES ",\"heads\":65537}", "'heads' must be a whole number" },
  { "{" SITES ",\"heads\":1.5}", "'heads' must be a whole number" },
  { "{" SITES ",\"eps\":0}", "'eps' must be a number above 0" },
  { "{" SITES ",\"eps\":2}", "'eps' must be a number above 0" },
  { "{" SITES ",\"eps\":\"1\"}", "'eps' must be a number above 0" },
  { "{" SITES ",\"name\":7}", "'name' is not a text" },
  { "{" SITES ",\"body\":[]}", "'body' is not an object" },
  { "{" SITES ",\"body\":{\"model.embed.weight\":\"a\"}}", "'body.model.embed.weight' is not the name of a tensor" },
  { "{" SITES ",\"body\":{\"model.norm.weight\":\"a.{i}\"}}", "'body.model.norm.weight' belongs to no layer" },
  { "{" SITES ",\"body\":{\"model.layers.{i}.mlp.up_proj.weight\":\"a\"}}", "must have {i}" },
};

static void
test_bad (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GError *error = NULL;
    g_assert_null (parse (bad[i].text, &error));
    scratch_assert_refused (&error, bad[i].words);
  }
  g_autofree char *longest = g_strnfill (257, 'a'),
                  *text = g_strdup_printf ("{\"attn\":{\"query\":\"%s{i}\"}}", longest);
  GError *error = NULL;
  g_assert_null (parse (text, &error));
  scratch_assert_refused (&error, "'attn.query' is not the name of a tensor");
  char *folder = scratch_new ();
  g_autofree char *huge = g_strnfill (70000, ' '), *path = scratch_write (folder, "m", huge, 70000);
  g_assert_null (mhar_name_map_load (path, &error));
  scratch_assert_refused (&error, "m: |70000 bytes");
  scratch_remove (folder);
}

static void
test_names (void)
{
  static const struct {
    const char *pattern, *name;
    int layer; /* −2: does not fit */
  } cases[] = { { "a.{i}.q", "a.0.q", 0 },
                { "a.{i}.q", "a.17.q", 17 },
                { "a.{i}.q", "a.1023.q", 1023 },
                { "a.{i}.q", "a.1024.q", -2 },
                { "a.{i}.q", "a.00.q", -2 },
                { "a.{i}.q", "a.07.q", -2 },
                { "a.{i}.q", "a..q", -2 },
                { "a.{i}.q", "a.1.qq", -2 },
                { "a.{i}.q", "a.1", -2 },
                { "a.{i}.q", "b.1.q", -2 },
                { "a.{i}.q", "a.-1.q", -2 },
                { "a.{i}.q", "a.99999999999.q", -2 },
                { "{i}", "5", 5 },
                { "f", "f", -1 },
                { "f", "g", -2 },
                { "f", "ff", -2 },
                { "a.{i}", "", -2 },
                { "a{i}1", "a11", -2 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    int layer;
    gboolean fits = mhar_name_fits (cases[i].pattern, cases[i].name, &layer);
    g_assert_true (fits == (cases[i].layer != -2));
    if (!fits)
      continue;
    g_assert_cmpint (layer, ==, cases[i].layer);
    g_autofree char *name = mhar_name_fill (cases[i].pattern, layer);
    g_assert_cmpstr (name, ==, cases[i].name);
  }
}

static void
test_damage (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  guint good = 0;
  for (guint i = 0; i < 20000; i++) {
    GError *error = NULL;
    g_autoptr (GString) text = scratch_mutate (rand, FULL, strlen (FULL));
    g_autoptr (MharNameMap) map = mhar_name_map_parse (text->str, text->len, "map.json", &error);
    good += map != NULL;
    if (map == NULL)
      scratch_assert_refused (&error, "map.json: ");
  }
  g_test_message ("%u of 20000 damaged maps are still maps", good);
  g_assert_cmpuint (good, <, 15000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/name-map/full", test_full);
  g_test_add_func ("/name-map/defaults", test_defaults);
  g_test_add_func ("/name-map/bad", test_bad);
  g_test_add_func ("/name-map/names", test_names);
  g_test_add_func ("/name-map/damage", test_damage);
  return g_test_run ();
}
