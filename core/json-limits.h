/* SPDX-License-Identifier: MIT */
/* How much JSON a file may hold, in one place: config.json, tokenizer.json, headers, indices and name maps alike. The
 * largest in use stay below a tenth of each. A parsed value takes up to some two hundred times the bytes of its text
 * ("{}"), so the text is looked over before anything is made of it. The size of the file itself is limited by its
 * loader. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MHAR_JSON_MAX_DEPTH 64             /* arrays and objects in one another */
#define MHAR_JSON_MAX_NUMBER 128           /* bytes of a number */
#define MHAR_JSON_MAX_STRING (16 << 20)    /* bytes of a string, as written */
#define MHAR_JSON_MAX_VALUES (16 << 20)    /* strings, keys among them, numbers and words */
#define MHAR_JSON_MAX_CONTAINERS (2 << 20) /* arrays and objects */

/* Which limit the text is beyond, in words that follow "has …" ("a number of over 128 bytes"); NULL: none. Whether it is
 * JSON is not asked. */
const char *mhar_json_excess (const char *text, gsize length);

G_END_DECLS
