/* SPDX-License-Identifier: MIT */
/* GLib knows each character's decomposition, class and composition; the algorithm (UAX 15) is here, because
 * g_utf8_normalize stops at NUL, tells nothing of where its characters came from, and sorts marks in quadratic time. */
#include "core/nfc.h"

#include <string.h>

/* Marks, and one starter that composes, assigned after Unicode 9: inert for Hugging Face's normaliser. */
static const guint32 later[][2] = {
  { 0x07fd, 0x07fd },   { 0x0898, 0x089f },   { 0x08ca, 0x08d3 },   { 0x09fe, 0x09fe },   { 0x0c3c, 0x0c3c },
  { 0x0d3b, 0x0d3c },   { 0x0eba, 0x0eba },   { 0x1715, 0x1715 },   { 0x1abf, 0x1ace },   { 0x1df6, 0x1dfa },
  { 0xa82c, 0xa82c },   { 0x10d24, 0x10d27 }, { 0x10eab, 0x10eac }, { 0x10efd, 0x10eff }, { 0x10f46, 0x10f50 },
  { 0x10f82, 0x10f85 }, { 0x11070, 0x11070 }, { 0x1133b, 0x1133b }, { 0x1145e, 0x1145e }, { 0x11839, 0x1183a },
  { 0x11930, 0x11930 }, { 0x1193d, 0x1193e }, { 0x11943, 0x11943 }, { 0x119e0, 0x119e0 }, { 0x11a34, 0x11a34 },
  { 0x11a47, 0x11a47 }, { 0x11a99, 0x11a99 }, { 0x11d42, 0x11d42 }, { 0x11d44, 0x11d45 }, { 0x11d97, 0x11d97 },
  { 0x11f41, 0x11f42 }, { 0x16ff0, 0x16ff1 }, { 0x1e08f, 0x1e08f }, { 0x1e130, 0x1e136 }, { 0x1e2ae, 0x1e2ae },
  { 0x1e2ec, 0x1e2ef }, { 0x1e4ec, 0x1e4ef },
};

/* Starters that can still join what stands before them: they compose with it, or fall apart into marks. */
static const guint32 joining[][2] = {
  { 0x09be, 0x09be },   { 0x09d7, 0x09d7 },   { 0x0b3e, 0x0b3e },   { 0x0b56, 0x0b57 },   { 0x0bbe, 0x0bbe },
  { 0x0bd7, 0x0bd7 },   { 0x0cc2, 0x0cc2 },   { 0x0cd5, 0x0cd6 },   { 0x0d3e, 0x0d3e },   { 0x0d57, 0x0d57 },
  { 0x0dcf, 0x0dcf },   { 0x0ddf, 0x0ddf },   { 0x0f73, 0x0f73 },   { 0x0f75, 0x0f75 },   { 0x0f81, 0x0f81 },
  { 0x0fb5, 0x0fb5 },   { 0x0fb7, 0x0fb7 },   { 0x102e, 0x102e },   { 0x1161, 0x1175 },   { 0x11a8, 0x11c2 },
  { 0x1b35, 0x1b35 },   { 0x11127, 0x11127 }, { 0x1133e, 0x1133e }, { 0x11357, 0x11357 }, { 0x114b0, 0x114b0 },
  { 0x114ba, 0x114ba }, { 0x114bd, 0x114bd }, { 0x115af, 0x115af },
};

static gboolean
in_ranges (const guint32 (*ranges)[2], gsize n, gunichar c)
{
  gsize low = 0, high = n;
  while (low < high) {
    gsize middle = low + (high - low) / 2;
    if (c > ranges[middle][1])
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && c >= ranges[low][0];
}

/* TRUE where `c` neither takes part in what stands before it nor lets that reach what follows. */
static gboolean
begins_piece (gunichar c)
{
  if (c < 0x300)
    return TRUE;
  if (g_unichar_combining_class (c) != 0)
    return in_ranges (later, G_N_ELEMENTS (later), c);
  return !in_ranges (joining, G_N_ELEMENTS (joining), c);
}

/* TRUE where a lone `c` is its own form C; FALSE may be wrong and only costs time. */
static gboolean
is_inert (gunichar c)
{
  gunichar a, b;
  if (c < 0x300 || (c >= 0x3400 && c < 0xa000) || (c >= 0xac00 && c < 0xd7a4))
    return TRUE;
  return in_ranges (later, G_N_ELEMENTS (later), c) || !g_unichar_decompose (c, &a, &b);
}

static int
compare_classes (gconstpointer a, gconstpointer b, G_GNUC_UNUSED gpointer data)
{
  return g_unichar_combining_class (*(const gunichar *)a) - g_unichar_combining_class (*(const gunichar *)b);
}

/* Puts each run of marks in the order of their classes; marks of one class keep theirs (g_qsort_with_data is stable).
 */
static void
order_marks (gunichar *c, gsize n)
{
  for (gsize i = 0, end; i < n; i = end) {
    for (end = i; end < n && g_unichar_combining_class (c[end]) != 0; end++)
      ;
    if (end - i > 1)
      g_qsort_with_data (c + i, (int)(end - i), sizeof *c, compare_classes, NULL);
    if (end == i)
      end++;
  }
}

/* Composes in place; returns how many characters are left. */
static gsize
compose (gunichar *c, gsize n)
{
  gsize out = 0, starter = G_MAXSIZE;
  int last = 0; /* class of the last character kept */
  for (gsize i = 0; i < n; i++) {
    int class = g_unichar_combining_class (c[i]);
    gunichar made;
    if (starter != G_MAXSIZE && (out == starter + 1 || last < class) && g_unichar_compose (c[starter], c[i], &made)) {
      c[starter] = made;
      continue;
    }
    if (class == 0)
      starter = out;
    last = class;
    c[out++] = c[i];
  }
  return out;
}

/* Form C of text[start, end), which nothing outside it can change, into `chars`; then as bytes into `bytes`. */
static void
normalise_piece (const char *text, gsize start, gsize end, GArray *chars, GString *bytes)
{
  g_array_set_size (chars, 0);
  for (const char *p = text + start; p < text + end; p = g_utf8_next_char (p)) {
    gunichar parts[G_UNICHAR_MAX_DECOMPOSITION_LENGTH];
    gsize n = g_unichar_fully_decompose (g_utf8_get_char (p), FALSE, parts, G_N_ELEMENTS (parts));
    g_array_append_vals (chars, parts, (guint)n);
  }
  gunichar *c = (gunichar *)(gpointer)chars->data;
  order_marks (c, chars->len);
  gsize n = compose (c, chars->len);
  g_string_truncate (bytes, 0);
  for (gsize i = 0; i < n; i++)
    g_string_append_unichar (bytes, c[i]);
}

/* The end of the piece that begins at `start`. */
static gsize
piece_end (const char *text, gsize length, gsize start, gboolean *inert)
{
  gunichar c = g_utf8_get_char (text + start);
  gsize end = (gsize)(g_utf8_next_char (text + start) - text);
  *inert = is_inert (c);
  if (c >= 0x300 && in_ranges (later, G_N_ELEMENTS (later), c))
    return end;
  while (end < length && !begins_piece (g_utf8_get_char (text + end))) {
    *inert = FALSE;
    end = (gsize)(g_utf8_next_char (text + end) - text);
  }
  return end;
}

void
mhar_nfc_init_as_is (MharNfc *nfc, const char *text, gsize length)
{
  *nfc = (MharNfc){ text, length, NULL, NULL };
}

void
mhar_nfc_init (MharNfc *nfc, const char *text, gsize length)
{
  g_autoptr (GArray) chars = g_array_new (FALSE, FALSE, sizeof (gunichar));
  g_autoptr (GString) bytes = g_string_new (NULL);
  gsize copied = 0; /* the original before it is in `made` */
  mhar_nfc_init_as_is (nfc, text, length);
  for (gsize start = 0, end; start < length; start = end) {
    gboolean inert;
    end = piece_end (text, length, start, &inert);
    if (inert)
      continue;
    normalise_piece (text, start, end, chars, bytes);
    if (bytes->len == end - start && memcmp (bytes->str, text + start, end - start) == 0)
      continue;
    if (nfc->made == NULL) {
      nfc->made = g_string_sized_new (length);
      nfc->pieces = g_array_new (FALSE, FALSE, sizeof (MharNfcPiece));
    }
    g_string_append_len (nfc->made, text + copied, (gssize)(start - copied));
    MharNfcPiece piece = { nfc->made->len, nfc->made->len + bytes->len, start, end };
    g_array_append_val (nfc->pieces, piece);
    g_string_append_len (nfc->made, bytes->str, (gssize)bytes->len);
    copied = end;
  }
  if (nfc->made == NULL)
    return;
  g_string_append_len (nfc->made, text + copied, (gssize)(length - copied));
  nfc->text = nfc->made->str;
  nfc->length = nfc->made->len;
}

void
mhar_nfc_clear (MharNfc *nfc)
{
  if (nfc->made != NULL)
    g_string_free (nfc->made, TRUE);
  g_clear_pointer (&nfc->pieces, g_array_unref);
  mhar_nfc_init_as_is (nfc, NULL, 0);
}

/* The last piece that begins before or at `at`; NULL where none does. */
static const MharNfcPiece *
piece_before (const MharNfc *nfc, gsize at)
{
  guint low = 0, high = nfc->pieces->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (g_array_index (nfc->pieces, MharNfcPiece, middle).start <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? &g_array_index (nfc->pieces, MharNfcPiece, low - 1) : NULL;
}

void
mhar_nfc_original (const MharNfc *nfc, gsize *start, gsize *end)
{
  if (nfc->pieces == NULL)
    return;
  const MharNfcPiece *piece = piece_before (nfc, *start);
  if (piece != NULL)
    *start = *start < piece->end ? piece->from_start : piece->from_end + (*start - piece->end);
  piece = piece_before (nfc, *end - 1);
  if (piece != NULL)
    *end = *end <= piece->end ? piece->from_end : piece->from_end + (*end - piece->end);
}
