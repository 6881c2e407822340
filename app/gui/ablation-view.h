/* SPDX-License-Identifier: MIT */
/* The ablation map: what leaving each source of each site out does to the loss, beside what the site's heads give it. Its
 * rows are the sites that have a choice; they are the selection's by name. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_ABLATION_VIEW (mhar_ablation_view_get_type ())
G_DECLARE_FINAL_TYPE (MharAblationView, mhar_ablation_view, MHAR, ABLATION_VIEW, MharFigureView)

GtkWidget *mhar_ablation_view_new (MharSelection *selection);

/* One cell in words, with its interval; g_free. `map` is the group "ablation_map". */
char *mhar_ablation_sentence (const MharDataset *map, int site, int source);

G_END_DECLS
