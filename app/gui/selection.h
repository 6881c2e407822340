/* SPDX-License-Identifier: MIT */
/* What a window points at: one site, head, source and token, the same on every page.
 *
 * Indices, not numbers or labels: `site` counts along the dataset's dimension "site" (−1: none), `head` along "head"
 * (−1: the consensus), `source` along the site's own list (−1: none), `token` along the shown text (−1: none). Limits
 * follow the dataset that is shown; a value beyond them is clamped, so a widget may ask for "one further" without
 * knowing. */
#pragma once

#include "core/field.h"

#include <glib-object.h>

G_BEGIN_DECLS

#define MHAR_SELECTION_NONE (-1)
#define MHAR_SELECTION_CONSENSUS (-1)

#define MHAR_TYPE_SELECTION (mhar_selection_get_type ())
G_DECLARE_FINAL_TYPE (MharSelection, mhar_selection, MHAR, SELECTION, GObject)

/* Properties "site", "head", "source", "token" (int, read and write, notify); signal "changed" (no arguments), once for
 * each call that changed something, however many values it changed. */
MharSelection *mhar_selection_new (void);

/* The dataset that limits the values: [site], [site, head, source] of its weight, n_sources and n_heads where it has
 * them. NULL: nothing, all values −1. Keeps a reference. A site that the new dataset lacks becomes its last. */
void mhar_selection_set_dataset (MharSelection *selection, MharDataset *set);
/* Number of tokens of the shown text. */
void mhar_selection_set_n_tokens (MharSelection *selection, int n);

int mhar_selection_get_site (MharSelection *selection);
int mhar_selection_get_head (MharSelection *selection);
int mhar_selection_get_source (MharSelection *selection);
int mhar_selection_get_token (MharSelection *selection);

void mhar_selection_set_site (MharSelection *selection, int site);
void mhar_selection_set_head (MharSelection *selection, int head);
void mhar_selection_set_source (MharSelection *selection, int source);
void mhar_selection_set_token (MharSelection *selection, int token);
/* A whole cell at once: what clicking a map does. One "changed". */
void mhar_selection_set_cell (MharSelection *selection, int site, int head, int source);
/* The cell with the largest weight among sites that have a choice: what a newcomer wants to see first. Does nothing
 * where a source is selected already, or there is none. Returns whether it selected. */
gboolean mhar_selection_choose_largest (MharSelection *selection);

G_END_DECLS
