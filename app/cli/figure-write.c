/* SPDX-License-Identifier: MIT */
#include "app/cli/figure-write.h"

#include "core/error.h"
#include "probes/compare.h"
#include "probes/results.h"

/* The consensus, and each head with the one that it is matched to where reads have several. */
static gboolean
write_comparison (const MharCliOptions *o, const GPtrArray *sets, const MharDataset *compare, GError **error)
{
  gsize heads = 0;

  mhar_comparison_matching (compare, FALSE, &heads);
  if (sets->len < 2)
    return mhar_bad_input (error, "%s holds a comparison but not the two checkpoints; the file is damaged",
                           o->from != NULL ? o->from : "it");
  g_autofree MharFigurePage *pages = g_new (MharFigurePage, heads + 1);
  g_autoptr (MharDataset) other = mhar_comparison_matched (compare, g_ptr_array_index ((GPtrArray *)sets, 1));
  for (gsize h = 0; h <= heads; h++) {
    pages[h] = (MharFigurePage){ g_ptr_array_index ((GPtrArray *)sets, 0), MHAR_FIGURE_COMPARE, o->figure_options };
    pages[h].options.other = other;
    pages[h].options.head = h == 0 ? MHAR_FIGURE_CONSENSUS : (int)h - 1;
  }
  return mhar_figure_save_pages (o->figure, pages, (guint)heads + 1, error);
}

gboolean
mhar_figure_write (const MharCliOptions *o, const MharDataset *root, GError **error)
{
  g_autoptr (GPtrArray) sets = mhar_results_checkpoints (root);
  MharDataset *compare = mhar_dataset_find_child (root, "compare"), *series = mhar_dataset_find_child (root, "series");
  gboolean own = o->kind == MHAR_FIGURE_DEFAULT;

  if (o->figure == NULL)
    return TRUE;
  if (o->kind == MHAR_FIGURE_COMPARE && compare == NULL)
    return mhar_bad_input (error, "%s holds no comparison of two checkpoints to draw; choose another --figure-kind",
                           o->from);
  if (o->kind == MHAR_FIGURE_SERIES && series == NULL)
    return mhar_bad_input (error, "%s holds no training run's steps to draw; choose another --figure-kind", o->from);
  if (compare != NULL && (own || o->kind == MHAR_FIGURE_COMPARE))
    return write_comparison (o, sets, compare, error);
  if (series != NULL && (own || o->kind == MHAR_FIGURE_SERIES)) {
    g_ptr_array_set_size (sets, 0);
    g_ptr_array_add (sets, series);
  }
  return mhar_figure_save (o->figure, sets, o->kind, &o->figure_options, error);
}
