/* SPDX-License-Identifier: MIT */
/* A document as pages of A4. Blocks go down the page one after another; a heading stays with what follows it, a figure
 * is never cut, a table goes on under its head on the next page. */
#include "app/figure/document-private.h"
#include "app/figure/document-table.h"
#include "app/figure/document-text.h"
#include "app/figure/figure-private.h"
#include "core/error.h"

#include <cairo-pdf.h>
#include <math.h>
#include <string.h>

#define PAGE_WIDTH 595.0
#define PAGE_HEIGHT 842.0
#define LEFT 54.0
#define TOP 54.0
#define BOTTOM 784.0
#define WIDTH (PAGE_WIDTH - 2 * LEFT)
#define FOOT 806.0
#define INDENT 14.0
#define BODY 9.2
#define SMALL 8.2
#define LEADING 1.14
#define SQUEEZE 0.8
#define WHOLE_TABLE 0.4 /* of a page: what is lower is not parted */

typedef struct {
  const MharDocument *document;
  cairo_surface_t *surface;
  cairo_t *cr;
  PangoContext *context;
  double y;
  guint page;
  gboolean fresh; /* nothing on the page yet */
  int outline;    /* of the last section */
} Pages;

static const MharTextStyle body = { .size = BODY, .width = WIDTH, .leading = LEADING };
static const MharTextStyle code = { .size = 7.8, .width = WIDTH - 2 * 7, .leading = LEADING, .mono = TRUE };
static const MharTextStyle caption = { .size = SMALL, .width = WIDTH, .leading = LEADING };
static const MharTextStyle definition = { .size = BODY, .width = WIDTH - INDENT, .leading = LEADING };
static const MharTextStyle headings[] = { { .size = 17, .bold = TRUE, .width = WIDTH },
                                          { .size = 12.6, .bold = TRUE, .width = WIDTH },
                                          { .size = 10.4, .bold = TRUE, .width = WIDTH } };

static void
ink (Pages *p, double grey)
{
  cairo_set_source_rgb (p->cr, grey, grey, grey * 1.02);
}

static void
rule (Pages *p, double x, double y, double width, double weight)
{
  ink (p, 0.1);
  cairo_set_line_width (p->cr, weight);
  cairo_move_to (p->cr, x, y);
  cairo_line_to (p->cr, x + width, y);
  cairo_stroke (p->cr);
}

/* One line of small grey text, its left or right end at x. */
static void
mark (Pages *p, const char *text, double x, double y, double width, PangoAlignment align)
{
  MharTextStyle style = { .size = 7.4, .width = width, .align = align };
  PangoLayout *layout = mhar_page_layout (p->context, text, &style);

  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  ink (p, 0.4);
  cairo_move_to (p->cr, x, y);
  pango_cairo_show_layout (p->cr, layout);
  g_object_unref (layout);
}

static void
new_page (Pages *p)
{
  g_autofree char *number = g_strdup_printf ("%u", ++p->page);

  if (p->page > 1)
    cairo_show_page (p->cr);
  mark (p, p->document->title, LEFT, FOOT, WIDTH - 60, PANGO_ALIGN_LEFT);
  mark (p, number, LEFT, FOOT, WIDTH, PANGO_ALIGN_RIGHT);
  ink (p, 0.1);
  p->y = TOP;
  p->fresh = TRUE;
}

/* Empty space, but at the top of a page; then room for `height`, on the next page if need be. */
static void
room (Pages *p, double space, double height)
{
  if (!p->fresh)
    p->y += space;
  if (!p->fresh && p->y + height > BOTTOM)
    new_page (p);
}

static double
height_of (PangoLayout *layout)
{
  double width, height;

  mhar_page_layout_size (layout, &width, &height);
  return height;
}

/* The lines of a layout, [n] heights and baselines. */
typedef struct {
  double height, baseline, x;
  PangoLayoutLine *line;
} Line;

static GArray *
lines_of (PangoLayout *layout)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (Line));
  PangoLayoutIter *iter = pango_layout_get_iter (layout);

  do {
    PangoRectangle logical;
    int top, bottom;

    pango_layout_iter_get_line_extents (iter, NULL, &logical);
    pango_layout_iter_get_line_yrange (iter, &top, &bottom);
    Line line
        = { (double)(bottom - top) / PANGO_SCALE, (double)(pango_layout_iter_get_baseline (iter) - top) / PANGO_SCALE,
            (double)logical.x / PANGO_SCALE, pango_layout_iter_get_line_readonly (iter) };
    g_array_append_val (lines, line);
  } while (pango_layout_iter_next_line (iter));
  pango_layout_iter_free (iter);
  return lines;
}

/* How many lines from `from` on go on this page: never one alone before or behind a break. */
static guint
fit (const Pages *p, const GArray *lines, guint from)
{
  double y = p->y;
  guint n = from;

  while (n < lines->len && y + g_array_index (lines, Line, n).height <= BOTTOM)
    y += g_array_index (lines, Line, n++).height;
  if (n == lines->len)
    return n - from;
  if (lines->len - n == 1 && n - from > 2)
    n--;
  if (n - from < 2 && !p->fresh)
    n = from;
  return p->fresh ? MAX (n - from, 1) : n - from;
}

/* Lines down the page and the next ones; `shade` paints behind them. */
static void
flow (Pages *p, PangoLayout *layout, double x, gboolean shade)
{
  g_autoptr (GArray) lines = lines_of (layout);
  guint done = 0;

  for (;;) {
    guint n = fit (p, lines, done);

    for (guint i = done; i < done + n; i++) {
      const Line *line = &g_array_index (lines, Line, i);

      if (shade) {
        ink (p, 0.945);
        cairo_rectangle (p->cr, LEFT, p->y - (i == done ? 4 : 0.2), WIDTH,
                         line->height + (i == done ? 4 : 0.2) + (i + 1 == done + n ? 4 : 0));
        cairo_fill (p->cr);
      }
      ink (p, 0.1);
      cairo_move_to (p->cr, x + line->x, p->y + line->baseline);
      pango_cairo_show_layout_line (p->cr, line->line);
      p->y += line->height;
      p->fresh = FALSE;
    }
    done += n;
    if (done == lines->len)
      return;
    new_page (p);
  }
}

static void
write_text (Pages *p, const char *text, const MharTextStyle *style, double x, gboolean shade)
{
  PangoLayout *layout = mhar_page_layout (p->context, text, style);

  flow (p, layout, x, shade);
  g_object_unref (layout);
}

static char *
caption_of (const MharBlock *block)
{
  g_autofree char *name = mhar_block_name (block);

  return g_strconcat (MHAR_STRONG, name, ".", MHAR_PLAIN, " ", block->text, NULL);
}

static double
text_height (const Pages *p, const char *text, const MharTextStyle *style)
{
  PangoLayout *layout = mhar_page_layout (p->context, text, style);
  double height = height_of (layout);

  g_object_unref (layout);
  return height;
}

static double
caption_height (const Pages *p, const MharBlock *block)
{
  g_autofree char *text = caption_of (block);

  return text_height (p, text, &caption);
}

/* ---- figures ---- */

/* How much smaller than natural a figure has to be for the page. */
static double
figure_scale (const Pages *p, const MharBlock *block)
{
  double room_down = BOTTOM - TOP - caption_height (p, block) - 8;

  return fmin (1, fmin (WIDTH / block->width, room_down / block->height));
}

/* A little smaller still, where that saves it from the next page. */
static double
squeezed (const Pages *p, const MharBlock *block, double space)
{
  double scale = figure_scale (p, block),
         here = (BOTTOM - p->y - space - 5 - caption_height (p, block)) / block->height;

  return here < scale && here >= SQUEEZE * scale ? here : scale;
}

static double
figure_height (const Pages *p, const MharBlock *block)
{
  return block->height * figure_scale (p, block) + 5 + caption_height (p, block);
}

static void
write_figure (Pages *p, const MharBlock *block)
{
  double scale = squeezed (p, block, 9);
  g_autofree char *text = caption_of (block);

  room (p, 9, block->height * scale + 5 + caption_height (p, block));
  cairo_save (p->cr);
  cairo_translate (p->cr, LEFT + (WIDTH - block->width * scale) / 2, p->y);
  cairo_scale (p->cr, scale, scale);
  mhar_drawing_paint (block->drawing, p->cr);
  cairo_restore (p->cr);
  p->y += block->height * scale + 5;
  p->fresh = FALSE;
  write_text (p, text, &caption, LEFT, FALSE);
  p->y += 5;
}

/* ---- tables ---- */

static double
lines_height (const MharPageTable *table, guint n)
{
  double height = table->head->height + 3;

  for (guint i = 0; i < MIN (n, table->lines->len); i++)
    height += ((MharTableLine *)table->lines->pdata[i])->height;
  return height;
}

static double
table_start (const Pages *p, const MharBlock *block, const MharPageTable *table)
{
  double whole = lines_height (table, table->lines->len), above = caption_height (p, block) + 4;

  return above + (whole <= WHOLE_TABLE * (BOTTOM - TOP) ? whole : lines_height (table, 4));
}

static void
write_head (Pages *p, const MharPageTable *table)
{
  rule (p, LEFT, p->y, table->width, 0.9);
  mhar_page_table_draw (table, table->head, p->cr, LEFT, p->y);
  p->y += table->head->height;
  rule (p, LEFT, p->y, table->width, 0.5);
  p->y += 1;
  p->fresh = FALSE;
}

/* A heading within the table goes with the line after it. */
static double
line_need (const MharPageTable *table, guint i)
{
  const MharTableLine *line = table->lines->pdata[i];

  return line->height + (line->part && i + 1 < table->lines->len ? line_need (table, i + 1) : 0);
}

static void
continue_table (Pages *p, const MharPageTable *table, const MharBlock *block)
{
  g_autofree char *name = mhar_block_name (block);
  g_autofree char *text = g_strdup_printf (MHAR_STRONG "%s" MHAR_PLAIN " (continued)", name);

  rule (p, LEFT, p->y + 1, table->width, 0.5);
  new_page (p);
  write_text (p, text, &caption, LEFT, FALSE);
  p->y += 3;
  write_head (p, table);
}

static void
write_table (Pages *p, const MharBlock *block)
{
  MharPageTable *table = mhar_page_table_new (p->context, block, WIDTH);
  g_autofree char *text = caption_of (block);

  room (p, 9, table_start (p, block, table));
  write_text (p, text, &caption, LEFT, FALSE);
  p->y += 4;
  write_head (p, table);
  for (guint i = 0; i < table->lines->len; i++) {
    const MharTableLine *line = table->lines->pdata[i];

    if (p->y + line_need (table, i) + 2 > BOTTOM)
      continue_table (p, table, block);
    mhar_page_table_draw (table, line, p->cr, LEFT, p->y);
    p->y += line->height;
  }
  rule (p, LEFT, p->y + 1, table->width, 0.9);
  p->y += 9;
  mhar_page_table_free (table);
}

/* ---- the rest ---- */

static char *
heading_text (const MharBlock *block)
{
  return g_strdup_printf ("%s   %s", block->number, block->text);
}

/* What the start of block i takes, so that what comes before it stays with it. */
static double
start_height (const Pages *p, guint i)
{
  if (i >= p->document->blocks->len)
    return 0;
  const MharBlock *block = p->document->blocks->pdata[i];
  if (block->kind == MHAR_BLOCK_FIGURE)
    return figure_height (p, block) + 9;
  if (block->kind == MHAR_BLOCK_HEADING)
    return text_height (p, block->text, &headings[block->level]) + 16 + start_height (p, i + 1);
  if (block->kind != MHAR_BLOCK_TABLE)
    return fmin (text_height (p, block->text, &body), 3 * BODY * 1.5) + 6;
  MharPageTable *table = mhar_page_table_new (p->context, block, WIDTH);
  double height = table_start (p, block, table) + 9;
  mhar_page_table_free (table);
  return height;
}

static void
write_heading (Pages *p, const MharBlock *block, guint i)
{
  g_autofree char *text = heading_text (block);
  double height = text_height (p, text, &headings[block->level]);

  room (p, block->level == 1 ? 20 : 12, height + 6 + start_height (p, i + 1));
  g_autofree char *place = g_strdup_printf ("page=%u pos=[%d %d]", p->page, (int)LEFT, (int)p->y);
  g_autofree char *plain = mhar_document_plain (text);
  int parent = block->level == 1 ? CAIRO_PDF_OUTLINE_ROOT : p->outline;
  int id = cairo_pdf_surface_add_outline (p->surface, parent, plain, place, 0);
  if (block->level == 1)
    p->outline = id;
  write_text (p, text, &headings[block->level], LEFT, FALSE);
  p->y += 4;
}

static void
write_term (Pages *p, const MharBlock *block)
{
  g_autofree char *term = g_strconcat (MHAR_STRONG, block->term, MHAR_PLAIN, NULL);

  room (p, 5, text_height (p, term, &body) + 2.4 * BODY * 1.5);
  write_text (p, term, &body, LEFT, FALSE);
  p->y += 1;
  write_text (p, block->text, &definition, LEFT + INDENT, FALSE);
}

static void
write_block (Pages *p, guint i)
{
  const MharBlock *block = p->document->blocks->pdata[i];

  switch (block->kind) {
  case MHAR_BLOCK_HEADING:
    write_heading (p, block, i);
    break;
  case MHAR_BLOCK_PARAGRAPH:
    room (p, 6, 0);
    write_text (p, block->text, &body, LEFT, FALSE);
    break;
  case MHAR_BLOCK_CODE:
    room (p, 12, 30);
    write_text (p, block->text, &code, LEFT + 7, TRUE);
    p->y += 6;
    break;
  case MHAR_BLOCK_TERM:
    write_term (p, block);
    break;
  case MHAR_BLOCK_TABLE:
    write_table (p, block);
    break;
  case MHAR_BLOCK_FIGURE:
    write_figure (p, block);
    break;
  }
}

static void
write_title (Pages *p)
{
  MharTextStyle soft = body;

  soft.size = SMALL;
  write_text (p, p->document->title, &headings[0], LEFT, FALSE);
  p->y += 3;
  write_text (p, p->document->subtitle, &soft, LEFT, FALSE);
  p->y += 6;
  rule (p, LEFT, p->y, WIDTH, 0.9);
  p->y += 2;
}

static void
set_metadata (cairo_surface_t *surface, const MharDocument *document)
{
  g_autofree char *title = mhar_document_plain (document->title);

  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE, title);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR, "mhar-probe");
  /* Always one: Cairo's own would be the time of writing. */
  gboolean dated
      = document->date && g_regex_match_simple ("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$", document->date, 0, 0);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                  dated ? document->date : "2000-01-01T00:00:00Z");
}

static cairo_status_t
append_bytes (void *bytes, const unsigned char *data, unsigned int length)
{
  if (length > G_MAXINT32 - ((GByteArray *)bytes)->len)
    return CAIRO_STATUS_WRITE_ERROR;
  g_byte_array_append (bytes, data, length);
  return CAIRO_STATUS_SUCCESS;
}

GByteArray *
mhar_document_pdf (const MharDocument *document, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  Pages p = { .document = document, .context = mhar_page_context (error) };

  if (!p.context)
    return NULL;
  p.surface = cairo_pdf_surface_create_for_stream (append_bytes, bytes, PAGE_WIDTH, PAGE_HEIGHT);
  set_metadata (p.surface, document);
  p.cr = cairo_create (p.surface);
  new_page (&p);
  write_title (&p);
  for (guint i = 0; i < document->blocks->len; i++)
    write_block (&p, i);
  cairo_show_page (p.cr);
  cairo_status_t status = cairo_status (p.cr);
  cairo_destroy (p.cr);
  cairo_surface_finish (p.surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (p.surface);
  cairo_surface_destroy (p.surface);
  g_object_unref (p.context);
  if (status == CAIRO_STATUS_SUCCESS)
    return g_steal_pointer (&bytes);
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "cannot draw the report: %s", cairo_status_to_string (status));
  return NULL;
}
