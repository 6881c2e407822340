/* SPDX-License-Identifier: MIT */
/* Shades, then text, then rings; of what is in sight and a page around it. */
#include "app/gui/tokens-text.h"

#include "app/figure/colour-map.h"

#include <glib/gi18n.h>
#include <math.h>

#define MARGIN 12
#define MOST_ALPHA_LIGHT 0.62 /* of a shade: the text over it stays readable */
#define MOST_ALPHA_DARK 0.5

enum { PROP_0, PROP_HOVER, N_PROPS };

struct _MharTokensText {
  GtkWidget parent;
  MharSelection *selection;
  MharTokenLayout *layout;
  GArray *shades; /* float */
  MharFigureTheme theme;
  gboolean has_sign;
  GtkAdjustment *adjustment; /* vertical, of the scrolled window around it; NULL: none */
  int hover;
};

G_DEFINE_FINAL_TYPE (MharTokensText, mhar_tokens_text, GTK_TYPE_WIDGET)

static GParamSpec *properties[N_PROPS];

static const MharPalette *
palette_of (MharTokensText *self)
{
  return mhar_palette_get (self->theme, MHAR_FIGURE_PLAIN);
}

static GdkRGBA
rgba (const MharRgb *colour, double alpha)
{
  return (GdkRGBA){ (float)colour->r, (float)colour->g, (float)colour->b, (float)alpha };
}

void
mhar_tokens_text_colour (MharTokensText *self, double shade, GdkRGBA *colour)
{
  static const MharRgb warm_light = { 0.78, 0.20, 0.12 }, warm_dark = { 0.95, 0.40, 0.28 };
  const MharRgb *warm = self->theme == MHAR_FIGURE_DARK ? &warm_dark : &warm_light;
  const MharRgb *hue = self->has_sign && shade >= 0 ? warm : &palette_of (self)->accent;
  double most = self->theme == MHAR_FIGURE_DARK ? MOST_ALPHA_DARK : MOST_ALPHA_LIGHT;

  *colour = rgba (hue, isfinite (shade) ? most * MIN (fabs (shade), 1) : 0);
}

static float
shade_of (MharTokensText *self, guint token)
{
  return self->shades != NULL && token < self->shades->len ? g_array_index (self->shades, float, token) : NAN;
}

/* What can be seen of the widget, from top to bottom, and a page on either side. */
static void
in_sight (MharTokensText *self, double *top, double *bottom)
{
  *top = 0;
  *bottom = gtk_widget_get_height (GTK_WIDGET (self));
  if (self->adjustment != NULL) {
    double page = gtk_adjustment_get_page_size (self->adjustment), value = gtk_adjustment_get_value (self->adjustment);

    *top = value - page / 2;
    *bottom = value + page * 1.5;
  }
}

static int
wrap (MharTokensText *self, int width)
{
  return mhar_token_layout_wrap (self->layout, gtk_widget_get_pango_context (GTK_WIDGET (self)),
                                 MAX (width - 2 * MARGIN, 40));
}

/* Height for width: as many lines as the text takes. */
static void
measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
         int *natural_baseline)
{
  MharTokensText *self = MHAR_TOKENS_TEXT (widget);

  *minimum_baseline = *natural_baseline = -1;
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 120 : 40;
  if (orientation == GTK_ORIENTATION_VERTICAL && self->layout != NULL)
    *minimum = *natural = wrap (self, for_size > 0 ? for_size : 600) + 2 * MARGIN;
}

static GtkSizeRequestMode
request_mode (GtkWidget *widget G_GNUC_UNUSED)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
paint_shades (MharTokensText *self, GtkSnapshot *snapshot, guint paragraph)
{
  const GArray *pieces = mhar_token_layout_pieces (self->layout, paragraph);

  for (guint i = 0; i < pieces->len; i++) {
    const MharTokenPiece *piece = &g_array_index (pieces, MharTokenPiece, i);
    float x = floorf (piece->x), width = floorf (piece->x + piece->width) - x;
    GdkRGBA colour;

    /* Tokens that share a character lie on each other: the first one's shade is seen. */
    if (i > 0 && g_array_index (pieces, MharTokenPiece, i - 1).x == piece->x
        && g_array_index (pieces, MharTokenPiece, i - 1).y == piece->y)
      continue;
    mhar_tokens_text_colour (self, (double)shade_of (self, piece->token), &colour);
    if (colour.alpha > 0)
      gtk_snapshot_append_color (snapshot, &colour,
                                 &GRAPHENE_RECT_INIT (x, floorf (piece->y), MAX (width, 1), ceilf (piece->height)));
  }
}

static void
ring (MharTokensText *self, GtkSnapshot *snapshot, int token, float width)
{
  guint paragraph;
  const GArray *pieces;
  GdkRGBA ink = rgba (&palette_of (self)->ink, width > 1 ? 1 : 0.6), colours[4] = { ink, ink, ink, ink };
  float widths[4] = { width, width, width, width };

  if (token < 0 || (guint)token >= mhar_token_layout_n_tokens (self->layout))
    return;
  paragraph = mhar_token_layout_paragraph (self->layout, (guint)token);
  pieces = mhar_token_layout_pieces (self->layout, paragraph);
  for (guint i = 0; i < pieces->len; i++) {
    const MharTokenPiece *piece = &g_array_index (pieces, MharTokenPiece, i);
    GskRoundedRect rect;

    if ((int)piece->token != token)
      continue;
    gsk_rounded_rect_init_from_rect (&rect,
                                     &GRAPHENE_RECT_INIT (floorf (piece->x) - width, floorf (piece->y) - width,
                                                          MAX (ceilf (piece->width), 2) + 2 * width,
                                                          ceilf (piece->height) + 2 * width),
                                     2);
    gtk_snapshot_append_border (snapshot, &rect, widths, colours);
  }
}

static void
snapshot_widget (GtkWidget *widget, GtkSnapshot *snapshot)
{
  MharTokensText *self = MHAR_TOKENS_TEXT (widget);
  GdkRGBA ink = rgba (&palette_of (self)->ink, 1), paper = rgba (&palette_of (self)->paper, 1);
  double top, bottom, y;
  guint first, end;

  gtk_snapshot_append_color (
      snapshot, &paper,
      &GRAPHENE_RECT_INIT (0, 0, (float)gtk_widget_get_width (widget), (float)gtk_widget_get_height (widget)));
  if (self->layout == NULL)
    return;
  wrap (self, gtk_widget_get_width (widget));
  in_sight (self, &top, &bottom);
  mhar_token_layout_range (self->layout, top - MARGIN, bottom - MARGIN, &first, &end);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (MARGIN, MARGIN));
  for (guint i = first; i < end; i++)
    paint_shades (self, snapshot, i);
  for (guint i = first; i < end; i++) {
    PangoLayout *text = mhar_token_layout_text (self->layout, i, &y);

    gtk_snapshot_save (snapshot);
    gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (0, (float)y));
    gtk_snapshot_append_layout (snapshot, text, &ink);
    gtk_snapshot_restore (snapshot);
  }
  if (self->hover != mhar_selection_get_token (self->selection))
    ring (self, snapshot, self->hover, 1);
  ring (self, snapshot, mhar_selection_get_token (self->selection), gtk_widget_has_focus (widget) ? 2 : 1.5f);
  gtk_snapshot_restore (snapshot);
}

/* Scrolls so far that the token can be seen. */
static void
reveal (MharTokensText *self, int token)
{
  const GArray *pieces;

  if (self->adjustment == NULL || self->layout == NULL || token < 0
      || (guint)token >= mhar_token_layout_n_tokens (self->layout) || gtk_widget_get_width (GTK_WIDGET (self)) == 0)
    return;
  wrap (self, gtk_widget_get_width (GTK_WIDGET (self)));
  pieces = mhar_token_layout_pieces (self->layout, mhar_token_layout_paragraph (self->layout, (guint)token));
  for (guint i = 0; i < pieces->len; i++) {
    const MharTokenPiece *piece = &g_array_index (pieces, MharTokenPiece, i);

    if ((int)piece->token == token) {
      gtk_adjustment_clamp_page (self->adjustment, (double)piece->y, (double)(piece->y + piece->height) + 2 * MARGIN);
      return;
    }
  }
}

static void
on_selection (MharTokensText *self)
{
  reveal (self, mhar_selection_get_token (self->selection));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
set_hover (MharTokensText *self, int token)
{
  if (self->hover == token)
    return;
  self->hover = token;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_HOVER]);
}

static void
on_motion (MharTokensText *self, double x, double y)
{
  set_hover (self, self->layout != NULL ? mhar_token_layout_hit (self->layout, x - MARGIN, y - MARGIN) : -1);
}

static void
on_leave (MharTokensText *self)
{
  set_hover (self, -1);
}

static void
on_released (MharTokensText *self, int presses G_GNUC_UNUSED, double x, double y)
{
  int token = self->layout != NULL ? mhar_token_layout_hit (self->layout, x - MARGIN, y - MARGIN) : -1;

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (token >= 0)
    mhar_selection_set_token (self->selection, token);
}

/* The token a line above or below: the one nearest under the middle of the present one. */
static int
token_beside (MharTokensText *self, int token, int lines)
{
  const GArray *pieces
      = mhar_token_layout_pieces (self->layout, mhar_token_layout_paragraph (self->layout, (guint)token));

  for (guint i = 0; i < pieces->len; i++) {
    const MharTokenPiece *piece = &g_array_index (pieces, MharTokenPiece, i);
    double x = (double)(piece->x + piece->width / 2),
           y = (double)(piece->y + piece->height * (lines > 0 ? 1.5f : -0.5f));

    if ((int)piece->token != token)
      continue;
    for (int line = 0; line < 8; line++) /* over empty lines */
      for (double off = 0; off < 2000; off += 12) {
        int there = mhar_token_layout_hit (self->layout, x - off, y + lines * line * (double)piece->height);

        if (there >= 0 && there != token)
          return there;
        if (x - off < 0)
          break;
      }
  }
  return token;
}

/* Where a key leads from the token, of n; −1: it does not lead anywhere. */
static int
token_by_key (MharTokensText *self, int token, int n, guint key)
{
  switch (key) {
  case GDK_KEY_Left:
  case GDK_KEY_bracketleft:
    return MAX (token - 1, 0);
  case GDK_KEY_Right:
  case GDK_KEY_bracketright:
    return MIN (token + 1, n - 1);
  case GDK_KEY_Up:
  case GDK_KEY_Down:
    return token < 0 ? 0 : token_beside (self, token, key == GDK_KEY_Up ? -1 : 1);
  case GDK_KEY_Home:
    return 0;
  case GDK_KEY_End:
    return n - 1;
  default:
    return -1;
  }
}

static gboolean
on_key (GtkEventControllerKey *controller G_GNUC_UNUSED, guint key, guint code G_GNUC_UNUSED, GdkModifierType state,
        MharTokensText *self)
{
  int n = self->layout != NULL ? (int)mhar_token_layout_n_tokens (self->layout) : 0, token;

  if (n == 0 || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;
  token = token_by_key (self, mhar_selection_get_token (self->selection), n, key);
  if (token < 0)
    return GDK_EVENT_PROPAGATE;
  mhar_selection_set_token (self->selection, token);
  return GDK_EVENT_STOP;
}

/* Scrolling shows what was not painted. */
static void
on_root (MharTokensText *self)
{
  GtkWidget *scrolled = gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_SCROLLED_WINDOW);

  if (self->adjustment != NULL)
    g_signal_handlers_disconnect_by_data (self->adjustment, self);
  g_clear_object (&self->adjustment);
  if (scrolled == NULL)
    return;
  self->adjustment = g_object_ref (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled)));
  g_signal_connect_object (self->adjustment, "value-changed", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_HOVER)
    g_value_set_int (value, MHAR_TOKENS_TEXT (object)->hover);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
}

static void
dispose (GObject *object)
{
  MharTokensText *self = MHAR_TOKENS_TEXT (object);

  if (self->adjustment != NULL)
    g_signal_handlers_disconnect_by_data (self->adjustment, self);
  g_clear_object (&self->adjustment);
  g_clear_object (&self->selection);
  g_clear_pointer (&self->layout, mhar_token_layout_free);
  g_clear_pointer (&self->shades, g_array_unref);
  G_OBJECT_CLASS (mhar_tokens_text_parent_class)->dispose (object);
}

static void
mhar_tokens_text_class_init (MharTokensTextClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->get_property = get_property;
  object_class->dispose = dispose;
  widget_class->measure = measure;
  widget_class->get_request_mode = request_mode;
  widget_class->snapshot = snapshot_widget;
  properties[PROP_HOVER]
      = g_param_spec_int ("hover", NULL, NULL, -1, G_MAXINT, -1, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_set_css_name (widget_class, "tokenstext");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
mhar_tokens_text_init (MharTokensText *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkEventController *motion = gtk_event_controller_motion_new (), *keys = gtk_event_controller_key_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->hover = -1;
  gtk_widget_set_focusable (widget, TRUE);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  g_signal_connect_swapped (focus, "enter", G_CALLBACK (gtk_widget_queue_draw), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (gtk_widget_queue_draw), self);
  g_signal_connect_swapped (click, "released", G_CALLBACK (on_released), self);
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, keys);
  gtk_widget_add_controller (widget, focus);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  g_signal_connect (self, "notify::root", G_CALLBACK (on_root), NULL);
}

GtkWidget *
mhar_tokens_text_new (MharSelection *selection)
{
  MharTokensText *self = g_object_new (MHAR_TYPE_TOKENS_TEXT, NULL);

  self->selection = g_object_ref (selection);
  g_signal_connect_object (selection, "notify::token", G_CALLBACK (on_selection), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

void
mhar_tokens_text_set_layout (MharTokensText *self, MharTokenLayout *layout)
{
  g_clear_pointer (&self->layout, mhar_token_layout_free);
  self->layout = layout;
  self->hover = -1;
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
mhar_tokens_text_set_shades (MharTokensText *self, GArray *shades)
{
  g_clear_pointer (&self->shades, g_array_unref);
  self->shades = shades;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
mhar_tokens_text_set_signed (MharTokensText *self, gboolean has_sign)
{
  self->has_sign = has_sign;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
mhar_tokens_text_set_theme (MharTokensText *self, MharFigureTheme theme)
{
  self->theme = theme;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

int
mhar_tokens_text_get_hover (MharTokensText *self)
{
  return self->hover;
}
