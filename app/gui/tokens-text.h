/* SPDX-License-Identifier: MIT */
/* A text, wrapped, with a shade behind each token; the part of the page "Tokens" that scrolls. Pointing at a token
 * makes it the property "hover" (int, −1: none); a click, arrows, Home, End, `[` and `]` make it the selected one. */
#pragma once

#include "app/gui/display.h"
#include "app/gui/selection.h"
#include "app/gui/token-layout.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_TOKENS_TEXT (mhar_tokens_text_get_type ())
G_DECLARE_FINAL_TYPE (MharTokensText, mhar_tokens_text, MHAR, TOKENS_TEXT, GtkWidget)

GtkWidget *mhar_tokens_text_new (MharSelection *selection);
/* Takes the layout; NULL: no text. */
void mhar_tokens_text_set_layout (MharTokensText *self, MharTokenLayout *layout);
/* One shade a token (float, [−1, 1]: share of the scale, negative ones in another colour; NaN: not known); takes the
 * array. */
void mhar_tokens_text_set_shades (MharTokensText *self, GArray *shades);
/* Whether shades have a sign: then positive ones are warm and negative ones blue, as in the maps; else all are blue. */
void mhar_tokens_text_set_signed (MharTokensText *self, gboolean has_sign);
void mhar_tokens_text_set_theme (MharTokensText *self, MharFigureTheme theme);
int mhar_tokens_text_get_hover (MharTokensText *self);
/* The colour behind a token of such a shade: for the scale beside the text. */
void mhar_tokens_text_colour (MharTokensText *self, double shade, GdkRGBA *colour);

G_END_DECLS
