/* SPDX-License-Identifier: MIT */
/* Tokens: slider and scale above, text in the middle, distribution below. */
#include "app/gui/tokens-view.h"

#include "app/figure/ticks.h"
#include "app/gui/dataset-look.h"
#include "app/gui/distribution-strip.h"
#include "app/gui/shade-scale.h"
#include "app/gui/token-weights.h"
#include "app/gui/tokens-text.h"

#include <glib/gi18n.h>
#include <math.h>

#define TAIL 0.01 /* of the tokens beyond either end of a 1–99 % scale */

enum { PROP_0, PROP_DESCRIPTION, N_PROPS };

struct _MharTokensView {
  GtkWidget parent;
  MharSelection *selection;
  MharDataset *set;
  MharTokenWeights *weights;
  MharTokenLayout *layout; /* the text widget's */
  MharDisplay display;

  GtkWidget *box, *slider, *what, *legend, *text, *strip, *strip_title;
  gboolean following; /* the slider follows the selection, not the other way */
  double high;        /* of the shades */
  char *description;
};

G_DEFINE_FINAL_TYPE (MharTokensView, mhar_tokens_view, GTK_TYPE_WIDGET)

static GParamSpec *properties[N_PROPS];

/* Deviations are of one head. */
static gboolean
is_deviation (MharTokensView *self)
{
  return self->display.deviation && mhar_selection_get_head (self->selection) >= 0 && self->weights != NULL
         && mhar_token_weights_n_heads (self->weights) > 1;
}

/* What shades a token. */
static double
value_of (MharTokensView *self, int token)
{
  if (self->weights == NULL)
    return NAN;
  return mhar_token_weights_get (self->weights, token, mhar_selection_get_site (self->selection),
                                 mhar_selection_get_head (self->selection), mhar_selection_get_source (self->selection),
                                 is_deviation (self));
}

static int
compare_floats (gconstpointer a, gconstpointer b)
{
  float x = *(const float *)a, y = *(const float *)b;

  return x < y ? -1 : x > y;
}

/* The magnitude at which a shade is full. */
static double
find_high (MharTokensView *self, const GArray *values)
{
  g_autoptr (GArray) known = g_array_new (FALSE, FALSE, sizeof (float));
  double share = self->display.scale == MHAR_FIGURE_SCALE_PERCENTILE ? 1 - TAIL : 1, high;

  if (self->display.scale == MHAR_FIGURE_SCALE_FIXED)
    return MAX (fabs (self->display.ends[is_deviation (self) ? MHAR_SCALED_DEVIATION : MHAR_SCALED_WEIGHT].high), 1e-9);
  for (guint i = 0; i < values->len; i++) {
    float magnitude = fabsf (g_array_index (values, float, i));

    if (isfinite (magnitude))
      g_array_append_val (known, magnitude);
  }
  if (known->len == 0)
    return 1;
  g_array_sort (known, compare_floats);
  high = (double)g_array_index (known, float, (guint)(share * (known->len - 1)));
  return high > 0 ? high : 1;
}

static void
refresh_shades (MharTokensView *self)
{
  guint n = self->layout != NULL ? mhar_token_layout_n_tokens (self->layout) : 0;
  GArray *shades = g_array_sized_new (FALSE, FALSE, sizeof (float), n);

  for (guint i = 0; i < n; i++) {
    float value = (float)value_of (self, (int)i);

    g_array_append_val (shades, value);
  }
  self->high = find_high (self, shades);
  for (guint i = 0; i < n; i++)
    g_array_index (shades, float, i) /= (float)self->high;
  mhar_tokens_text_set_signed (MHAR_TOKENS_TEXT (self->text), is_deviation (self));
  mhar_tokens_text_set_shades (MHAR_TOKENS_TEXT (self->text), shades);
  mhar_shade_scale_show (MHAR_SHADE_SCALE (self->legend), MHAR_TOKENS_TEXT (self->text),
                         is_deviation (self) ? -self->high : 0, self->high);
}

/* "L3.mlp, head 2 reads embed". */
static void
refresh_title (MharTokensView *self)
{
  int site = mhar_selection_get_site (self->selection), head = mhar_selection_get_head (self->selection);
  int source = mhar_selection_get_source (self->selection);
  g_autofree char *text = NULL;

  if (self->set == NULL || site < 0)
    text = g_strdup ("");
  else if (source < 0)
    text = g_strdup_printf (_("%s: select a source to shade the text by"), mhar_look_site (self->set, site));
  else if (head < 0)
    text = g_strdup_printf (_("%s, mean over heads → %s"), mhar_look_site (self->set, site),
                            mhar_look_source (self->set, site, source));
  else
    text = g_strdup_printf (_("%s, head %d → %s"), mhar_look_site (self->set, site), head,
                            mhar_look_source (self->set, site, source));
  gtk_label_set_label (GTK_LABEL (self->what), text);
}

/* The token that the strip is about: under the pointer, else selected. */
static int
current_token (MharTokensView *self)
{
  int hover = mhar_tokens_text_get_hover (MHAR_TOKENS_TEXT (self->text));

  return hover >= 0 ? hover : mhar_selection_get_token (self->selection);
}

static char *
describe (MharTokensView *self, int token, const char *quote)
{
  int site = mhar_selection_get_site (self->selection), head = mhar_selection_get_head (self->selection);
  int source = mhar_selection_get_source (self->selection);
  double value = self->weights == NULL ? NAN : mhar_token_weights_get (self->weights, token, site, head, source, FALSE);
  g_autofree char *who = head >= 0 ? g_strdup_printf (_("head %d"), head) : g_strdup (_("mean over heads"));

  if (!isfinite (value))
    return g_strdup_printf (_("Token %d, “%s”: its weights were not kept"), token, quote);
  return g_strdup_printf (_("Token %d, “%s”: %s, %s reads %.1f %% of %s"), token, quote,
                          mhar_look_site (self->set, site), who, 100 * value,
                          mhar_look_source (self->set, site, source));
}

static void
set_description (MharTokensView *self, char *text)
{
  g_free (self->description);
  self->description = text;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->text), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DESCRIPTION]);
}

static void
refresh_token (MharTokensView *self)
{
  int token = current_token (self);
  gboolean there = self->layout != NULL && token >= 0 && (guint)token < mhar_token_layout_n_tokens (self->layout);
  g_autofree char *quote = there ? mhar_token_layout_quote (self->layout, (guint)token) : NULL;
  g_autofree char *title = there ? g_strdup_printf (_("Token %d  “%s”"), token, quote)
                                 : g_strdup (_("Point at a token to see all it reads"));

  gtk_label_set_label (GTK_LABEL (self->strip_title), title);
  mhar_distribution_strip_show (MHAR_DISTRIBUTION_STRIP (self->strip), self->set, there ? self->weights : NULL,
                                there ? token : -1, quote);
  set_description (self, there && self->set != NULL ? describe (self, token, quote) : g_strdup (""));
}

static void
refresh (MharTokensView *self)
{
  int site = mhar_selection_get_site (self->selection), sites = (int)mhar_look_n_sites (self->set);

  self->following = TRUE;
  gtk_range_set_range (GTK_RANGE (self->slider), 0, MAX (sites - 1, 1));
  gtk_range_set_value (GTK_RANGE (self->slider), MAX (site, 0));
  gtk_widget_set_sensitive (self->slider, sites > 1);
  self->following = FALSE;
  refresh_title (self);
  refresh_shades (self);
  refresh_token (self);
}

static void
on_slider (MharTokensView *self)
{
  if (!self->following)
    mhar_selection_set_site (self->selection, (int)lround (gtk_range_get_value (GTK_RANGE (self->slider))));
}

static void
make_header (MharTokensView *self)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *label = gtk_label_new_with_mnemonic (_("S_ite"));

  self->slider = gtk_scale_new_with_range (GTK_ORIENTATION_HORIZONTAL, 0, 1, 1);
  self->what = gtk_label_new (NULL);
  self->legend = mhar_shade_scale_new ();
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), self->slider);
  gtk_scale_set_draw_value (GTK_SCALE (self->slider), FALSE);
  gtk_range_set_round_digits (GTK_RANGE (self->slider), 0);
  gtk_widget_set_size_request (self->slider, 140, -1);
  gtk_widget_set_hexpand (self->slider, TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (self->what), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (self->what), 0);
  gtk_label_set_width_chars (GTK_LABEL (self->what), 24);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->slider), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Site"), -1);
  gtk_widget_set_margin_start (row, 12);
  gtk_widget_set_margin_end (row, 12);
  gtk_widget_set_margin_top (row, 6);
  gtk_widget_set_margin_bottom (row, 6);
  gtk_box_append (GTK_BOX (row), label);
  gtk_box_append (GTK_BOX (row), self->slider);
  gtk_box_append (GTK_BOX (row), self->what);
  gtk_box_append (GTK_BOX (row), self->legend);
  gtk_box_append (GTK_BOX (self->box), row);
}

static void
make_body (MharTokensView *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();

  self->text = mhar_tokens_text_new (self->selection);
  self->strip = mhar_distribution_strip_new (self->selection);
  self->strip_title = gtk_label_new (NULL);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), self->text);
  /* The text is one widget, higher than the window: the keys that come to it are no reason to go to its end. */
  gtk_viewport_set_scroll_to_focus (GTK_VIEWPORT (gtk_scrolled_window_get_child (GTK_SCROLLED_WINDOW (scrolled))), FALSE);
  gtk_widget_set_vexpand (scrolled, TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->strip_title), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->strip_title), PANGO_ELLIPSIZE_END);
  gtk_widget_set_margin_start (self->strip_title, 12);
  gtk_widget_set_margin_end (self->strip_title, 12);
  gtk_widget_set_margin_top (self->strip_title, 6);
  gtk_widget_set_margin_bottom (self->strip_title, 6);
  gtk_box_append (GTK_BOX (self->box), scrolled);
  gtk_box_append (GTK_BOX (self->box), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (self->box), self->strip_title);
  gtk_box_append (GTK_BOX (self->box), self->strip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->text), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _("Text, each token shaded by its weight"), -1);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_DESCRIPTION)
    g_value_set_string (value, mhar_tokens_view_get_description (MHAR_TOKENS_VIEW (object)));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
}

static void
dispose (GObject *object)
{
  MharTokensView *self = MHAR_TOKENS_VIEW (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->weights, mhar_token_weights_free);
  g_clear_pointer (&self->set, mhar_dataset_unref);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (mhar_tokens_view_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  g_free (MHAR_TOKENS_VIEW (object)->description);
  G_OBJECT_CLASS (mhar_tokens_view_parent_class)->finalize (object);
}

/* The keys go to the text, not to the slider above it. */
static gboolean
grab_focus (GtkWidget *widget)
{
  return gtk_widget_grab_focus (MHAR_TOKENS_VIEW (widget)->text);
}

static void
mhar_tokens_view_class_init (MharTokensViewClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->get_property = get_property;
  object_class->dispose = dispose;
  object_class->finalize = finalize;
  widget_class->grab_focus = grab_focus;
  properties[PROP_DESCRIPTION]
      = g_param_spec_string ("description", NULL, NULL, "", G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "tokensview");
}

static void
mhar_tokens_view_init (MharTokensView *self)
{
  mhar_display_init (&self->display);
  self->high = 1;
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
}

GtkWidget *
mhar_tokens_view_new (MharSelection *selection)
{
  MharTokensView *self = g_object_new (MHAR_TYPE_TOKENS_VIEW, NULL);

  self->selection = g_object_ref (selection);
  make_header (self);
  make_body (self);
  g_signal_connect_object (selection, "changed", G_CALLBACK (refresh), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->slider, "value-changed", G_CALLBACK (on_slider), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->text, "notify::hover", G_CALLBACK (refresh_token), self, G_CONNECT_SWAPPED);
  refresh (self);
  return GTK_WIDGET (self);
}

void
mhar_tokens_view_set_dataset (MharTokensView *self, MharDataset *set)
{
  MharDataset *old = self->set;

  self->set = set != NULL ? mhar_dataset_ref (set) : NULL;
  refresh (self);
  if (old != NULL)
    mhar_dataset_unref (old);
}

void
mhar_tokens_view_set_text (MharTokensView *self, const char *text, gsize length, GArray *tokens, MharDataset *capture)
{
  MharTokenWeights *weights
      = text != NULL && tokens != NULL && capture != NULL ? mhar_token_weights_new (capture, tokens->len) : NULL;

  mhar_distribution_strip_show (MHAR_DISTRIBUTION_STRIP (self->strip), NULL, NULL, -1, NULL);
  g_clear_pointer (&self->weights, mhar_token_weights_free);
  self->weights = weights;
  self->layout
      = weights != NULL ? mhar_token_layout_new (text, length, tokens, mhar_token_weights_end (weights)) : NULL;
  mhar_tokens_text_set_layout (MHAR_TOKENS_TEXT (self->text), self->layout);
  mhar_selection_set_n_tokens (self->selection,
                               self->layout != NULL ? (int)mhar_token_layout_n_tokens (self->layout) : 0);
  refresh (self);
}

void
mhar_tokens_view_set_display (MharTokensView *self, const MharDisplay *display)
{
  self->display = *display;
  mhar_tokens_text_set_theme (MHAR_TOKENS_TEXT (self->text), display->theme);
  mhar_distribution_strip_set_display (MHAR_DISTRIBUTION_STRIP (self->strip), display);
  refresh (self);
}

const char *
mhar_tokens_view_get_description (MharTokensView *self)
{
  return self->description != NULL ? self->description : "";
}
