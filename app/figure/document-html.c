/* SPDX-License-Identifier: MIT */
/* A document as one HTML file: its style and its figures are in it. */
#include "app/figure/document-private.h"
#include "app/figure/figure-private.h"
#include "app/figure/svg-embed.h"

#include <string.h>

static const char style[]
    = ":root{color-scheme:light "
      "dark;--ink:#1b1b1f;--soft:#5b5b66;--line:#c9c9d1;--faint:#ececf0;--paper:#fff;--link:#1d4f91}\n"
      "@media "
      "(prefers-color-scheme:dark){:root{--ink:#e6e6ea;--soft:#a5a5b0;--line:#4a4a55;--faint:#2a2a31;--paper:#17171b;"
      "--link:#8fb8f0}}\n"
      "*{box-sizing:border-box}\n"
      "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe "
      "UI\",\"DejaVu "
      "Sans\",sans-serif}\n"
      "main{max-width:58rem;margin:0 auto;padding:2.5rem 1.25rem 5rem}\n"
      "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem}\n"
      "h2{font-size:1.35rem;margin:2.8rem 0 .8rem;padding-top:.6rem;border-top:1px solid var(--line)}\n"
      "h3{font-size:1.08rem;margin:1.9rem 0 .6rem}\n"
      "h2 .number,h3 .number{color:var(--soft);margin-right:.55em;font-variant-numeric:tabular-nums}\n"
      "p,dl,pre{max-width:46rem}\n"
      ".subtitle{color:var(--soft);margin:0 0 1.6rem}\n"
      "a{color:var(--link);text-decoration:none}\na:hover{text-decoration:underline}\n"
      "nav ol{list-style:none;margin:0;padding:0;columns:16rem 2;column-gap:2rem;font-size:.92rem}\n"
      "nav .number{display:inline-block;min-width:1.9em;color:var(--soft)}\n"
      "code,pre{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;font-size:.88em}\n"
      "pre{background:var(--faint);padding:.8rem 1rem;border-radius:4px;white-space:pre-wrap;overflow-wrap:anywhere}\n"
      ".scroll{overflow-x:auto;margin:1.2rem 0 1.8rem}\n"
      "table{border-collapse:collapse;font-size:.84rem;line-height:1.4;border-bottom:1.5px solid var(--ink)}\n"
      "caption{caption-side:top;text-align:left;color:var(--soft);padding:0 0 .5rem;max-width:54rem;line-height:1.45}\n"
      "caption b,figcaption b{color:var(--ink)}\n"
      "thead th{border-top:1.5px solid var(--ink);border-bottom:1px solid var(--ink);vertical-align:bottom}\n"
      "th,td{padding:.22rem .7rem .22rem 0;text-align:left;vertical-align:top;font-weight:400}\n"
      "thead th,.part th{font-weight:600}\n"
      ".part th{padding-top:.65rem;border-bottom:1px solid var(--line)}\n"
      "th.r,td.r{text-align:right;padding:.22rem 0 .22rem .9rem;font-variant-numeric:tabular-nums}\n"
      "th.c,td.c{text-align:center;padding-left:.5rem;padding-right:.5rem}\n"
      "td.l+td.l,th.l+th.l{padding-left:.4rem}\ntd.r+td.l,th.r+th.l{padding-left:1rem}\n"
      "tbody tr:hover td{background:var(--faint)}\n"
      "figure{margin:1.4rem 0 2rem}\n"
      "figure svg{display:block;max-width:100%;height:auto;background:#fff}\n"
      "figcaption{color:var(--soft);font-size:.86rem;line-height:1.45;margin-top:.6rem;max-width:46rem}\n"
      "dt{font-weight:600;margin-top:.9rem}\ndd{margin:.1rem 0 0 1.4rem;white-space:pre-line}\n"
      "@media print{body{font-size:10pt}main{max-width:none;padding:0}nav{display:none}h2,h3{break-after:avoid}"
      "figure,tr{break-inside:avoid}}\n";

/* UTF-8 with what HTML and XML take for their own written otherwise, and without what XML does not allow. */
static void
append_escaped (GString *out, const char *text, gsize length)
{
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)length);

  for (const char *at = valid; *at; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);

    if (c == '&')
      g_string_append (out, "&amp;");
    else if (c == '<')
      g_string_append (out, "&lt;");
    else if (c == '>')
      g_string_append (out, "&gt;");
    else if (c == '"')
      g_string_append (out, "&quot;");
    else if (c == '\n' || (c >= 0x20 && c != 0x7f && c != 0xfffe && c != 0xffff))
      g_string_append_unichar (out, c);
  }
}

static void
append_text (GString *out, const char *text)
{
  static const char *const tags[] = { NULL, "em", "strong", "code" };
  const char *start;
  MharLook look;
  gsize length;

  while (mhar_document_run (&text, &look, &start, &length)) {
    if (tags[look])
      g_string_append_printf (out, "<%s>", tags[look]);
    append_escaped (out, start, length);
    if (tags[look])
      g_string_append_printf (out, "</%s>", tags[look]);
  }
}

static void
append_element (GString *out, const char *open, const char *text, const char *close)
{
  g_string_append (out, open);
  append_text (out, text);
  g_string_append (out, close);
}

static void
append_heading (GString *out, const MharBlock *block)
{
  g_string_append_printf (out, "<h%u id=\"section-%s\"><span class=\"number\">%s</span>", block->level + 1,
                          block->number, block->number);
  append_text (out, block->text);
  g_string_append_printf (out, "</h%u>\n", block->level + 1);
}

static void
append_cell (GString *out, const char *tag, const char *scope, char align, const char *text)
{
  g_string_append_printf (out, "<%s%s class=\"%c\">", tag, scope, align);
  append_text (out, text);
  g_string_append_printf (out, "</%s>", tag);
}

static void
append_rows (GString *out, const MharBlock *block)
{
  for (guint r = 0; r < block->rows->len; r++) {
    char **cells = block->rows->pdata[r];

    if (cells[1] == NULL && block->n_columns > 1) {
      g_string_append_printf (out, "<tr class=\"part\"><th colspan=\"%u\" scope=\"rowgroup\">", block->n_columns);
      append_element (out, "", cells[0], "</th></tr>\n");
      continue;
    }
    g_string_append (out, "<tr>");
    for (guint c = 0; cells[c] != NULL; c++)
      append_cell (out, "td", "", block->align[c], cells[c]);
    g_string_append (out, "</tr>\n");
  }
}

static void
append_table (GString *out, const MharBlock *block)
{
  g_string_append_printf (out, "<div class=\"scroll\"><table id=\"table-%s\">\n<caption><b>Table %s.</b> ",
                          block->number, block->number);
  append_element (out, "", block->text, "</caption>\n<thead><tr>");
  for (guint c = 0; c < block->n_columns; c++)
    append_cell (out, "th", " scope=\"col\"", block->align[c], block->columns[c]);
  g_string_append (out, "</tr></thead>\n<tbody>\n");
  append_rows (out, block);
  g_string_append (out, "</tbody></table></div>\n");
}

static gboolean
append_figure (GString *out, const MharBlock *block, GError **error)
{
  g_autoptr (GByteArray) svg = g_byte_array_new ();
  g_autofree char *prefix = g_strdup_printf ("f%s-", block->number);

  if (!mhar_drawing_svg (block->drawing, svg, "the report", error))
    return FALSE;
  g_string_append_printf (out, "<figure id=\"figure-%s\">\n", block->number);
  mhar_svg_embed (svg, prefix, out);
  g_string_append_printf (out, "<figcaption><b>Figure %s.</b> ", block->number);
  append_element (out, "", block->text, "</figcaption>\n</figure>\n");
  return TRUE;
}

static void
append_term (GString *out, const MharDocument *document, guint i)
{
  const MharBlock *block = document->blocks->pdata[i];
  const MharBlock *before = i > 0 ? document->blocks->pdata[i - 1] : NULL;
  const MharBlock *after = i + 1 < document->blocks->len ? document->blocks->pdata[i + 1] : NULL;

  if (!before || before->kind != MHAR_BLOCK_TERM)
    g_string_append (out, "<dl>\n");
  append_element (out, "<dt>", block->term, "</dt>");
  append_element (out, "<dd>", block->text, "</dd>\n");
  if (!after || after->kind != MHAR_BLOCK_TERM)
    g_string_append (out, "</dl>\n");
}

static void
append_contents (GString *out, const MharDocument *document)
{
  g_string_append (out, "<nav aria-label=\"Contents\"><ol>\n");
  for (guint i = 0; i < document->blocks->len; i++) {
    const MharBlock *block = document->blocks->pdata[i];

    if (block->kind != MHAR_BLOCK_HEADING || block->level != 1)
      continue;
    g_string_append_printf (out, "<li><a href=\"#section-%s\"><span class=\"number\">%s</span>", block->number,
                            block->number);
    append_element (out, "", block->text, "</a></li>\n");
  }
  g_string_append (out, "</ol></nav>\n");
}

static gboolean
append_block (GString *out, const MharDocument *document, guint i, GError **error)
{
  const MharBlock *block = document->blocks->pdata[i];

  switch (block->kind) {
  case MHAR_BLOCK_HEADING:
    append_heading (out, block);
    break;
  case MHAR_BLOCK_PARAGRAPH:
    append_element (out, "<p>", block->text, "</p>\n");
    break;
  case MHAR_BLOCK_CODE:
    append_element (out, "<pre><code>", block->text, "</code></pre>\n");
    break;
  case MHAR_BLOCK_TERM:
    append_term (out, document, i);
    break;
  case MHAR_BLOCK_TABLE:
    append_table (out, block);
    break;
  case MHAR_BLOCK_FIGURE:
    return append_figure (out, block, error);
  }
  return TRUE;
}

GByteArray *
mhar_document_html (const MharDocument *document, GError **error)
{
  g_autoptr (GString) out = g_string_new ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                                          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n");

  append_element (out, "<title>", document->title, "</title>\n");
  g_string_append_printf (out, "<style>\n%s</style>\n</head>\n<body>\n<main>\n<header>\n", style);
  append_element (out, "<h1>", document->title, "</h1>\n");
  append_element (out, "<p class=\"subtitle\">", document->subtitle, "</p>\n");
  append_contents (out, document);
  g_string_append (out, "</header>\n");
  for (guint i = 0; i < document->blocks->len; i++)
    if (!append_block (out, document, i, error))
      return NULL;
  g_string_append (out, "</main>\n</body>\n</html>\n");
  GByteArray *bytes = g_byte_array_new ();
  return g_byte_array_append (bytes, (const guint8 *)out->str, (guint)out->len);
}
