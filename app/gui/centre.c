/* SPDX-License-Identifier: MIT */
#include "app/gui/centre.h"

#include "app/gui/comparison-words.h"
#include "app/gui/numbers-job.h"
#include "app/gui/numbers-view.h"
#include "app/gui/page-views.h"

#include <glib/gi18n.h>

struct _MharCentre {
  GtkBox parent;
  GtkStack *pages, *view_stack;
  GtkWidget *switcher, *bar, *quantity_box, *scale_box, *ends_box, *colours_box, *table_button;
  GtkToggleButton *deviation_button, *weight_button;
  GtkDropDown *scale_drop, *colours_drop;
  GtkSpinButton *low_spin, *high_spin;
  GtkBox *table_slot;
  GtkLabel *empty_label;

  MharSelection *selection;
  MharPageViews *views;
  MharNumbersView *table;
  MharShown shown; /* owned references */
  char *empty;
  gboolean wants_table, display_set;
  gboolean showing_ends; /* the fields follow, nobody types */
  gboolean tabulating, table_stale; /* a table is being made; another is wanted after it */
  MharPage table_page;              /* of the table that is shown or being made */
  MharDisplay display, display_shown; /* as chosen; as the pages have it */
};

G_DEFINE_FINAL_TYPE (MharCentre, mhar_centre, GTK_TYPE_BOX)

static guint page_changed_signal, display_changed_signal, words_changed_signal;

static void
shown_clear (MharShown *shown)
{
  mhar_dataset_unref (shown->set);
  mhar_dataset_unref (shown->other);
  mhar_dataset_unref (shown->capture);
  mhar_dataset_unref (shown->measured);
  mhar_dataset_unref (shown->compared);
  mhar_dataset_unref (shown->series);
  g_free ((char *) shown->caution);
  g_clear_pointer (&shown->text, g_bytes_unref);
  g_clear_pointer (&shown->tokens, g_array_unref);
  *shown = (MharShown){ 0 };
}

static MharDataset *
keep (MharDataset *set)
{
  return set != NULL ? mhar_dataset_ref (set) : NULL;
}

static void
shown_take (MharShown *to, const MharShown *from)
{
  MharShown old = *to;

  *to = (MharShown){
    .set = keep (from->set),
    .other = keep (from->other),
    .measured = keep (from->measured),
    .compared = keep (from->compared),
    .caution = g_strdup (from->caution),
    .series = keep (from->series),
    .measurable = from->measurable,
    .capture = keep (from->capture),
    .text = from->text != NULL ? g_bytes_ref (from->text) : NULL,
    .tokens = from->tokens != NULL ? g_array_ref (from->tokens) : NULL,
  };
  shown_clear (&old);
}

MharPage
mhar_centre_get_page (MharCentre *self)
{
  MharPage page = mhar_page_parse (gtk_stack_get_visible_child_name (self->pages));
  return page < MHAR_N_PAGES ? page : MHAR_PAGE_MAPS;
}

MharDataset *
mhar_centre_get_dataset (MharCentre *self)
{
  MharPage page = mhar_centre_get_page (self);

  return page == MHAR_PAGE_ABLATION ? self->shown.measured : page == MHAR_PAGE_SERIES ? self->shown.series : self->shown.set;
}

const char *
mhar_centre_get_words (MharCentre *self)
{
  MharPage page = mhar_centre_get_page (self);
  gboolean own = page == MHAR_PAGE_ABLATION || page == MHAR_PAGE_SERIES
                 || (page == MHAR_PAGE_MAPS && mhar_page_views_are_coefficients (self->views));
  MharFigureView *view = own && mhar_centre_get_dataset (self) != NULL ? mhar_page_views_get_figure_view (self->views, page) : NULL;

  return view != NULL ? mhar_figure_view_get_description (view) : NULL;
}

int
mhar_centre_get_ablation_tokens (MharCentre *self)
{
  return mhar_page_views_get_ablation_tokens (self->views);
}

/* What the map list's last entry is: not one map, but the style of the paper's own plots. */
#define AS_IN_THE_PAPER (MHAR_MAP_GREYS + 1)

/* Whether maps can show a deviation: not with one head. */
static gboolean
shows_deviation (const MharCentre *self)
{
  return self->display.deviation && self->shown.set != NULL
         && mhar_figure_available (self->shown.set, MHAR_FIGURE_DEVIATION);
}

/* Why the page shows weights where a deviation is asked for; NULL where it does not. */
static const char *
no_deviation (MharCentre *self)
{
  gboolean compares = mhar_centre_get_page (self) == MHAR_PAGE_COMPARE && self->shown.set != NULL && self->shown.other != NULL;

  return compares ? mhar_comparison_no_deviation (self->shown.set, self->shown.other, mhar_selection_get_head (self->selection))
                  : NULL;
}

gboolean
mhar_centre_get_deviation (MharCentre *self)
{
  return shows_deviation (self) && no_deviation (self) == NULL;
}

/* The buttons say what is shown, not what is asked for where there is none of it. */
static void
refresh_quantity (MharCentre *self)
{
  const char *reason = no_deviation (self);

  gtk_widget_set_sensitive (GTK_WIDGET (self->deviation_button), reason == NULL);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->deviation_button),
                               reason != NULL ? reason : _("Weight less its mean over heads (Ctrl+D)"));
  gtk_toggle_button_set_active (self->deviation_button, self->display.deviation && reason == NULL);
  gtk_toggle_button_set_active (self->weight_button, !self->display.deviation || reason != NULL);
}

static void
show_display (MharCentre *self)
{
  MharDisplay display = self->display;

  display.deviation = shows_deviation (self);
  if (self->display_set && mhar_display_equal (&display, &self->display_shown))
    return;
  self->display_set = TRUE;
  self->display_shown = display;
  mhar_page_views_set_display (self->views, &display);
  g_signal_emit (self, display_changed_signal, 0);
}

gboolean
mhar_centre_get_figure (MharCentre *self, MharFigureKind *kind, MharFigureOptions *options)
{
  MharFigureView *view = mhar_page_views_get_figure_view (self->views, mhar_centre_get_page (self));
  return mhar_centre_get_dataset (self) != NULL && view != NULL && mhar_figure_view_get_figure (view, kind, options);
}

void
mhar_centre_enlarge (MharCentre *self)
{
  mhar_centre_set_page (self, MHAR_PAGE_MAPS);
  mhar_page_views_enlarge (self->views);
}

/* Borrowed, and without texts. */
static MharNumbersSource
numbers_source (MharCentre *self)
{
  return (MharNumbersSource){
    .page = mhar_centre_get_page (self),
    .set = mhar_centre_get_dataset (self),
    .other = self->shown.other,
    .capture = self->shown.capture,
    .site = mhar_selection_get_site (self->selection),
    .source = mhar_selection_get_source (self->selection),
    .head = mhar_selection_get_head (self->selection),
  };
}

MharNumbers *
mhar_centre_get_numbers (MharCentre *self)
{
  MharNumbersSource source = numbers_source (self);
  g_autoptr (GPtrArray) texts
      = source.page == MHAR_PAGE_TOKENS ? mhar_token_texts (self->shown.text, self->shown.tokens) : NULL;

  source.texts = texts;
  return mhar_numbers_new (&source);
}

static void refresh_table (MharCentre *self);

static void
on_table_made (GObject *object G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
  g_autoptr (MharCentre) self = data;
  g_autoptr (MharNumbers) numbers = mhar_numbers_new_finish (result);
  gboolean shown = gtk_widget_get_root (GTK_WIDGET (self)) != NULL && self->views != NULL;

  self->tabulating = FALSE;
  if (!shown)
    return;
  if (self->wants_table && self->table_page == mhar_centre_get_page (self) && mhar_centre_get_dataset (self) != NULL)
    mhar_numbers_view_show (self->table, numbers);
  if (self->table_stale)
    refresh_table (self);
}

/* One at a time: while a run goes on what is shown changes more often than a large table can be made. */
static void
refresh_table (MharCentre *self)
{
  MharNumbersSource source = numbers_source (self);

  self->table_stale = FALSE;
  if (!self->wants_table || source.set == NULL || source.page != self->table_page)
    mhar_numbers_view_show (self->table, NULL);
  if (!self->wants_table || source.set == NULL)
    return;
  if (self->tabulating) {
    self->table_stale = TRUE;
    return;
  }
  gboolean texts = source.page == MHAR_PAGE_TOKENS;
  self->tabulating = TRUE;
  self->table_page = source.page;
  mhar_numbers_new_async (&source, texts ? self->shown.text : NULL, texts ? self->shown.tokens : NULL, on_table_made,
                          g_object_ref (self));
}

/* Why the page has nothing to be about. */
static const char *
no_dataset (const MharCentre *self, MharPage page)
{
  if (page == MHAR_PAGE_ABLATION && self->shown.set != NULL && mhar_dataset_find_child (self->shown.set, "interventions") != NULL)
    return _("This run holds interventions, which mhar-probe --from prints as a table; what is drawn here is an ablation map, "
             "which mhar-probe --ablation-map measures.");
  if (page == MHAR_PAGE_ABLATION && self->shown.set != NULL)
    return _("This run holds no ablation map: mhar-probe --ablation-map measures one, or this page does where a "
             "checkpoint is open.");
  if (page == MHAR_PAGE_SERIES && self->shown.set != NULL)
    return _("This run holds no steps of a training run: mhar-probe --series makes them.");
  return self->empty;
}

/* What the page shows on a scale. */
static MharScaled
scaled (MharCentre *self)
{
  return mhar_centre_get_page (self) == MHAR_PAGE_COLLINEARITY ? MHAR_SCALED_COSINE
         : mhar_centre_get_deviation (self)                    ? MHAR_SCALED_DEVIATION
                                                               : MHAR_SCALED_WEIGHT;
}

static void
show_ends (MharCentre *self)
{
  MharEnds ends = self->display.ends[scaled (self)];

  self->showing_ends = TRUE;
  gtk_spin_button_set_value (self->low_spin, ends.low);
  gtk_spin_button_set_value (self->high_spin, ends.high);
  self->showing_ends = FALSE;
}

/* Which of picture, table and a sentence there is to see, and which controls have a meaning on the page. */
static void
refresh (MharCentre *self)
{
  MharPage page = mhar_centre_get_page (self);
  gboolean any = mhar_centre_get_dataset (self) != NULL;
  gboolean offers = page == MHAR_PAGE_ABLATION && self->shown.measurable; /* something to do, if nothing to see */
  const char *lack = any ? mhar_page_views_lack (self->views, page) : offers ? NULL : no_dataset (self, page);
  gboolean heads = any && self->shown.set != NULL && mhar_figure_available (self->shown.set, MHAR_FIGURE_DEVIATION);
  gboolean scaled_page = any && lack == NULL && mhar_page_has_scale (page) && (page != MHAR_PAGE_COMPARE || self->shown.other != NULL);
  gboolean invites = page == MHAR_PAGE_COMPARE && self->shown.other == NULL; /* to something to compare with: no numbers yet */
  gboolean quantities = page == MHAR_PAGE_MAPS || (page == MHAR_PAGE_COMPARE && self->shown.compared == NULL);

  gtk_widget_set_visible (self->quantity_box, quantities && heads);
  refresh_quantity (self);
  gtk_widget_set_visible (self->scale_box, scaled_page);
  gtk_widget_set_visible (self->colours_box, scaled_page);
  gtk_widget_set_visible (self->bar, scaled_page && !self->wants_table);
  show_ends (self);
  gtk_widget_set_visible (self->ends_box, scaled_page && !self->wants_table && self->display.scale == MHAR_FIGURE_SCALE_FIXED);
  gtk_widget_set_visible (self->table_button, any && lack == NULL && !invites);
  mhar_page_views_show_series (self->views, self->pages);
  gtk_label_set_label (self->empty_label, lack != NULL ? lack : "");
  gtk_stack_set_visible_child_name (self->view_stack, lack != NULL                           ? "empty"
                                                      : self->wants_table && any && !invites ? "table"
                                                                                             : "pages");
}

void
mhar_centre_focus (MharCentre *self)
{
  MharFigureView *figure = mhar_page_views_get_figure_view (self->views, mhar_centre_get_page (self));
  GtkWidget *view = gtk_stack_get_visible_child (self->pages);

  if (figure != NULL && gtk_widget_get_mapped (GTK_WIDGET (figure)))
    view = GTK_WIDGET (figure);
  if (!gtk_widget_grab_focus (view))
    gtk_widget_child_focus (view, GTK_DIR_TAB_FORWARD);
}

/* Keys go to the picture that has just come up, but for someone who types, or who is at the row of pages. */
static void
follow_page (MharCentre *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  if (focus == NULL || (!GTK_IS_TEXT_VIEW (focus) && !gtk_widget_is_ancestor (focus, self->switcher)))
    mhar_centre_focus (self);
}

static void
on_page (MharCentre *self)
{
  mhar_page_views_turn_to (self->views, mhar_centre_get_page (self));
  refresh (self);
  refresh_table (self);
  follow_page (self);
  g_signal_emit (self, page_changed_signal, 0);
}

static void
on_words (MharCentre *self)
{
  g_signal_emit (self, words_changed_signal, 0);
}

static void
on_selection (MharCentre *self)
{
  MharPage page = mhar_centre_get_page (self);

  refresh_quantity (self);
  show_ends (self);
  if (self->wants_table && (page == MHAR_PAGE_TOKENS || page == MHAR_PAGE_READS))
    refresh_table (self);
}

static void
on_display (MharCentre *self)
{
  guint map = gtk_drop_down_get_selected (self->colours_drop);

  self->display.scale = (MharFigureScale) gtk_drop_down_get_selected (self->scale_drop);
  self->display.style = map == AS_IN_THE_PAPER ? MHAR_FIGURE_AUTHORS : MHAR_FIGURE_PLAIN;
  self->display.map = map == AS_IN_THE_PAPER ? MHAR_MAP_OWN : (MharColourMap) map;
  show_display (self);
  refresh (self);
}

static void
on_ends (MharCentre *self)
{
  if (self->showing_ends)
    return;
  self->display.ends[scaled (self)] = (MharEnds){ gtk_spin_button_get_value (self->low_spin), gtk_spin_button_get_value (self->high_spin) };
  show_display (self);
}

static void
dispose (GObject *object)
{
  MharCentre *self = MHAR_CENTRE (object);

  gtk_widget_dispose_template (GTK_WIDGET (object), MHAR_TYPE_CENTRE);
  g_clear_pointer (&self->views, mhar_page_views_free);
  g_clear_object (&self->selection);
  shown_clear (&self->shown);
  G_OBJECT_CLASS (mhar_centre_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  g_free (MHAR_CENTRE (object)->empty);
  G_OBJECT_CLASS (mhar_centre_parent_class)->finalize (object);
}

static void
bind_children (GtkWidgetClass *class)
{
  gtk_widget_class_bind_template_child (class, MharCentre, pages);
  gtk_widget_class_bind_template_child (class, MharCentre, view_stack);
  gtk_widget_class_bind_template_child (class, MharCentre, switcher);
  gtk_widget_class_bind_template_child (class, MharCentre, bar);
  gtk_widget_class_bind_template_child (class, MharCentre, quantity_box);
  gtk_widget_class_bind_template_child (class, MharCentre, scale_box);
  gtk_widget_class_bind_template_child (class, MharCentre, ends_box);
  gtk_widget_class_bind_template_child (class, MharCentre, colours_box);
  gtk_widget_class_bind_template_child (class, MharCentre, table_button);
  gtk_widget_class_bind_template_child (class, MharCentre, deviation_button);
  gtk_widget_class_bind_template_child (class, MharCentre, weight_button);
  gtk_widget_class_bind_template_child (class, MharCentre, scale_drop);
  gtk_widget_class_bind_template_child (class, MharCentre, colours_drop);
  gtk_widget_class_bind_template_child (class, MharCentre, low_spin);
  gtk_widget_class_bind_template_child (class, MharCentre, high_spin);
  gtk_widget_class_bind_template_child (class, MharCentre, table_slot);
  gtk_widget_class_bind_template_child (class, MharCentre, empty_label);
}

static void
mhar_centre_class_init (MharCentreClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/mhar_probe/Viewer/ui/centre.ui");
  bind_children (widget_class);
  page_changed_signal
      = g_signal_new ("page-changed", MHAR_TYPE_CENTRE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  words_changed_signal
      = g_signal_new ("words-changed", MHAR_TYPE_CENTRE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  display_changed_signal
      = g_signal_new ("display-changed", MHAR_TYPE_CENTRE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
mhar_centre_init (MharCentre *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  mhar_display_init (&self->display);
  self->display.deviation = TRUE;
  self->table = MHAR_NUMBERS_VIEW (mhar_numbers_view_new ());
  gtk_widget_set_hexpand (GTK_WIDGET (self->table), TRUE);
  gtk_box_append (self->table_slot, GTK_WIDGET (self->table));
}

GtkWidget *
mhar_centre_new (MharSelection *selection)
{
  MharCentre *self = g_object_new (MHAR_TYPE_CENTRE, NULL);

  self->selection = g_object_ref (selection);
  self->views = mhar_page_views_new (selection, self->pages);
  mhar_page_views_explain (self->switcher);
  mhar_page_views_show_series (self->views, self->pages);
  mhar_page_views_watch_words (self->views, G_CALLBACK (on_words), self);
  g_signal_connect_object (selection, "changed", G_CALLBACK (on_selection), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->pages, "notify::visible-child", G_CALLBACK (on_page), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->scale_drop, "notify::selected", G_CALLBACK (on_display), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->colours_drop, "notify::selected", G_CALLBACK (on_display), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->low_spin, "value-changed", G_CALLBACK (on_ends), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->high_spin, "value-changed", G_CALLBACK (on_ends), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

void
mhar_centre_show (MharCentre *self, const MharShown *shown, const char *empty)
{
  char *old = self->empty;

  self->empty = g_strdup (empty);
  g_free (old);
  shown_take (&self->shown, shown);
  mhar_page_views_show (self->views, &self->shown, mhar_centre_get_page (self));
  show_display (self);
  refresh (self);
  refresh_table (self);
}

void
mhar_centre_set_page (MharCentre *self, MharPage page)
{
  gtk_stack_set_visible_child_name (self->pages, mhar_page_name (page));
}

void
mhar_centre_set_table (MharCentre *self, gboolean table)
{
  self->wants_table = table;
  refresh (self);
  refresh_table (self);
}

void
mhar_centre_set_deviation (MharCentre *self, gboolean deviation)
{
  self->display.deviation = deviation;
  show_display (self);
  refresh (self);
}

void
mhar_centre_set_theme (MharCentre *self, MharFigureTheme theme)
{
  self->display.theme = theme;
  show_display (self);
}

const MharDisplay *
mhar_centre_get_display (MharCentre *self)
{
  return &self->display;
}

void
mhar_centre_set_display (MharCentre *self, const MharDisplay *display)
{
  MharDisplay wanted = *display; /* `display` may be the centre's own, which the controls change one by one */

  memcpy (self->display.ends, wanted.ends, sizeof wanted.ends);
  gtk_drop_down_set_selected (self->scale_drop, wanted.scale);
  gtk_drop_down_set_selected (self->colours_drop,
                              wanted.style == MHAR_FIGURE_AUTHORS ? AS_IN_THE_PAPER : (guint) wanted.map);
  show_display (self);
  refresh (self);
}
