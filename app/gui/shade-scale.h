/* SPDX-License-Identifier: MIT */
/* The colour scale beside a shaded text: a bar between the two numbers it goes from and to. */
#pragma once

#include "app/gui/tokens-text.h"

G_BEGIN_DECLS

#define MHAR_TYPE_SHADE_SCALE (mhar_shade_scale_get_type ())
G_DECLARE_FINAL_TYPE (MharShadeScale, mhar_shade_scale, MHAR, SHADE_SCALE, GtkWidget)

GtkWidget *mhar_shade_scale_new (void);
/* The colours are those of `text`. */
void mhar_shade_scale_show (MharShadeScale *self, MharTokensText *text, double low, double high);

G_END_DECLS
