/* SPDX-License-Identifier: MIT */
#include "app/figure/document-text.h"

#include "app/figure/document-private.h"
#include "core/error.h"

#include <string.h>

PangoContext *
mhar_page_context (GError **error)
{
  PangoFontMap *map = pango_cairo_font_map_get_default ();
  PangoContext *context = pango_font_map_create_context (map);
  cairo_font_options_t *options = cairo_font_options_create ();
  PangoFontDescription *font = pango_font_description_from_string ("Sans 10");
  PangoFont *found = pango_font_map_load_font (map, context, font);

  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options (context, options);
  pango_cairo_context_set_resolution (context, 72);
  cairo_font_options_destroy (options);
  pango_font_description_free (font);
  if (found) {
    g_object_unref (found);
    return context;
  }
  g_object_unref (context);
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN,
               "no font is installed to write a PDF with; install one, such as fonts-dejavu-core");
  return NULL;
}

/* What changes from one run to the next. */
static void
add_look (PangoAttrList *list, MharLook look, guint from, guint to)
{
  PangoAttribute *attribute = NULL;

  if (look == MHAR_LOOK_EMPHASIS)
    attribute = pango_attr_style_new (PANGO_STYLE_ITALIC);
  else if (look == MHAR_LOOK_STRONG)
    attribute = pango_attr_weight_new (PANGO_WEIGHT_BOLD);
  else if (look == MHAR_LOOK_CODE)
    attribute = pango_attr_family_new ("Monospace");
  if (!attribute)
    return;
  attribute->start_index = from;
  attribute->end_index = to;
  pango_attr_list_insert (list, attribute);
}

PangoLayout *
mhar_page_layout (PangoContext *context, const char *text, const MharTextStyle *style)
{
  PangoLayout *layout = pango_layout_new (context);
  PangoAttrList *list = pango_attr_list_new ();
  PangoFontDescription *font = pango_font_description_new ();
  g_autofree char *valid = g_utf8_make_valid (text, -1), *plain = mhar_document_plain (valid);
  const char *at = valid, *start;
  guint from = 0;
  MharLook look;
  gsize length;

  while (mhar_document_run (&at, &look, &start, &length)) {
    add_look (list, look, from, from + (guint)length);
    from += (guint)length;
  }
  pango_font_description_set_family (font, style->mono ? "Monospace" : "Sans");
  pango_font_description_set_absolute_size (font, style->size * PANGO_SCALE);
  pango_font_description_set_weight (font, style->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, plain, -1);
  pango_layout_set_attributes (layout, list);
  pango_layout_set_width (layout, style->width > 0 ? (int)(style->width * PANGO_SCALE) : -1);
  pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_alignment (layout, style->align);
  pango_layout_set_line_spacing (layout, (float)style->leading);
  pango_attr_list_unref (list);
  pango_font_description_free (font);
  return layout;
}

void
mhar_page_layout_size (PangoLayout *layout, double *width, double *height)
{
  PangoRectangle logical;

  pango_layout_get_extents (layout, NULL, &logical);
  *width = (double)logical.width / PANGO_SCALE;
  *height = (double)logical.height / PANGO_SCALE;
}

double
mhar_page_word_width (PangoContext *context, const char *text, const MharTextStyle *style)
{
  g_autofree char *plain = mhar_document_plain (text);
  g_auto (GStrv) words = g_strsplit_set (plain, " \n", -1);
  double widest = 0;

  for (guint i = 0; words[i] != NULL; i++) {
    MharTextStyle free_style = *style;
    double width, height;
    free_style.width = 0;
    free_style.bold = style->bold || strchr (text, MHAR_STRONG[0]) != NULL; /* the marks are gone */
    free_style.mono = style->mono || strchr (text, MHAR_CODE[0]) != NULL;
    PangoLayout *layout = mhar_page_layout (context, words[i], &free_style);

    mhar_page_layout_size (layout, &width, &height);
    widest = MAX (widest, width);
    g_object_unref (layout);
  }
  return widest;
}
