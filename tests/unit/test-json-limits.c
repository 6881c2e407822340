/* SPDX-License-Identifier: MIT */
/* core/json-limits: each limit from just within to just beyond, and what a file beyond it is told. */
#include "core/json-limits.h"

#include "core/input.h"
#include "tests/unit/scratch.h"

static char *
nested (gsize depth)
{
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < depth; i++)
    g_string_append_c (text, '[');
  for (gsize i = 0; i < depth; i++)
    g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

static char *
number (gsize digits)
{
  GString *text = g_string_new ("[0.");
  while (text->len < digits + 1)
    g_string_append_c (text, '1');
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static char *
string (gsize length)
{
  g_autofree char *letters = g_strnfill (length, 'a');
  return g_strdup_printf ("[\"%s\"]", letters);
}

static char *
values (gsize n)
{
  GString *text = g_string_sized_new (2 * n + 2);
  g_string_append_c (text, '[');
  for (gsize i = 0; i < n; i++)
    g_string_append (text, "1,");
  text->str[text->len - 1] = ']';
  return g_string_free (text, FALSE);
}

static char *
containers (gsize n)
{
  GString *text = g_string_sized_new (3 * n + 2);
  g_string_append_c (text, '[');
  for (gsize i = 1; i < n; i++)
    g_string_append (text, "{},");
  text->str[text->len - 1] = ']';
  return g_string_free (text, FALSE);
}

static void
test_limits (void)
{
  static const struct {
    char *(*make) (gsize n);
    gsize limit;
    const char *words;
  } cases[] = { { nested, MHAR_JSON_MAX_DEPTH, "64 deep" },
                { number, MHAR_JSON_MAX_NUMBER, "128 bytes" },
                { string, MHAR_JSON_MAX_STRING, "16 MiB" },
                { values, MHAR_JSON_MAX_VALUES, "16 million values" },
                { containers, MHAR_JSON_MAX_CONTAINERS, "2 million arrays" } };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *within = cases[i].make (cases[i].limit), *beyond = cases[i].make (cases[i].limit + 1);
    g_assert_null (mhar_json_excess (within, strlen (within)));
    const char *excess = mhar_json_excess (beyond, strlen (beyond));
    g_assert_nonnull (excess);
    g_assert_nonnull (strstr (excess, cases[i].words));
  }
}

/* Only what is outside of strings counts, and quotes behind a backslash end none. */
static void
test_strings (void)
{
  g_autofree char *deep = nested (1000);
  g_autofree char *inside = g_strdup_printf ("{\"%s\\\"%s\\\\\":1}", deep, deep);
  g_assert_null (mhar_json_excess (inside, strlen (inside)));
  g_autofree char *behind = g_strdup_printf ("{\"\\\\\":%s}", deep);
  g_assert_nonnull (mhar_json_excess (behind, strlen (behind)));
}

/* Ends of all kinds, each a block of its own, so that reading past it shows. */
static void
test_cut_short (void)
{
  static const char text[] = "{\"a\\\"\\u0041\": [1.5e-3, true, \"\\\\\", {}]}";
  for (gsize n = 0; n < sizeof text; n++) {
    g_autofree char *part = g_memdup2 (text, MAX (n, 1));
    g_assert_null (mhar_json_excess (part, n));
  }
}

static void
test_message (void)
{
  GError *error = NULL;
  g_autofree char *deep = nested (65);
  g_autofree char *text = g_strdup_printf ("{\"a\":%s}", deep);
  g_assert_null (mhar_input_json (text, strlen (text), "some/config.json", "the file", &error));
  scratch_assert_refused (&error, "some/config.json|the file has|64 deep|fetch the file again");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-limits/limits", test_limits);
  g_test_add_func ("/json-limits/strings", test_strings);
  g_test_add_func ("/json-limits/cut-short", test_cut_short);
  g_test_add_func ("/json-limits/message", test_message);
  return g_test_run ();
}
