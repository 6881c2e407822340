/* SPDX-License-Identifier: MIT */
/* B as it is drawn beside A: its heads in the order of those of A that they are matched to. */
#include "probes/compare.h"

#include <string.h>

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

/* Which head of B stands where: of the reads whose heads share rows. */
static void
add_heads (MharDataset *out, const MharDataset *compare)
{
  gsize heads = 0;
  const gint32 *match = mhar_comparison_matching (compare, FALSE, &heads);

  if (match == NULL)
    return;
  MharField *field = mhar_dataset_add (out, mhar_field_new (MHAR_MATCHED_HEAD, "head of B", NULL, MHAR_FIELD_I32, 1,
                                                            (const char *const[]){ "head" }, &heads));
  memcpy (field->data.i32, match, heads * sizeof (gint32));
}

MharDataset *
mhar_comparison_matched (const MharDataset *compare, const MharDataset *b)
{
  static const char *const names[] = { "site", "site_label", "n_sources", "n_heads", "source_label", "weight" };
  const MharField *match = mhar_dataset_get (compare, "match");
  MharDataset *out = mhar_dataset_new (mhar_dataset_name (b));

  mhar_dataset_set_string (out, "path", mhar_dataset_string (b, "path"));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const MharField *field = mhar_dataset_get (b, names[i]);
    MharField *copy = field != NULL ? mhar_dataset_add (out, mhar_field_copy (field)) : NULL;
    if (copy != NULL && match != NULL && strcmp (names[i], "weight") == 0)
      reorder (copy, field, match);
  }
  add_heads (out, compare);
  return out;
}
