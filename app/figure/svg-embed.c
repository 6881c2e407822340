/* SPDX-License-Identifier: MIT */
#include "app/figure/svg-embed.h"

#include <string.h>

/* What comes before an id, where it is made and where it is used. */
static const char *const marks[] = { " id=\"", "href=\"#", "url(#" };

/* The nearest mark at or after `at`: where it ends; NULL where there is none. */
static const char *
next_id (const char *at)
{
  const char *nearest = NULL, *end = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (marks); i++) {
    const char *found = strstr (at, marks[i]);

    if (found && (!nearest || found < nearest)) {
      nearest = found;
      end = found + strlen (marks[i]);
    }
  }
  return end;
}

void
mhar_svg_embed (const GByteArray *svg, const char *prefix, GString *out)
{
  g_autofree char *text = g_strndup ((const char *)svg->data, svg->len);
  const char *at = strstr (text, "<svg"), *id;

  g_return_if_fail (at != NULL);
  at += strlen ("<svg");
  g_string_append (out, "<svg role=\"img\"");
  while ((id = next_id (at)) != NULL) {
    g_string_append_len (out, at, id - at);
    g_string_append (out, prefix);
    at = id;
  }
  g_string_append (out, at);
}
