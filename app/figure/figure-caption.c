/* SPDX-License-Identifier: MIT */
/* The words under a figure, and small text helpers of a drawing. */
#include "app/figure/figure-data.h"
#include "app/figure/figure-private.h"

#include <string.h>

void
mhar_drawing_set_source (cairo_t *cr, const MharRgb *colour)
{
  cairo_set_source_rgb (cr, colour->r, colour->g, colour->b);
}

void
mhar_drawing_write (const MharDrawing *drawing, cairo_t *cr, const MharTextRun *run, double x, double y,
                    const MharRgb *colour)
{
  mhar_text_draw (drawing->text, cr, run, x, y, colour ? colour : &drawing->palette->ink);
}

double
mhar_drawing_text_width (const MharDrawing *drawing, const char *string, double size)
{
  MharTextRun run = { .string = string, .size = size };
  double along, across;

  mhar_text_measure (drawing->text, &run, &along, &across);
  return along;
}

static void
append_count (GString *text, const char *before, const MharDataset *set, const char *name, const char *after)
{
  gint64 n = mhar_dataset_integer (set, name, -1);

  if (n >= 0)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT "%s%s", before, n, after, n == 1 || !*after ? "" : "s");
}

GString *
mhar_caption_new (const MharDataset *set, gsize *bold)
{
  g_autofree char *name = mhar_figure_checkpoint (set);
  const char *mode = mhar_dataset_string (set, "mode");
  GString *text = g_string_new (name);

  *bold = text->len;
  if (mode) {
    g_autofree char *clean = mhar_text_clean (mode);

    g_string_append_printf (text, "  %s", clean);
  }
  append_count (text, " · d ", set, "width", "");
  append_count (text, " · L ", set, "layers", "");
  append_count (text, " · H ", set, "heads", "");
  append_count (text, " · ", set, "sites", " site");
  append_count (text, " · ", set, "tokens", " token");
  append_count (text, " in ", set, "windows", " window");
  return text;
}

void
mhar_caption_cells (const MharDrawing *drawing, GString *caption, const char *what, guint broken)
{
  const char *absent = drawing->options.style == MHAR_FIGURE_AUTHORS ? "dark" : drawing->hatched ? "hatched" : "grey";

  g_string_append_printf (caption, "; %s: no such %s yet", absent, what);
  if (broken > 0)
    g_string_append_printf (caption, ", and weights that are NaN or infinite, at %u site%s", broken,
                            broken == 1 ? "" : "s");
  g_string_append_c (caption, '.');
  if (drawing->over)
    g_string_append (caption, " Values above the scale have the colour of its end.");
}

const char *
mhar_drawing_legend (const MharDrawing *drawing)
{
  const char *legend = drawing->legend > 0 ? drawing->caption + drawing->legend : "";

  while (g_ascii_isspace (*legend))
    legend++;
  return *legend != '\0' ? legend : NULL;
}

static MharTextRun
caption_run (const MharDrawing *drawing)
{
  return (MharTextRun){
    .string = drawing->caption,
    .size = drawing->small,
    .bold = drawing->caption_bold,
    .width = drawing->out.width - 2 * drawing->margin,
    .wrap = TRUE,
  };
}

double
mhar_drawing_place_caption (MharDrawing *drawing)
{
  MharTextRun run = caption_run (drawing);
  double along, across, gap = drawing->small * 0.9;

  drawing->out.caption = (MharFigureRect){ 0 };
  if (!drawing->caption || drawing->no_caption || drawing->font <= 0)
    return 0;
  mhar_text_measure (drawing->text, &run, &along, &across);
  if (across > drawing->out.height * 0.3)
    return 0;
  drawing->out.caption
      = (MharFigureRect){ drawing->margin, drawing->out.height - drawing->margin - across, run.width, across };
  return across + gap;
}

void
mhar_drawing_paint_caption (const MharDrawing *drawing, cairo_t *cr)
{
  MharTextRun run = caption_run (drawing);

  if (drawing->out.caption.height > 0)
    mhar_drawing_write (drawing, cr, &run, drawing->out.caption.x, drawing->out.caption.y, NULL);
}
