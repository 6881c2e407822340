/* SPDX-License-Identifier: MIT */
#include "app/gui/columns.h"

/* Logical pixels: what the sides take, unless their words need more, and what the centre needs to be of use. */
#define LEFT_WIDTH 330
#define RIGHT_WIDTH 252
#define CENTRE_WIDTH 556

enum { LEFT, CENTRE, RIGHT, N_COLUMNS };

struct _MharColumns {
  GtkWidget parent;
  GtkWidget *children[N_COLUMNS];
  gboolean wanted[N_COLUMNS];
  int first; /* the side that goes first where not both fit */
};

G_DEFINE_FINAL_TYPE (MharColumns, mhar_columns, GTK_TYPE_WIDGET)

static int
width_of (MharColumns *self, int side)
{
  int least;

  gtk_widget_measure (self->children[side], GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
  return MAX (least, side == LEFT ? LEFT_WIDTH : RIGHT_WIDTH);
}

static void
measure (GtkWidget *widget, GtkOrientation orientation, int for_size G_GNUC_UNUSED, int *minimum, int *natural,
         int *minimum_baseline, int *natural_baseline)
{
  MharColumns *self = MHAR_COLUMNS (widget);

  *minimum_baseline = *natural_baseline = -1;
  if (orientation == GTK_ORIENTATION_HORIZONTAL) {
    gtk_widget_measure (self->children[CENTRE], orientation, -1, minimum, NULL, NULL, NULL);
    *natural = MAX (*minimum, CENTRE_WIDTH) + width_of (self, LEFT) + width_of (self, RIGHT);
    return;
  }
  *minimum = *natural = 0;
  for (int c = 0; c < N_COLUMNS; c++) {
    int least, most;
    gtk_widget_measure (self->children[c], orientation, -1, &least, &most, NULL, NULL);
    *minimum = MAX (*minimum, least);
    *natural = MAX (*natural, most);
  }
}

/* A side is shown where it is wanted and leaves the centre its width. Returns what it takes. */
static int
settle_side (MharColumns *self, int side, int left_over)
{
  int width = width_of (self, side);
  gboolean shown = self->wanted[side] && left_over >= width;

  gtk_widget_set_child_visible (self->children[side], shown);
  return shown ? width : 0;
}

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  MharColumns *self = MHAR_COLUMNS (widget);
  int taken[N_COLUMNS] = { 0 }, other = self->first == LEFT ? RIGHT : LEFT, centre;

  gtk_widget_measure (self->children[CENTRE], GTK_ORIENTATION_HORIZONTAL, -1, &centre, NULL, NULL, NULL);
  centre = MAX (centre, CENTRE_WIDTH);
  taken[self->first] = settle_side (self, self->first, width - centre);
  taken[other] = settle_side (self, other, width - centre - taken[self->first]);
  if (taken[LEFT] > 0)
    gtk_widget_size_allocate (self->children[LEFT], &(GtkAllocation){ 0, 0, taken[LEFT], height }, baseline);
  if (taken[RIGHT] > 0)
    gtk_widget_size_allocate (self->children[RIGHT], &(GtkAllocation){ width - taken[RIGHT], 0, taken[RIGHT], height },
                              baseline);
  gtk_widget_size_allocate (self->children[CENTRE],
                            &(GtkAllocation){ taken[LEFT], 0, width - taken[LEFT] - taken[RIGHT], height }, baseline);
}

static void
dispose (GObject *object)
{
  MharColumns *self = MHAR_COLUMNS (object);

  for (int c = 0; c < N_COLUMNS; c++)
    g_clear_pointer (&self->children[c], gtk_widget_unparent);
  G_OBJECT_CLASS (mhar_columns_parent_class)->dispose (object);
}

static void
mhar_columns_class_init (MharColumnsClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  widget_class->measure = measure;
  widget_class->size_allocate = size_allocate;
}

static void
mhar_columns_init (MharColumns *self)
{
  self->wanted[LEFT] = self->wanted[RIGHT] = TRUE;
  self->first = LEFT;
}

GtkWidget *
mhar_columns_new (GtkWidget *left, GtkWidget *centre, GtkWidget *right)
{
  MharColumns *self = g_object_new (MHAR_TYPE_COLUMNS, NULL);
  GtkWidget *children[N_COLUMNS] = { left, centre, right };

  for (int c = 0; c < N_COLUMNS; c++) {
    self->children[c] = children[c];
    gtk_widget_set_parent (children[c], GTK_WIDGET (self));
  }
  return GTK_WIDGET (self);
}

static void
show_side (MharColumns *self, int side, gboolean show)
{
  self->wanted[side] = show;
  if (show)
    self->first = side;
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

void
mhar_columns_show_left (MharColumns *self, gboolean show)
{
  show_side (self, LEFT, show);
}

void
mhar_columns_show_right (MharColumns *self, gboolean show)
{
  show_side (self, RIGHT, show);
}
