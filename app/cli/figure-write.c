/* SPDX-License-Identifier: MIT */
#include "app/cli/figure-write.h"

#include "app/cli/figure-check.h"
#include "core/error.h"
#include "probes/compare.h"
#include "probes/results.h"

/* The pages of a figure, and the datasets that were made for them. */
typedef struct {
  GArray *pages;   /* MharFigurePage */
  GPtrArray *made; /* MharDataset * */
} Pages;

static void
pages_clear (Pages *p)
{
  g_clear_pointer (&p->pages, g_array_unref);
  g_clear_pointer (&p->made, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pages, pages_clear)

static void
add_page (Pages *p, const MharCliOptions *o, MharDataset *set, MharFigureKind kind)
{
  MharFigurePage page = { set, kind, o->figure_options };
  g_array_append_val (p->pages, page);
}

/* The consensus, and each head with the one that it is matched to where reads have several. */
static gboolean
add_comparison (Pages *p, const MharCliOptions *o, const GPtrArray *sets, const MharDataset *compare, GError **error)
{
  gsize heads = 0;

  mhar_comparison_matching (compare, FALSE, &heads);
  if (sets->len < 2)
    return mhar_bad_input (error, "%s holds a comparison but not the two checkpoints; the file is damaged",
                           o->from != NULL ? o->from : "it");
  MharDataset *other = mhar_comparison_matched (compare, g_ptr_array_index ((GPtrArray *)sets, 1));
  g_ptr_array_add (p->made, other);
  for (gsize h = 0; h <= heads; h++) {
    add_page (p, o, g_ptr_array_index ((GPtrArray *)sets, 0), MHAR_FIGURE_COMPARE);
    MharFigurePage *page = &g_array_index (p->pages, MharFigurePage, h);
    page->options.other = other;
    page->options.head = h == 0 ? MHAR_FIGURE_CONSENSUS : (int)h - 1;
  }
  return TRUE;
}

static gboolean
list_pages (Pages *p, const MharCliOptions *o, const MharDataset *root, GError **error)
{
  g_autoptr (GPtrArray) sets = mhar_results_checkpoints (root);
  MharDataset *compare = mhar_dataset_find_child (root, "compare"), *series = mhar_dataset_find_child (root, "series");
  gboolean own = o->kind == MHAR_FIGURE_DEFAULT;
  const char *from = o->from != NULL ? o->from : "what is merged";

  p->pages = g_array_new (FALSE, FALSE, sizeof (MharFigurePage));
  p->made = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_dataset_unref);
  if (o->kind == MHAR_FIGURE_COMPARE && compare == NULL)
    return mhar_bad_input (error, "%s holds no comparison of two checkpoints to draw; choose another --figure-kind",
                           from);
  if (o->kind == MHAR_FIGURE_SERIES && series == NULL)
    return mhar_bad_input (error, "%s holds no training run's steps to draw; choose another --figure-kind", from);
  if (compare != NULL && (own || o->kind == MHAR_FIGURE_COMPARE))
    return add_comparison (p, o, sets, compare, error);
  if (series != NULL && (own || o->kind == MHAR_FIGURE_SERIES))
    add_page (p, o, series, o->kind);
  else
    for (guint c = 0; c < sets->len; c++)
      add_page (p, o, g_ptr_array_index (sets, c), o->kind);
  return TRUE;
}

gboolean
mhar_figure_write (const MharCliOptions *o, const MharDataset *root, GError **error)
{
  g_auto (Pages) p = { NULL, NULL };

  return o->figure == NULL
         || (list_pages (&p, o, root, error)
             && mhar_figure_save_pages (o->figure, (const MharFigurePage *)p.pages->data, p.pages->len, error));
}

gboolean
mhar_figure_check_results (const MharCliOptions *o, const MharDataset *root, GError **error)
{
  g_auto (Pages) p = { NULL, NULL };
  double width, height;

  if (o->figure == NULL)
    return TRUE;
  if (!list_pages (&p, o, root, error))
    return FALSE;
  for (guint i = 0; i < p.pages->len; i++) {
    const MharFigurePage *page = &g_array_index (p.pages, MharFigurePage, i);
    if (!mhar_figure_natural_size (page->set, page->kind, &page->options, &width, &height, error))
      return FALSE;
  }
  return mhar_figure_check_files (o, p.pages->len, error);
}
