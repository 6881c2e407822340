/* SPDX-License-Identifier: MIT */
#include "core/npy.h"

#include "core/error.h"

#include <string.h>

typedef struct {
  const guint8 *data;
  gsize length, width; /* bytes of data, bytes an id */
  gboolean is_signed;
} Ids;

static GArray *
decode (const Ids *ids, const char *path, GError **error)
{
  gsize n = ids->length / ids->width;

  if (n == 0 || ids->length % ids->width != 0 || n > G_MAXINT32) {
    mhar_bad_input (error, "%s: %zu bytes are not a list of %zu-byte ids", path, ids->length, ids->width);
    return NULL;
  }
  GArray *array = g_array_sized_new (FALSE, FALSE, sizeof (gint32), (guint) n);
  for (gsize i = 0; i < n; i++) {
    guint64 raw = 0;
    memcpy (&raw, ids->data + i * ids->width, ids->width);
    guint64 value = GUINT64_FROM_LE (raw);
    gboolean negative = ids->is_signed && (value >> (8 * ids->width - 1)) & 1;
    if (negative || value > G_MAXINT32) {
      mhar_bad_input (error, "%s: entry %zu is not a token id: it is %s", path, i, negative ? "negative" : "over 2147483647");
      g_array_unref (array);
      return NULL;
    }
    gint32 id = (gint32) value;
    g_array_append_val (array, id);
  }
  return array;
}

/* 'descr': '<i4' of a .npy header: width and signedness of whole numbers. */
static gboolean
parse_descr (const char *header, Ids *ids)
{
  const char *at = strstr (header, "'descr'");
  const char *quote = at != NULL ? strchr (at + 7, '\'') : NULL;

  if (quote == NULL || strlen (quote) < 4 || (quote[1] != '<' && quote[1] != '|'))
    return FALSE;
  ids->is_signed = quote[2] == 'i';
  ids->width = (gsize) g_ascii_digit_value (quote[3]);
  return (quote[2] == 'i' || quote[2] == 'u') && quote[4] == '\'' &&
         (ids->width == 1 || ids->width == 2 || ids->width == 4 || ids->width == 8);
}

/* 'shape': (N,) with N ids. */
static gboolean
parse_shape (const char *header, guint64 *n)
{
  const char *at = strstr (header, "'shape'");
  const char *open = at != NULL ? strchr (at, '(') : NULL;
  char *end = NULL;

  if (open == NULL || !g_ascii_isdigit (open[1]))
    return FALSE;
  *n = g_ascii_strtoull (open + 1, &end, 10);
  return end[0] == ',' && end[1] == ')';
}

static GArray *
parse_npy (const guint8 *data, gsize length, const char *path, GError **error)
{
  gsize start = length > 6 && data[6] == 1 ? 10 : 12, size = 0;
  guint64 n = 0;
  Ids ids = { 0 };

  if (length < 12 || memcmp (data, "\x93NUMPY", 6) != 0 || data[6] < 1 || data[6] > 3) {
    mhar_bad_input (error, "%s: this is not a NumPy array file; save it with numpy.save", path);
    return NULL;
  }
  size = data[8] | (gsize) data[9] << 8;
  if (start == 12)
    size |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  if (size > length - start) {
    mhar_bad_input (error, "%s: the header is cut short; save the array again", path);
    return NULL;
  }
  g_autofree char *header = g_strndup ((const char *) data + start, size);
  if (!parse_descr (header, &ids) || !parse_shape (header, &n)) {
    mhar_bad_input (error, "%s: ids must be a one-dimensional little-endian array of whole numbers, such as numpy.uint16", path);
    return NULL;
  }
  ids.data = data + start + size;
  ids.length = length - start - size;
  if (ids.length / ids.width != n || ids.length % ids.width != 0) {
    mhar_bad_input (error, "%s: the header promises %" G_GUINT64_FORMAT " ids, the file holds %zu bytes of them; %s", path,
                    n, ids.length, ids.length / ids.width < n ? "it is cut short" : "save the array again");
    return NULL;
  }
  return decode (&ids, path, error);
}

GArray *
mhar_ids_parse (GBytes *bytes, const char *path, GError **error)
{
  gsize length = 0;
  const guint8 *data = g_bytes_get_data (bytes, &length);
  Ids raw = { data, length, g_str_has_suffix (path, ".u16") ? 2 : 4, FALSE };

  if (g_str_has_suffix (path, ".npy"))
    return parse_npy (data, length, path, error);
  if (g_str_has_suffix (path, ".u16") || g_str_has_suffix (path, ".u32"))
    return decode (&raw, path, error);
  mhar_bad_input (error, "%s: token files end in .u16, .u32 or .npy", path);
  return NULL;
}
