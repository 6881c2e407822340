/* SPDX-License-Identifier: MIT */
/* A run looked at again with fewer draws. The null of a draw never depends on how many draws there are, so the first of
 * them are the draws that the smaller run would have made. */
#include "probes/conclude.h"

#include <string.h>

/* Whether both have the same controls; lists are zero beyond their length. */
static gboolean
same_controls (const MharProbeOptions *a, const MharProbeOptions *b)
{
  return a->n_all_slices == b->n_all_slices && a->n_all_slicings == b->n_all_slicings
         && a->n_all_nulls == b->n_all_nulls && memcmp (a->all_slices, b->all_slices, sizeof a->all_slices) == 0
         && memcmp (a->all_slicings, b->all_slicings, sizeof a->all_slicings) == 0
         && memcmp (a->all_nulls, b->all_nulls, sizeof a->all_nulls) == 0;
}

/* Whether options differ in the number of draws alone. */
static gboolean
holds (const MharProbeOptions *ran, const MharProbeOptions *wanted)
{
  return wanted->null_draws <= ran->null_draws && wanted->probes == ran->probes && wanted->context == ran->context
         && wanted->max_tokens == ran->max_tokens && wanted->skip_first == ran->skip_first
         && wanted->slices == ran->slices && wanted->interleaved == ran->interleaved
         && wanted->null_kind == ran->null_kind && wanted->null_norm_slice == ran->null_norm_slice
         && wanted->null_tokens == ran->null_tokens && wanted->match_sources == ran->match_sources
         && wanted->seed == ran->seed && wanted->plain == ran->plain && wanted->reads == ran->reads
         && wanted->top_tokens == ran->top_tokens && same_controls (wanted, ran);
}

/* The field's first `draws` along its dimension "draw". */
static MharField *
cut (const MharField *field, gsize draws)
{
  gsize shape[MHAR_FIELD_MAX_DIMS], outer = 1, inner = 1, was = 0;
  guint axis = 0;

  for (guint d = 0; d < field->n_dims; d++) {
    shape[d] = field->shape[d];
    if (was > 0)
      inner *= shape[d];
    else if (strcmp (field->dims[d], "draw") != 0)
      outer *= shape[d];
    else {
      was = shape[d];
      axis = d;
    }
  }
  if (was > 0)
    shape[axis] = draws;
  MharField *to = mhar_field_new (field->name, field->long_name, field->units, field->type, field->n_dims,
                                  (const char *const *) field->dims, shape);
  gsize row = (was > 0 ? draws : 1) * inner, stride = (was > 0 ? was : 1) * inner;
  for (gsize i = 0; i < outer; i++)
    memcpy (to->data.f64 + i * row, field->data.f64 + i * stride, row * sizeof (double));
  return to;
}

static gboolean
has_draws (const MharField *field)
{
  return mhar_field_dim (field, "draw") > 0;
}

/* A copy of the sums with their first `draws` draws; 0 leaves the nulls out, as a run without draws does. */
static MharDataset *
narrow_slab (const MharDataset *slab, gsize draws)
{
  MharDataset *out = mhar_dataset_new (mhar_dataset_name (slab));

  for (guint i = 0; i < mhar_dataset_n_fields (slab); i++) {
    const MharField *field = mhar_dataset_field (slab, i);
    if (field->type == MHAR_FIELD_F64 && (draws > 0 || !has_draws (field)))
      mhar_dataset_add (out, cut (field, draws));
  }
  for (guint i = 0; i < mhar_dataset_n_children (slab); i++)
    mhar_dataset_add_child (out, narrow_slab (mhar_dataset_child (slab, i), draws));
  return out;
}

MharDataset *
mhar_probe_narrow (const MharCheckpoint *checkpoint, const MharPlan *plan, const GPtrArray *slabs,
                   const MharDataset *set, const MharProbeOptions *ran, const MharProbeOptions *wanted,
                   GPtrArray *narrowed)
{
  MharProbeOptions options = *wanted;
  MharProbeSetup setup;
  guint64 window = 0;

  if (!holds (ran, wanted) || slabs->len == 0)
    return NULL;
  g_autoptr (MharPool) pool = mhar_pool_new ();
  g_autoptr (MharResampler) resampler = mhar_probe_resampler (&options);
  for (guint i = 0; i < slabs->len; i++) {
    MharDataset *slab = narrow_slab (g_ptr_array_index ((GPtrArray *) slabs, i), options.null_draws);
    g_ptr_array_add (narrowed, slab);
    mhar_pool_add (pool, slab, window);
    mhar_resampler_add (resampler, slab, window);
    window += mhar_dataset_get (slab, "start")->shape[0];
  }
  mhar_probe_setup_init (&setup, plan, &options);
  MharConclusion conclusion = {
    .setup = &setup,
    .checkpoint = checkpoint,
    .pool = pool,
    .resampler = resampler,
    .context = (guint)mhar_dataset_integer (set, "context", 0),
  };
  MharDataset *out = mhar_probe_conclude (&conclusion), *reads = mhar_dataset_find_child (set, "reads");
  if (reads != NULL) /* no draw has to do with it */
    mhar_dataset_add_child (out, mhar_dataset_ref (reads));
  return out;
}
