/* SPDX-License-Identifier: MIT */
/* The middle column: the pages, the bar that says how they draw, and the table of the same numbers. */
#pragma once

#include "app/gui/display.h"
#include "app/gui/numbers.h"
#include "app/gui/selection.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define MHAR_TYPE_CENTRE (mhar_centre_get_type ())
G_DECLARE_FINAL_TYPE (MharCentre, mhar_centre, MHAR, CENTRE, GtkBox)

/* What the pages show; all borrowed. */
typedef struct {
  MharDataset *set;     /* NULL: nothing yet */
  MharDataset *other;   /* the second checkpoint's */
  MharDataset *measured; /* a run that holds an ablation map */
  MharDataset *compared; /* what mhar-probe --compare found of the two; NULL: nothing */
  const char *caution;  /* about comparing the two; NULL: nothing speaks against it */
  MharDataset *series;  /* the steps of a saved training run */
  gboolean measurable;  /* a checkpoint is open whose ablation map can be measured */
  MharDataset *capture; /* per-token weights of `set` */
  GBytes *text;         /* that they belong to */
  GArray *tokens;       /* MharToken of the text */
} MharShown;

GtkWidget *mhar_centre_new (MharSelection *selection);

/* Pages show `shown`; `empty` is said in their place where it has no set. */
void mhar_centre_show (MharCentre *centre, const MharShown *shown, const char *empty);

MharPage mhar_centre_get_page (MharCentre *centre);
void mhar_centre_set_page (MharCentre *centre, MharPage page);
void mhar_centre_set_table (MharCentre *centre, gboolean table);
/* Depth maps show the deviation from the head mean, or the weight; a checkpoint of one head has no deviation. */
void mhar_centre_set_deviation (MharCentre *centre, gboolean deviation);
/* Whether the maps of the page do. */
gboolean mhar_centre_get_deviation (MharCentre *centre);
void mhar_centre_set_theme (MharCentre *centre, MharFigureTheme theme);
/* How the pages draw. Setting it leaves the theme and the quantity as they are. */
const MharDisplay *mhar_centre_get_display (MharCentre *centre);
void mhar_centre_set_display (MharCentre *centre, const MharDisplay *display);

/* What the page is about: `set`, or what it has in its place; NULL where that is not there. Borrowed. */
MharDataset *mhar_centre_get_dataset (MharCentre *centre);
/* What is under the pointer or the cursor of the page in words, where that is not a weight that the selection has: NULL
 * where it is. Borrowed. */
const char *mhar_centre_get_words (MharCentre *centre);
/* Tokens of the text that an ablation map takes at most. */
int mhar_centre_get_ablation_tokens (MharCentre *centre);

/* The figure that the page shows, for saving; FALSE where it shows none. The options borrow from what is shown. */
gboolean mhar_centre_get_figure (MharCentre *centre, MharFigureKind *kind, MharFigureOptions *options);
/* One map on the whole page of depth maps, or all of them again. */
void mhar_centre_enlarge (MharCentre *centre);
/* The numbers of the page; mhar_numbers_unref. */
MharNumbers *mhar_centre_get_numbers (MharCentre *centre);
/* The keys go to what draws the page. */
void mhar_centre_focus (MharCentre *centre);

/* Signals: "page-changed", when another page is turned to; "display-changed", when the pages draw in another way;
 * "words-changed", when mhar_centre_get_words says something else. */

G_END_DECLS
