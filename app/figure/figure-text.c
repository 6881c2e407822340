/* SPDX-License-Identifier: MIT */
/* Pango, set up so that what is measured is what any surface draws. */
#include "app/figure/figure-text.h"

#include "app/figure/stroke-text.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#define MAX_CHARS 200

#define MAX_LAYOUTS 2048

struct _MharText {
  cairo_matrix_t matrices[2]; /* that the contexts were last told of; all zero: none */
  PangoContext *contexts[2];  /* of level and of turned text: a layout is done again when its context changes */
  GHashTable
      *layouts; /* all that says how it is laid out -> PangoLayout: a window draws the same text again and again */
  PangoFontDescription *font;
  cairo_t *scratch; /* measures the stroke font; NULL where there are fonts */
};

static void
set_options (PangoContext *context)
{
  cairo_font_options_t *options = cairo_font_options_create ();

  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options (context, options);
  pango_cairo_context_set_resolution (context, 72);
  cairo_font_options_destroy (options);
}

MharText *
mhar_text_new (const char *family)
{
  MharText *text = g_new0 (MharText, 1);
  PangoFontMap *map = pango_cairo_font_map_get_default ();
  PangoFont *found;

  for (guint i = 0; i < G_N_ELEMENTS (text->contexts); i++) {
    text->contexts[i] = pango_font_map_create_context (map);
    set_options (text->contexts[i]);
  }
  text->layouts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  text->font = pango_font_description_new ();
  pango_font_description_set_family (text->font, family ? family : "Sans");
  pango_font_description_set_absolute_size (text->font, 10 * PANGO_SCALE);
  found = pango_font_map_load_font (map, text->contexts[0], text->font);
  if (found) {
    g_object_unref (found);
  } else {
    cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, 1, 1);

    text->scratch = cairo_create (surface);
    cairo_surface_destroy (surface);
  }
  return text;
}

void
mhar_text_free (MharText *text)
{
  if (!text)
    return;
  g_hash_table_unref (text->layouts);
  for (guint i = 0; i < G_N_ELEMENTS (text->contexts); i++)
    g_object_unref (text->contexts[i]);
  pango_font_description_free (text->font);
  if (text->scratch)
    cairo_destroy (text->scratch);
  g_free (text);
}

static PangoLayout *
lay_out (MharText *text, const MharTextRun *run)
{
  PangoLayout *layout = pango_layout_new (text->contexts[run->up]);
  PangoAttrList *attributes = pango_attr_list_new ();

  if (run->bold) {
    PangoAttribute *bold = pango_attr_weight_new (PANGO_WEIGHT_BOLD);

    bold->start_index = 0;
    bold->end_index = (guint)run->bold;
    pango_attr_list_insert (attributes, bold);
  }
  pango_font_description_set_absolute_size (text->font, run->size * PANGO_SCALE);
  pango_layout_set_font_description (layout, text->font);
  pango_layout_set_width (layout, run->width > 0 ? (int)ceil (MIN (run->width, 1e5) * PANGO_SCALE) : -1);
  pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_ellipsize (layout, run->wrap ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END);
  pango_layout_set_single_paragraph_mode (layout, !run->wrap);
  pango_layout_set_text (layout, run->string, -1);
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  return layout;
}

/* Borrowed until the next call. */
static PangoLayout *
find_layout (MharText *text, const MharTextRun *run)
{
  g_autofree char *key = g_strdup_printf ("%.17g %.17g %" G_GSIZE_FORMAT " %d%d %s", run->size, run->width, run->bold,
                                          run->wrap, run->up, run->string);
  PangoLayout *layout = g_hash_table_lookup (text->layouts, key);

  if (layout)
    return layout;
  if (g_hash_table_size (text->layouts) >= MAX_LAYOUTS)
    g_hash_table_remove_all (text->layouts);
  layout = lay_out (text, run);
  g_hash_table_insert (text->layouts, g_steal_pointer (&key), layout);
  return layout;
}

void
mhar_text_measure (MharText *text, const MharTextRun *run, double *along, double *across)
{
  int w, h;

  *along = *across = 0;
  if (run->size < 1)
    return;
  if (text->scratch) {
    g_auto (GStrv) lines = mhar_stroke_text_lines (text->scratch, run->string, run->size, run->width, run->wrap);

    mhar_stroke_text_extents (text->scratch, lines, run->size, along, across);
    return;
  }
  pango_layout_get_size (find_layout (text, run), &w, &h);
  *along = (double)w / PANGO_SCALE;
  *across = (double)h / PANGO_SCALE;
}

/* Tells the layout's context how `cr` turns and scales. Pango lays all of a context's text out again when it is told
 * anything, so it is not told what it knows. */
static void
update_context (MharText *text, cairo_t *cr, PangoLayout *layout, gboolean up)
{
  cairo_matrix_t *known = &text->matrices[up], now;

  cairo_get_matrix (cr, &now);
  if (known->xx == now.xx && known->xy == now.xy && known->yx == now.yx && known->yy == now.yy)
    return;
  *known = now;
  pango_cairo_update_layout (cr, layout);
}

void
mhar_text_draw (MharText *text, cairo_t *cr, const MharTextRun *run, double x, double y, const MharRgb *colour)
{
  double along, across;

  if (run->size < 1)
    return;
  mhar_text_measure (text, run, &along, &across);
  cairo_save (cr);
  cairo_set_source_rgb (cr, colour->r, colour->g, colour->b);
  cairo_translate (cr, x, y);
  if (run->up)
    cairo_rotate (cr, -G_PI_2);
  cairo_move_to (cr, -run->along * along, -run->across * across);
  if (text->scratch) {
    g_auto (GStrv) lines = mhar_stroke_text_lines (text->scratch, run->string, run->size, run->width, run->wrap);

    mhar_stroke_text_show (cr, lines, run->size);
  } else {
    PangoLayout *layout = find_layout (text, run);

    update_context (text, cr, layout, run->up);
    pango_cairo_show_layout (cr, layout);
  }
  cairo_new_path (cr);
  cairo_restore (cr);
}

char *
mhar_text_clean (const char *string)
{
  /* Cut first, so that a file's megabyte of label costs nothing; a character is at most 4 bytes. */
  gssize length = (gssize)strnlen (string, MAX_CHARS * 4);
  g_autofree char *valid = g_utf8_make_valid (string, length);
  GString *clean = g_string_new (NULL);
  guint n = 0;

  for (const char *p = valid; *p && n < MAX_CHARS; p = g_utf8_next_char (p), n++) {
    gunichar c = g_utf8_get_char (p);

    g_string_append_unichar (clean, g_unichar_isprint (c) ? c : ' ');
  }
  return g_string_free (clean, FALSE);
}
