/* SPDX-License-Identifier: MIT */
#include "probes/weights-only.h"

#include "core/error.h"

#include <string.h>

static const struct {
  const char *name;
  guint n_dims;
  const char *dims[3];
} expected[] = {
  { "query_norm", 1, { "site" } },
  { "scored_norm", 1, { "site" } },
  { "slice_norm", 2, { "site", "slice" } },
  { "query_cosine", 2, { "site", "site_b" } },
  { "slice_cosine", 3, { "site", "slice", "slice_b" } },
  { "slice_site_cosine", 3, { "slice", "site", "site_b" } },
};

gboolean
mhar_weights_only_is (const MharDataset *set)
{
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    if (mhar_dataset_get (set, expected[i].name) != NULL)
      return TRUE;
  return FALSE;
}

/* n sites, S slices, along every dimension of these names. */
static gboolean
fits (const MharField *field, guint e, gsize sites, gsize slices)
{
  if (field == NULL || field->type != MHAR_FIELD_F32 || field->n_dims != expected[e].n_dims)
    return FALSE;
  for (guint d = 0; d < field->n_dims; d++) {
    gsize length = g_str_has_prefix (expected[e].dims[d], "site") ? sites : slices;
    if (strcmp (field->dims[d], expected[e].dims[d]) != 0 || field->shape[d] != length)
      return FALSE;
  }
  return TRUE;
}

gboolean
mhar_weights_only_check (const MharDataset *set, const char *path, GError **error)
{
  const MharField *site = mhar_dataset_get (set, "site"), *label = mhar_dataset_get (set, "site_label");
  const MharField *parts = mhar_dataset_get (set, "slice_norm");
  gsize sites = site != NULL && site->n_dims == 1 ? site->shape[0] : 0;
  gsize slices = parts != NULL && parts->n_dims == 2 ? parts->shape[1] : 0;
  const char *name = mhar_dataset_name (set);

  if (site == NULL || label == NULL || site->type != MHAR_FIELD_I32 || label->type != MHAR_FIELD_STRING
      || label->n_dims != 1 || label->shape[0] != sites)
    return mhar_bad_input (error, "%s: %s lacks the labels of its sites; the file is damaged", path, name);
  for (guint e = 0; e < G_N_ELEMENTS (expected); e++)
    if (!fits (mhar_dataset_get (set, expected[e].name), e, sites, slices))
      return mhar_bad_input (
          error,
          "%s: %s/%s is missing, or has another type or other dimensions than schema 1 gives it; the file is damaged",
          path, name, expected[e].name);
  return TRUE;
}
