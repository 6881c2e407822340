/* SPDX-License-Identifier: MIT */
#include "app/gui/saving.h"

#include <locale.h>
#include <math.h>

#define CLIPBOARD_SCALE 3.0

/* The C locale for this thread; give what it returns to leave_c_locale. */
static locale_t
enter_c_locale (locale_t *made)
{
  *made = newlocale (LC_NUMERIC_MASK, "C", duplocale (LC_GLOBAL_LOCALE));
  return uselocale (*made);
}

static void
leave_c_locale (locale_t before, locale_t made)
{
  uselocale (before);
  freelocale (made);
}

gboolean
mhar_saving_figure (const char *path, MharDataset *set, MharFigureKind kind, const MharFigureOptions *options,
                    GError **error)
{
  g_autoptr (GPtrArray) sets = g_ptr_array_new ();
  locale_t made, before = enter_c_locale (&made);

  g_ptr_array_add (sets, set);
  gboolean good = mhar_figure_save (path, sets, kind, options, error);
  leave_c_locale (before, made);
  return good;
}

static void
release_surface (gpointer surface)
{
  cairo_surface_destroy (surface);
}

GdkTexture *
mhar_saving_texture (const MharDataset *set, MharFigureKind kind, const MharFigureOptions *options, GError **error)
{
  double width, height;
  locale_t made, before = enter_c_locale (&made);
  gboolean good = mhar_figure_natural_size (set, kind, options, &width, &height, error);
  GdkTexture *texture = NULL;

  if (good) {
    cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int) ceil (width * CLIPBOARD_SCALE),
                                                           (int) ceil (height * CLIPBOARD_SCALE));
    cairo_t *cr = cairo_create (surface);
    cairo_scale (cr, CLIPBOARD_SCALE, CLIPBOARD_SCALE);
    good = mhar_figure_draw (cr, set, kind, options, width, height, error);
    cairo_destroy (cr);
    cairo_surface_flush (surface);
    gsize stride = (gsize) cairo_image_surface_get_stride (surface),
          rows = (gsize) cairo_image_surface_get_height (surface);
    g_autoptr (GBytes) bytes
        = g_bytes_new_with_free_func (cairo_image_surface_get_data (surface), stride * rows, release_surface, surface);
    if (good)
      texture = gdk_memory_texture_new (cairo_image_surface_get_width (surface), (int) rows, GDK_MEMORY_DEFAULT, bytes,
                                        stride);
  }
  leave_c_locale (before, made);
  return texture;
}
