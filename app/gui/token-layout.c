/* SPDX-License-Identifier: MIT */
/* Paragraphs and pieces. */
#include "app/gui/token-layout.h"

#include "core/tokenizer.h"

#include <string.h>

#define LONGEST 20000 /* bytes of a paragraph; a longer one is cut: Pango takes more than its share of time for them   \
                       */
#define THIN 3        /* pixels */
#define GAP 3         /* pixels between paragraphs' lines and around a line */

typedef struct {
  gsize start, end; /* bytes; the line end after it belongs to it but is not in its layout */
  guint first, n;   /* tokens that reach into it */
  PangoLayout *layout;
  int y, height;
  GArray *pieces; /* MharTokenPiece, NULL: not asked for yet */
} Paragraph;

struct _MharTokenLayout {
  char *text; /* valid UTF-8 of the given length, so that spans fit */
  gsize length;
  GArray *tokens;     /* MharToken, cut to the text */
  GArray *paragraphs; /* Paragraph */
  int width, height;
  guint serial; /* of the context that it is wrapped in */
};

/* What is not UTF-8, and NUL, replaced byte by byte so that no span moves. */
static char *
clean_text (const char *text, gsize length)
{
  char *clean = g_malloc (length + 1);
  gsize at = 0;

  memcpy (clean, text, length);
  clean[length] = '\0';
  while (at < length) {
    const char *bad;

    if (g_utf8_validate (clean + at, (gssize)(length - at), &bad))
      break;
    at = (gsize)(bad - clean);
    clean[at++] = '?';
  }
  return clean;
}

static void
paragraph_clear (gpointer data)
{
  Paragraph *p = data;

  g_clear_object (&p->layout);
  g_clear_pointer (&p->pieces, g_array_unref);
}

/* Start of the next paragraph; *end is where the text of this one ends. */
static gsize
next_paragraph (const char *text, gsize length, gsize start, gsize *end)
{
  gsize most = MIN (length, start + LONGEST);
  const char *line_end = memchr (text + start, '\n', most - start);

  if (line_end != NULL) {
    *end = (gsize)(line_end - text);
    return *end + 1;
  }
  while (most < length && (text[most] & 0xc0) == 0x80) /* not inside a character */
    most--;
  return *end = most;
}

static void
cut_paragraphs (MharTokenLayout *self)
{
  guint token = 0, n = self->tokens->len;

  for (gsize start = 0; start < self->length;) {
    Paragraph p = { .start = start };
    gsize next = next_paragraph (self->text, self->length, start, &p.end);

    while (token < n && g_array_index (self->tokens, MharToken, token).end <= start)
      token++;
    p.first = token;
    for (guint i = token; i < n && g_array_index (self->tokens, MharToken, i).start < next; i++)
      p.n++;
    g_array_append_val (self->paragraphs, p);
    start = next;
  }
}

/* Whether the byte is one of a character's but not its first. */
static gboolean
is_inside (const MharTokenLayout *self, gsize at)
{
  return (self->text[at] & 0xc0) == 0x80;
}

/* Spans of whole characters within the text, in order: a file's may be anything. */
static void
take_tokens (MharTokenLayout *self, const GArray *tokens, guint n)
{
  gsize before = 0;

  for (guint i = 0; i < MIN (n, tokens->len); i++) {
    MharToken token = g_array_index (tokens, MharToken, i);

    token.start = CLAMP (token.start, before, self->length);
    token.end = CLAMP (token.end, token.start, self->length);
    while (token.start > before && is_inside (self, token.start))
      token.start--;
    while (token.end < self->length && is_inside (self, token.end))
      token.end++;
    before = token.start;
    g_array_append_val (self->tokens, token);
  }
}

MharTokenLayout *
mhar_token_layout_new (const char *text, gsize length, const GArray *tokens, guint n_tokens)
{
  MharTokenLayout *self = g_new0 (MharTokenLayout, 1);

  n_tokens = MIN (n_tokens, tokens->len);
  if (n_tokens > 0) /* what follows the last token shown is not shown either */
    length = MIN (length, g_array_index (tokens, MharToken, n_tokens - 1).end);
  self->text = clean_text (text, length);
  self->length = length;
  self->tokens = g_array_sized_new (FALSE, FALSE, sizeof (MharToken), n_tokens);
  self->paragraphs = g_array_new (FALSE, FALSE, sizeof (Paragraph));
  g_array_set_clear_func (self->paragraphs, paragraph_clear);
  take_tokens (self, tokens, n_tokens);
  cut_paragraphs (self);
  return self;
}

void
mhar_token_layout_free (MharTokenLayout *self)
{
  if (self == NULL)
    return;
  g_free (self->text);
  g_array_unref (self->tokens);
  g_array_unref (self->paragraphs);
  g_free (self);
}

/* Pango would put a hyphen where it breaks a long word: it is no part of the text. */
static PangoLayout *
new_layout (PangoContext *context)
{
  PangoLayout *layout = pango_layout_new (context);
  PangoAttrList *attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_insert_hyphens_new (FALSE));
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_spacing (layout, GAP * PANGO_SCALE);
  return layout;
}

int
mhar_token_layout_wrap (MharTokenLayout *self, PangoContext *context, int width)
{
  int y = GAP;

  if (width == self->width && pango_context_get_serial (context) == self->serial)
    return self->height;
  for (guint i = 0; i < self->paragraphs->len; i++) {
    Paragraph *p = &g_array_index (self->paragraphs, Paragraph, i);

    g_clear_pointer (&p->pieces, g_array_unref);
    if (p->layout == NULL || pango_context_get_serial (context) != self->serial) {
      g_clear_object (&p->layout);
      p->layout = new_layout (context);
      pango_layout_set_text (p->layout, self->text + p->start, (int)(p->end - p->start));
    }
    pango_layout_set_width (p->layout, MAX (width, 1) * PANGO_SCALE);
    pango_layout_get_pixel_size (p->layout, NULL, &p->height);
    p->y = y;
    y += p->height + GAP;
  }
  self->width = width;
  self->serial = pango_context_get_serial (context);
  return self->height = y;
}

guint
mhar_token_layout_n_tokens (const MharTokenLayout *self)
{
  return self->tokens->len;
}

guint
mhar_token_layout_n_paragraphs (const MharTokenLayout *self)
{
  return self->paragraphs->len;
}

/* The first paragraph that ends below `y`. */
static guint
paragraph_at (const MharTokenLayout *self, double y)
{
  guint low = 0, high = self->paragraphs->len;

  while (low < high) {
    guint middle = low + (high - low) / 2;
    const Paragraph *p = &g_array_index (self->paragraphs, Paragraph, middle);

    if (p->y + p->height + GAP <= y)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void
mhar_token_layout_range (const MharTokenLayout *self, double top, double bottom, guint *first, guint *end)
{
  *first = paragraph_at (self, top);
  *end = *first;
  while (*end < self->paragraphs->len && g_array_index (self->paragraphs, Paragraph, *end).y < bottom)
    (*end)++;
}

PangoLayout *
mhar_token_layout_text (const MharTokenLayout *self, guint paragraph, double *y)
{
  const Paragraph *p = &g_array_index (self->paragraphs, Paragraph, paragraph);

  *y = p->y;
  return p->layout;
}

/* The pieces of one token on one line. */
static void
add_pieces (const Paragraph *p, guint index, const MharToken *token, PangoLayoutLine *line, double top, double height)
{
  int from = (int)(MAX (token->start, p->start) - p->start), to = (int)(MIN (token->end, p->end) - p->start), n;
  int line_end = line->start_index + line->length;
  g_autofree int *ranges = NULL;

  from = MAX (from, line->start_index);
  to = MIN (to, line_end);
  if (from < to) {
    pango_layout_line_get_x_ranges (line, from, to, &ranges, &n);
    for (int i = 0; i < n; i++) {
      MharTokenPiece piece = { index, (float)ranges[2 * i] / PANGO_SCALE, (float)top,
                               (float)(ranges[2 * i + 1] - ranges[2 * i]) / PANGO_SCALE, (float)height };

      /* A space where a line is broken has no width, but is a token to point at all the same. */
      if (piece.width <= 0 && n == 1)
        piece.width = THIN;
      if (piece.width > 0)
        g_array_append_val (p->pieces, piece);
    }
  }
}

/* A line end has no place of its own: it gets a little one after the line. */
static void
add_line_end (const Paragraph *p, guint index, PangoLayoutLine *line, double top, double height)
{
  PangoRectangle extents;
  MharTokenPiece piece = { index, 0, (float)top, (float)(height * 0.4), (float)height };

  pango_layout_line_get_extents (line, NULL, &extents);
  piece.x = (float)(extents.x + extents.width) / PANGO_SCALE + 1;
  g_array_append_val (p->pieces, piece);
}

static void
find_pieces (const MharTokenLayout *self, Paragraph *p)
{
  PangoLayoutIter *lines = pango_layout_get_iter (p->layout);
  guint token = p->first, end = p->first + p->n;
  gboolean more = TRUE;

  p->pieces = g_array_new (FALSE, FALSE, sizeof (MharTokenPiece));
  while (more) {
    PangoLayoutLine *line = pango_layout_iter_get_line_readonly (lines);
    gsize line_end = p->start + (gsize)(line->start_index + line->length);
    int top, bottom;

    pango_layout_iter_get_line_yrange (lines, &top, &bottom);
    more = pango_layout_iter_next_line (lines);
    for (guint i = token; i < end; i++) {
      const MharToken *t = &g_array_index (self->tokens, MharToken, i);

      if (more && t->start >= line_end)
        break;
      add_pieces (p, i, t, line, p->y + (double)top / PANGO_SCALE, (double)(bottom - top) / PANGO_SCALE);
      if (t->end <= line_end && more && i == token)
        token++;
      if (!more && t->start <= p->end && t->end > p->end)
        add_line_end (p, i, line, p->y + (double)top / PANGO_SCALE, (double)(bottom - top) / PANGO_SCALE);
    }
  }
  pango_layout_iter_free (lines);
}

const GArray *
mhar_token_layout_pieces (MharTokenLayout *self, guint paragraph)
{
  Paragraph *p = &g_array_index (self->paragraphs, Paragraph, paragraph);

  if (p->pieces == NULL)
    find_pieces (self, p);
  return p->pieces;
}

guint
mhar_token_layout_paragraph (const MharTokenLayout *self, guint token)
{
  gsize start = g_array_index (self->tokens, MharToken, token).start;
  guint low = 0, high = self->paragraphs->len;

  while (high - low > 1) {
    guint middle = low + (high - low) / 2;

    if (g_array_index (self->paragraphs, Paragraph, middle).start <= start)
      low = middle;
    else
      high = middle;
  }
  return low;
}

int
mhar_token_layout_hit (MharTokenLayout *self, double x, double y)
{
  guint paragraph = paragraph_at (self, y);
  const GArray *pieces;

  if (paragraph >= self->paragraphs->len)
    return -1;
  pieces = mhar_token_layout_pieces (self, paragraph);
  for (guint i = 0; i < pieces->len; i++) {
    const MharTokenPiece *piece = &g_array_index (pieces, MharTokenPiece, i);

    if (x >= (double)piece->x && x < (double)(piece->x + piece->width) && y >= (double)piece->y
        && y < (double)(piece->y + piece->height) + GAP)
      return (int)piece->token;
  }
  return -1;
}

char *
mhar_token_layout_quote (const MharTokenLayout *self, guint token)
{
  const MharToken *t = &g_array_index (self->tokens, MharToken, token);
  GString *quote = g_string_new (NULL);
  const char *at = self->text + t->start, *end = self->text + t->end;

  for (guint n = 0; at < end; at = g_utf8_next_char (at), n++) {
    gunichar c = g_utf8_get_char (at);

    if (n == 60) {
      g_string_append (quote, "…");
      break;
    }
    if (c == '\n')
      g_string_append (quote, "↵");
    else if (c == '\t')
      g_string_append (quote, "⇥");
    else
      g_string_append_unichar (quote, g_unichar_iscntrl (c) ? 0xfffd : c);
  }
  return g_string_free (quote, FALSE);
}
