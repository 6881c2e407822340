/* SPDX-License-Identifier: MIT */
/* The pages of a window, in their order. */
#pragma once

#include "app/figure/figure.h"

G_BEGIN_DECLS

typedef enum {
  MHAR_PAGE_MAPS,
  MHAR_PAGE_DISAGREEMENT,
  MHAR_PAGE_COLLINEARITY,
  MHAR_PAGE_TOKENS,
  MHAR_PAGE_SOURCES,
  MHAR_PAGE_COMPARE,
  MHAR_PAGE_READS,
  MHAR_PAGE_ABLATION,
  MHAR_PAGE_SERIES, /* only of a saved training run */
  MHAR_N_PAGES
} MharPage;

/* "maps", "disagreement" …: names in actions, settings and files. */
const char *mhar_page_name (MharPage page);
/* MHAR_N_PAGES where it is none. */
MharPage mhar_page_parse (const char *name);

G_END_DECLS
