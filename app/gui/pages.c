/* SPDX-License-Identifier: MIT */
#include "app/gui/pages.h"

static const char *const names[MHAR_N_PAGES]
    = { "maps", "disagreement", "collinearity", "tokens", "sources", "compare", "reads", "ablation", "series" };

const char *
mhar_page_name (MharPage page)
{
  return names[page];
}

MharPage
mhar_page_parse (const char *name)
{
  for (int page = 0; page < MHAR_N_PAGES; page++)
    if (g_strcmp0 (name, names[page]) == 0)
      return (MharPage) page;
  return MHAR_N_PAGES;
}
