/* SPDX-License-Identifier: MIT */
#include "probes/conclude.h"

#include "probes/cautions.h"
#include "probes/intervals.h"
#include "probes/labels.h"

#include <math.h>

void
mhar_probe_setup_init (MharProbeSetup *setup, const MharPlan *plan, const MharProbeOptions *options)
{
  *setup = (MharProbeSetup){
    .plan = plan, .options = options, .n_sites = plan->sites->len, .n_outputs = plan->outputs->len
  };
  for (guint s = 0; s < plan->sites->len; s++) {
    setup->max_heads = MAX (setup->max_heads, (gsize) mhar_plan_site (plan, s)->heads);
    setup->max_sources = MAX (setup->max_sources, (gsize) mhar_plan_site (plan, s)->n_sources);
  }
}

/* The options that shaped the numbers, stored beside them. */
static void
record_options (const MharConclusion *c, MharDataset *out)
{
  const MharProbeOptions *o = c->setup->options;

  mhar_dataset_set_integer (out, "tokens", (gint64) mhar_pool_scalar (c->pool, "count"));
  mhar_dataset_set_integer (out, "windows", (gint64) mhar_pool_windows (c->pool));
  mhar_dataset_set_integer (out, "context", c->context);
  mhar_dataset_set_integer (out, "skip_first", o->skip_first);
  mhar_dataset_set_integer (out, "slices", o->slices);
  mhar_dataset_set_string (out, "slicing", o->interleaved ? "interleaved" : "contiguous");
  mhar_dataset_set_integer (out, "draws", o->null_draws);
  mhar_dataset_set_string (out, "null_kind", mhar_null_kind_name (o->null_kind));
  mhar_dataset_set_string (out, "null_norm", o->null_norm_slice ? "slice" : "query");
  mhar_dataset_set_integer (out, "null_tokens", (gint64) mhar_pool_scalar (c->pool, "null_count"));
  if (o->match_sources > 0)
    mhar_dataset_set_integer (out, "match_sources", o->match_sources);
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, o->seed);
  mhar_dataset_set_string (out, "seed", seed);
}

MharPool *
mhar_probe_pool (const MharProbeOptions *options)
{
  static const char *const series[] = { "loss", "pairs", "intervention_loss", "ablation_loss" };
  MharPool *pool = mhar_pool_new ();

  for (guint i = 0; (options->probes & MHAR_PROBE_INTERVENTIONS) != 0 && i < G_N_ELEMENTS (series); i++)
    mhar_pool_keep (pool, series[i]);
  return pool;
}

MharResampler *
mhar_probe_resampler (const MharProbeOptions *options)
{
  static const char *const always[] = { "count", "null_count", "pairs", "loss" };
  MharResampler *resampler = mhar_resampler_new ();

  for (guint i = 0; i < G_N_ELEMENTS (always); i++)
    mhar_resampler_keep (resampler, always[i]);
  for (guint p = 0; mhar_probes[p] != NULL; p++)
    for (guint i = 0;
         (options->probes & mhar_probes[p]->flag) && mhar_probes[p]->sums != NULL && mhar_probes[p]->sums[i] != NULL;
         i++)
      mhar_resampler_keep (resampler, mhar_probes[p]->sums[i]);
  return resampler;
}

void
mhar_probe_scalars (const MharProbeSetup *setup, const MharPool *pool, MharDataset *out)
{
  mhar_dataset_set_real (out, "loss", mhar_pool_scalar (pool, "loss") / mhar_pool_scalar (pool, "pairs"));
  for (guint p = 0; mhar_probes[p] != NULL; p++)
    if ((setup->options->probes & mhar_probes[p]->flag) && mhar_probes[p]->scalars != NULL)
      mhar_probes[p]->scalars (setup, pool, out);
}

MharDataset *
mhar_probe_conclude (const MharConclusion *c)
{
  const MharPlan *plan = c->setup->plan;
  MharDataset *out = mhar_dataset_new ("checkpoint");
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);

  if (c->like != NULL) {
    mhar_label_like (c->like, out);
    record_options (c, out);
  } else {
    mhar_label_checkpoint (c->checkpoint, plan, out);
    record_options (c, out);
    mhar_label_sites (plan, out);
  }
  mhar_probe_scalars (c->setup, c->pool, out);
  for (guint w = 0; w < plan->warnings->len; w++)
    g_ptr_array_add (warnings, g_strdup (g_ptr_array_index (plan->warnings, w)));
  if (!isfinite (mhar_dataset_real (out, "loss", NAN)))
    g_ptr_array_add (warnings, g_strdup ("the loss is not a finite number: the weights hold NaN or infinite values, or overflow"));
  mhar_caution_of_options (c->setup, warnings);
  if (c->stopped > 0)
    g_ptr_array_add (warnings, g_strdup_printf ("stopped after %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                                " windows: every mean is over those",
                                                c->stopped, c->whole));
  for (guint p = 0; mhar_probes[p] != NULL; p++)
    if (c->setup->options->probes & mhar_probes[p]->flag)
      mhar_probes[p]->finish (c->setup, c->pool, out, warnings);
  if (c->resampler != NULL) {
    MharDataset *pooled = mhar_pool_pooled_totals (c->pool);
    if (mhar_dataset_n_fields (pooled) > 0)
      mhar_dataset_add_child (out, pooled);
    else
      mhar_dataset_unref (pooled);
    mhar_intervals_add (c->setup, c->resampler, out);
  }
  g_ptr_array_add (warnings, NULL);
  mhar_dataset_set_strings (out, "warnings", (const char *const *) warnings->pdata);
  if (mhar_dataset_get (out, "weight") != NULL)
    mhar_dataset_set_string (out, "signal", "weight");
  else if (mhar_dataset_get (out, "cosine") != NULL)
    mhar_dataset_set_string (out, "signal", "cosine");
  return out;
}
