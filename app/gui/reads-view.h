/* SPDX-License-Identifier: MIT */
/* The picture of the page "Reads": mean weights of the selected site, head and source by position, class and piece of the
 * token that reads; at the last read also what each source adds to the next token's logit. */
#pragma once

#include "app/gui/figure-view.h"

G_BEGIN_DECLS

#define MHAR_TYPE_READS_VIEW (mhar_reads_view_get_type ())
G_DECLARE_FINAL_TYPE (MharReadsView, mhar_reads_view, MHAR, READS_VIEW, MharFigureView)

GtkWidget *mhar_reads_view_new (MharSelection *selection);

G_END_DECLS
