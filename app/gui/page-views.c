/* SPDX-License-Identifier: MIT */
#include "app/gui/page-views.h"

#include "app/gui/ablation-page.h"
#include "app/gui/collinearity-view.h"
#include "app/gui/compare-page.h"
#include "app/gui/disagreement-view.h"
#include "app/gui/map-view.h"
#include "app/gui/reads-page.h"
#include "app/gui/series-view.h"
#include "app/gui/sources-view.h"
#include "app/gui/tokens-view.h"
#include "core/tokenizer.h"

#include <glib/gi18n.h>

struct _MharPageViews {
  MharShown shown; /* borrowed */
  GtkWidget *views[MHAR_N_PAGES];
  gboolean stale[MHAR_N_PAGES]; /* shows what was shown before */
};

static const struct {
  const char *title, *answers;
} words[MHAR_N_PAGES] = {
  { N_("Maps"), N_("How much every head of every site reads of every source: Figure 4 of the paper (Alt+1)") },
  { N_("Disagreement"), N_("Do the heads differ by more than random queries do? (Alt+2)") },
  { N_("Collinearity"), N_("How alike are the outputs that there are to choose from? (Alt+3)") },
  { N_("Tokens"), N_("What does each token read, in the text itself? (Alt+4)") },
  { N_("Sources"), N_("How many sources does a site use, and what does each give? (Alt+5)") },
  { N_("Compare"), N_("Two checkpoints on one colour scale (Alt+6)") },
  { N_("Reads"), N_("At which tokens does a head read a source most and least? (Alt+7)") },
  { N_("Ablation"), N_("What is each source worth to the loss? (Alt+8)") },
  { N_("Series"), N_("What became of every number in training?") },
};

MharPageViews *
mhar_page_views_new (MharSelection *selection, GtkStack *stack)
{
  static GtkWidget *(*const make[MHAR_N_PAGES]) (MharSelection *) = {
    mhar_map_view_new,    mhar_disagreement_view_new, mhar_collinearity_view_new,
    mhar_tokens_view_new, mhar_sources_view_new,      mhar_compare_page_new,
    mhar_reads_page_new,  mhar_ablation_page_new,     mhar_series_view_new,
  };
  MharPageViews *self = g_new0 (MharPageViews, 1);

  for (int p = 0; p < MHAR_N_PAGES; p++) {
    self->views[p] = make[p](selection);
    gtk_stack_add_titled (stack, self->views[p], mhar_page_name ((MharPage) p), _(words[p].title));
  }
  return self;
}

void
mhar_page_views_explain (GtkWidget *switcher)
{
  GtkWidget *button = gtk_widget_get_first_child (switcher);

  for (int p = 0; p < MHAR_N_PAGES && button != NULL; p++, button = gtk_widget_get_next_sibling (button))
    gtk_widget_set_tooltip_text (button, _(words[p].answers));
}

void
mhar_page_views_free (MharPageViews *self)
{
  g_free (self);
}

static void
show_tokens (MharTokensView *view, const MharShown *shown)
{
  gsize length = 0;
  const char *text = shown->text != NULL ? g_bytes_get_data (shown->text, &length) : NULL;

  mhar_tokens_view_set_dataset (view, shown->set);
  mhar_tokens_view_set_text (view, text, length, shown->tokens, shown->capture);
}

void
mhar_page_views_turn_to (MharPageViews *self, MharPage page)
{
  const MharShown *shown = &self->shown;
  GtkWidget *view = self->views[page];

  if (!self->stale[page])
    return;
  self->stale[page] = FALSE;
  switch (page) {
  case MHAR_PAGE_MAPS:
    mhar_map_view_set_dataset (MHAR_MAP_VIEW (view), shown->set);
    break;
  case MHAR_PAGE_DISAGREEMENT:
    mhar_disagreement_view_set_dataset (MHAR_DISAGREEMENT_VIEW (view), shown->set);
    break;
  case MHAR_PAGE_COLLINEARITY:
    mhar_collinearity_view_set_dataset (MHAR_COLLINEARITY_VIEW (view), shown->set);
    break;
  case MHAR_PAGE_TOKENS:
    show_tokens (MHAR_TOKENS_VIEW (view), shown);
    break;
  case MHAR_PAGE_SOURCES:
    mhar_sources_view_set_dataset (MHAR_SOURCES_VIEW (view), shown->set);
    break;
  case MHAR_PAGE_READS:
    mhar_reads_page_set_dataset (MHAR_READS_PAGE (view), shown->set);
    break;
  case MHAR_PAGE_ABLATION:
    mhar_ablation_page_show (MHAR_ABLATION_PAGE (view), shown->measured, shown->measurable);
    break;
  case MHAR_PAGE_SERIES:
    mhar_figure_view_set_dataset (MHAR_FIGURE_VIEW (view), shown->series);
    break;
  default:
    mhar_compare_page_show (MHAR_COMPARE_PAGE (view), shown->set, shown->other, shown->compared, shown->caution);
  }
}

void
mhar_page_views_show (MharPageViews *self, const MharShown *shown, MharPage page)
{
  self->shown = *shown;
  for (int p = 0; p < MHAR_N_PAGES; p++)
    self->stale[p] = TRUE;
  if (shown->set == NULL) /* nothing to see is seen at once, so that no page holds on to what is gone */
    for (int p = 0; p < MHAR_N_PAGES; p++)
      mhar_page_views_turn_to (self, (MharPage) p);
  mhar_page_views_turn_to (self, page);
}

void
mhar_page_views_set_display (MharPageViews *self, const MharDisplay *display)
{
  mhar_map_view_set_display (MHAR_MAP_VIEW (self->views[MHAR_PAGE_MAPS]), display);
  mhar_disagreement_view_set_display (MHAR_DISAGREEMENT_VIEW (self->views[MHAR_PAGE_DISAGREEMENT]), display);
  mhar_collinearity_view_set_display (MHAR_COLLINEARITY_VIEW (self->views[MHAR_PAGE_COLLINEARITY]), display);
  mhar_tokens_view_set_display (MHAR_TOKENS_VIEW (self->views[MHAR_PAGE_TOKENS]), display);
  mhar_sources_view_set_display (MHAR_SOURCES_VIEW (self->views[MHAR_PAGE_SOURCES]), display);
  mhar_compare_page_set_display (MHAR_COMPARE_PAGE (self->views[MHAR_PAGE_COMPARE]), display);
  mhar_reads_page_set_display (MHAR_READS_PAGE (self->views[MHAR_PAGE_READS]), display);
  mhar_ablation_page_set_display (MHAR_ABLATION_PAGE (self->views[MHAR_PAGE_ABLATION]), display);
  mhar_figure_view_set_display (MHAR_FIGURE_VIEW (self->views[MHAR_PAGE_SERIES]), display);
}

MharFigureView *
mhar_page_views_get_figure_view (MharPageViews *self, MharPage page)
{
  if (page == MHAR_PAGE_TOKENS)
    return NULL;
  if (page == MHAR_PAGE_READS)
    return mhar_reads_page_get_view (MHAR_READS_PAGE (self->views[page]));
  if (page == MHAR_PAGE_ABLATION)
    return mhar_ablation_page_get_view (MHAR_ABLATION_PAGE (self->views[page]));
  return page == MHAR_PAGE_COMPARE ? mhar_compare_page_get_view (MHAR_COMPARE_PAGE (self->views[page]))
                                   : MHAR_FIGURE_VIEW (self->views[page]);
}

void
mhar_page_views_enlarge (MharPageViews *self)
{
  MharMapView *maps = MHAR_MAP_VIEW (self->views[MHAR_PAGE_MAPS]);
  mhar_map_view_set_enlarged (maps, !mhar_map_view_get_enlarged (maps));
}

gboolean
mhar_page_views_are_coefficients (MharPageViews *self)
{
  const MharDataset *set = self->shown.set;

  return set != NULL && !mhar_figure_available (set, MHAR_FIGURE_DEPTH_MAP)
         && mhar_figure_available (set, MHAR_FIGURE_COEFFICIENTS);
}

int
mhar_page_views_get_ablation_tokens (MharPageViews *self)
{
  return mhar_ablation_page_get_tokens (MHAR_ABLATION_PAGE (self->views[MHAR_PAGE_ABLATION]));
}

void
mhar_page_views_show_series (MharPageViews *self, GtkStack *stack)
{
  gtk_stack_page_set_visible (gtk_stack_get_page (stack, self->views[MHAR_PAGE_SERIES]), self->shown.series != NULL);
}

void
mhar_page_views_watch_words (MharPageViews *self, GCallback callback, gpointer user)
{
  static const MharPage pages[] = { MHAR_PAGE_MAPS, MHAR_PAGE_ABLATION, MHAR_PAGE_SERIES };

  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    g_signal_connect_object (mhar_page_views_get_figure_view (self, pages[i]), "notify::description", callback, user,
                             G_CONNECT_SWAPPED);
}

/* Why a page of reads has nothing to show of a model that has none. */
static const char *
no_reads (MharPageViews *self, MharPage page)
{
  if (!mhar_page_views_are_coefficients (self))
    return _("A plain Transformer: nothing reads over depth. What there is to see of it is under Collinearity.");
  return page == MHAR_PAGE_MAPS ? NULL
                                : _("A hyper-connected model: it reads with fixed coefficients, which are under Maps.");
}

const char *
mhar_page_views_lack (MharPageViews *self, MharPage page)
{
  const MharDataset *set = self->shown.set;

  if (set == NULL || page == MHAR_PAGE_COMPARE || page == MHAR_PAGE_ABLATION || page == MHAR_PAGE_SERIES)
    return NULL;
  if (page == MHAR_PAGE_COLLINEARITY)
    return mhar_figure_available (set, MHAR_FIGURE_COLLINEARITY) ? NULL : _("This run holds no collinearity.");
  if (mhar_dataset_integer (set, "sites", -1) == 0)
    return no_reads (self, page);
  if (page == MHAR_PAGE_DISAGREEMENT)
    return mhar_figure_available (set, MHAR_FIGURE_KL) ? NULL : _("This run holds no disagreement.");
  if (page == MHAR_PAGE_TOKENS)
    return self->shown.capture != NULL
               ? NULL
               : _("Single tokens are not part of a saved run. Open its checkpoint and run the text to see them.");
  if (page == MHAR_PAGE_READS)
    return mhar_figure_available (set, MHAR_FIGURE_READS)
               ? NULL
               : _("This run does not hold what heads read: run fewer than 65,536 tokens, or mhar-probe --reads.");
  return mhar_figure_available (set, MHAR_FIGURE_DEPTH_MAP) ? NULL : _("This run holds no weights.");
}

gboolean
mhar_page_has_scale (MharPage page)
{
  return page == MHAR_PAGE_MAPS || page == MHAR_PAGE_COLLINEARITY || page == MHAR_PAGE_COMPARE;
}

GPtrArray *
mhar_token_texts (GBytes *text, GArray *tokens)
{
  gsize length = 0;
  const char *data = text != NULL ? g_bytes_get_data (text, &length) : NULL;
  GPtrArray *texts = data != NULL && tokens != NULL ? g_ptr_array_new_full (tokens->len, g_free) : NULL;

  for (guint i = 0; texts != NULL && i < tokens->len; i++) {
    const MharToken *token = &g_array_index (tokens, MharToken, i);
    g_autofree char *piece
        = token->end <= length ? g_strndup (data + token->start, token->end - token->start) : g_strdup ("");
    g_autofree char *valid = g_utf8_make_valid (piece, -1);
    GString *shown = g_string_new (valid);
    g_string_replace (shown, "\n", "⏎", 0);
    g_string_replace (shown, "\t", "⇥", 0);
    g_ptr_array_add (texts, g_string_free (shown, FALSE));
  }
  return texts;
}
