/* SPDX-License-Identifier: MIT */
/* A tokenizer's regular expression, meant for Oniguruma, said in PCRE2's words. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MHAR_PATTERN_MAX_BYTES 4096

/* The pattern (UTF-8) rewritten so that PCRE2 finds what Oniguruma (as Hugging Face's tokenizers set it) would: newly
 * allocated, g_free. What the two read differently is spelled out (\s, \w, case folding, repeats of intervals); what
 * cannot be, or what no tokenizer needs (back references, recursion, verbs), is MHAR_ERROR_INPUT naming it and its byte
 * offset. *linear: whether it is certain that a match at one place takes time proportional to what it looks at;
 * patterns of the usual kind are seen to be so, others may be too. */
char *mhar_pattern_translate (const char *pattern, gboolean *linear, GError **error);

G_END_DECLS
