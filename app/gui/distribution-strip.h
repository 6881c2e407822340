/* SPDX-License-Identifier: MIT */
/* One token's whole distribution at the selected site: a row a head, a column a source. A cell selects its head and
 * source. */
#pragma once

#include "app/gui/figure-view.h"
#include "app/gui/token-weights.h"

G_BEGIN_DECLS

#define MHAR_TYPE_DISTRIBUTION_STRIP (mhar_distribution_strip_get_type ())
G_DECLARE_FINAL_TYPE (MharDistributionStrip, mhar_distribution_strip, MHAR, DISTRIBUTION_STRIP, MharFigureView)

GtkWidget *mhar_distribution_strip_new (MharSelection *selection);
/* `set` names sites and sources, `weights` is borrowed while it is shown, `quote` is the token's text. `weights` NULL
 * or a token that was not captured: nothing. */
void mhar_distribution_strip_show (MharDistributionStrip *self, MharDataset *set, const MharTokenWeights *weights,
                                   int token, const char *quote);
void mhar_distribution_strip_set_display (MharDistributionStrip *self, const MharDisplay *display);

G_END_DECLS
