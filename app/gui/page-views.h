/* SPDX-License-Identifier: MIT */
/* The drawn widgets of the pages, and what each is given. */
#pragma once

#include "app/gui/centre.h"
#include "app/gui/figure-view.h"

G_BEGIN_DECLS

typedef struct _MharPageViews MharPageViews;

/* Makes a page a view in `stack`. The views belong to the stack. */
MharPageViews *mhar_page_views_new (MharSelection *selection, GtkStack *stack);
/* The buttons of the pages say what question each answers. */
void mhar_page_views_explain (GtkWidget *switcher);
void mhar_page_views_free (MharPageViews *views);

/* Pages follow what is shown, `page` at once and the others when they are turned to. */
void mhar_page_views_show (MharPageViews *views, const MharShown *shown, MharPage page);
void mhar_page_views_turn_to (MharPageViews *views, MharPage page);
void mhar_page_views_set_display (MharPageViews *views, const MharDisplay *display);

/* The view that draws the page's figure; NULL where it has none. */
MharFigureView *mhar_page_views_get_figure_view (MharPageViews *views, MharPage page);

void mhar_page_views_enlarge (MharPageViews *views);

/* Why the page has nothing to show of what is shown: a sentence; NULL where it has. */
const char *mhar_page_views_lack (MharPageViews *views, MharPage page);
/* Whether the maps are a hyper-connected model's coefficients. */
gboolean mhar_page_views_are_coefficients (MharPageViews *views);
/* Tokens that the page of the ablation map asks for. */
int mhar_page_views_get_ablation_tokens (MharPageViews *views);
/* The steps of a training run have a page where there are any. */
void mhar_page_views_show_series (MharPageViews *views, GtkStack *stack);
/* Calls `callback` with `user`, an object, when the words of a view that speaks for its page change. */
void mhar_page_views_watch_words (MharPageViews *views, GCallback callback, gpointer user);
/* Whether its colours have a scale to choose. */
gboolean mhar_page_has_scale (MharPage page);

/* The tokens as text, escaped so that each is one visible line (GPtrArray of char *); NULL where there are none. */
GPtrArray *mhar_token_texts (GBytes *text, GArray *tokens);

G_END_DECLS
