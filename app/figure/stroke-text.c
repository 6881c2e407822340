/* SPDX-License-Identifier: MIT */
/* The text of last resort. */
#include "app/figure/stroke-text.h"

#include <string.h>

#define LINE 1.25 /* line height in sizes */

static void
choose (cairo_t *cr, double size)
{
  /* Any family that starts so is the font inside Cairo itself. */
  cairo_select_font_face (cr, "@cairo:sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cr, size);
}

static double
advance (cairo_t *cr, const char *string)
{
  cairo_text_extents_t extents;

  cairo_text_extents (cr, string, &extents);
  return extents.x_advance;
}

static void
cut (cairo_t *cr, GString *line, double width)
{
  while (width > 0 && line->len > 1 && advance (cr, line->str) > width)
    g_string_truncate (line, line->len - 1);
}

static void
finish_line (cairo_t *cr, GStrvBuilder *lines, GString *line, double width)
{
  cut (cr, line, width);
  g_strv_builder_add (lines, line->str);
  g_string_truncate (line, 0);
}

static void
add_paragraph (cairo_t *cr, GStrvBuilder *lines, const char *paragraph, double width, gboolean wrap)
{
  g_auto (GStrv) words = g_strsplit (paragraph, " ", -1);
  GString *line = g_string_new (NULL);

  for (char **word = words; *word; word++) {
    gsize before = line->len;

    if (before)
      g_string_append_c (line, ' ');
    g_string_append (line, *word);
    if (wrap && before && width > 0 && advance (cr, line->str) > width) {
      g_string_truncate (line, before);
      finish_line (cr, lines, line, width);
      g_string_append (line, *word);
    }
  }
  finish_line (cr, lines, line, width);
  g_string_free (line, TRUE);
}

/* What the figures write beyond ASCII, and then anything else as GLib sees fit. */
static char *
to_ascii (const char *string)
{
  GString *text = g_string_new (string);
  char *ascii;

  g_string_replace (text, "\u00b7", "|", 0);
  g_string_replace (text, "\u00b1", "+-", 0);
  g_string_replace (text, "\u2019", "'", 0);
  g_string_replace (text, "\u2212", "-", 0);
  ascii = g_str_to_ascii (text->str, "C");
  g_string_free (text, TRUE);
  return ascii;
}

char **
mhar_stroke_text_lines (cairo_t *scratch, const char *string, double size, double width, gboolean wrap)
{
  g_autofree char *ascii = to_ascii (string);
  g_auto (GStrv) paragraphs = g_strsplit (ascii, "\n", wrap ? -1 : 1);
  g_autoptr (GStrvBuilder) lines = g_strv_builder_new ();

  choose (scratch, size);
  for (char **paragraph = paragraphs; *paragraph; paragraph++)
    add_paragraph (scratch, lines, *paragraph, width, wrap);
  return g_strv_builder_end (lines);
}

void
mhar_stroke_text_extents (cairo_t *scratch, char **lines, double size, double *along, double *across)
{
  *along = 0;
  choose (scratch, size);
  for (char **line = lines; *line; line++)
    *along = MAX (*along, advance (scratch, *line));
  *across = g_strv_length (lines) * size * LINE;
}

void
mhar_stroke_text_show (cairo_t *cr, char **lines, double size)
{
  double x, y;

  cairo_get_current_point (cr, &x, &y);
  choose (cr, size);
  for (char **line = lines; *line; line++, y += size * LINE) {
    cairo_move_to (cr, x, y + size);
    cairo_show_text (cr, *line);
  }
}
