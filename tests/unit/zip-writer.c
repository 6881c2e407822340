/* SPDX-License-Identifier: MIT */
#include "tests/unit/zip-writer.h"

#include <string.h>

static void
put (GByteArray *out, guint64 value, guint bytes)
{
  value = GUINT64_TO_LE (value);
  g_byte_array_append (out, (const guint8 *)&value, bytes);
}

static void
put_local (GByteArray *out, const ZipPart *part, const ZipStyle *style)
{
  gsize header = out->len + 30 + strlen (part->name);
  guint padding = (guint)(64 - header % 64) % 64;
  guint8 zeros[64] = { 0 };
  if (padding < 4)
    padding += 64;
  put (out, 0x04034b50, 4);
  put (out, 20, 2);
  put (out, style->flags | (style->streamed ? 8 : 0), 2);
  put (out, style->method, 2);
  put (out, 0, 4 + 4);
  put (out, style->streamed ? 0 : part->length, 4);
  put (out, style->streamed ? 0 : part->length, 4);
  put (out, strlen (part->name), 2);
  put (out, padding, 2);
  g_byte_array_append (out, (const guint8 *)part->name, (guint)strlen (part->name));
  put (out, 0x4246, 2); /* torch's padding: "FB" */
  put (out, padding - 4, 2);
  for (guint left = padding - 4; left > 0;) {
    guint n = MIN (left, 64);
    g_byte_array_append (out, zeros, n);
    left -= n;
  }
  g_byte_array_append (out, part->data, (guint)part->length);
}

static void
put_record (GByteArray *out, const ZipPart *part, guint64 at, const ZipStyle *style)
{
  guint64 none = 0xffffffff;
  put (out, 0x02014b50, 4);
  put (out, 20, 2);
  put (out, 20, 2);
  put (out, style->flags | (style->streamed ? 8 : 0), 2);
  put (out, style->method, 2);
  put (out, 0, 4 + 4);
  put (out, style->wide ? none : part->length, 4);
  put (out, style->wide ? none : part->length, 4);
  put (out, strlen (part->name), 2);
  put (out, style->wide ? 28 : 0, 2);
  put (out, 0, 2 + 2 + 2);
  put (out, 0, 4);
  put (out, style->wide ? none : at, 4);
  g_byte_array_append (out, (const guint8 *)part->name, (guint)strlen (part->name));
  if (!style->wide)
    return;
  put (out, 1, 2);
  put (out, 24, 2);
  put (out, part->length, 8);
  put (out, part->length, 8);
  put (out, at, 8);
}

static void
put_wide_end (GByteArray *out, guint n, guint64 at)
{
  guint64 record = out->len;
  put (out, 0x06064b50, 4);
  put (out, 44, 8);
  put (out, 45, 2);
  put (out, 45, 2);
  put (out, 0, 8);
  put (out, n, 8);
  put (out, n, 8);
  put (out, record - at, 8);
  put (out, at, 8);
  put (out, 0x07064b50, 4);
  put (out, 0, 4);
  put (out, record, 8);
  put (out, 1, 4);
}

GByteArray *
zip_write (const ZipPart *parts, guint n, const ZipStyle *style)
{
  GByteArray *out = g_byte_array_new ();
  g_autofree guint64 *places = g_new (guint64, n + 1);
  for (guint i = 0; i < n; i++) {
    places[i] = out->len;
    put_local (out, &parts[i], style);
  }
  guint64 at = out->len;
  for (guint i = 0; i < n; i++)
    put_record (out, &parts[i], places[i], style);
  guint64 size = out->len - at;
  if (style->wide)
    put_wide_end (out, n, at);
  put (out, 0x06054b50, 4);
  put (out, 0, 4);
  put (out, style->wide ? 0xffff : n, 2);
  put (out, style->wide ? 0xffff : n, 2);
  put (out, style->wide ? 0xffffffff : size, 4);
  put (out, style->wide ? 0xffffffff : at, 4);
  put (out, 0, 2);
  return out;
}

gsize
zip_end_at (const GByteArray *zip)
{
  return zip->len - 22;
}

static guint32
read32 (const GByteArray *zip, gsize at)
{
  guint32 value;
  memcpy (&value, zip->data + at, sizeof value);
  return GUINT32_FROM_LE (value);
}

gsize
zip_record_at (const GByteArray *zip, guint i)
{
  gsize at = read32 (zip, zip_end_at (zip) + 16);
  for (; i > 0; i--)
    at += 46u + (read32 (zip, at + 28) & 0xffff) + (read32 (zip, at + 28) >> 16);
  return at;
}

GString *
pickle_new (void)
{
  return g_string_new_len ("\x80\x02", 2);
}

void
pickle_text (GString *pickle, const char *text)
{
  guint32 length = GUINT32_TO_LE ((guint32)strlen (text));
  g_string_append_c (pickle, 'X');
  g_string_append_len (pickle, (const char *)&length, 4);
  g_string_append (pickle, text);
}

void
pickle_integer (GString *pickle, gint32 value)
{
  gint32 bits = GINT32_TO_LE (value);
  g_string_append_c (pickle, 'J');
  g_string_append_len (pickle, (const char *)&bits, 4);
}

static void
pickle_tuple (GString *pickle, guint n, const gint32 *values)
{
  g_string_append_c (pickle, '(');
  for (guint i = 0; i < n; i++)
    pickle_integer (pickle, values[i]);
  g_string_append_c (pickle, 't');
}

void
pickle_tensor (GString *pickle, const char *storage, const char *key, gint32 elements, gint32 offset, guint n_dims,
               const gint32 *size, const gint32 *stride)
{
  g_string_append (pickle, "ctorch._utils\n_rebuild_tensor_v2\n((");
  pickle_text (pickle, "storage");
  g_string_append_printf (pickle, "ctorch\n%s\n", storage);
  pickle_text (pickle, key);
  pickle_text (pickle, "cpu");
  pickle_integer (pickle, elements);
  g_string_append (pickle, "tQ");
  pickle_integer (pickle, offset);
  pickle_tuple (pickle, n_dims, size);
  pickle_tuple (pickle, n_dims, stride);
  g_string_append (pickle, "\x89"
                           "ccollections\nOrderedDict\n)RtR");
}

GString *
pickle_end (GString *pickle)
{
  return g_string_append_c (pickle, '.');
}
