/* SPDX-License-Identifier: MIT */
/* The page "Tokens": the text, each token shaded by the weight that the selected head gives to the selected source at
 * the selected site, a slider through the sites, and below what the token under the pointer, else the selected one,
 * reads as a whole. */
#pragma once

#include "app/gui/display.h"
#include "app/gui/selection.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_TOKENS_VIEW (mhar_tokens_view_get_type ())
G_DECLARE_FINAL_TYPE (MharTokensView, mhar_tokens_view, MHAR, TOKENS_VIEW, GtkWidget)

GtkWidget *mhar_tokens_view_new (MharSelection *selection);
/* The run's dataset: names of sites and sources. NULL clears. */
void mhar_tokens_view_set_dataset (MharTokensView *self, MharDataset *set);
/* `tokens` are MharToken with spans in `text`; `capture` has weight [token, site, head, source] and token [token]
 * (index in the text). Text and tokens are copied, the capture referenced. Shown are the tokens up to the last captured
 * one. Any NULL clears. Tells the selection how many tokens there are. */
void mhar_tokens_view_set_text (MharTokensView *self, const char *text, gsize length, GArray *tokens,
                                MharDataset *capture);
void mhar_tokens_view_set_display (MharTokensView *self, const MharDisplay *display);
/* In words, what is under the pointer, else the selected token (property "description"); never NULL. */
const char *mhar_tokens_view_get_description (MharTokensView *self);

G_END_DECLS
