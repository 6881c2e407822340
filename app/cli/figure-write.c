/* SPDX-License-Identifier: MIT */
#include "app/cli/figure-write.h"

#include "core/error.h"
#include "probes/compare.h"
#include "probes/results.h"

#include <string.h>

static MharField *
copy_field (const MharField *from)
{
  MharField *to = mhar_field_new (from->name, from->long_name, from->units, from->type, from->n_dims,
                                  (const char *const *)from->dims, from->shape);
  gsize n = mhar_field_length (from);

  for (gsize i = 0; from->type == MHAR_FIELD_STRING && i < n; i++)
    to->data.str[i] = g_strdup (from->data.str[i]);
  if (from->type == MHAR_FIELD_F32 || from->type == MHAR_FIELD_I32)
    memcpy (to->data.any, from->data.any, n * 4);
  return to;
}

/* Each read's head match(h) where head h was. */
static void
reorder (MharField *weight, const MharField *before, const MharField *match)
{
  gsize heads = before->shape[1], n = before->shape[2];

  for (gsize s = 0; s < before->shape[0] && s < match->shape[0]; s++)
    for (gsize h = 0; h < heads && h < match->shape[1]; h++) {
      gint32 g = match->data.i32[s * match->shape[1] + h];
      if (g >= 0 && (gsize)g < heads)
        memcpy (weight->data.f32 + (s * heads + h) * n, before->data.f32 + (s * heads + (gsize)g) * n,
                n * sizeof (float));
    }
}

/* What a map of B needs, its heads in the order of A's, and called "NAME, head 3" where `head` is not −1. */
static MharDataset *
matched (const MharDataset *set, const MharField *match, int head)
{
  static const char *const names[] = { "site", "site_label", "n_sources", "source_label", "weight" };
  MharDataset *out = mhar_dataset_new (mhar_dataset_name (set));
  const char *path = mhar_dataset_string (set, "path");
  g_autofree char *called = head < 0 ? g_strdup (path) : g_strdup_printf ("%s, head %d", path, head);

  mhar_dataset_set_string (out, "path", called);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const MharField *field = mhar_dataset_get (set, names[i]);
    MharField *copy = field != NULL ? mhar_dataset_add (out, copy_field (field)) : NULL;
    if (copy != NULL && strcmp (names[i], "weight") == 0)
      reorder (copy, field, match);
  }
  return out;
}

/* The consensus, and each head with the one that it is matched to where reads have several. */
static gboolean
write_comparison (const MharCliOptions *o, const GPtrArray *sets, const MharDataset *compare, GError **error)
{
  const MharField *match = mhar_dataset_get (compare, "match");
  gsize heads = 0;
  const gint32 *to = mhar_comparison_matching (compare, FALSE, &heads);
  g_autofree MharFigurePage *pages = g_new (MharFigurePage, heads + 1);
  g_autoptr (GPtrArray) others = g_ptr_array_new_with_free_func ((GDestroyNotify)mhar_dataset_unref);

  if (sets->len < 2)
    return mhar_bad_input (error, "%s holds a comparison but not the two checkpoints; the file is damaged",
                           o->from != NULL ? o->from : "it");
  for (gsize h = 0; h <= heads; h++) {
    pages[h] = (MharFigurePage){ g_ptr_array_index ((GPtrArray *)sets, 0), MHAR_FIGURE_COMPARE, o->figure_options };
    pages[h].options.other = g_ptr_array_index ((GPtrArray *)sets, 1);
    pages[h].options.head = h == 0 ? MHAR_FIGURE_CONSENSUS : (int)h - 1;
    if (h == 0)
      continue;
    g_ptr_array_add (others, matched (g_ptr_array_index ((GPtrArray *)sets, 1), match, to[h - 1]));
    pages[h].options.other = g_ptr_array_index (others, others->len - 1);
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
