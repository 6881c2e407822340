/* SPDX-License-Identifier: MIT */
/* Cairo numbers surfaces and images from one counter a process, so the second of two equal figures would differ from
 * the first in its ids. Here ids are numbered anew in the order in which they appear. */
#include "app/figure/svg-finish.h"

#include <string.h>

static const char *const stems[] = { "surface", "image", "clip", "mask", "pattern", "linear", "radial", "source" };

/* Length of the stem of an id that starts at `at` and is a stem and digits; 0 where it is something else. */
static gsize
stem_length (const char *at, const char *end)
{
  for (gsize i = 0; i < G_N_ELEMENTS (stems); i++) {
    gsize n = strlen (stems[i]);

    if ((gsize)(end - at) > n && memcmp (at, stems[i], n) == 0 && g_ascii_isdigit (at[n]))
      return n;
  }
  return 0;
}

/* Where the id after the next `id="` or `#` starts; `end` where there is none. */
static const char *
next_id (const char *at, const char *end)
{
  for (; at < end; at++) {
    if (*at == '#')
      return at + 1;
    if (end - at > 4 && memcmp (at, "id=\"", 4) == 0)
      return at + 4;
  }
  return end;
}

static guint
number_of (GHashTable *numbers, const char *id, gsize length)
{
  g_autofree char *key = g_strndup (id, length);
  gpointer found = g_hash_table_lookup (numbers, key);

  if (!found) {
    found = GUINT_TO_POINTER (g_hash_table_size (numbers) + 1);
    g_hash_table_insert (numbers, g_steal_pointer (&key), found);
  }
  return GPOINTER_TO_UINT (found);
}

static void
renumber (GByteArray *from, GString *to)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const char *at = (const char *)from->data, *end = at + from->len;

  while (at < end) {
    const char *id = next_id (at, end), *after;
    gsize stem;

    g_string_append_len (to, at, id - at);
    at = id;
    stem = stem_length (id, end);
    if (stem == 0)
      continue;
    for (after = id + stem; after < end && g_ascii_isdigit (*after); after++)
      ;
    g_string_append_len (to, id, (gssize)stem);
    g_string_append_printf (to, "%u", number_of (numbers, id, (gsize)(after - id)));
    at = after;
  }
}

void
mhar_svg_finish (GByteArray *svg, const char *title)
{
  GString *text = g_string_sized_new (svg->len + 256);
  g_autofree char *escaped = g_markup_printf_escaped ("\n<title>%s</title>", title);
  const char *root, *close;

  renumber (svg, text);
  root = strstr (text->str, "<svg");
  close = root ? strchr (root, '>') : NULL;
  if (close)
    g_string_insert (text, close + 1 - text->str, escaped);
  g_byte_array_set_size (svg, 0);
  g_byte_array_append (svg, (const guint8 *)text->str, (guint)text->len);
  g_string_free (text, TRUE);
}
