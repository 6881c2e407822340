/* SPDX-License-Identifier: MIT */
#include "core/json-limits.h"

#include <string.h>

typedef struct {
  const char *at, *end;
  guint depth, containers, values;
} Scan;

/* A string, `at` behind its first quote; goes on behind the last. FALSE where it is too long. */
static gboolean
pass_string (Scan *scan)
{
  const char *start = scan->at;
  while (scan->at < scan->end && *scan->at != '"')
    scan->at += *scan->at == '\\' && scan->end - scan->at > 1 ? 2 : 1;
  gsize length = (gsize)(scan->at - start);
  if (scan->at < scan->end)
    scan->at++;
  return length <= MHAR_JSON_MAX_STRING;
}

/* A number or a word, `at` behind its first character. */
static gboolean
pass_word (Scan *scan)
{
  const char *start = scan->at;
  while (scan->at < scan->end && (g_ascii_isalnum (*scan->at) || strchr ("+-.", *scan->at) != NULL) && *scan->at != '\0')
    scan->at++;
  return scan->at - start < MHAR_JSON_MAX_NUMBER;
}

const char *
mhar_json_excess (const char *text, gsize length)
{
  Scan scan = { text, text + length, 0, 0, 0 };
  while (scan.at < scan.end) {
    char c = *scan.at++;
    if (c == '[' || c == '{') {
      if (++scan.depth > MHAR_JSON_MAX_DEPTH)
        return "arrays or objects over " G_STRINGIFY (MHAR_JSON_MAX_DEPTH) " deep in one another";
      if (++scan.containers > MHAR_JSON_MAX_CONTAINERS)
        return "over 2 million arrays and objects";
    } else if (c == ']' || c == '}')
      scan.depth -= scan.depth > 0;
    else if (c == '"' || g_ascii_isalnum (c) || c == '-') {
      if (++scan.values > MHAR_JSON_MAX_VALUES)
        return "over 16 million values";
      if (c == '"' ? !pass_string (&scan) : !pass_word (&scan))
        return c == '"' ? "a string of over 16 MiB" : "a number of over " G_STRINGIFY (MHAR_JSON_MAX_NUMBER) " bytes";
    }
  }
  return NULL;
}
