/* SPDX-License-Identifier: MIT */
/* Figures as files. Each is drawn into memory first; only what is whole gets written. */
#include "app/figure/figure-data.h"
#include "app/figure/figure-private.h"
#include "app/figure/svg-finish.h"
#include "core/error.h"
#include "core/output-target.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <string.h>

#define MAX_PIXELS 30000.0          /* on a side of a PNG */
#define DATE "2000-01-01T00:00:00Z" /* any fixed one: the same figure gives the same bytes */

typedef enum { FORMAT_PDF, FORMAT_SVG, FORMAT_PNG } Format;

static const char *const extensions[] = { ".pdf", ".svg", ".png" };

static gboolean
find_format (const char *path, Format *format, GError **error)
{
  const char *dot = strrchr (path, '.');

  for (guint i = 0; dot && i < G_N_ELEMENTS (extensions); i++)
    if (g_ascii_strcasecmp (dot, extensions[i]) == 0 && dot != path && dot[-1] != G_DIR_SEPARATOR) {
      *format = (Format)i;
      return TRUE;
    }
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_USAGE, "figure file “%s” must end in .pdf, .svg or .png", path);
  return FALSE;
}

static cairo_status_t
append_bytes (void *bytes, const unsigned char *data, unsigned int length)
{
  /* GByteArray aborts beyond 32-bit lengths. */
  if (length > G_MAXINT32 - ((GByteArray *)bytes)->len)
    return CAIRO_STATUS_WRITE_ERROR;
  g_byte_array_append (bytes, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static gboolean
check (cairo_status_t status, const char *path, GError **error)
{
  if (status == CAIRO_STATUS_SUCCESS)
    return TRUE;
  g_set_error (error, MHAR_ERROR, MHAR_ERROR_RUN, "cannot draw the figure for %s: %s", path,
               cairo_status_to_string (status));
  return FALSE;
}

static char *
title_of (const MharDrawing *drawing)
{
  g_autofree char *name = mhar_figure_checkpoint (drawing->set);

  return g_strdup_printf ("%s: %s", name, mhar_figure_kind_name (drawing->out.kind));
}

static void
paint_page (cairo_surface_t *surface, MharDrawing *drawing)
{
  cairo_t *cr = cairo_create (surface);

  mhar_drawing_paint (drawing, cr);
  cairo_show_page (cr);
  cairo_destroy (cr);
}

/* All drawings as pages of one PDF. */
static gboolean
render_pdf (const GPtrArray *drawings, GByteArray *bytes, const char *path, GError **error)
{
  cairo_surface_t *surface = cairo_pdf_surface_create_for_stream (append_bytes, bytes, 1, 1);
  cairo_status_t status;

  for (guint i = 0; i < drawings->len; i++) {
    MharDrawing *drawing = drawings->pdata[i];
    g_autofree char *title = title_of (drawing);

    cairo_pdf_surface_set_size (surface, drawing->out.width, drawing->out.height);
    if (i == 0) {
      cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE, title);
      cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR, "mhar-probe");
      cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, DATE);
    }
    paint_page (surface, drawing);
  }
  cairo_surface_finish (surface);
  status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  return check (status, path, error);
}

gboolean
mhar_drawing_svg (MharDrawing *drawing, GByteArray *bytes, const char *path, GError **error)
{
  cairo_surface_t *surface
      = cairo_svg_surface_create_for_stream (append_bytes, bytes, drawing->out.width, drawing->out.height);
  g_autofree char *title = title_of (drawing);
  cairo_status_t status;

  paint_page (surface, drawing);
  cairo_surface_finish (surface);
  status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  if (!check (status, path, error))
    return FALSE;
  mhar_svg_finish (bytes, title);
  return TRUE;
}

static gboolean
render_png (MharDrawing *drawing, GByteArray *bytes, const char *path, GError **error)
{
  double scale = drawing->options.png_scale > 0 ? drawing->options.png_scale : 3;
  cairo_surface_t *surface;
  cairo_status_t status;
  cairo_t *cr;

  scale = MIN (scale, MAX_PIXELS / MAX (drawing->out.width, drawing->out.height));
  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int)ceil (drawing->out.width * scale),
                                        (int)ceil (drawing->out.height * scale));
  cr = cairo_create (surface);
  /* A last row or column that is only partly covered is background too. */
  mhar_drawing_set_source (cr, &drawing->palette->paper);
  cairo_paint (cr);
  cairo_scale (cr, scale, scale);
  mhar_drawing_paint (drawing, cr);
  status = cairo_status (cr);
  cairo_destroy (cr);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream (surface, append_bytes, bytes);
  cairo_surface_destroy (surface);
  return check (status, path, error);
}

static GPtrArray *
make_drawings (const MharFigurePage *pages, guint n, GError **error)
{
  g_autoptr (GPtrArray) drawings = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_drawing_free);

  for (guint i = 0; i < n; i++) {
    MharDrawing *drawing = mhar_drawing_new (pages[i].set, pages[i].kind, &pages[i].options, error);
    double width, height;

    if (!drawing)
      return NULL;
    g_ptr_array_add (drawings, drawing);
    mhar_drawing_natural_size (drawing, &width, &height);
    mhar_drawing_place (drawing, width, height);
  }
  return g_steal_pointer (&drawings);
}

/* NULL, error set, or a GByteArray a file: one for a PDF, else one a drawing. */
static GPtrArray *
render_all (const GPtrArray *drawings, Format format, const char *path, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify)g_byte_array_unref);
  guint n = format == FORMAT_PDF ? 1 : drawings->len;

  for (guint i = 0; i < n; i++) {
    GByteArray *bytes = g_byte_array_new ();
    gboolean done;

    g_ptr_array_add (files, bytes);
    if (format == FORMAT_PDF)
      done = render_pdf (drawings, bytes, path, error);
    else if (format == FORMAT_SVG)
      done = mhar_drawing_svg (drawings->pdata[i], bytes, path, error);
    else
      done = render_png (drawings->pdata[i], bytes, path, error);
    if (!done)
      return NULL;
  }
  return g_steal_pointer (&files);
}

char *
mhar_figure_file_name (const char *path, guint i, guint n)
{
  const char *dot = strrchr (path, '.');

  if (n == 1 || !dot || g_ascii_strcasecmp (dot, extensions[FORMAT_PDF]) == 0)
    return g_strdup (path);
  return g_strdup_printf ("%.*s-%u%s", (int)(dot - path), path, i + 1, dot);
}

gboolean
mhar_figure_save_pages (const char *path, const MharFigurePage *pages, guint n, GError **error)
{
  g_autoptr (GPtrArray) drawings = NULL;
  g_autoptr (GPtrArray) files = NULL;
  Format format;

  g_return_val_if_fail (n > 0, FALSE);
  if (!find_format (path, &format, error))
    return FALSE;
  drawings = make_drawings (pages, n, error);
  files = drawings ? render_all (drawings, format, path, error) : NULL;
  if (!files)
    return FALSE;
  for (guint i = 0; i < files->len; i++) {
    g_autofree char *name = mhar_figure_file_name (path, i, files->len);

    const GByteArray *bytes = files->pdata[i];

    if (!mhar_output_write (name, bytes->data, bytes->len, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
mhar_figure_save (const char *path, const GPtrArray *sets, MharFigureKind kind, const MharFigureOptions *options,
                  GError **error)
{
  g_autofree MharFigurePage *pages = g_new (MharFigurePage, sets->len);

  for (guint i = 0; i < sets->len; i++) {
    pages[i] = (MharFigurePage){ .set = sets->pdata[i], .kind = kind };
    if (options)
      pages[i].options = *options;
    else
      mhar_figure_options_init (&pages[i].options);
  }
  return mhar_figure_save_pages (path, pages, sets->len, error);
}
