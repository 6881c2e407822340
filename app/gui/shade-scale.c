/* SPDX-License-Identifier: MIT */
/* Number, bar, number. */
#include "app/gui/shade-scale.h"

#include "app/figure/ticks.h"

#define WIDTH 84
#define HEIGHT 12
#define STEPS 42

struct _MharShadeScale {
  GtkWidget parent;
  GtkWidget *low, *bar, *high;
  GdkRGBA colours[STEPS];
};

G_DEFINE_FINAL_TYPE (MharShadeScale, mhar_shade_scale, GTK_TYPE_WIDGET)

static void
draw (GtkDrawingArea *area G_GNUC_UNUSED, cairo_t *cr, int width, int height, gpointer data)
{
  MharShadeScale *self = data;

  cairo_set_antialias (cr, CAIRO_ANTIALIAS_NONE);
  for (guint i = 0; i < STEPS; i++) {
    gdk_cairo_set_source_rgba (cr, &self->colours[i]);
    cairo_rectangle (cr, (double)width * i / STEPS, 0, (double)width / STEPS, height);
    cairo_fill (cr);
  }
}

static void
dispose (GObject *object)
{
  MharShadeScale *self = MHAR_SHADE_SCALE (object);

  g_clear_pointer (&self->low, gtk_widget_unparent);
  g_clear_pointer (&self->bar, gtk_widget_unparent);
  g_clear_pointer (&self->high, gtk_widget_unparent);
  G_OBJECT_CLASS (mhar_shade_scale_parent_class)->dispose (object);
}

static void
mhar_shade_scale_class_init (MharShadeScaleClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BOX_LAYOUT);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "shadescale");
}

static void
mhar_shade_scale_init (MharShadeScale *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  self->low = gtk_label_new (NULL);
  self->bar = gtk_drawing_area_new ();
  self->high = gtk_label_new (NULL);
  gtk_box_layout_set_spacing (GTK_BOX_LAYOUT (gtk_widget_get_layout_manager (widget)), 6);
  gtk_widget_set_valign (self->bar, GTK_ALIGN_CENTER);
  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (self->bar), WIDTH);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self->bar), HEIGHT);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->bar), draw, self, NULL);
  gtk_widget_set_parent (self->low, widget);
  gtk_widget_set_parent (self->bar, widget);
  gtk_widget_set_parent (self->high, widget);
}

GtkWidget *
mhar_shade_scale_new (void)
{
  return g_object_new (MHAR_TYPE_SHADE_SCALE, NULL);
}

void
mhar_shade_scale_show (MharShadeScale *self, MharTokensText *text, double low, double high)
{
  g_autofree char *from = low == 0 ? g_strdup ("0") : mhar_number (low, 2), *to = mhar_number (high, 2);

  for (guint i = 0; i < STEPS; i++)
    mhar_tokens_text_colour (text, (low + (high - low) * (i + 0.5) / STEPS) / high, &self->colours[i]);
  gtk_label_set_label (GTK_LABEL (self->low), from);
  gtk_label_set_label (GTK_LABEL (self->high), to);
  gtk_widget_queue_draw (self->bar);
}
