/* SPDX-License-Identifier: MIT */
#include "probes/intervals.h"

#include "probes/conclude.h"
#include "probes/statistics.h"

#include <math.h>
#include <string.h>

/* One scalar: an attribute, or an element of a field. */
typedef struct {
  const char *child; /* NULL: of the dataset itself */
  const char *name;
  gsize n;  /* 0: an attribute; else numbers of the field */
  gsize at; /* of its first number among all */
} Slot;

static gboolean
is_spread (const char *name)
{
  return g_str_has_suffix (name, "_sd") || g_str_has_suffix (name, "_floor");
}

static void
add_slot (GArray *slots, const char *child, const char *name, gsize n, gsize *total)
{
  Slot slot = { child, name, n, *total };

  if (is_spread (name))
    return;
  g_array_append_val (slots, slot);
  *total += MAX (n, 1);
}

/* Every scalar of a dataset that mhar_probe_scalars filled, and of its children. */
static void
list_slots (const MharDataset *set, const char *child, GArray *slots, gsize *total)
{
  for (guint a = 0; a < mhar_dataset_n_attributes (set); a++) {
    const MharAttribute *attribute = mhar_dataset_attribute (set, a);
    if (attribute->type == MHAR_ATTRIBUTE_REAL)
      add_slot (slots, child, attribute->name, 0, total);
  }
  for (guint f = 0; f < mhar_dataset_n_fields (set); f++) {
    const MharField *field = mhar_dataset_field (set, f);
    if (field->type == MHAR_FIELD_F64 && mhar_field_length (field) > 0)
      add_slot (slots, child, field->name, mhar_field_length (field), total);
  }
  for (guint c = 0; child == NULL && c < mhar_dataset_n_children (set); c++)
    list_slots (mhar_dataset_child (set, c), mhar_dataset_name (mhar_dataset_child (set, c)), slots, total);
}

static MharDataset *
where (const MharDataset *set, const Slot *slot)
{
  return slot->child != NULL ? mhar_dataset_find_child (set, slot->child) : (MharDataset *)set;
}

/* The scalars of resample b, `stride` apart. */
static void
collect (const MharDataset *set, const GArray *slots, double *to, gsize stride)
{
  for (guint i = 0; i < slots->len; i++) {
    const Slot *slot = &g_array_index (slots, Slot, i);
    const MharDataset *here = where (set, slot);
    const MharField *field = slot->n > 0 ? mhar_dataset_get (here, slot->name) : NULL;
    if (slot->n == 0)
      to[slot->at * stride] = mhar_dataset_real (here, slot->name, NAN);
    for (gsize k = 0; k < slot->n; k++)
      to[(slot->at + k) * stride] = field->data.f64[k];
  }
}

/* Nothing here is negative but differences and correlations, of which cosines are. */
static MharRange
range_of (const char *name)
{
  if (g_str_has_suffix (name, "excess"))
    return (MharRange){ -INFINITY, INFINITY };
  if (g_str_has_suffix (name, "_correlation") || g_str_has_suffix (name, "replication_r")
      || g_str_has_suffix (name, "_mean"))
    return (MharRange){ -1, 1 };
  return (MharRange){ 0, g_str_has_suffix (name, "_mean_abs") ? 1 : INFINITY };
}

static void
set_field (MharDataset *out, const Slot *slot, double *values)
{
  static const char *const ends[] = { "_low", "_high" };
  const MharField *field = mhar_dataset_get (out, slot->name);
  MharField *bounds[2];

  for (guint e = 0; e < 2; e++) {
    g_autofree char *name = g_strconcat (slot->name, ends[e], NULL);
    g_autofree char *what
        = g_strdup_printf ("%s end of the 95 %% interval of: %s", e == 0 ? "lower" : "upper", field->long_name);
    bounds[e] = mhar_dataset_add (out, mhar_field_new (name, what, field->units, MHAR_FIELD_F64, field->n_dims,
                                                       (const char *const *)field->dims, field->shape));
  }
  for (gsize k = 0; k < slot->n; k++) {
    double low, high;
    if (!mhar_interval_about (mhar_field_value (field, k), range_of (slot->name), values + k * MHAR_RESAMPLES,
                              MHAR_RESAMPLES, &low, &high))
      continue;
    bounds[0]->data.f64[k] = low;
    bounds[1]->data.f64[k] = high;
  }
}

static void
set_bounds (MharDataset *out, const char *name, double *values)
{
  g_autofree char *low_name = g_strconcat (name, "_low", NULL), *high_name = g_strconcat (name, "_high", NULL);
  double low, high;

  if (!mhar_interval_about (mhar_dataset_real (out, name, NAN), range_of (name), values, MHAR_RESAMPLES, &low, &high))
    return;
  mhar_dataset_set_real (out, low_name, low);
  mhar_dataset_set_real (out, high_name, high);
}

/* The mean over draws of a draw's largest deviation at any site, over resampled draws. */
static void
add_deviation_null (const MharProbeSetup *setup, MharDataset *out)
{
  const MharField *null = mhar_dataset_get (out, "max_deviation_null");
  gsize draws = null != NULL ? null->shape[1] : 0;
  g_autofree double *top = g_new0 (double, draws + 1), *values = g_new0 (double, MHAR_RESAMPLES);
  g_autofree guint *pick = g_new (guint, draws + 1);

  if (draws < 2)
    return;
  if (!isfinite (mhar_dataset_real (out, "null_max_deviation", NAN)))
    return;
  for (gsize i = 0; i < null->shape[0] * draws; i++)
    top[i % draws] = fmax (top[i % draws], null->data.f64[i]); /* NaN: a site with one head */
  for (guint b = 0; b < MHAR_RESAMPLES; b++) {
    mhar_resampled_draws (setup->options->seed, b, draws, pick);
    for (gsize j = 0; j < draws; j++)
      values[b] += top[pick[j]] / (double)draws;
  }
  set_bounds (out, "null_max_deviation", values);
}

void
mhar_intervals_add (const MharProbeSetup *setup, const MharResampler *resampler, MharDataset *out)
{
  g_autoptr (MharDataset) sample = mhar_dataset_new ("sample");
  g_autoptr (GArray) slots = g_array_new (FALSE, FALSE, sizeof (Slot));
  gsize total = 0;

  if (!mhar_resample_enough (mhar_resampler_entries (resampler)))
    return;
  g_autoptr (MharPool) first = mhar_resampler_pool (resampler, setup->options->seed, 0);
  mhar_probe_scalars (setup, first, sample);
  list_slots (sample, NULL, slots, &total);
  g_autofree double *values = g_new (double, total *MHAR_RESAMPLES);
#pragma omp parallel for schedule(static)
  for (guint b = 0; b < MHAR_RESAMPLES; b++) {
    g_autoptr (MharPool) pool = mhar_resampler_pool (resampler, setup->options->seed, b);
    g_autoptr (MharDataset) one = mhar_dataset_new ("sample");
    mhar_probe_scalars (setup, pool, one);
    collect (one, slots, values + b, MHAR_RESAMPLES);
  }
  for (guint i = 0; i < slots->len; i++) {
    const Slot *slot = &g_array_index (slots, Slot, i);
    if (slot->n > 0)
      set_field (where (out, slot), slot, values + slot->at * MHAR_RESAMPLES);
    else
      set_bounds (where (out, slot), slot->name, values + slot->at * MHAR_RESAMPLES);
  }
  add_deviation_null (setup, out);
  mhar_dataset_set_integer (out, "bootstrap_resamples", MHAR_RESAMPLES);
  mhar_dataset_set_integer (out, "bootstrap_entries", mhar_resampler_entries (resampler));
  mhar_dataset_set_integer (out, "bootstrap_block", mhar_resampler_block (resampler));
}
