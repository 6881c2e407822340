/* SPDX-License-Identifier: MIT */
/* For tests of loaders: a temporary folder, small files in it, and what a refusal must look like. */
#pragma once

#include "core/error.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

/* A new folder; scratch_remove also frees the name. */
static inline char *
scratch_new (void)
{
  GError *error = NULL;
  char *folder = g_dir_make_tmp ("mhar-test-XXXXXX", &error);
  g_assert_no_error (error);
  return folder;
}

static inline void
scratch_remove (char *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  g_assert_nonnull (dir);
  for (const char *name; (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    g_assert_cmpint (g_remove (path), ==, 0);
  }
  g_dir_close (dir);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  g_free (folder);
}

/* Writes (or overwrites in place) folder/name; the path is to be freed. */
static inline char *
scratch_write (const char *folder, const char *name, const void *data, gsize length)
{
  char *path = g_build_filename (folder, name, NULL);
  FILE *file = g_fopen (path, "wb");
  g_assert_nonnull (file);
  g_assert_cmpuint (fwrite (data, 1, length, file), ==, length);
  g_assert_cmpint (fclose (file), ==, 0);
  return path;
}

/* A safetensors file: the length of `header`, the header, `length` bytes of data. */
static inline GByteArray *
scratch_tensors (const char *header, gsize header_length, const void *data, gsize length)
{
  GByteArray *bytes = g_byte_array_new ();
  guint64 size = GUINT64_TO_LE ((guint64)header_length);
  g_byte_array_append (bytes, (const guint8 *)&size, sizeof size);
  g_byte_array_append (bytes, (const guint8 *)header, (guint)header_length);
  return g_byte_array_append (bytes, data, (guint)length);
}

/* The same into a file, with data bytes 0, 1, 2 … */
static inline char *
scratch_write_tensors (const char *folder, const char *name, const char *header, gsize length)
{
  g_autofree guint8 *data = g_malloc (length + 1);
  for (gsize i = 0; i < length; i++)
    data[i] = (guint8)i;
  g_autoptr (GByteArray) bytes = scratch_tensors (header, strlen (header), data, length);
  return scratch_write (folder, name, bytes->data, bytes->len);
}

/* The input was refused in one printable line that holds every word of `words` ("a|b|c"); clears the error. */
static inline void
scratch_assert_refused (GError **error, const char *words)
{
  g_assert_error (*error, MHAR_ERROR, MHAR_ERROR_INPUT);
  const char *message = (*error)->message;
  g_assert_true (g_utf8_validate (message, -1, NULL));
  g_assert_null (strpbrk (message, "\n\r\t\033"));
  g_assert_false (g_str_has_suffix (message, "."));
  g_auto (GStrv) list = g_strsplit (words, "|", -1);
  for (guint i = 0; list[i] != NULL; i++)
    if (strstr (message, list[i]) == NULL)
      g_error ("'%s' is not in the message: %s", list[i], message);
  g_clear_error (error);
}

/* One random edit: a byte, a bit, a digit, a piece cut out or doubled, a scrap of JSON put in or over. */
static inline void
scratch_edit (GRand *rand, GString *text)
{
  static const char *const scraps[] = { "{",
                                        "}",
                                        "[",
                                        "]",
                                        "\"",
                                        ",",
                                        ":",
                                        "-1",
                                        "0",
                                        "1e999",
                                        "1.5",
                                        "8.0",
                                        "null",
                                        "true",
                                        "\\u0000",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "4294967296",
                                        "\xff",
                                        "[[[[" };
  gssize at = g_rand_int_range (rand, 0, (gint32)text->len), most = MIN ((gssize)text->len - at, 12);
  gssize n = g_rand_int_range (rand, 1, (gint32)most + 1);
  const char *scrap = scraps[g_rand_int_range (rand, 0, G_N_ELEMENTS (scraps))];
  g_autofree char *piece = g_strndup (text->str + at, (gsize)n);
  int kind = g_rand_int_range (rand, 0, 7);
  if (kind == 0)
    text->str[at] = (char)g_rand_int_range (rand, 0, 256);
  else if (kind == 1)
    text->str[at] = (char)(text->str[at] ^ 1 << g_rand_int_range (rand, 0, 8));
  else if (kind == 2)
    text->str[at] = (char)g_rand_int_range (rand, '0', '9' + 1);
  else if (kind == 3)
    g_string_erase (text, at, n);
  else if (kind == 4)
    g_string_insert_len (text, at, piece, n);
  else if (kind == 5)
    g_string_insert (text, at, scrap);
  else
    g_string_overwrite (text, (gsize)at, scrap);
}

/* `text` after one to three random edits; the same for the same state of `rand`. */
static inline GString *
scratch_mutate (GRand *rand, const char *text, gsize length)
{
  GString *out = g_string_new_len (text, (gssize)length);
  for (int edits = g_rand_int_range (rand, 1, 4); edits > 0 && out->len > 0; edits--)
    scratch_edit (rand, out);
  return out;
}
