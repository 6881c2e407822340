/* SPDX-License-Identifier: MIT */
/* The tool's voice: the selected value, what to compare it with, and the verdict, in plain words. The line at the
 * bottom of the window, and what a screen reader says. */
#pragma once

#include "app/gui/pages.h"

G_BEGIN_DECLS

typedef struct {
  MharPage page;
  int site, head, source; /* indices as in MharSelection; −1: none, for `head` the consensus */
} MharPoint;

/* One line, numbers in the locale's form; g_free. `set` may be NULL or lack anything; `other` is the second
 * checkpoint's on the compare page, and `deviation` whether that shows deviations; else they are ignored. */
char *mhar_sentence (const MharDataset *set, const MharDataset *other, gboolean deviation, const MharPoint *at);

G_END_DECLS
