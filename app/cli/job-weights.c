/* SPDX-License-Identifier: MIT */
/* --weights-only: the routing queries themselves, of any checkpoint whose queries can be found, without running it. */
#include "app/cli/jobs.h"

#include "app/cli/base-names.h"
#include "app/cli/option-effect.h"
#include "core/file-guard.h"
#include "core/h5file.h"
#include "core/name-map.h"
#include "core/provenance.h"
#include "core/routing-weights.h"
#include "probes/weights-only.h"

static MharDataset *
examine (const MharCliOptions *o, const char *path, const MharNameMap *map, GCancellable *cancellable, GError **error)
{
  MharCheckpointOptions how = { o->config, TRUE, mhar_routing_is_key, (gpointer)map, NULL };
  MharWeightsOptions options = { o->heads, o->probe.slices, o->probe.interleaved };
  g_autoptr (MharCheckpoint) checkpoint = mhar_checkpoint_open_with (path, &how, error);
  g_autoptr (MharRoutingWeights) weights
      = checkpoint != NULL ? mhar_routing_weights_read (checkpoint, map, error) : NULL;
  g_autoptr (MharDataset) set = weights != NULL ? mhar_weights_only (checkpoint, weights, &options, error) : NULL;

  if (set == NULL)
    return NULL;
  g_autofree char *digest
      = mhar_checkpoint_digest (checkpoint, (const char *const *)weights->names->pdata, o->digest, cancellable, error);
  if (digest == NULL)
    return NULL;
  mhar_dataset_set_string (set, o->digest ? "sha256_files" : "sha256_routing", digest);
  return g_steal_pointer (&set);
}

/* The file's account of itself; nothing was computed but on this machine, and there was no text. */
static MharDataset *
make_root (const MharCliOptions *o, GError **error)
{
  MharProvenance provenance = { .command = o->command, .text_name = "none", .text_digest = "", .seed = o->probe.seed };
  g_autoptr (GPtrArray) devices = mhar_devices_open ("cpu", MHAR_PRECISION_WANT_F32, FALSE, error);
  return devices != NULL ? mhar_provenance_root (devices, &provenance) : NULL;
}

int
mhar_job_weights (const MharCliOptions *o, GCancellable *cancellable, GError **error)
{
  g_autoptr (MharNameMap) map = o->map != NULL ? mhar_name_map_load (o->map, error) : NULL;
  g_autoptr (MharDataset) root = o->map == NULL || map != NULL ? make_root (o, error) : NULL;
  MharEffects effects = { 0 };

  for (guint i = 0; root != NULL && o->checkpoints[i] != NULL; i++) {
    g_autofree char *name = g_strdup_printf ("checkpoint_%u", i);
    MharDataset *set = examine (o, o->checkpoints[i], map, cancellable, error);
    if (set == NULL)
      return -1;
    effects.one += mhar_dataset_integer (set, "heads", 1) == 1;
    effects.several += mhar_dataset_integer (set, "heads", 1) > 1;
    mhar_dataset_set_name (set, name);
    mhar_dataset_add_child (root, set);
  }
  if (root == NULL || !mhar_effects_check (&effects, o, error) || !mhar_guard_check (error)
      || g_cancellable_set_error_if_cancelled (cancellable, error))
    return -1;
  mhar_base_names_only (o, root);
  if (o->output != NULL) {
    g_autoptr (MharH5Writer) writer = mhar_h5_writer_new (o->output, error);
    if (writer == NULL || !mhar_h5_writer_write (writer, root, error) || !mhar_h5_writer_commit (writer, error))
      return -1;
  }
  return mhar_print_results (o, root, error) ? 0 : -1;
}
